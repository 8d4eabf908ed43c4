"""What people fill in: in a message, each for themselves, and in a modal, which may come back with errors."""

from __future__ import annotations

from typing import Any

import pytest

from slack_bot.testing.slack.inputs import mistakes
from slack_bot.testing.slack.workspace import Envelope

from .scene import Scene, button, modal, plain
from .test_views import text_input, trigger


def option(label: str) -> dict[str, Any]:
    return {"text": plain(label), "value": label.lower()}


def field(kind: str, label: str, **more: Any) -> dict[str, Any]:
    element = {"type": kind, "action_id": "field", **more}
    return {"type": "input", "block_id": label, "label": plain(label), "element": element}


OPTIONS = [option("Dev"), option("Prod")]
FIELDS = [
    field("plain_text_input", "Why", max_length=10),
    field("number_input", "How many", is_decimal_allowed=False, min_value="1", max_value="9"),
    field("datepicker", "When", initial_date="2026-01-31"),
    field("static_select", "Where", options=OPTIONS, initial_option=OPTIONS[0]),
    field("multi_static_select", "For", options=OPTIONS),
    field("checkboxes", "Sure", options=OPTIONS),
    field("radio_buttons", "Way", options=OPTIONS),
]


def opened(scene: Scene, *blocks: dict[str, Any], user: str = "U1") -> dict[str, Any]:
    view = modal(blocks=list(blocks), submit=plain("Send"), callback_id="form")
    return dict(scene.ok("views.open", trigger_id=trigger(scene), view=view)["view"])


def sent(scene: Scene, answer: Any = None) -> Envelope:
    envelope = scene.workspace.submit("U1", now=scene.now)
    scene.workspace.answered(envelope, answer)
    return envelope


def test_a_press_brings_what_its_person_filled_in() -> None:
    scene = Scene()
    ts = scene.post(text="t", blocks=[*FIELDS, {"type": "actions", "elements": [button()]}])
    for label, given in (("Why", "so"), ("Where", "Prod"), ("For", ["Dev", "Prod"])):
        scene.workspace.fill("U1", "C1", ts, label, given, now=scene.now)
    scene.workspace.take()
    values = scene.workspace.press("U1", "C1", ts, "retry", now=scene.now).payload["state"]["values"]
    assert values["Why"]["field"] == {"type": "plain_text_input", "value": "so"}
    assert values["When"]["field"]["selected_date"] == "2026-01-31"
    assert values["Where"]["field"]["selected_option"] == OPTIONS[1]
    assert values["For"]["field"]["selected_options"] == OPTIONS
    assert values["Way"]["field"]["selected_option"] is None
    others = scene.workspace.press("U2", "C1", ts, "retry", now=scene.now).payload["state"]["values"]
    assert others["Where"]["field"]["selected_option"] == OPTIONS[0]


@pytest.mark.parametrize(
    ("limits", "given", "said"),
    [
        ({}, None, "Please complete this required field: write a number."),
        ({}, "many", "Must be a number."),
        ({}, "2.5", "Must be a whole number."),
        ({"min_value": "1"}, "0", "Must be a whole number: at least 1."),
        ({"min_value": "1", "max_value": "9"}, "10", "Must be a whole number: at least 1, at most 9."),
        ({"is_decimal_allowed": True, "max_value": "9"}, "9.5", "Must be a number: at most 9."),
    ],
)
def test_what_slack_s_client_complains_of_says_what_is_wanted(
    limits: dict[str, Any], given: str | None, said: str
) -> None:
    asked = field("number_input", "How many", **{"is_decimal_allowed": False, **limits})
    values = {"How many": {"field": {"type": "number_input", "value": given}}}
    assert mistakes([asked], values) == {"How many": said}


def test_the_app_hears_of_a_choice_that_is_in_no_input_block() -> None:
    scene = Scene()
    element = {"type": "static_select", "action_id": "where", "options": OPTIONS}
    ts = scene.post(text="t", blocks=[{"type": "actions", "elements": [element]}])
    scene.workspace.take()
    scene.workspace.fill("U1", "C1", ts, "where", "Prod", now=scene.now)
    (envelope,) = scene.workspace.take()
    assert envelope.payload["actions"][0]["selected_option"] == OPTIONS[1]


def told(scene: Scene) -> list[dict[str, Any]]:
    """The actions that the app is told of, each with what its view holds then."""
    payloads = [envelope.payload for envelope in scene.workspace.take()]
    assert all(each["type"] == "block_actions" and each["trigger_id"] for each in payloads)
    return [{**each["actions"][0], "now": each["view"]["state"]["values"]} for each in payloads]


def test_the_app_hears_of_a_choice_in_a_modal_that_is_in_no_input_block_or_dispatches() -> None:
    scene = Scene()
    where = {"type": "static_select", "action_id": "where", "options": OPTIONS}
    opened(
        scene,
        {"type": "actions", "block_id": "places", "elements": [where]},
        {**field("radio_buttons", "Way", options=OPTIONS), "dispatch_action": True},
        text_input("a"),
    )
    scene.workspace.take()
    for label, given in (("a", "x"), ("where", "Prod"), ("Way", "Dev"), ("where", "Dev")):
        scene.workspace.fill_modal("U1", label, given, now=scene.now)
    where_first, way, where_last = told(scene)
    assert (where_first["block_id"], where_first["action_id"]) == ("places", "where")
    assert where_first["selected_option"] == where_first["now"]["places"]["where"]["selected_option"]
    assert where_first["selected_option"] == OPTIONS[1]
    assert (way["block_id"], way["selected_option"]) == ("Way", OPTIONS[0])
    assert where_last["selected_option"] == OPTIONS[0]
    assert where_last["now"]["a"]["field"]["value"] == "x"


