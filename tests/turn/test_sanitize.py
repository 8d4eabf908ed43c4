"""What an agent sends beside its text is made harmless too: cards and forms."""

from collections.abc import Generator
from dataclasses import replace
from typing import TypeVar

from hypothesis import given
from hypothesis import strategies as st

from slack_bot.text.masking import MASK
from slack_bot.text.sanitize import (
    LONGEST,
    SLICE,
    sanitize,
    sanitize_beginning,
    sanitize_in_steps,
)
from slack_bot.turn.actions import CardState, TaskCard
from slack_bot.turn.extras import NextQuestion
from slack_bot.turn.form import Choice, Field, Form, ProposedCall
from slack_bot.turn.sanitize import sanitize_card, sanitize_form, sanitize_questions
from tests.turn.work import steps

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
    card = TaskCard("t1", f"Search {SECRET}", CardState.ERROR, details=f"<!channel>{SECRET}\n")
    shown = TaskCard("t1", f"Search {MASK}", CardState.ERROR, details=f"&lt;!channel>{MASK}\n")
    assert sanitize_card(card, (SECRET,)) == shown
    assert (
        sanitize_card(TaskCard(f"\ud83d {SECRET}", "Search", CardState.DONE), (SECRET,)).id
        == f"\ufffd {MASK}"
    )


def test_a_form() -> None:
    choices = Choice("a"), Choice(SECRET), Choice("b", f"B {SECRET}"), Choice("\ud83d")
    field = Field(f"n {SECRET}", "", choices=choices, help=f"h {SECRET}", default="a")
    own = Field("own", default=SECRET)
    call = ProposedCall(f"c {SECRET}", f"d {SECRET}", "{}")
    form = Form(
        f"p {SECRET}",
        (field, own, Field("\ud83d")),
        "<@U1> asks",
        calls=(call,),
        may_edit=True,
        url="https://a.b",
    )
    shown = result(sanitize_form(form, (SECRET,), 9, 9))
    assert shown == replace(
        form,
        prompt=f"p {MASK}",
        title="&lt;@U1> asks",
        fields=(
            replace(
                field,
                label=f"n {MASK}",
                help=f"h {MASK}",
                choices=(Choice("a", "a"), Choice(SECRET, MASK), Choice("b", f"B {MASK}")),
                hidden_choices=1,
            ),
            Field("own", "own"),
        ),
        hidden_fields=1,
        calls=(ProposedCall(f"c {MASK}", f"d {MASK}", "{}"),),
    )
    assert SECRET not in shown.as_markdown()


def test_what_would_be_lost_by_a_change_is_not_offered_for_one() -> None:
    call = ProposedCall("run", "", f'{{"key": "{SECRET}"}}')
    form = result(
        sanitize_form(Form("", calls=(call,), may_edit=True, url=f"https://a.b/{SECRET}"), (SECRET,), 9, 9)
    )
    assert not form.may_edit
    assert form.url == ""


def test_a_very_long_text_is_cut_and_never_within_a_secret() -> None:
    text = "x" * (LONGEST - 5) + SECRET + "y" * 99
    assert sanitize_beginning(text, (SECRET,)) == "x" * (LONGEST - 5) + "…"
    assert sanitize_beginning("x" * LONGEST, (SECRET,)) == "x" * LONGEST
    card = sanitize_card(TaskCard(text, text, CardState.DONE, text), (SECRET,))
    assert max(map(len, (card.id, card.title, card.details))) < LONGEST


def test_of_too_many_fields_and_choices_the_reader_is_told_how_many_there_are() -> None:
    many = tuple(
        Field(f"f{number}", choices=tuple(map(Choice, "abcd")), required=True) for number in range(5_000)
    )
    form = result(sanitize_form(Form("Which?", many), (), 2, 3))
    assert form.as_markdown() == (
        "Which?\n\n- **f0** (a, b, c, … and 1 more)\n- **f1** (a, b, c, … and 1 more)\n"
        "- … and 4,998 more, which are not shown here"
    )


def test_a_long_text_is_read_in_steps_of_one_size() -> None:
    text = "<!here> some words. " * 10_000
    assert result(sanitize_in_steps(text, ())) == sanitize(text)
    short, long = steps(sanitize_in_steps(text[: 2 * SLICE], ())), steps(sanitize_in_steps(text, ()))
    assert len(long) > 10
    assert max(long) < 1.1 * max(short)


def test_a_short_form_is_read_in_one_step_and_a_long_one_in_many() -> None:
    def form(size: int) -> Form:
        return Form(
            "p", tuple(Field(f"f{n}", "l" * size, choices=(Choice("c", "c" * size),) * 9) for n in range(50))
        )

    assert len(steps(sanitize_form(form(3), (), 50, 100))) == 1
    assert len(steps(sanitize_form(form(3_000), (), 50, 100))) > 50
    assert result(sanitize_form(form(3_000), (), 50, 100)) == form(3_000)


@given(st.lists(st.builds(NextQuestion, st.text(), st.text())))
def test_a_suggested_question_is_shown_as_it_was_sent_or_not_at_all(suggested: list[NextQuestion]) -> None:
    kept = sanitize_questions(suggested, (SECRET,))
    assert len({each.text for each in kept}) == len(kept)
    sent = {" ".join(each.text.split()) for each in suggested}
    for each in kept:
        assert each.text in sent and sanitize(each.text, (SECRET,)) == each.text
        assert sanitize(each.label, (SECRET,)) == each.label


def test_a_suggested_question_with_a_secret_or_a_mention() -> None:
    bad = NextQuestion(f"x {SECRET}"), NextQuestion("<!here> x"), NextQuestion("x" * 1_001), NextQuestion(" ")
    good = NextQuestion("What\nnow?", "<@U1>")
    assert sanitize_questions((*bad, good, good), (SECRET,)) == (NextQuestion("What now?"),)
