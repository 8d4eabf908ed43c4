"""PURE. Finds the question that an agent asks, in any dialect, and what the reply to it will need.

There is no standard for forms (facts: A2A 3): ADK sends the tool call that waits, Strands a list of
interrupts, LangGraph an artifact with a value, pydantic-ai deferred calls, AgentStack metadata, others fields
or a JSON schema. Anything else is a question in words. `replies` writes the replies.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from ...text.words import FORM_LINK_TAKEN_OUT, FORM_UNNAMED_ANSWER, NOT_ALL_SHOWN
from ...turn.form import Field, Form, FormKind, ProposedCall, ReplyFormat
from ...turn.json_values import object_of, objects_of, text_of
from ..dialects.adk import ADK_KEYS, KAGENT_KEY
from ..wire.frames import Metadata, Part
from .data_markdown import TextBeside, as_markdown, beside, from_json
from .fields import Fields, listed_fields, schema_fields, schema_of
from .parts import first_text, is_list_of_tools, is_true, tool_part
from .schemes import schemes_in

ADK, AGENTSTACK_APPROVAL, AGENTSTACK_FORM = "adk", "agentstack-approval", "agentstack-form"
ADK_CONFIRMATION, CAIPE, CAIPE_INTERRUPT = "adk-confirmation", "caipe", "caipe-interrupt"
HITL, HUMAN_INTERRUPT, LANGGRAPH = "langgraph-hitl", "langgraph-human-interrupt", "langgraph"
PYDANTIC_AI, STRANDS, VALUES = "pydantic-ai", "strands", "values"

_MOST_PARAGRAPHS = 100  # of a question, besides its prompt
_MOST_ASKED = 20  # calls or interrupts that are answered together
_MOST_REPLY = 20_000  # characters that are kept for the answer
_DEEPEST = 4
_EXTENSION = re.compile(r"/(ui/form_request|ui/form|interactions/approval|auth/oauth)/v\d+\Z")
_CONFIRM, _INPUT, _CREDENTIAL = "adk_request_confirmation", "adk_request_input", "adk_request_credential"
_WHOLE = re.compile(r"(?<=\d)\.0(?=,?$)", re.MULTILINE)  # servers on protobuf send 1 as 1.0 (facts: A2A 1.4)
_FOR_PROGRAMS = re.compile(r"\bFunctionResponse\b")  # ADK's hint where a tool gives none
_LINK = re.compile(
    r"\[([^\[\]]{0,200})\]\((https?://[^\s)]{1,2000})\)"
    r"|<?(https?://[^\s<>\"'|)\]]{1,2000}[^\s<>\"'|)\].,;:!?])>?"
)
_LINK_KEYS = re.compile(r"(?:url|uri|link)(?:_?complete)?\Z", re.IGNORECASE)
_NOT_FOR_PEOPLE = re.compile(r"redirect|callback|token|metadata|discovery", re.IGNORECASE)


def question_in(
    parts: tuple[Part, ...], prompt: str = "", shown_text: str = "", metadata: Metadata | None = None
) -> Form | None:
    """The question in `parts`; None if they ask no more than `prompt`, the text next to them.

    `shown_text`: text that the reader sees already, so a tool call that only asks the same is not named.
    `metadata`: of the message.
    """
    prompt = prompt.strip()
    if form := _extended(metadata or {}, prompt) or _adk(parts, prompt):
        return _bounded(form)
    if form := _langgraph(parts, prompt) or _pydantic_ai(parts, prompt):
        return _bounded(form)
    if form := form_in(parts, prompt) or _schema_in(parts, prompt):
        return _bounded(form)
    words, form = _in_words(parts, prompt, shown_text), _awaited(parts)
    if form is not None:
        words = "" if form.title else prompt if words is None else words
        return _bounded(replace(form, prompt=form.prompt or words))
    return None if words is None else Form(words)


def _bounded(form: Form) -> Form:
    """A huge question is answered in words, because the data for its reply would be stored for days."""
    return form if len(form.reply.data) <= _MOST_REPLY else replace(form, reply=ReplyFormat())


def _reply(name: str, data: Any) -> ReplyFormat:
    text = _json(data)
    return ReplyFormat(name, text) if text else ReplyFormat()


def _json(value: Any, indent: int | None = None) -> str:
    """The value as JSON; "" if it is nested too deep."""
    try:
        return json.dumps(value, indent=indent, ensure_ascii=indent is None)
    except RecursionError:
        return ""


def _with_fields(form: Form, fields: Fields, name: str, **data: Any) -> Form:
    reply = _reply(name, {**data, "raw": fields.raw})
    return replace(form, fields=fields.fields, hidden_fields=fields.hidden, reply=reply)


def _for_program(form: Form) -> Form:
    """Mark a form that a program reads: words would break it.

    Words are accepted only if a field cannot be shown.
    """
    return replace(form, takes_words=not form.fields or form.hidden_fields > 0)


def _call(name: str, arguments: Any) -> ProposedCall:
    text = _WHOLE.sub("", _json(arguments, 2)) if isinstance(arguments, dict) else ""
    return ProposedCall(name, as_markdown(arguments), text)


# -- AgentStack: metadata of the message ---------------------------------------------------------------------


def _extended(metadata: Metadata, prompt: str) -> Form | None:
    for uri, value in metadata.items():
        extension = _EXTENSION.search(uri)
        if extension is None or not isinstance(value, dict):
            continue
        match extension.group(1):
            case "interactions/approval":
                return _agentstack_approval(uri, value, prompt)
            case "auth/oauth":
                url = text_of(value.get("authorization_endpoint_url"))
                return Form(prompt, kind=FormKind.AUTH, url=url)
        fields = objects_of(value.get("fields"))
        found_fields = listed_fields(fields)
        title = text_of(value.get("title"))
        form = Form(text_of(value.get("description")) or ("" if prompt == title else prompt), title=title)
        types = {text_of(each.get("id")): text_of(each.get("type")) for each in fields}
        types_shown = {each.name: types.get(each.name, "") for each in found_fields.fields}
        reply_data = {"uri": uri, "id": value.get("id"), "types": types_shown}
        return _for_program(_with_fields(form, found_fields, AGENTSTACK_FORM, **reply_data))
    return None


def _agentstack_approval(uri: str, value: Mapping[str, Any], prompt: str) -> Form:
    name, title = text_of(value.get("name")), text_of(value.get("title"))
    calls = (_call(name, value.get("input")),) if name else ()
    return Form(
        text_of(value.get("description")) or prompt,
        title=title,
        kind=FormKind.APPROVAL,
        takes_words=False,
        calls=calls,
        reply=_reply(AGENTSTACK_APPROVAL, {"uri": uri}),
    )


# -- ADK: function calls that wait ---------------------------------------------------------------------------


class _WaitingCall(NamedTuple):
    """A function call of ADK that waits for its response."""

    id: str
    name: str
    args: Mapping[str, Any]
    prefix: str

    @property
    def key(self) -> dict[str, str]:
        return {"id": self.id, "name": self.name, "prefix": self.prefix}


def _waiting(parts: tuple[Part, ...]) -> list[_WaitingCall]:
    calls: list[_WaitingCall] = []
    for part in parts:
        tool, data = tool_part(part), object_of(part.data)
        if tool is not None and tool.begins and tool.waits and tool.id and len(calls) < _MOST_ASKED:
            prefix = next((each for each in ADK_KEYS if f"{each}type" in part.metadata), ADK_KEYS[0])
            calls.append(_WaitingCall(tool.id, tool.name, object_of(data.get("args")), prefix))
    return calls


def _adk(parts: tuple[Part, ...], prompt: str) -> Form | None:
    """Read ADK's own requests: to sign in, to confirm calls, to fill in a schema."""
    waiting = _waiting(parts)
    for each in waiting:
        if each.name == _CREDENTIAL:  # its arguments hold the agent's own secrets
            prompt = prompt or text_of(each.args.get("message"))
            return Form(prompt, kind=FormKind.AUTH, url=_auth_uri(each.args))
    if confirmations := [each for each in waiting if each.name == _CONFIRM]:
        return _confirmation(confirmations, prompt)
    if len(waiting) != 1 or waiting[0].name != _INPUT:
        return None
    request, args = waiting[0], waiting[0].args
    schema = object_of(args.get("response_schema") or args.get("responseSchema"))
    prompt = prompt or text_of(args.get("message"))
    payload = object_of(args.get("payload"))
    if {"confirmed", "hint"} <= object_of(schema.get("properties")).keys():
        calls = (_call(text_of(payload.get("tool_name")), payload.get("args")),) if payload else ()
        return _approval(prompt, calls, _reply(ADK_CONFIRMATION, {"calls": [request.key]}))
    form = Form("\n\n".join(filter(None, [prompt, as_markdown(args.get("payload"))])))
    return _for_program(_with_fields(form, schema_fields(schema), ADK, calls=[request.key]))


