"""PURE. Writes a person's answer in the format of the dialect that asked (facts: A2A 3).

Words are sent as the answer to a question in words, never as an approval.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ...turn.form import Answer, FieldKind, Form, Value, Verdict
from ...turn.record import Question
from ..dialects.adk import KAGENT_KEY
from . import forms

Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """The content of a message: text, data parts, each with its metadata, and the message's metadata."""

    text: str = ""
    data: tuple[tuple[Json, Json], ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


def reply_of(question: Question) -> Reply:
    """The content of the message that brings `question` to the agent."""
    if question.form is None:
        return Reply(question.text)
    if question.answer is None:
        return reply_in_words(question.form, question.text)
    return reply_to(question.form, question.answer)


def reply_in_words(form: Form, words: str) -> Reply:
    """The reply with `words` as the answer to everything that was asked."""
    form_answer = _FormAnswer(form)
    match form.reply.name:
        case forms.STRANDS:
            return Reply(data=tuple(_interrupt_response(key, words) for key in form_answer.ids))
        case forms.ADK if form_answer.takes_responses:
            return Reply(
                data=tuple(_function_response(call, {"result": words}) for call in form_answer.calls)
            )
        case forms.LANGGRAPH:
            several = {key: words for key in form_answer.ids}
            return Reply(data=(({"resume": several if len(several) > 1 else words}, {}),))
        case _:
            return Reply(words)


def reply_to(form: Form, answer: Answer) -> Reply:
    """The reply with what a person filled in or decided."""
    form_answer = _FormAnswer(form, answer)
    return _WRITERS.get(form.reply.name, _plain)(form_answer)


class _FormAnswer:
    """An answer together with its form and the data that the reply needs of the question."""

    def __init__(self, form: Form, answer: Answer | None = None) -> None:
        self.form, self.answer = form, answer or Answer()
        self.data: Json = json.loads(form.reply.data or "{}")
        self.ids: list[str] = self.data.get("ids", [])
        self.calls: list[Json] = self.data.get("calls", [])

    @property
    def takes_responses(self) -> bool:
        """Whether the agent accepts responses to its function calls.

        kagent 0.10.4 ends the stream at one, and leaves its task working for ever. It reads words, and
        decisions of its own (facts: A2A 3).
        """
        return not any(call["prefix"] == KAGENT_KEY for call in self.calls)

    @property
    def approves(self) -> bool:
        return self.answer.verdict is Verdict.APPROVE

    @property
    def values(self) -> Json:
        """The values by field, as the agent names them."""
        answers = {**self.answer.values, **self.answer.secrets}
        raw = self.data.get("raw", {})
        values: Json = {}
        for each in self.form.fields:
            if (value := answers.get(each.name)) is not None:
                values[each.name] = _plain_value(value, raw.get(each.name, {}), whole=each.is_whole)
        return values

    @property
    def lines(self) -> str:
        return "\n".join(f"{name}: {_text(value)}" for name, value in self.values.items())

    @property
    def verdict(self) -> str:
        words = "approve" if self.approves else "reject"
        return f"{words}: {self.answer.reason}" if self.answer.reason else words


def _plain_value(value: Value, raw: Mapping[str, Any], *, whole: bool) -> Any:
    if isinstance(value, tuple | list):
        return [raw.get(each, each) for each in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return raw.get(value, value) if isinstance(value, str) else value


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return value if isinstance(value, str) else json.dumps(value)


def _plain(form_answer: _FormAnswer) -> Reply:
    return Reply(form_answer.lines or form_answer.verdict)


def _values(form_answer: _FormAnswer) -> Reply:
    """Data for a program, and text for a model."""
    return Reply(form_answer.lines, ((form_answer.values, {}),))


def _interrupt_response(key: str, response: Any) -> tuple[Json, Json]:
    return {"interruptResponse": {"interruptId": key, "response": response}}, {}


def _strands(form_answer: _FormAnswer) -> Reply:
    values = form_answer.values
    if len(form_answer.ids) == 1:
        return Reply(data=(_interrupt_response(form_answer.ids[0], values),))
    return Reply(data=tuple(_interrupt_response(key, values.get(key, "")) for key in form_answer.ids))


def _function_response(call: Mapping[str, Any], response: Json) -> tuple[Json, Json]:
    content = {"id": call["id"], "name": call["name"], "response": response}
    return content, {f"{call['prefix']}type": "function_response"}


def _adk(form_answer: _FormAnswer) -> Reply:
    if not form_answer.takes_responses:
        return _plain(form_answer)
    if len(form_answer.calls) == 1:
        return Reply(data=(_function_response(form_answer.calls[0], form_answer.values),))
    values = ({"result": form_answer.values.get(call["id"], "")} for call in form_answer.calls)
    pairs = zip(form_answer.calls, values, strict=True)
    return Reply(data=tuple(_function_response(call, response) for call, response in pairs))


def _adk_confirmation(form_answer: _FormAnswer) -> Reply:
    if not form_answer.takes_responses:
        return _kagent_decision(form_answer)
    return Reply(data=tuple(_confirmations(form_answer)))


def _kagent_decision(form_answer: _FormAnswer) -> Reply:
    """kagent's decision, as its own page writes it: one for all calls that wait."""
    decision: Json = {"decision_type": "approve" if form_answer.approves else "reject"}
    if form_answer.answer.reason and not form_answer.approves:
        decision["rejection_reason"] = form_answer.answer.reason
    return Reply(data=((decision, {}),))


def _confirmations(form_answer: _FormAnswer) -> Iterator[tuple[Json, Json]]:
    for number, call in enumerate(form_answer.calls):
        response: Json = {"confirmed": form_answer.approves}
        proposed = form_answer.form.calls[number].arguments if number < len(form_answer.form.calls) else ""
        payload = form_answer.answer.arguments or proposed if form_answer.form.may_edit else proposed
        if form_answer.approves and payload:
            response["payload"] = json.loads(payload)
        yield _function_response(call, response)


def _langgraph(form_answer: _FormAnswer) -> Reply:
    return Reply(data=(({"resume": form_answer.values}, {}),))


def _hitl(form_answer: _FormAnswer) -> Reply:
    names, answer = form_answer.data["names"], form_answer.answer
    if form_answer.approves and answer.arguments:
        edited = {"name": names[0], "args": json.loads(answer.arguments)}
        decision: Json = {"type": "edit", "edited_action": edited}
    elif form_answer.approves:
        decision = {"type": "approve"}
    else:
        decision = {"type": "reject", **({"message": answer.reason} if answer.reason else {})}
    return Reply(data=(({"resume": {"decisions": [decision] * len(names)}}, {}),))


def _human_interrupt(form_answer: _FormAnswer) -> Reply:
    answer, rejects = form_answer.answer, form_answer.data["rejects"]
    if form_answer.approves and answer.arguments:
        args = {"action": form_answer.data["name"], "args": json.loads(answer.arguments)}
        response: Json = {"type": "edit", "args": args}
    elif form_answer.approves:
        response = {"type": "accept", "args": None}
    else:
        says = answer.reason or "This was rejected."
        response = {"type": rejects, "args": says if rejects == "response" else None}
    return Reply(data=(({"resume": [response] if form_answer.data["listed"] else response}, {}),))


def _pydantic_ai(form_answer: _FormAnswer) -> Reply:
    """`DeferredToolResults` of pydantic-ai."""
    answer = form_answer.answer
    if form_answer.approves:
        edited = {"override_args": json.loads(answer.arguments)} if answer.arguments else {}
        result: Json = {"kind": "tool-approved", **edited}
    else:
        result = {"kind": "tool-denied", **({"message": answer.reason} if answer.reason else {})}
    return Reply(data=(({"approvals": dict.fromkeys(form_answer.ids, result)}, {}),))


def _agentstack_form(form_answer: _FormAnswer) -> Reply:
    types, values = form_answer.data["types"], form_answer.values
    fields = {name: {"type": kind, "value": values.get(name)} for name, kind in types.items()}
    for each in form_answer.form.fields:
        if types[each.name] == "checkbox_group" and each.kind is FieldKind.MULTI_SELECT:
            ticked = values.get(each.name, [])
            fields[each.name]["value"] = {one.value: one.value in ticked for one in each.choices}
    form_json: Json = {"values": fields}
    if form_answer.data["id"] is not None:
        form_json["id"] = form_answer.data["id"]
    return Reply(form_answer.lines, metadata={form_answer.data["uri"]: form_json})


def _agentstack_approval(form_answer: _FormAnswer) -> Reply:
    decision = "approve" if form_answer.approves else "reject"
    both = {"action": decision, "decision": decision}  # the name of the key has changed
    return Reply(form_answer.verdict, metadata={form_answer.data["uri"]: both})


def _caipe(form_answer: _FormAnswer) -> Reply:
    return Reply(form_answer.lines)


def _caipe_interrupt(form_answer: _FormAnswer) -> Reply:
    """CAIPE's resume, as its own page writes it: the words, and the graph's call with the filled-in
    fields.
    """
    values = form_answer.values
    rows = [
        {**row, "value": values[row["field_name"]]} if row.get("field_name") in values else row
        for row in form_answer.data["input_fields"]
    ]
    args = {"metadata": {"input_fields": rows}, "user_inputs": values}
    decision = {"type": "edit", "action_name": "CAIPEAgentResponse", "args": {"args": args}}
    return Reply(form_answer.lines, (({"resume": {"decisions": [decision]}}, {}),))


_WRITERS: Mapping[str, Callable[[_FormAnswer], Reply]] = {
    forms.ADK: _adk,
    forms.ADK_CONFIRMATION: _adk_confirmation,
    forms.AGENTSTACK_APPROVAL: _agentstack_approval,
    forms.AGENTSTACK_FORM: _agentstack_form,
    forms.CAIPE: _caipe,
    forms.CAIPE_INTERRUPT: _caipe_interrupt,
    forms.HITL: _hitl,
    forms.HUMAN_INTERRUPT: _human_interrupt,
    forms.LANGGRAPH: _langgraph,
    forms.PYDANTIC_AI: _pydantic_ai,
    forms.STRANDS: _strands,
    forms.VALUES: _values,
}
