"""Cards and forms hold neither secrets nor live mentions, and no megabytes."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

from slack_bot.turn.actions import LONGEST, CardState, TaskCard
from slack_bot.turn.form import Field, Form
from slack_bot.turn.sanitize import MASK, SLICE, sanitize
from slack_bot.turn.sanitize_parts import harmless_beginning, harmless_text, sanitize_card, sanitize_form

from .work import steps

SECRET = "s3cret-value"


T = TypeVar("T")


def result(work: Generator[None, None, T]) -> T:
    """What it returns when all its steps are done."""

    def whole() -> Generator[None, None, None]:
        found.append((yield from work))

    found: list[T] = []
    for _ in whole():
        pass
    return found[0]


def test_a_card() -> None:
    card = TaskCard("t1", f"Search {SECRET}", CardState.ERROR, details="<!channel>", output=f"{SECRET}\n")
    shown = TaskCard("t1", f"Search {MASK}", CardState.ERROR, details="&lt;!channel>", output=f"{MASK}\n")
    assert sanitize_card(card, (SECRET,)) == shown
    assert (
        sanitize_card(TaskCard(f"\ud83d {SECRET}", "Search", CardState.DONE), (SECRET,)).id
        == f"\ufffd {MASK}"
    )


def test_a_form() -> None:
    field = Field(f"n {SECRET}", f"l {SECRET}", choices=("a", SECRET))
    form = Form(f"p {SECRET}", (field,), "<@U1> asks", is_auth=True)
    shown = Field(f"n {MASK}", f"l {MASK}", choices=("a", MASK))
    assert result(sanitize_form(form, (SECRET,), 9, 9)) == Form(
        f"p {MASK}", (shown,), "&lt;@U1> asks", is_auth=True
    )


def test_a_very_long_text_is_cut_and_never_within_a_secret() -> None:
    text = "x" * (LONGEST - 5) + SECRET + "y" * 99
    assert harmless_beginning(text, (SECRET,)) == "x" * (LONGEST - 5) + "…"
    assert harmless_beginning("x" * LONGEST, (SECRET,)) == "x" * LONGEST
    card = sanitize_card(TaskCard(text, text, CardState.DONE, text, text), (SECRET,))
    assert max(map(len, (card.id, card.title, card.details, card.output))) < LONGEST


def test_of_too_many_fields_and_choices_the_reader_is_told_how_many_there_are() -> None:
    many = tuple(Field(f"f{number}", choices=tuple("abcd"), required=True) for number in range(5_000))
    form = result(sanitize_form(Form("Which?", many), (), 2, 3))
    assert form.as_markdown() == (
        "Which?\n\n- **f0** (a, b, c, … and 1 more)\n- **f1** (a, b, c, … and 1 more)\n"
        "- … and 4,998 more, which are not shown here"
    )


def test_a_long_text_is_read_in_steps_of_one_size() -> None:
    text = "<!here> some words. " * 10_000
    assert result(harmless_text(text, ())) == sanitize(text)
    short, long = steps(harmless_text(text[: 2 * SLICE], ())), steps(harmless_text(text, ()))
    assert len(long) > 10
    assert max(long) < 1.1 * max(short)


def test_a_short_form_is_read_in_one_step_and_a_long_one_in_many() -> None:
    def form(size: int) -> Form:
        return Form("p", tuple(Field(f"f{n}", "l" * size, ("c" * size,) * 9) for n in range(50)))

    assert len(steps(sanitize_form(form(3), (), 50, 100))) == 1
    assert len(steps(sanitize_form(form(3_000), (), 50, 100))) > 50