def _approval(
    prompt: str, calls: tuple[ProposedCall, ...], reply: ReplyFormat, *, edit: bool = False
) -> Form:
    kind, may_edit = FormKind.APPROVAL, edit and len(calls) == 1 and bool(calls[0].arguments)
    return Form(prompt, kind=kind, takes_words=False, calls=calls, may_edit=may_edit, reply=reply)


def _confirmation(requests: list[_WaitingCall], prompt: str) -> Form:
    """Make an approval of the calls.

    A payload, which the person may change, is shown in place of the arguments.
    """
    calls: list[ProposedCall] = []
    for each in requests:
        original = object_of(each.args.get("originalFunctionCall"))
        confirmation = object_of(each.args.get("toolConfirmation"))
        call = _call(text_of(original.get("name")), original.get("args"))
        payload = _call("", confirmation.get("payload"))
        details = "\n".join(filter(None, [call.details, payload.details]))
        calls.append(ProposedCall(call.name, details, payload.arguments))
        hint = text_of(confirmation.get("hint"))
        prompt = prompt or ("" if _FOR_PROGRAMS.search(hint) else hint)
    reply = _reply(ADK_CONFIRMATION, {"calls": [each.key for each in requests]})
    takes_changes = not any(each.prefix == KAGENT_KEY for each in requests)
    return _approval(prompt, tuple(calls), reply, edit=takes_changes)


