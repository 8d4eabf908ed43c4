"""What stands around an answer becomes harmless as a whole: cards and forms come complete, not in deltas."""

from __future__ import annotations

from dataclasses import replace

from .actions import Card
from .form import Form
from .safety import neutralise


def harmless_card(card: Card, secrets: tuple[str, ...]) -> Card:
    """`card` as it may be shown. Its id too: with half a surrogate pair in it no call can be read."""
    return replace(
        card,
        id=neutralise(card.id, secrets),
        title=neutralise(card.title, secrets),
        details=neutralise(card.details, secrets),
        output=neutralise(card.output, secrets),
    )


def harmless_form(form: Form, secrets: tuple[str, ...]) -> Form:
    """`form` as it may be shown."""
    fields = tuple(
        replace(
            each,
            name=neutralise(each.name, secrets),
            label=neutralise(each.label, secrets),
            choices=tuple(neutralise(choice, secrets) for choice in each.choices),
        )
        for each in form.fields
    )
    return Form(neutralise(form.prompt, secrets), fields, neutralise(form.title, secrets), form.is_auth)
