"""Forms as blocks and modals: Slack takes them at each limit, and gives back what the agent named."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slack_sdk.models.blocks import Block
from slack_sdk.models.views import View

from slack_bot.slack import forms
from slack_bot.testing.slack import blocks as blockkit
from slack_bot.testing.slack import inputs
from slack_bot.turn.form import (
    Answer,
    Choice,
    Field,
    FieldKind,
    Form,
    FormKind,
    ProposedCall,
    Verdict,
    answer_of,
    check,
)
from slack_bot.turn.open_form import FormAction
from tests.testing.slack.scene import Scene
from tests.testing.slack.test_call_pipeline import ANYTHING
from tests.testing.slack.test_views import trigger

HANDLE = "h" * 32
ENVS = (Choice("development-environment-01", "Dev"), Choice("prod", "Prod"))
ALL = (
    Field("name", "Your name", required=True, most=20.0),
    Field("why", "Why", is_long=True, help="In a sentence or two"),
    Field("count", "How many", FieldKind.NUMBER, is_whole=True, least=1.0, most=9.0, default=2.0),
    Field("sure", "Are you sure?", FieldKind.BOOLEAN, default=False),
    Field("day", "When", FieldKind.DATE, default="2026-12-01"),
    Field("env", "Where", FieldKind.SELECT, ENVS, required=True, default="prod"),
    Field("for", "For whom", FieldKind.MULTI_SELECT, ENVS, default=("prod",)),
    Field("token", "Token", is_secret=True),
)
SIX = Form("Which?", ALL)
CALL = ProposedCall("deploy", "- env: prod", '{"env": "prod"}')
APPROVAL = Form("May I?", kind=FormKind.APPROVAL, calls=(CALL,), may_edit=True, takes_words=False)
LINK = "https://login.example/x"


def ids(blocks: list[dict[str, Any]]) -> list[str]:
    return [control["action_id"] for _, control in blockkit.controls(blocks)]


def view(form: Form, action: FormAction = FormAction.FILL) -> dict[str, Any]:
    return forms.form_view(form, HANDLE, action)


def choices(number: int, label: str = "c") -> tuple[Choice, ...]:
    return tuple(Choice(f"value {at}", f"{label}{at}") for at in range(number))


def select(number: int, label: str = "c", **more: Any) -> Field:
    return Field("f", "F", FieldKind.SELECT, choices(number, label), **more)


EXTREMES = [
    SIX,
    Form("x" * 4_000, (Field("n" * 3_000, "l" * 2_001, help="h" * 2_001),), title="t" * 25),
    Form("", (Field("", " "), Field("a"), Field("b", " \n"), Field("c", "é" * 2_000)), title="\n"),
    Form("", (select(100), select(101), select(1, "x" * 80), select(2, " "))),
    Form("", tuple(Field(f"f{at}") for at in range(95))),
    Form("", tuple(Field(f"f{at}") for at in range(120)), hidden_fields=3),
    Form("", (Field("f", most=3_001.0, least=-1.0, default="d" * 4_000), Field("g", most=0.0))),
    Form("", (Field("f", kind=FieldKind.NUMBER, default=1e300, least=-1e300),), hidden_fields=1),
    Form("", (Field("f", kind=FieldKind.DATE, default="tomorrow"), Field("f", kind=FieldKind.SELECT))),
    Form("", (select(5, default="value 9", required=True, hidden_choices=1),)),
    replace(APPROVAL, calls=(CALL,) * 20),
    replace(APPROVAL, calls=(ProposedCall("\n" * 30, "", "x" * 3_000),)),
    Form("", kind=FormKind.AUTH, url=LINK),
]


@pytest.mark.parametrize("form", EXTREMES)
def test_slack_takes_the_blocks_and_the_modals_of_any_form(form: Form) -> None:
    scene = Scene()
    scene.post(text="t", blocks=[*forms.form_blocks(form, HANDLE), {"type": "divider"}])
    for block in Block.parse_all(forms.form_blocks(form, HANDLE)):
        block.validate_json()
    actions = [FormAction.REJECT, *([FormAction.EDIT] if forms.may_edit(form) else [FormAction.FILL])]
    for action in () if form.is_auth else actions:
        opened = scene.ok("views.open", trigger_id=trigger(scene), view=view(form, action))["view"]
        assert opened["private_metadata"] == HANDLE
        View(**view(form, action)).validate_json()


def test_up_to_three_simple_fields_stand_in_the_message_and_more_in_a_modal() -> None:
    simple = (ALL[0], ALL[3], ALL[6])
    assert ids(forms.form_blocks(Form("", simple), HANDLE)) == ["form_send"]
    assert len(list(blockkit.inputs(forms.form_blocks(Form("", simple), HANDLE)))) == len(simple)
    for fields in ((*simple, ALL[4]), (ALL[1],), (ALL[2],), (ALL[7],)):
        assert ids(forms.form_blocks(Form("", fields), HANDLE)) == ["form_fill"]
    assert ids(forms.form_blocks(Form("", simple, hidden_fields=1), HANDLE)) == ["form_fill"]


def test_few_choices_are_buttons() -> None:
    def shown(field: Field) -> list[str]:
        return ids(forms.form_blocks(Form("", (field,)), HANDLE))

    assert shown(ALL[3]) == ["form_choose-0", "form_choose-1"]
    assert shown(select(5, required=True)) == [f"form_choose-{at}" for at in range(5)]
    assert shown(select(6, required=True)) == shown(select(5)) == ["form_send"]
    assert forms.chosen(Form("", (ALL[3],)), "1") == {"sure": False}
    assert forms.chosen(Form("", (select(5, required=True),)), "4") == {"f": "value 4"}
    for number in ("5", "-1", "x", ""):
        assert forms.chosen(Form("", (select(5, required=True),)), number) == {}


def test_an_approval_has_an_edit_only_where_it_fits() -> None:
    assert ids(forms.form_blocks(APPROVAL, HANDLE)) == ["form_approve", "form_edit", "form_reject"]
    long = ProposedCall("deploy", "", json.dumps({"text": "x" * 3_000}))
    for form in (replace(APPROVAL, may_edit=False), replace(APPROVAL, calls=(long,))):
        assert ids(forms.form_blocks(form, HANDLE)) == ["form_approve", "form_reject"]


def filled(form: Form, **given: inputs.Filled) -> dict[str, Any]:
    """`state.values` after a person has filled in inputs by their labels."""
    shown = blockkit.with_ids(Scene().workspace.state, view(form)["blocks"])
    values = inputs.begun(shown)
    for label, value in given.items():
        inputs.fill(shown, values, label, value)
    return values


def test_what_was_filled_in_has_the_names_and_values_of_the_agent() -> None:
    untouched = {"count": 2.0, "sure": False, "day": "2026-12-01", "env": "prod", "for": ("prod",)}
    assert forms.values_of(SIX, filled(SIX)) == untouched
    values = filled(
        SIX,
        **{"Your name": "Ann", "How many": "7", "Are you sure?": "Yes", "When": "2026-12-24", "Where": "Dev"},
        **{"For whom": ["Dev", "Prod"], "Token": "s3cret", "Why": "because\nof it"},
    )
    found = answer_of(SIX, forms.values_of(SIX, values))
    assert check(SIX, found) == {}
    assert found.values == {
        "name": "Ann",
        "why": "because\nof it",
        "count": 7.0,
        "sure": True,
        "day": "2026-12-24",
        "env": "development-environment-01",
        "for": ("development-environment-01", "prod"),
    }
    assert found.secrets == {"token": "s3cret"}


def test_what_is_wrong_stands_under_its_input() -> None:
    faults = check(SIX, answer_of(SIX, {"count": 10.0}))
    assert forms.errors_by_block(SIX, faults) == {
        "field-0": "This is needed. Write a text.",
        "field-2": "At most 9.",
        "field-5": "This is needed. Choose one of the list.",
    }
    bad = check(APPROVAL, Answer(verdict=Verdict.APPROVE, arguments="[1]"))
    assert forms.errors_by_block(APPROVAL, bad) == {"arguments": "This is not a JSON object."}


@given(ANYTHING, st.integers(0, 7))
def test_no_state_makes_the_reading_raise(garbage: Any, number: int) -> None:
    for state in (garbage, {f"field-{number}": garbage}, {f"field-{number}": {"field": garbage}}):
        given_state = state if isinstance(state, dict) else {}
        forms.values_of(SIX, given_state)
        assert isinstance(forms.reason_of(given_state) + forms.edited({"arguments": garbage}), str)


def words(blocks: list[dict[str, Any]]) -> str:
    return "\n".join(map(blockkit.plain, blocks))


def test_the_record_says_who_answered_what_and_no_secret() -> None:
    values = {"name": "x" * 300, "sure": True, "for": ("prod",), "count": 7.0, "token": "s3cret"}
    shown = forms.record_of(SIX, answer_of(SIX, values), "U1", 1700000000.9)
    Scene().post(text="t", blocks=shown)
    assert words(shown) == "\n".join(
        [
            "<@U1> answered · <!date^1700000000^{date_short_pretty} {time}|then>",
            f"Your name: {'x' * 199}…",
            "How many: 7",
            "Are you sure?: Yes",
            "For whom: Prod",
            "Token: ••••",
        ]
    )


@pytest.mark.parametrize(
    ("answer", "did"),
    [
        (None, "answered in this thread"),
        (Answer(verdict=Verdict.APPROVE), "approved this"),
        (Answer(verdict=Verdict.APPROVE, arguments='{"a": 1}'), "approved this with changes"),
        (Answer(verdict=Verdict.REJECT, reason="<!channel> no"), "rejected this"),
    ],
)
def test_the_record_of_a_decision(answer: Answer | None, did: str) -> None:
    first, *rest = forms.record_of(APPROVAL, answer, "<!channel>", 1.0)
    assert first["elements"][0]["text"].startswith(f"Somebody {did} ·")
    assert all(each["elements"][0]["type"] == "plain_text" for each in rest)


def test_a_long_record_is_cut() -> None:
    many = Form("", tuple(Field(f"f{at}") for at in range(15)))
    shown = forms.record_of(many, answer_of(many, {f"f{at}": "v" for at in range(15)}), "U1", 1.0)
    assert words(shown).endswith("… and 5 more")


def test_where_blocks_are_refused_the_fields_are_a_text() -> None:
    text = forms.words_of(SIX)
    assert "Where (Dev, Prod)" in text.replace("**", "")
    assert "Which?" not in text
    assert text.endswith("This cannot be answered here. Write “stop” to end it.")  # it asks for a token
    assert forms.words_of(APPROVAL) == "This cannot be answered here. Write “stop” to end it."


@pytest.mark.parametrize(
    ("url", "host", "is_given"),
    [
        (LINK, "login.example", True),
        ("https://LOGIN.example:8443/x?y=z", "login.example:8443", True),
        ("https://bücher.example/", "xn--bcher-kva.example", True),
        ("http://login.example/", "", False),
        ("javascript:alert(1)", "", False),
        ("https://google.com@evil.example/", "evil.example", False),
        ("https://evil.example/\u202ex", "evil.example", False),
        ("https://exa mple.com/", "", False),
        ("https://[::1]/", "", False),
        ("https://login.example:99999/", "", False),
        ("https://" + "a" * 70 + ".example/", "", False),
        ("https:///x", "", False),
        ("https://login.example/" + "x" * 3_000, "login.example", False),
    ],
)
def test_a_link_is_passed_on_if_its_host_is_plain(url: str, host: str, is_given: bool) -> None:
    found = forms.sign_in(url, ())
    assert (found.host, bool(found.url)) == (host, is_given)
    text, blocks = forms.sign_in_blocks(found, is_known=False)
    Scene().post(text=text, blocks=blocks)
    assert (host if is_given else found.why) in text


@pytest.mark.parametrize(
    ("url", "is_given"),
    [
        ("https://login.acme.com/x", True),
        ("https://sso.corp.example/", True),
        ("https://corp.example/", False),
        ("https://evilcorp.example/", False),
        ("https://login.acme.com.evil.example/", False),
        ("https://acme.com/", False),
    ],
)
def test_only_hosts_that_are_allowed(url: str, is_given: bool) -> None:
    found = forms.sign_in(url, ("login.acme.com", ".corp.example"))
    assert bool(found.url) == is_given


@pytest.mark.parametrize(
    ("title", "shown"), [("Plan a release", ["Say what."]), ("t" * 25, ["t" * 25 + "\n\nSay what."])]
)
def test_a_modal_repeats_its_title_only_where_it_is_cut(title: str, shown: list[str]) -> None:
    opened = view(Form("Say what.", (Field("a"),), title=title))
    assert [block["text"]["text"] for block in opened["blocks"] if block["type"] == "section"] == shown


def test_an_approval_says_whose_decision_it_waits_for() -> None:
    def said(*people: str) -> str:
        block = forms.hint_block(APPROVAL, has_controls=True, answerers=people)
        return str(block["elements"][0]["text"])

    assert said("U1") == "The agent waits for the decision of <@U1>."
    assert said("U1", "U2") == "The agent waits for the decision of <@U1> or <@U2>."
    assert said() == said(*map(str, range(6))) == "The agent waits for a decision."