def _auth_uri(args: Mapping[str, Any]) -> str:
    config = object_of(args.get("authConfig") or args.get("auth_config"))
    exchanged = object_of(config.get("exchangedAuthCredential") or config.get("exchanged_auth_credential"))
    return first_text(object_of(exchanged.get("oauth2")), ("authUri", "auth_uri"))


# -- LangGraph: interrupts -----------------------------------------------------------------------------------


def _langgraph(parts: tuple[Part, ...], prompt: str) -> Form | None:
    """Read interrupts, each `{id, value}`, of LangChain's middleware or with a schema of the answer."""
    interrupts = [object_of(part.data) for part in parts if _is_interrupt(object_of(part.data))]
    if len(interrupts) != 1:
        return None
    value, schema = interrupts[0]["value"], object_of(interrupts[0].get("response_schema"))
    if approval := _hitl(object_of(value), prompt) or _human_interrupt(value, prompt):
        return approval
    form = Form("\n\n".join(filter(None, [prompt, _value(value)])))
    if (fields := schema_fields(schema)).fields:
        return _for_program(_with_fields(form, fields, LANGGRAPH))
    if isinstance(value, dict) and (form_in_value := form_of(value, prompt) or _schema_form(value, prompt)):
        return _for_program(replace(form_in_value, reply=replace(form_in_value.reply, name=LANGGRAPH)))
    return None


def _is_interrupt(data: Mapping[str, Any]) -> bool:
    return {"id", "value"} <= data.keys() <= {"id", "value", "response_schema"}


def _hitl(value: Mapping[str, Any], prompt: str) -> Form | None:
    """Read an interrupt of LangChain's `HumanInTheLoopMiddleware`."""
    requests = objects_of(value.get("action_requests"))
    if not requests:
        return None
    reviews = objects_of(value.get("review_configs"))
    allowed = [set(_texts(each.get("allowed_decisions"))) for each in reviews]
    calls, paragraphs = list[ProposedCall](), [prompt] if prompt else []
    for each in requests[:_MOST_ASKED]:
        arguments = each.get("args") or each.get("arguments")
        calls.append(_call(text_of(each.get("name")) or text_of(each.get("action")), arguments))
        if not prompt and (text := text_of(each.get("description"))) and "Args:" not in text:
            paragraphs.append(text)
    if len(requests) > _MOST_ASKED:  # who cannot see all of it must not approve it
        return None
    edit, names = all("edit" in each for each in allowed), [each.name for each in calls]
    return _approval("\n\n".join(paragraphs), tuple(calls), _reply(HITL, {"names": names}), edit=edit)


def _human_interrupt(value: Any, prompt: str) -> Form | None:
    """Read a `HumanInterrupt` of LangGraph's prebuilt agents, usually in a list with one item."""
    requests = value if isinstance(value, list) else [value]
    request = object_of(requests[0]) if len(requests) == 1 else {}
    action = object_of(request.get("action_request"))
    if not action:
        return None
    config = object_of(request.get("config"))
    call = _call(text_of(action.get("action")), action.get("args"))
    rejects = "response" if config.get("allow_respond") is True else "ignore"
    reply_data = {"name": call.name, "rejects": rejects, "listed": isinstance(value, list)}
    reply = _reply(HUMAN_INTERRUPT, reply_data)
    words = prompt or text_of(request.get("description"))
    return _approval(words, (call,), reply, edit=config.get("allow_edit") is True)


