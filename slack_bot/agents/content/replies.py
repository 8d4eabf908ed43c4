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
    """The content of a message: its text, its data parts, each with its metadata, and its own metadata."""

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
    asked = _Asked(form)
    match form.reply.name:
        case forms.STRANDS:
            return Reply(data=tuple(_interrupt_response(key, words) for key in asked.ids))
        case forms.ADK if asked.takes_responses:
            return Reply(data=tuple(_function_response(call, {"result": words}) for call in asked.calls))
        case forms.LANGGRAPH:
            several = {key: words for key in asked.ids}
            return Reply(data=(({"resume": several if len(several) > 1 else words}, {}),))
        case _:
            return Reply(words)


def reply_to(form: Form, answer: Answer) -> Reply:
    """The reply with what a person filled in or decided."""
    asked = _Asked(form, answer)
    return _WRITERS.get(form.reply.name, _plain)(asked)


class _Asked:
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
        given = {**self.answer.values, **self.answer.secrets}
        raw = self.data.get("raw", {})
        found: Json = {}
        for each in self.form.fields:
            if (value := given.get(each.name)) is not None:
                found[each.name] = _plain_value(value, raw.get(each.name, {}), whole=each.is_whole)
        return found

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


def _plain(asked: _Asked) -> Reply:
    return Reply(asked.lines or asked.verdict)


def _values(asked: _Asked) -> Reply:
    """Data for a program, and text for a model."""
    return Reply(asked.lines, ((asked.values, {}),))


def _interrupt_response(key: str, response: Any) -> tuple[Json, Json]:
    return {"interruptResponse": {"interruptId": key, "response": response}}, {}


def _strands(asked: _Asked) -> Reply:
    values = asked.values
    if len(asked.ids) == 1:
        return Reply(data=(_interrupt_response(asked.ids[0], values),))
    return Reply(data=tuple(_interrupt_response(key, values.get(key, "")) for key in asked.ids))


def _function_response(call: Mapping[str, Any], response: Json) -> tuple[Json, Json]:
    content = {"id": call["id"], "name": call["name"], "response": response}
    return content, {f"{call['prefix']}type": "function_response"}


def _adk(asked: _Asked) -> Reply:
    if not asked.takes_responses:
        return _plain(asked)
    if len(asked.calls) == 1:
        return Reply(data=(_function_response(asked.calls[0], asked.values),))
    values = ({"result": asked.values.get(call["id"], "")} for call in asked.calls)
    pairs = zip(asked.calls, values, strict=True)
    return Reply(data=tuple(_function_response(call, response) for call, response in pairs))


def _adk_confirmation(asked: _Asked) -> Reply:
    if not asked.takes_responses:
        return _kagent_decision(asked)
    return Reply(data=tuple(_confirmations(asked)))


def _kagent_decision(asked: _Asked) -> Reply:
    """kagent's decision, as its own page writes it: one for all calls that wait."""
    decision: Json = {"decision_type": "approve" if asked.approves else "reject"}
    if asked.answer.reason and not asked.approves:
        decision["rejection_reason"] = asked.answer.reason
    return Reply(data=((decision, {}),))


def _confirmations(asked: _Asked) -> Iterator[tuple[Json, Json]]:
    for number, call in enumerate(asked.calls):
        response: Json = {"confirmed": asked.approves}
        proposed = asked.form.calls[number].arguments if number < len(asked.form.calls) else ""
        payload = asked.answer.arguments or proposed if asked.form.may_edit else proposed
        if asked.approves and payload:
            response["payload"] = json.loads(payload)
        yield _function_response(call, response)


def _langgraph(asked: _Asked) -> Reply:
    return Reply(data=(({"resume": asked.values}, {}),))


def _hitl(asked: _Asked) -> Reply:
    names, answer = asked.data["names"], asked.answer
    if asked.approves and answer.arguments:
        edited = {"name": names[0], "args": json.loads(answer.arguments)}
        decision: Json = {"type": "edit", "edited_action": edited}
    elif asked.approves:
        decision = {"type": "approve"}
    else:
        decision = {"type": "reject", **({"message": answer.reason} if answer.reason else {})}
    return Reply(data=(({"resume": {"decisions": [decision] * len(names)}}, {}),))


def _human_interrupt(asked: _Asked) -> Reply:
    answer, rejects = asked.answer, asked.data["rejects"]
    if asked.approves and answer.arguments:
        args = {"action": asked.data["name"], "args": json.loads(answer.arguments)}
        response: Json = {"type": "edit", "args": args}
    elif asked.approves:
        response = {"type": "accept", "args": None}
    else:
        says = answer.reason or "This was rejected."
        response = {"type": rejects, "args": says if rejects == "response" else None}
    return Reply(data=(({"resume": [response] if asked.data["listed"] else response}, {}),))


def _pydantic_ai(asked: _Asked) -> Reply:
    """`DeferredToolResults` of pydantic-ai."""
    answer = asked.answer
    if asked.approves:
        edited = {"override_args": json.loads(answer.arguments)} if answer.arguments else {}
        result: Json = {"kind": "tool-approved", **edited}
    else:
        result = {"kind": "tool-denied", **({"message": answer.reason} if answer.reason else {})}
    return Reply(data=(({"approvals": dict.fromkeys(asked.ids, result)}, {}),))


def _agentstack_form(asked: _Asked) -> Reply:
    types, values = asked.data["types"], asked.values
    shown = {name: {"type": kind, "value": values.get(name)} for name, kind in types.items()}
    for each in asked.form.fields:
        if types[each.name] == "checkbox_group" and each.kind is FieldKind.MULTI_SELECT:
            ticked = values.get(each.name, [])
            shown[each.name]["value"] = {one.value: one.value in ticked for one in each.choices}
    found: Json = {"values": shown}
    if asked.data["id"] is not None:
        found["id"] = asked.data["id"]
    return Reply(asked.lines, metadata={asked.data["uri"]: found})


def _agentstack_approval(asked: _Asked) -> Reply:
    decision = "approve" if asked.approves else "reject"
    both = {"action": decision, "decision": decision}  # the name of the key has changed
    return Reply(asked.verdict, metadata={asked.data["uri"]: both})


def _caipe(asked: _Asked) -> Reply:
    return Reply(asked.lines)


def _caipe_interrupt(asked: _Asked) -> Reply:
    """CAIPE's resume, as its own page writes it: the words, and the call of its graph with the fields filled
    in.
    """
    values = asked.values
    rows = [
        {**row, "value": values[row["field_name"]]} if row.get("field_name") in values else row
        for row in asked.data["input_fields"]
    ]
    args = {"metadata": {"input_fields": rows}, "user_inputs": values}
    decision = {"type": "edit", "action_name": "CAIPEAgentResponse", "args": {"args": args}}
    return Reply(asked.lines, (({"resume": {"decisions": [decision]}}, {}),))


_WRITERS: Mapping[str, Callable[[_Asked], Reply]] = {
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
