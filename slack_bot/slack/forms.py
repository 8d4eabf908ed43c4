"""PURE. Forms, approvals and sign-ins as blocks and modals, and what people filled in.

What Slack gives back names fields and choices by their number: the agent's own names may be longer than Slack
takes, and none of them is trusted.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from ..text.words import (
    FORM_APPROVE_LABEL,
    FORM_CANCEL_LABEL,
    FORM_CLOSE_LABEL,
    FORM_EDIT_ARGUMENTS,
    FORM_EDIT_LABEL,
    FORM_FILL_LABEL,
    FORM_HINT_DECIDE,
    FORM_HINT_DECIDE_OR,
    FORM_HINT_DECIDE_PERSON,
    FORM_HINT_FILL,
    FORM_HINT_FILL_OR_REPLY,
    FORM_HINT_NO_CONTROLS,
    FORM_HINT_ONLY_IN_FORM,
    FORM_HINT_REPLY,
    FORM_HINT_SIGN_IN,
    FORM_MORE_CHOICES,
    FORM_MORE_FIELDS,
    FORM_NO,
    FORM_NOT_SENT_TITLE,
    FORM_PLACEHOLDER,
    FORM_REJECT_LABEL,
    FORM_REJECT_TITLE,
    FORM_REJECT_WHY,
    FORM_SECRET_FIELD,
    FORM_SEND_LABEL,
    FORM_UNNAMED_CHOICE,
    FORM_UNNAMED_FIELD,
    FORM_UNTITLED,
    FORM_YES,
    RECORD_ANSWERED,
    RECORD_ANSWERED_HERE,
    RECORD_APPROVED,
    RECORD_APPROVED_CHANGED,
    RECORD_ARGUMENTS,
    RECORD_MORE,
    RECORD_REASON,
    RECORD_REJECTED,
    RECORD_SOMEBODY,
    RECORD_TIME,
    SIGN_IN_AT,
    SIGN_IN_CARE,
    SIGN_IN_GET_LINK_LABEL,
    SIGN_IN_LABEL,
    SIGN_IN_NOT_ALLOWED,
    SIGN_IN_NOT_PLAIN,
    SIGN_IN_UNREADABLE,
    SIGN_IN_WITHOUT_HTTPS,
)
from ..turn.form import Answer, Field, FieldKind, Form, FormKind, Value, Verdict, number_of
from ..turn.json_values import object_of, objects_of, text_in
from ..turn.open_form import FormAction
from ..turn.people import PERSON_ID
from .blocks import Args, Block, context, context_of_people, plain, shorten

_INLINE = 3  # fields in a message; more are in a modal
_FEW = 5  # choices that are buttons
_LABEL = 75  # Slack: characters of a button or an option
_QUESTION = 2_000  # Slack: characters of a label or a hint
_TITLE = 24  # Slack: characters of a modal's title
_TEXT = 3_000  # Slack: characters of a section, and of what is typed into an input
_MOST_FIELDS = 95  # Slack: 100 blocks of a modal
_MOST_OPTIONS = 100  # Slack: of a select
_SHOWN_VALUE, _SHOWN_FIELDS = 200, 10  # of a record: it is one text
_MASK = "••••"
_LINK = (FormAction.OPENED.value, "link")
_HOST = re.compile(r"(?!-)[a-z0-9-]+(\.[a-z0-9-]+)*")
_ARGUMENTS, _REASON = "arguments", "reason"
_FIELD = "field"  # of a block_id, before the number


# -- in the message


def form_blocks(form: Form, handle: str) -> list[Block]:
    """The controls under the text of a form; empty where it is answered in words, or elsewhere."""
    if form.is_auth:
        return [_actions(_button(FormAction.LINK, SIGN_IN_GET_LINK_LABEL, handle))] if form.url else []
    if form.kind is FormKind.APPROVAL:
        return [_actions(*_decisions(form, handle))]
    return list(_fields(form, handle)) if form.fields else []


def has_controls(form: Form) -> bool:
    """It stands there until it is answered."""
    return bool(form_blocks(form, "-"))


def hint(form: Form, *, has_controls: bool) -> str:
    """How to answer."""
    if form.schemes:
        return FORM_HINT_SIGN_IN
    if form.has_secrets:
        return FORM_HINT_ONLY_IN_FORM if has_controls else FORM_HINT_NO_CONTROLS
    if form.kind is FormKind.INPUT and form.fields and has_controls:
        return FORM_HINT_FILL_OR_REPLY if form.takes_words else FORM_HINT_FILL
    if form.kind is FormKind.APPROVAL and has_controls:
        return FORM_HINT_DECIDE
    return FORM_HINT_REPLY if form.takes_words else FORM_HINT_NO_CONTROLS


def hint_block(form: Form, *, has_controls: bool, answerers: Sequence[str] = ()) -> Block:
    """How to answer, and whose decision an approval waits for, where it is that of few people."""
    if form.kind is FormKind.APPROVAL and has_controls and 0 < len(answerers) <= _FEW:
        return context_of_people(FORM_HINT_DECIDE_PERSON, FORM_HINT_DECIDE_OR, answerers)
    return context(hint(form, has_controls=has_controls))


def without_fields(form: Form) -> Form:
    """As its text reads above the controls."""
    return replace(form, fields=(), hidden_fields=0)


def _fields(form: Form, handle: str) -> Iterator[Block]:
    if not _is_inline(form):
        yield _actions(_button(FormAction.FILL, FORM_FILL_LABEL, handle, style="primary"))
    elif len(form.fields) == 1 and (choices := _few(form.fields[0])):
        asked = form.fields[0]
        yield context(f"{asked.shown}: {asked.help}" if asked.help else asked.shown)
        buttons = (_button(FormAction.CHOOSE, label, handle, number=at) for at, label in enumerate(choices))
        yield _actions(*buttons)
    else:
        for number, asked in enumerate(form.fields):
            yield _input(number, asked)
        yield _actions(_button(FormAction.SEND, FORM_SEND_LABEL, handle, style="primary"))


def _is_inline(form: Form) -> bool:
    fields = form.fields
    return bool(fields) and len(fields) <= _INLINE and not form.hidden_fields and all(map(_is_simple, fields))


def _is_simple(asked: Field) -> bool:
    is_plain = not (asked.is_secret or asked.is_long or asked.hidden_choices)
    return is_plain and asked.kind is not FieldKind.NUMBER


def _few(asked: Field) -> list[str]:
    """The labels of a choice that is made by one press."""
    if asked.kind is FieldKind.BOOLEAN:
        return [FORM_YES, FORM_NO]
    is_few = asked.kind is FieldKind.SELECT and len(asked.choices) <= _FEW
    return [each.shown for each in asked.choices] if is_few and asked.required else []


def _decisions(form: Form, handle: str) -> Iterator[Block]:
    yield _button(FormAction.APPROVE, FORM_APPROVE_LABEL, handle, style="primary")
    if may_edit(form):
        yield _button(FormAction.EDIT, FORM_EDIT_LABEL, handle)
    yield _button(FormAction.REJECT, FORM_REJECT_LABEL, handle, style="danger")


def may_edit(form: Form) -> bool:
    """What is longer than Slack's inputs take cannot be edited there."""
    return form.may_edit and len(form.calls) == 1 and 0 < len(_pretty(form)) <= _TEXT


