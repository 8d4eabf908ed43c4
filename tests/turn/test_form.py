"""A form reads well, an answer is checked by field, and both survive the store, without their secrets."""

from __future__ import annotations

import time
from typing import Any

import pytest
from pydantic import TypeAdapter

from slack_bot.turn.form import (
    Answer,
    Choice,
    Field,
    FieldKind,
    Form,
    FormKind,
    ProposedCall,
    ReplyFormat,
    Verdict,
    answer_of,
    check,
    number_of,
)

SIZES = (Choice("s", "Small"), Choice("l", "Large"))
SIZE = Field("size", "Size", FieldKind.SELECT, SIZES, required=True)
TAGS = Field("tags", "Tags", FieldKind.MULTI_SELECT, SIZES, least=1, most=1)
COUNT = Field("count", "", FieldKind.NUMBER, is_whole=True, least=1, most=1_000)
NAME = Field("name", "", least=2, most=5)
CODE = Field("code", "", pattern="^[A-Z]+-[0-9]+$")
DAY = Field("day", "", FieldKind.DATE)
SURE = Field("sure", "", FieldKind.BOOLEAN, required=True)
KEY = Field("key", "", is_secret=True)
APPROVAL = Form("Delete?", kind=FormKind.APPROVAL, calls=(ProposedCall("delete", "- **n**: 3", '{"n": 3}'),))


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (Form("Which one?"), "Which one?"),
        (Form("Which one?", title="Deploy"), "**Deploy**\n\nWhich one?"),
        (Form(""), "The agent needs your input."),
        (Form("", kind=FormKind.AUTH), "The agent needs a sign-in."),
        (APPROVAL, "Delete?\n\n**delete**\n- **n**: 3"),
        (
            Form(
                "", (Field("size", "Size", choices=SIZES, required=True, help="of it"), Field("n", help="n"))
            ),
            "- **Size**: of it (Small, Large)\n- **n** – optional",
        ),
        (
            Form("", (Field("size", choices=SIZES, required=True, hidden_choices=1_200),), hidden_fields=3),
            "- **size** (Small, Large, … and 1,200 more)\n- … and 3 more, which are not shown here",
        ),
    ],
)
def test_a_question_as_a_person_reads_it(form: Form, text: str) -> None:
    assert form.as_markdown() == text


@pytest.mark.parametrize(
    ("field", "good", "bad", "sentence"),
    [
        (SIZE, "s", "Small", "Choose one of the list."),
        (SIZE, "s", None, "This is needed. Choose one of the list."),
        (TAGS, ("s",), ("s", "l"), "At most 1 choices."),
        (TAGS, (), ("x",), "Choose from the list."),
        (COUNT, 1000.0, 1_001.0, "At most 1,000."),
        (COUNT, 1.0, 0.0, "At least 1."),
        (COUNT, 2.0, 2.5, "Write a whole number."),
        (COUNT, 2.0, "many", "Write a number."),
        (COUNT, None, float("nan"), "Write a number."),
        (COUNT, 2.0, True, "Write a number."),
        (NAME, "ab", "a", "At least 2 characters."),
        (NAME, "abcde", "abcdef", "At most 5 characters."),
        (NAME, "ab", 3.0, "Write a text."),
        (CODE, "AB-1", "AB", "This is not written as it was asked for."),
        (DAY, "2026-11-22", "2026-02-30", "Write a date as YYYY-MM-DD."),
        (DAY, "", "20261122", "Write a date as YYYY-MM-DD."),
        (SURE, False, "yes", "Choose yes or no."),
        (KEY, "x", None, ""),
    ],
)
def test_each_field_says_what_is_wrong_with_it(field: Field, good: Any, bad: Any, sentence: str) -> None:
    form = Form("", (field,))
    assert check(form, answer_of(form, {} if good is None else {field.name: good})) == {}
    faults = check(form, answer_of(form, {} if bad is None else {field.name: bad}))
    assert faults == ({field.name: sentence} if sentence else {})


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+$", "a|b", "^a*a*a*a*b$", "a*a*a*$", "[", "x{99999999999999999999}", "y" * 300],
    ids=range(7),
)
def test_a_pattern_that_may_be_slow_or_is_none_is_left_to_the_agent(pattern: str) -> None:
    form = Form("", (Field("t", pattern=pattern),))
    begun = time.process_time()
    assert check(form, Answer({"t": "a" * 255})) == {}
    assert time.process_time() - begun < 5.0


def test_an_approval_is_decided_and_its_arguments_are_an_object() -> None:
    editable = Form("", kind=FormKind.APPROVAL, calls=APPROVAL.calls, may_edit=True)
    assert check(APPROVAL, Answer(verdict=Verdict.REJECT, reason="no")) == {}
    assert check(editable, Answer(verdict=Verdict.APPROVE, arguments='{"n": 2}')) == {}
    for arguments in ("[2]", "{", "[" * 100_000):
        assert "arguments" in check(editable, Answer(verdict=Verdict.APPROVE, arguments=arguments))
    assert "arguments" in check(APPROVAL, Answer(verdict=Verdict.APPROVE, arguments="{}"))
    assert check(APPROVAL, Answer())


def test_a_number_as_people_type_it() -> None:
    assert number_of(" 2,5 ") == 2.5
    assert number_of("two") == "two"


def test_a_form_comes_back_from_json_as_it_was() -> None:
    fields = (SIZE, TAGS, COUNT, CODE, Field("b", kind=FieldKind.BOOLEAN, default=True), KEY)
    fields += (
        Field("m", kind=FieldKind.MULTI_SELECT, choices=SIZES, default=("s",)),
        Field("d", default=1.5),
    )
    form = Form(
        "p", fields, "t", calls=APPROVAL.calls, reply=ReplyFormat("strands", '["1"]'), url="https://a.b"
    )
    adapter = TypeAdapter(Form)
    assert adapter.validate_json(adapter.dump_json(form)) == form


def test_an_answer_that_was_stored_has_all_but_its_secrets() -> None:
    form = Form("", (SIZE, TAGS, COUNT, SURE, KEY, Field("other", is_secret=True)))
    values = {"size": "s", "tags": ("s",), "count": 2.0, "sure": False, "key": "hunter2", "other": ""}
    answer = answer_of(form, values)
    assert not answer.has_lost_secrets
    assert "hunter2" not in repr(answer)
    adapter = TypeAdapter(Answer)
    text = adapter.dump_json(answer, exclude={"secrets"})
    assert b"hunter2" not in text
    stored = adapter.validate_json(text)
    assert stored.values == answer.values
    assert type(stored.values["sure"]) is bool
    assert stored.has_lost_secrets
    assert stored.secret_names == ("key",)


def test_all_that_is_wrong_is_said_at_once_in_each_field() -> None:
    form = Form(
        "",
        (
            Field("code", "", pattern="^[A-Z]+-[0-9]+$", least=8),
            Field("count", "", kind=FieldKind.NUMBER, is_whole=True, most=3),
            Field("who", "", required=True),
        ),
    )
    assert check(form, Answer({"code": "x-1", "count": 4.5})) == {
        "code": "At least 8 characters. This is not written as it was asked for.",
        "count": "Write a whole number. At most 3.",
        "who": "This is needed. Write a text.",
    }