def test_the_app_hears_of_a_button_in_a_modal_that_stays_open() -> None:
    scene = Scene()
    view = opened(scene, text_input("a"), {"type": "actions", "elements": [button()]})
    scene.workspace.take()
    pressed = scene.workspace.press_in_modal("U1", "retry", now=scene.now)
    assert pressed.payload["container"] == {"type": "view", "view_id": view["id"]}
    (action,) = told(scene)
    assert (action["action_id"], action["type"]) == ("retry", "button")
    assert scene.workspace.modal("U1") == view
    with pytest.raises(LookupError):
        scene.workspace.press_in_modal("U1", "nothing", now=scene.now)
    with pytest.raises(LookupError):
        scene.workspace.press_in_modal("U2", "retry", now=scene.now)


@pytest.mark.parametrize(("label", "given"), [("Nothing", "x"), ("Where", "Mars")])
def test_a_person_fills_in_only_what_is_there(label: str, given: str) -> None:
    scene = Scene()
    ts = scene.post(text="t", blocks=FIELDS)
    with pytest.raises(LookupError):
        scene.workspace.fill("U1", "C1", ts, label, given, now=scene.now)


@pytest.mark.parametrize(
    ("label", "given"),
    [("Why", None), ("Why", "x" * 11), ("How many", "many"), ("How many", "10"), ("How many", "1.5")],
)
def test_the_client_does_not_send_what_is_incomplete(label: str, given: str | None) -> None:
    scene = Scene()
    opened(scene, *FIELDS[:2])
    scene.workspace.fill_modal("U1", "Why", "so", now=scene.now)
    scene.workspace.fill_modal("U1", "How many", "3", now=scene.now)
    scene.workspace.fill_modal("U1", label, given, now=scene.now)
    with pytest.raises(ValueError, match=label):
        scene.workspace.submit("U1", now=scene.now)


def test_a_modal_that_was_sent_stays_with_its_errors_and_closes_without() -> None:
    scene = Scene()
    view = opened(scene, text_input("a"), text_input("b", optional=True))
    scene.workspace.fill_modal("U1", "a", "x", now=scene.now)
    values = sent(scene, {"response_action": "errors", "errors": {"a": "No."}}).payload["view"]["state"]
    assert values["values"]["a"]["field"]["value"] == "x"
    assert scene.workspace.modal_errors("U1") == {"a": "No."}
    sent(scene, "")
    assert (scene.workspace.modal("U1"), scene.workspace.modal_errors("U1")) == (None, {})
    assert view["id"] not in scene.workspace.state.views


@pytest.mark.parametrize("answer", [{"c": "No."}, {}, {"a": ""}])
def test_errors_belong_to_inputs(answer: dict[str, str]) -> None:
    scene = Scene()
    opened(scene, text_input("a"))
    scene.workspace.fill_modal("U1", "a", "x", now=scene.now)
    with pytest.raises(ValueError, match="errors"):
        sent(scene, {"response_action": "errors", "errors": answer})


def test_a_modal_is_its_person_s() -> None:
    scene = Scene()
    opened(scene, text_input("a"))
    with pytest.raises(LookupError):
        scene.workspace.submit("U2", now=scene.now)
    scene.workspace.close_modal("U1")
    assert scene.workspace.modal("U1") is None


@pytest.mark.parametrize(
    "element",
    [
        {"type": "static_select", "options": []},
        {"type": "static_select", "options": [option(str(n)) for n in range(101)]},
        {"type": "static_select", "options": [option("x" * 76)]},
        {"type": "static_select", "options": [{"text": plain("x"), "value": "x" * 151}]},
        {"type": "static_select", "options": OPTIONS, "initial_option": option("Other")},
        {"type": "checkboxes", "options": [option(str(n)) for n in range(11)]},
        {"type": "plain_text_input", "max_length": 3_001},
        {"type": "plain_text_input", "placeholder": plain("x" * 151)},
        {"type": "number_input"},
        {"type": "number_input", "is_decimal_allowed": True, "initial_value": 3},
        {"type": "number_input", "is_decimal_allowed": True, "min_value": "low"},
        {"type": "datepicker", "initial_date": "31.1.2026"},
        {"type": "button", "text": plain("No input"), "action_id": "a"},
    ],
)
def test_inputs_that_are_refused(element: dict[str, Any]) -> None:
    block = {"type": "input", "label": plain("l"), "element": element}
    assert Scene().error("chat.postMessage", channel="C1", text="t", blocks=[block]) == "invalid_blocks"


def test_inputs_at_their_limits() -> None:
    options = [{"text": plain("x" * 75), "value": "x" * 150}, *(option(str(n)) for n in range(99))]
    element = {"type": "static_select", "options": options}
    block = {"type": "input", "label": plain("l" * 2_000), "hint": plain("h" * 2_000), "element": element}
    ts = Scene().post(text="t", blocks=[block, *FIELDS])
    assert ts
