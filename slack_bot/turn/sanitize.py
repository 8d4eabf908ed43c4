"""Makes the values of a turn harmless, as `text/sanitize.py` makes text: cards, forms, sources and extras."""

import re
from collections.abc import Generator, Sequence
from dataclasses import replace

from ..text.sanitize import LONGEST, SLICE, sanitize, sanitize_beginning, sanitize_in_steps
from .actions import TaskCard
from .extras import Chart, DataTable, Extra, LinkedFile, NextQuestion, OutFile, Source
from .form import Choice, Field, Form, ProposedCall

_CELLS_AT_ONCE = 200  # of a table, in one step
_LONGEST_QUESTION = 1_000  # a longer one is not shown: a part of it would ask something else
_SURROGATES = re.compile("[\ud800-\udfff]")


def sanitize_card(card: TaskCard, secrets: tuple[str, ...]) -> TaskCard:
    """`card`, sanitized; its id too, which may hold half a surrogate pair."""
    name, title, details = (sanitize_beginning(text, secrets) for text in (card.id, card.title, card.details))
    return TaskCard(name, title, card.state, details, sanitize_sources(card.sources, secrets))


def sanitize_sources(sources: tuple[Source, ...], secrets: tuple[str, ...]) -> tuple[Source, ...]:
    """Those whose address holds nothing that must not be shown."""
    kept = (each for each in sources if sanitize(each.url, secrets) == each.url)
    return tuple(Source(each.url, sanitize_beginning(each.title, secrets)) for each in kept)


def sanitize_questions(
    suggested: Sequence[NextQuestion], secrets: tuple[str, ...]
) -> tuple[NextQuestion, ...]:
    """Those that are shown as the agent sent them, each in one line and once.

    One that holds a secret, a mention or a control character is left out: what a person presses is asked word
    for word.
    """
    kept: dict[str, NextQuestion] = {}
    for each in suggested:
        text, label = (" ".join(words.split()) for words in (each.text, each.label))
        if text and _is_harmless(text, secrets):
            kept.setdefault(text, NextQuestion(text, label if _is_harmless(label, secrets) else ""))
    return tuple(kept.values())


def _is_harmless(text: str, secrets: tuple[str, ...]) -> bool:
    return len(text) <= _LONGEST_QUESTION and sanitize(text, secrets) == text


def sanitize_form(
    form: Form, secrets: tuple[str, ...], most_fields: int, most_choices: int
) -> Generator[None, None, Form]:
    """`form`, sanitized in steps, with at most so many fields and choices.

    What goes back to the agent stays as it is: it is not shown. What is not the same when it is shown can be
    no default, and is not offered for a change.
    """
    kept = [each for each in form.fields if _is_kept(each.name)][:most_fields]
    offered = [[one for one in each.choices if _is_kept(one.value)][:most_choices] for each in kept]
    texts = [form.title]
    for each, choices in zip(kept, offered, strict=True):
        texts += [each.shown, each.help, _text_default(each), *(one.shown for one in choices)]
    shown = iter((yield from _sanitize_each(texts, secrets)))
    title = next(shown)
    fields: list[Field] = []
    for each, choices in zip(kept, offered, strict=True):
        label, help_, default = next(shown), next(shown), next(shown)
        fields.append(
            replace(
                each,
                label=label,
                help=help_,
                default=each.default if default == _text_default(each) else None,
                choices=tuple(Choice(one.value, next(shown)) for one in choices),
                hidden_choices=len(each.choices) - len(choices),
            )
        )
    proposed: list[ProposedCall] = []
    for call in form.calls:
        details = yield from sanitize_in_steps(call.details, secrets)
        arguments = yield from sanitize_in_steps(call.arguments, secrets)
        proposed.append(ProposedCall(sanitize_beginning(call.name, secrets), details, arguments))
    return replace(
        form,
        prompt=(yield from sanitize_in_steps(form.prompt, secrets)),
        title=title,
        fields=tuple(fields),
        hidden_fields=form.hidden_fields + len(form.fields) - len(fields),
        calls=tuple(proposed),
        may_edit=form.may_edit
        and [each.arguments for each in proposed] == [call.arguments for call in form.calls],
        url="" if any(secret in form.url for secret in secrets) or len(form.url) > LONGEST else form.url,
    )


def _is_kept(name: str) -> bool:
    """It can be stored and sent back."""
    return len(name) <= LONGEST and not _SURROGATES.search(name)


def _text_default(field: Field) -> str:
    return field.default if isinstance(field.default, str) else ""


def _sanitize_each(texts: list[str], secrets: tuple[str, ...]) -> Generator[None, None, list[str]]:
    done: list[str] = []
    read = 0
    for text in texts:
        if read > SLICE:
            read = 0
            yield
        read += min(len(text), LONGEST)
        done.append(sanitize_beginning(text, secrets))
    return done


def sanitize_extra(extra: Extra, secrets: tuple[str, ...]) -> Generator[None, None, Extra]:
    """`extra`, its texts sanitized in steps; the bytes of a file are not touched."""

    def clean(text: str) -> str:
        return sanitize_beginning(text, secrets)

    match extra:
        case OutFile() | LinkedFile():
            return replace(extra, name=clean(extra.name), description=clean(extra.description))
        case Chart():
            series = tuple(replace(each, name=clean(each.name)) for each in extra.series)
            categories = tuple(map(clean, extra.categories))
            title, x_label, y_label = map(clean, (extra.title, extra.x_label, extra.y_label))
            return Chart(extra.kind, categories, series, title, x_label, y_label)
        case DataTable():
            rows = []
            for number, row in enumerate(extra.rows, start=1):
                rows.append(tuple(clean(cell) if isinstance(cell, str) else cell for cell in row))
                if number % max(1, _CELLS_AT_ONCE // max(1, len(row))) == 0:
                    yield
            return DataTable(tuple(map(clean, extra.columns)), tuple(rows), clean(extra.title))