def _texts(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


# -- pydantic-ai: deferred tools -----------------------------------------------------------------------------


def _pydantic_ai(parts: tuple[Part, ...], prompt: str) -> Form | None:
    """Read `DeferredToolRequests` with calls to approve.

    If a program must carry out a call, it is no question.
    """
    deferred = [data for part in parts if "approvals" in (data := object_of(part.data))]
    if len(deferred) != 1 or deferred[0].get("calls"):
        return None
    calls: list[ProposedCall] = []
    approvals = objects_of(deferred[0]["approvals"])
    ids = [text_of(each.get("tool_call_id")) for each in approvals]
    if not all(ids) or not 1 <= len(ids) <= _MOST_ASKED:  # who cannot see all of it must not approve it
        return None
    for each in approvals:
        arguments = each.get("args")
        if isinstance(arguments, str) and (parsed := from_json(arguments)) is not None:  # by the model
            arguments = parsed
        calls.append(_call(text_of(each.get("tool_name")), arguments))
    return _approval(prompt, tuple(calls), _reply(PYDANTIC_AI, {"ids": ids}), edit=True)


# -- fields in data parts ------------------------------------------------------------------------------------


def form_in(parts: tuple[Part, ...], prompt: str = "") -> Form | None:
    """The first question with fields or flags in the data parts, or None."""
    return next(filter(None, (form_of(object_of(part.data), prompt) for part in parts)), None)


def form_of(data: Mapping[str, Any], prompt: str = "") -> Form | None:
    """The question in an object with fields or flags; None if there is none."""
    inner = object_of(data.get("metadata"))
    source = inner if inner.get("input_fields") else data
    is_caipe = bool(source.get("input_fields"))
    fields = listed_fields(source.get("input_fields") or source.get("fields"))
    asks = [is_true(where, key) for where in (data, source) for key in ("user_input", "require_user_input")]
    if not fields.fields and not fields.hidden and not any(asks):
        return None
    prompt = prompt or text_of(data.get("content")) or text_of(source.get("input_description"))
    title = text_of(source.get("input_title")) or text_of(data.get("title"))
    form = Form(prompt or text_of(data.get("description")), title=title)
    if not fields.fields:
        return replace(form, hidden_fields=fields.hidden)
    if not is_caipe:
        return _with_fields(form, fields, VALUES)
    if "response" not in source:  # its graph runs on, and reads words
        return _with_fields(form, fields, CAIPE)
    row_keys = ("field_name", "field_description", "field_values")
    rows = [
        {key: row[key] for key in row_keys if key in row} for row in objects_of(source.get("input_fields"))
    ]
    return _with_fields(form, fields, CAIPE_INTERRUPT, input_fields=rows)


def _schema_in(parts: tuple[Part, ...], prompt: str) -> Form | None:
    return next(filter(None, (_schema_form(object_of(part.data), prompt) for part in parts)), None)


def _schema_form(data: Mapping[str, Any], prompt: str) -> Form | None:
    """A question as a JSON schema of the answer, bare or in an object that calls itself a form."""
    schema = schema_of(object_of(data.get("schema") or data.get("form")) or data)
    if schema is None:
        return None
    prompt = prompt or first_text(data, ("instructions", "prompt", "message"))
    prompt = prompt or text_of(schema.get("description"))
    title = text_of(schema.get("title")) or text_of(data.get("title"))
    fields = schema_fields(schema, object_of(data.get("form_data")))
    return _with_fields(Form(prompt, title=title), fields, VALUES)


# -- words ---------------------------------------------------------------------------------------------------


def _awaited(parts: tuple[Part, ...]) -> Form | None:
    """A question in words whose reply needs an id. If there are several questions, each becomes a field."""
    if waiting := _waiting(parts):
        return _several([(each.id, each.name) for each in waiting], ADK, calls=[each.key for each in waiting])
    for part in parts:
        rows = objects_of(object_of(part.data).get("interrupts"))[:_MOST_ASKED]
        questions = [(text_of(each.get("interruptId")), text_of(each.get("name"))) for each in rows]
        if questions and all(key for key, _ in questions):
            reason = object_of(rows[0].get("reason")) if len(rows) == 1 else {}
            ids = [key for key, _ in questions]
            if form := form_of(reason) or _schema_form(reason, ""):
                data = {**json.loads(form.reply.data or "{}"), "ids": ids}
                form = replace(form, title=form.title or questions[0][1], reply=_reply(STRANDS, data))
                return _for_program(form)
            return _several(questions, STRANDS, ids=ids)
    interrupts = [object_of(part.data) for part in parts if _is_interrupt(object_of(part.data))]
    if keys := [text_of(each["id"]) for each in interrupts[:_MOST_ASKED]]:
        questions = [(key, FORM_UNNAMED_ANSWER.format(at)) for at, key in enumerate(keys, 1)]
        return _several(questions, LANGGRAPH, ids=keys)
    return None


def _several(questions: list[tuple[str, str]], name: str, **data: Any) -> Form:
    fields = tuple(Field(key, label, required=True) for key, label in questions) if len(questions) > 1 else ()
    return Form("", fields, reply=_reply(name, data))


def _in_words(parts: tuple[Part, ...], prompt: str, shown_text: str) -> str | None:
    paragraphs = [prompt] if prompt else []
    text_so_far, most = TextBeside("\n".join(paragraphs)), len(paragraphs) + _MOST_PARAGRAPHS
    text_before = TextBeside(shown_text)
    calls = [tool for part in parts if (tool := tool_part(part)) is not None and tool.begins]
    for part in parts:
        if shown_text and _asks_again(part, text_before):
            continue
        for each in _questions(part, text_so_far, is_only=len(calls) == 1):
            if len(paragraphs) == most:
                return "\n\n".join([*paragraphs, NOT_ALL_SHOWN])
            paragraphs.append(each)
            text_so_far = TextBeside("\n".join(paragraphs))
    return "\n\n".join(paragraphs) if len(paragraphs) > bool(prompt) else None


def _asks_again(part: Part, text_before: TextBeside) -> bool:
    tool, data = tool_part(part), object_of(part.data)
    arguments = _arguments(data)
    return bool(arguments) and tool is not None and tool.begins and text_before.contains(arguments)


def _arguments(data: Mapping[str, Any]) -> Any:
    return data.get("args") or data.get("arguments") or data.get("input")


def _question_alone(arguments: Any) -> str:
    """The words of a call that only asks a question, else "". The name of such a call is for programs."""
    return text_of(arguments.get("question")).strip() if len(object_of(arguments)) == 1 else ""


def _questions(part: Part, text_so_far: TextBeside, *, is_only: bool) -> Iterator[str]:
    """The questions in a part.

    `is_only`: the message has one call; with several, each is named for its answer.
    """
    data = object_of(part.data)
    tool = tool_part(part)
    if is_list_of_tools(part):
        return
    if tool is not None:
        words = _question_alone(_arguments(data)) if is_only else ""
        if tool.begins and not (words and text_so_far.contains(words)):
            yield words or _named(tool.name, _arguments(data))
    elif isinstance(data.get("interrupts"), list):
        for each in objects_of(data["interrupts"]):
            if not text_so_far.contains(name := text_of(each.get("name"))):
                yield _named(name, each.get("reason"))
    elif _is_interrupt(data):
        yield from filter(None, [_value(data["value"])])
    elif text := beside(part, text_so_far):
        yield text


def _value(value: Any) -> str:
    for key in ("question", "prompt", "description"):
        if text := text_of(object_of(value).get(key)):
            rest = {name: each for name, each in value.items() if name != key}
            return "\n\n".join(filter(None, [text, as_markdown(rest)]))
    return as_markdown(value)


def _named(name: str, details: Any) -> str:
    return "\n".join(filter(None, [f"**{name}**" if name else "", as_markdown(details)]))


# -- a sign-in -----------------------------------------------------------------------------------------------


def sign_in(form: Form, parts: tuple[Part, ...], metadata: Metadata) -> Form:
    """`form` as a request to sign in.

    The address is removed from the words, because not everybody may see it.
    """
    link = _LINK.search(form.prompt)
    in_text = (link.group(2) or link.group(3)) if link else ""
    said = [*(part.data for part in parts), metadata]
    url = form.url or next(_links(said), "") or in_text
    schemes = schemes_in(said) or form.schemes
    prompt = _LINK.sub(lambda match: match.group(1) or FORM_LINK_TAKEN_OUT, form.prompt)
    return replace(
        form,
        prompt=prompt,
        kind=FormKind.AUTH,
        url=url,
        schemes=schemes,
        fields=(),
        calls=(),
        hidden_fields=0,
    )


def _links(roots: Iterable[Any], depth: int = 0) -> Iterator[str]:
    for value in roots:
        if not isinstance(value, dict | list) or depth > _DEEPEST:
            continue
        for key, each in value.items() if isinstance(value, dict) else ():
            is_link = _LINK_KEYS.search(key) and not _NOT_FOR_PEOPLE.search(key)
            if is_link and isinstance(each, str) and each.startswith(("https://", "http://")):
                yield each
        yield from _links(value.values() if isinstance(value, dict) else value, depth + 1)
