"""PURE. What an agent asked, in words and as JSON."""

from urllib.parse import urlsplit

from ..testing.tape.json_file import Json
from ..turn.form import Field, Form, FormKind


def in_words(form: Form) -> str:
    """What kind of question it is; "" for one in words."""
    if form.kind is FormKind.AUTH:
        return f"a sign-in at {_host(form.url)}" if form.url else ""
    how = f", answered as {form.reply.name}" if form.reply.name != "text" else ""
    if form.kind is FormKind.APPROVAL:
        calls = " and ".join(call.name for call in form.calls) or "what it says"
        return f"an approval of {calls}{', which may be changed' if form.may_edit else ''}{how}"
    if form.fields:
        return f"a form ({'; '.join(map(_field, form.fields))}){how}"
    return f"a question in words{how}" if how else ""


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or "no host"
    except ValueError:
        return "an address that cannot be read"


def _field(asked: Field) -> str:
    return f"{asked.name}: {asked.kind}{', needed' if asked.required else ''}"


def as_json(form: Form) -> Json:
    """The object in `forms` of `replay --json`."""
    fields = [{"name": each.name, "kind": each.kind, "required": each.required} for each in form.fields]
    calls = [call.name for call in form.calls]
    return {"kind": form.kind, "fields": fields, "calls": calls, "answered_as": form.reply.name}