def _pretty(form: Form) -> str:
    try:
        return json.dumps(json.loads(form.calls[0].arguments), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return form.calls[0].arguments


def words_of(form: Form) -> str:
    """The fields as text, and how to answer, where Slack has refused the blocks."""
    left = replace(form, prompt="", title="", calls=())
    fields = [left.as_markdown()] if left.fields and not form.is_auth else []
    return "\n\n".join([*fields, hint(form, has_controls=False)])


# -- modals


def form_view(form: Form, handle: str, action: FormAction) -> Args:
    """The modal that a button opens: `FILL`, `EDIT` or `REJECT`."""
    if action is FormAction.EDIT:
        blocks = [_text_input(_ARGUMENTS, FORM_EDIT_ARGUMENTS, _pretty(form))]
        return _view(form.calls[0].name, FORM_APPROVE_LABEL, blocks, handle, action)
    if action is FormAction.REJECT:
        blocks = [_text_input(_REASON, FORM_REJECT_WHY)]
        return _view(FORM_REJECT_TITLE, FORM_REJECT_LABEL, blocks, handle, action)
    title = form.title if len(form.title) > _TITLE else ""  # else it stands above
    head = shorten("\n\n".join(filter(None, (title, form.prompt))), _TEXT)
    blocks = [_section(head)] if head else []
    blocks += [_input(number, asked) for number, asked in enumerate(form.fields[:_MOST_FIELDS])]
    more = form.hidden_fields + max(0, len(form.fields) - _MOST_FIELDS)
    blocks += [context(FORM_MORE_FIELDS.format(more))] if more else []
    return _view(form.title or FORM_UNTITLED, FORM_SEND_LABEL, blocks, handle, action)


def notice_view(words: str) -> Args:
    """What a modal says that cannot be sent any more."""
    title, close = _words(FORM_NOT_SENT_TITLE, _TITLE), _words(FORM_CLOSE_LABEL, _TITLE)
    return {"type": "modal", "title": title, "close": close, "blocks": [_section(words)]}


def _view(title: str, submit: str, blocks: list[Block], handle: str, action: FormAction) -> Args:
    return {
        "type": "modal",
        "callback_id": action.value,
        "private_metadata": handle,
        "title": _words(" ".join(title.split()) or FORM_UNTITLED, _TITLE),
        "submit": _words(submit, _TITLE),
        "close": _words(FORM_CANCEL_LABEL, _TITLE),
        "blocks": blocks,
    }


def _text_input(name: str, label: str, text: str = "") -> Block:
    element = {"type": "plain_text_input", "action_id": name, "multiline": True, "max_length": _TEXT}
    element |= {"initial_value": text} if text else {}
    block = {"type": "input", "block_id": name, "label": _words(label, _QUESTION), "element": element}
    return block if text else {**block, "optional": True}


def _input(number: int, asked: Field) -> Block:
    more = FORM_MORE_CHOICES.format(asked.hidden_choices) if asked.hidden_choices else ""
    hint = " ".join(filter(None, (asked.help, more, FORM_SECRET_FIELD if asked.is_secret else "")))
    return {
        "type": "input",
        "block_id": f"{_FIELD}-{number}",
        "label": _words(asked.shown, _QUESTION, FORM_UNNAMED_FIELD.format(number + 1)),
        "element": {"action_id": _FIELD, **_element(asked)},
        "optional": not asked.required,
        **({"hint": _words(hint, _QUESTION)} if hint.strip() else {}),
    }


def _element(asked: Field) -> Block:
    match asked.kind:
        case FieldKind.NUMBER:
            return {
                "type": "number_input",
                "is_decimal_allowed": not asked.is_whole,
                **_numbers(min_value=asked.least, max_value=asked.most, initial_value=asked.default),
            }
        case FieldKind.DATE:
            is_given = isinstance(asked.default, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", asked.default)
            return {"type": "datepicker", **({"initial_date": asked.default} if is_given else {})}
        case FieldKind.BOOLEAN:
            options = [_option(0, FORM_YES), _option(1, FORM_NO)]
            first = {"initial_option": options[not asked.default]} if isinstance(asked.default, bool) else {}
            return {"type": "radio_buttons", "options": options, **first}
        case FieldKind.SELECT | FieldKind.MULTI_SELECT if asked.choices:
            return _select(asked)
        case _:
            return _typed(asked)


def _numbers(**given: Value | None) -> dict[str, str]:
    return {
        name: f"{value:.15g}"
        for name, value in given.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }


def _select(asked: Field) -> Block:
    choices = asked.choices[:_MOST_OPTIONS]
    options = [_option(at, each.shown) for at, each in enumerate(choices)]
    default = asked.default if isinstance(asked.default, tuple) else (asked.default,)
    first = [option for option, each in zip(options, choices, strict=True) if each.value in default]
    shown: Block = {"options": options, "placeholder": _words(FORM_PLACEHOLDER, _LABEL)}
    if asked.kind is FieldKind.SELECT:
        return {"type": "static_select", **shown, **({"initial_option": first[0]} if first else {})}
    return {"type": "multi_static_select", **shown, **({"initial_options": first} if first else {})}


def _typed(asked: Field) -> Block:
    """Limits that Slack does not take are left to `check`."""
    most = int(asked.most) if asked.most is not None and 1 <= asked.most <= _TEXT else _TEXT
    element: Block = {"type": "plain_text_input", "multiline": asked.is_long, "max_length": most}
    if isinstance(asked.default, str) and asked.default and not asked.is_secret:
        element["initial_value"] = asked.default[:most]
    return element


def _option(number: int, label: str) -> Block:
    return {"text": _words(label, _LABEL, FORM_UNNAMED_CHOICE.format(number + 1)), "value": str(number)}


# -- what people filled in


def values_of(form: Form, state: Mapping[str, Any]) -> dict[str, Value]:
    """By the agent's names. `state`: `state.values` of a press or a modal, which may hold anything."""
    found: dict[str, Value] = {}
    for number, asked in enumerate(form.fields):
        value = _value_of(asked, object_of(object_of(state.get(f"{_FIELD}-{number}")).get(_FIELD)))
        if value is not None:
            found[asked.name] = value
    return found


def chosen(form: Form, number: str) -> dict[str, Value]:
    """The value of the only field whose choices are buttons."""
    value = _option_value(form.fields[0], {"value": number}) if form.fields else None
    return {} if value is None else {form.fields[0].name: value}


def _value_of(asked: Field, given: Mapping[str, Any]) -> Value | None:
    match asked.kind:
        case FieldKind.DATE:
            return _text(given.get("selected_date"))
        case FieldKind.NUMBER:
            return number_of(typed) if (typed := _text(given.get("value"))) else None
        case FieldKind.MULTI_SELECT if asked.choices:
            values = [_option_value(asked, each) for each in objects_of(given.get("selected_options"))]
            return tuple(str(value) for value in values if value is not None)
        case FieldKind.BOOLEAN | FieldKind.SELECT if asked.choices or asked.kind is FieldKind.BOOLEAN:
            return _option_value(asked, object_of(given.get("selected_option")))
        case _:
            return _text(given.get("value"))


def _option_value(asked: Field, option: Mapping[str, Any]) -> Value | None:
    number = text_in(option, "value")
    values: list[Value] = [each.value for each in asked.choices]
    if asked.kind is FieldKind.BOOLEAN:
        values = [True, False]
    return values[int(number)] if re.fullmatch("[0-9]{1,3}", number) and int(number) < len(values) else None


def edited(state: Mapping[str, Any]) -> str:
    """The arguments in the modal of `EDIT`."""
    return text_in(object_of(object_of(state.get(_ARGUMENTS)).get(_ARGUMENTS)), "value")


def reason_of(state: Mapping[str, Any]) -> str:
    """Why somebody rejects."""
    return text_in(object_of(object_of(state.get(_REASON)).get(_REASON)), "value")


def errors_by_block(form: Form, faults: Mapping[str, str]) -> dict[str, str]:
    """What is wrong, under the inputs of a modal."""
    places = {asked.name: f"{_FIELD}-{number}" for number, asked in enumerate(form.fields[:_MOST_FIELDS])}
    places[_ARGUMENTS] = _ARGUMENTS if form.kind is FormKind.APPROVAL else places.get(_ARGUMENTS, "")
    return {places[name]: fault for name, fault in faults.items() if places.get(name)}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


# -- what became of it


def record_of(form: Form, answer: Answer | None, user: str, at: float) -> list[Block]:
    """Who answered what, and when. No `answer`: in words, in the thread."""
    who = f"<@{user}>" if PERSON_ID.fullmatch(user) else RECORD_SOMEBODY
    said = {"type": "mrkdwn", "text": f"{who} {_done(form, answer)} · {RECORD_TIME.format(int(at))}"}
    rows = [f"{label}: {value}" for label, value in (answered_lines(form, answer) if answer else ())]
    if len(rows) > _SHOWN_FIELDS:
        rows[_SHOWN_FIELDS:] = [RECORD_MORE.format(len(rows) - _SHOWN_FIELDS)]
    values = [context("\n".join(rows))] if rows else []
    return [{"type": "context", "elements": [said]}, *values]


def _done(form: Form, answer: Answer | None) -> str:
    if answer is None:
        return RECORD_ANSWERED_HERE
    if form.kind is not FormKind.APPROVAL:
        return RECORD_ANSWERED
    if answer.verdict is Verdict.REJECT:
        return RECORD_REJECTED
    return RECORD_APPROVED_CHANGED if answer.arguments else RECORD_APPROVED


def answered_lines(form: Form, answer: Answer) -> Iterator[tuple[str, str]]:
    """Labels and values, as everybody may read them."""
    for asked in form.fields:
        value = _MASK if asked.name in answer.secret_names else _shown(asked, answer.values.get(asked.name))
        if value:
            yield shorten(asked.shown, _LABEL), shorten(value, _SHOWN_VALUE)
    if answer.reason:
        yield RECORD_REASON, shorten(answer.reason, _SHOWN_VALUE)
    if answer.arguments:
        yield RECORD_ARGUMENTS, shorten(answer.arguments, _SHOWN_VALUE)


def _shown(asked: Field, value: Value | None) -> str:
    labels = {each.value: each.shown for each in asked.choices}
    match value:
        case None:
            return ""
        case bool():
            return FORM_YES if value else FORM_NO
        case tuple():
            return ", ".join(labels.get(each, each) for each in value)
        case float() | int():
            return f"{value:.15g}"
        case _:
            return labels.get(value, value)


def note_of_end(note: str) -> list[Block]:
    """A form that nobody answers any more."""
    return [context(note)]


# -- a sign-in


@dataclass(frozen=True, slots=True)
class SignIn:
    """Where an agent wants a person to sign in. No `url`: it may not be offered, and `why` says so."""

    host: str
    url: str = ""
    why: str = ""


def sign_in(url: str, hosts: tuple[str, ...]) -> SignIn:
    """What of `url` may be offered: https alone, no user name before the host, and a host of `hosts`, or of a
    domain that begins with a dot there. No `hosts`: any, and the person is told to look at it.
    """
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").encode("idna").decode("ascii").lower(), parts.port
    except (ValueError, UnicodeError):
        return SignIn("", why=SIGN_IN_UNREADABLE)
    if parts.scheme.lower() != "https" or not _HOST.fullmatch(host):
        return SignIn("", why=SIGN_IN_WITHOUT_HTTPS)
    shown = host if port in (None, 443) else f"{host}:{port}"
    if parts.username is not None or parts.password is not None or len(url) > _TEXT or not url.isprintable():
        return SignIn(shown, why=SIGN_IN_NOT_PLAIN.format(shown))
    is_allowed = any(host == each or (each[:1] == "." and host.endswith(each)) for each in hosts)
    if hosts and not is_allowed:
        return SignIn(shown, why=SIGN_IN_NOT_ALLOWED.format(shown))
    return SignIn(shown, url)


def sign_in_blocks(found: SignIn, *, is_known: bool) -> tuple[str, list[Block]]:
    """What the person reads, and the blocks of it. `is_known`: the host was allowed by name."""
    if not found.url:
        return found.why, [_section(found.why)]
    text = SIGN_IN_AT.format(found.host)
    if not is_known:
        text += SIGN_IN_CARE
    return text, link_blocks(text, SIGN_IN_LABEL.format(found.host), found.url)


def link_blocks(text: str, label: str, url: str, button: tuple[str, str] = _LINK) -> list[Block]:
    """A text, and below it a button that opens `url`. `button`: its action_id and its value."""
    action, value = button
    return [_section(text), _actions(_labelled(action, label, value, style="primary", url=url))]


# -- pieces


def _section(text: str) -> Block:
    return {"type": "section", "text": plain(text)}


def _words(text: str, most: int, otherwise: str = "…") -> Block:
    """Slack refuses an empty text."""
    return plain(shorten(text if text.strip() else otherwise, most))


def _actions(*buttons: Block) -> Block:
    return {"type": "actions", "elements": list(buttons)}


def _button(
    action: FormAction, label: str, handle: str, *, number: int | None = None, style: str = ""
) -> Block:
    """`number`: of a choice."""
    which = "" if number is None else f"-{number}"
    value = handle if number is None else f"{handle}|{number}"
    return _labelled(f"{action.value}{which}", label, value, style=style)


def _labelled(action_id: str, label: str, value: str, *, style: str = "", url: str = "") -> Block:
    shown = {"type": "button", "text": _words(label, _LABEL), "action_id": action_id, "value": value}
    return shown | ({"url": url} if url else {}) | ({"style": style} if style else {})
