"""What stands around an answer becomes harmless as a whole: cards and forms come complete, not in deltas.

They are short, so an agent's megabyte in one of their texts is cut, and so are thousands of fields.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace

from .actions import LONGEST, TaskCard
from .form import Field, Form
from .sanitize import SLICE, StreamSanitizer, harmless_slices, sanitize


def harmless_beginning(text: str, secrets: tuple[str, ...]) -> str:
    """`text` as it may be shown; a very long one ends in dots, and never in a part of a secret."""
    if len(text) <= LONGEST:
        return sanitize(text, secrets)
    return StreamSanitizer(secrets).push(text.lstrip()[:LONGEST]) + "…"


def harmless_text(text: str, secrets: tuple[str, ...]) -> Generator[None, None, str]:
    """The whole `text` as it may be shown; a step for each slice but the last."""
    pieces: list[str] = []
    for piece in harmless_slices(text, secrets):
        if pieces:
            yield
        pieces.append(piece)
    return "".join(pieces)


def sanitize_card(card: TaskCard, secrets: tuple[str, ...]) -> TaskCard:
    """`card` as it may be shown. Its id too: with half a surrogate pair in it no call can be read."""
    return replace(
        card,
        id=harmless_beginning(card.id, secrets),
        title=harmless_beginning(card.title, secrets),
        details=harmless_beginning(card.details, secrets),
        output=harmless_beginning(card.output, secrets),
    )


def sanitize_form(
    form: Form, secrets: tuple[str, ...], most_fields: int, most_choices: int
) -> Generator[None, None, Form]:
    """`form` as it may be shown, with so many fields and choices at most; steps as in `harmless_text`."""
    fields: list[Field] = []
    read = 0
    for each in form.fields[:most_fields]:
        texts: list[str] = []
        for text in _texts(each, most_choices):
            if read > SLICE:
                read = 0
                yield
            read += min(len(text), LONGEST)
            texts.append(harmless_beginning(text, secrets))
        name, label, *choices = texts
        hidden = len(each.choices) - len(choices)
        fields.append(replace(each, name=name, label=label, choices=tuple(choices), hidden_choices=hidden))
    prompt = yield from harmless_text(form.prompt, secrets)
    title = harmless_beginning(form.title, secrets)
    return Form(prompt, tuple(fields), title, form.is_auth, len(form.fields) - len(fields))


def _texts(field: Field, most_choices: int) -> Iterator[str]:
    yield field.name
    yield field.label
    yield from field.choices[:most_choices]
