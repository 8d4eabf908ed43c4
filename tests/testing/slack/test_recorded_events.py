"""Events and presses of the emulated workspace hold what was recorded of Slack's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

import pytest

from slack_bot.testing.slack.rules import CUSTOMIZE, EVERYTHING
from slack_bot.testing.slack.state import Json
from slack_bot.testing.slack.workspace import PersonFile

from .recorded_events import CALLBACK, EVENTS, PRESSES
from .scene import Scene, button, feedback, modal, plain, text
from .shapes import OPAQUE, difference, read_of_what_is_left_out, shape

READ_ELSEWHERE: Mapping[str, str] = {
    "assistant_thread": "the events of Slack's older view of agents, which the workspace does not have",
    "style": "the buttons that the bot writes",
    "upload": "the name of a call that no method is",
}
"""Names of what is not sent that the bot reads in something else, and in what."""
ROW = {"type": "actions", "elements": [button(value="k")]}
FILES = OPAQUE | {"files"}
"""Files are compared where they are answered."""


def _kind(event: Json) -> str:
    """The kind in the table that an event is of."""
    subtype, message = event.get("subtype"), event.get("message") or event.get("previous_message") or {}
    if event["type"] != "message":
        return str(event["type"])
    if message.get("subtype") == "tombstone":
        is_last = event["previous_message"] == []
        return "deletion of the last reply to it" if is_last else "deletion of a root with replies"
    if "agent_session" in message:
        return "another status of a thread"
    return {
        "message_changed": "edit by an app" if "bot_id" in message else "edit by a person",
        "message_deleted": "deletion",
        "file_share": "message of a person with a file",
        "bot_message": "message of an app under another name",
        "thread_broadcast": "reply that the channel sees too",
    }.get(str(subtype), "message of an app" if "bot_id" in event else "message of a person")


def _talk(scene: Scene) -> None:
    """What people and apps write, change and delete."""
    workspace, now = scene.workspace, scene.now
    mention, file = "<@U0BOT> hello", PersonFile("a.txt", b"a")
    for user in ("U1", "U2", "U3"):
        for root in (None, scene.root):
            workspace.say(user, "C1", mention, now=now, thread_ts=root)
            workspace.say(user, "C1", mention, now=now, thread_ts=root, files=[file] if user != "U3" else [])
    workspace.look_at("U1", "C1", now=now)
    workspace.say("U1", scene.direct, "and this?", now=now)
    alert = workspace.alert("U3", "C1", [{"text": "red"}], now=now)
    workspace.alert_again("C1", alert, [{"text": "green"}], now=now)
    said = workspace.say("U1", "C1", mention, now=now, thread_ts=scene.root)
    workspace.edit("C1", said, f"{mention} again", now=now)
    shared = workspace.say("U1", "C1", "see", now=now, thread_ts=scene.root, files=[file])
    workspace.edit("C1", shared, "see this", now=now)
    workspace.react("U2", "C1", said, "eyes", now=now)
    workspace.unreact("U2", "C1", said, "eyes", now=now)
    for ts in (said, alert):
        workspace.delete("C1", ts, now=now)
    root = workspace.say("U1", "C1", "a root", now=now)
    workspace.say("U1", "C1", "a reply", now=now, thread_ts=root)
    workspace.delete_root("C1", root, now=now, with_replies=True)


def _work(scene: Scene) -> None:
    """What the app itself does, and what people do with it."""
    kept = {"metadata": {"event_type": "made", "event_payload": {"turn": "1"}}}
    posted = scene.post(text="one", **kept)
    scene.ok("chat.update", channel="C1", ts=posted, text="two", **kept)
    for icon in ({"icon_emoji": ":robot_face:"}, {}):
        scene.post(text="three", username="Helper", **icon)
    scene.post(text="for all", reply_broadcast=True)
    scene.stop(scene.start(text("four")))
    scene.start(text("five"))
    scene.workspace.stop("U1", "C1", scene.root, now=scene.now)
    scene.workspace.open_home("U1", now=scene.now)
    scene.ok("views.publish", user_id="U1", view={"type": "home", "blocks": [ROW]})
    scene.workspace.open_home("U1", now=scene.now)


@pytest.fixture(scope="module")
def heard() -> dict[str, set[tuple[str, str, str]]]:
    """What the events of each kind hold, in a workspace of an organisation and one of none."""
    found: dict[str, set[tuple[str, str, str]]] = defaultdict(set)
    for enterprise in ("", "E1"):
        scene = Scene(manifest=replace(EVERYTHING, scopes=EVERYTHING.scopes | {CUSTOMIZE}))
        scene.workspace.state.enterprise = enterprise
        _talk(scene)
        _work(scene)
        for envelope in scene.workspace.take():
            event = envelope.payload.pop("event")
            found[_kind(event)] |= set(shape(event, opaque=FILES))
            assert ("event_context" in envelope.payload) == (event["type"] != "app_home_opened")
            found[""] |= {("", "event", "dict"), *shape(envelope.payload)}
    return found


def test_all_kinds_of_events_are_looked_at(heard: dict[str, set[tuple[str, str, str]]]) -> None:
    assert heard.keys() == {"", *EVENTS}


@pytest.mark.parametrize("kind", EVENTS)
def test_each_key_of_an_event_was_seen(kind: str, heard: dict[str, set[tuple[str, str, str]]]) -> None:
    assert difference(heard[kind], EVENTS[kind]) == set()


def test_what_stands_around_an_event_was_seen(heard: dict[str, set[tuple[str, str, str]]]) -> None:
    assert difference(heard[""], CALLBACK) == set()


@pytest.fixture(scope="module")
def pressed() -> dict[str, set[tuple[str, str, str]]]:
    """What presses of each kind hold."""
    found: dict[str, set[tuple[str, str, str]]] = defaultdict(set)
    for enterprise in ("", "E1"):
        scene = Scene()
        scene.workspace.state.enterprise, now = enterprise, scene.now
        workspace = scene.workspace
        kept = {"metadata": {"event_type": "made", "event_payload": {"turn": "1"}}}
        for blocks, action in (([ROW], "retry"), ([feedback()], "feedback")):
            ts = scene.post(text="t", blocks=blocks, **kept)
            one = workspace.press("U1", "C1", ts, action, now=now)
            found["press in a message"] |= set(shape(one.payload))
        alone = {"channel": "C1", "user": "U1", "thread_ts": scene.root, "text": "t", "blocks": [ROW]}
        ts = scene.ok("chat.postEphemeral", **alone)["message_ts"]
        one = workspace.press("U1", "C1", ts, "retry", now=now)
        found["press in a message that one person sees"] |= set(shape(one.payload))
        view = modal(submit=plain("Send"), close=plain("No"), blocks=[ROW])
        opened = scene.ok("views.open", trigger_id=one.payload["trigger_id"], view=view)["view"]
        scene.ok("views.publish", user_id="U1", view={"type": "home", "blocks": [ROW]})
        for one in (
            workspace.press_in_modal("U1", "retry", now=now),
            workspace.press_in_home("U1", "retry", "k", now=now),
        ):
            found["press in a view"] |= set(shape(one.payload))
        sent = workspace.submit_view("U1", opened["id"], {}, now=now)
        found["view_submission"] |= set(shape(sent.payload))
    return found


@pytest.mark.parametrize("kind", PRESSES)
def test_each_key_of_a_press_was_seen(kind: str, pressed: dict[str, set[tuple[str, str, str]]]) -> None:
    assert difference(pressed[kind], PRESSES[kind]) == set()


def test_what_is_not_sent_is_read_by_nobody() -> None:
    """Else the bot would work in the emulated workspace by chance."""
    tables = (CALLBACK, *EVENTS.values(), *PRESSES.values())
    assert read_of_what_is_left_out(tables) == READ_ELSEWHERE.keys()
