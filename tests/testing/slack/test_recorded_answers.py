"""The emulated workspace answers what was recorded of Slack: no key of its own, and none of another type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from slack_bot.testing.slack.rules import CUSTOMIZE, EVERYTHING, METHODS
from slack_bot.testing.slack.state import Json
from slack_bot.testing.slack.workspace import CONFIG_TOKEN, PersonFile

from .recorded_answers import RECORDED
from .scene import U1, Scene, button, modal, plain, text
from .shapes import difference, read_of_what_is_left_out, shape

READ_ELSEWHERE: Mapping[str, str] = {
    "content": "the bytes of a file, in an answer of our own",
    "oldest": "an argument of conversations.history",
    "permalink": "what the bot itself tells agents and programs",
    "upload": "the name of a call that no method is",
}
"""Names of what is not answered that the bot reads in something else, and in what."""


def _mark(scene: Scene) -> Iterator[tuple[str, Json]]:
    """Calls about messages."""
    look = {"username": "Helper", "icon_emoji": ":robot_face:"}
    kept = {"metadata": {"event_type": "made", "event_payload": {"turn": "1"}}}
    ts = scene.start(text("**one**"), task_display_mode="timeline")
    yield "chat.startStream", {"channel": "C1", "thread_ts": scene.root, **U1}
    yield "chat.appendStream", {"channel": "C1", "ts": ts, "chunks": [text("two")]}
    yield "chat.stopStream", {"channel": "C1", "ts": ts}
    posted = scene.post(text="three", **kept)
    for named in (look, {}):
        yield "chat.postMessage", {"channel": "C1", "thread_ts": scene.root, "text": "a", **named, **kept}
    yield "chat.update", {"channel": "C1", "ts": posted, "text": "four", **kept}
    yield "reactions.add", {"channel": "C1", "timestamp": posted, "name": "eyes"}
    read = {"include_all_metadata": True}
    for root in (None, scene.root):
        scene.workspace.say("U1", "C1", "more", now=scene.now, thread_ts=root, files=["a.txt"])
        scene.workspace.alert("U3", "C1", [{"text": "red"}], now=scene.now, thread_ts=root)
    yield "conversations.replies", {"channel": "C1", "ts": scene.root, **read}
    top = scene.ok("chat.postMessage", channel="C1", text="top", **look, **kept)["ts"]
    scene.ok("chat.update", channel="C1", ts=top, text="new top")
    scene.ok("reactions.add", channel="C1", timestamp=top, name="eyes")
    scene.post(text="for all", reply_broadcast=True)
    yield "conversations.history", {"channel": "C1", **read}
    yield "reactions.remove", {"channel": "C1", "timestamp": posted, "name": "eyes"}
    yield "chat.delete", {"channel": "C1", "ts": posted}
    yield "chat.postEphemeral", {"channel": "C1", "user": "U1", "text": "for you"}


def _conversations(scene: Scene) -> Iterator[tuple[str, Json]]:
    """Calls about people, channels, sessions and the app."""
    state = scene.workspace.state
    state.enterprise = "E1"
    scene.workspace.add_user("U5", "eve", email="eve@example.com", enterprise="E1")
    scene.workspace.add_group("S1", "U1")
    thread = {"channel_id": "C1", "thread_ts": scene.root}
    yield "auth.test", {}
    yield "apps.connections.open", {}
    yield "apps.manifest.export", {"app_id": state.bot.app_id}
    yield "bots.info", {"bot": state.bot.bot_id}
    for channel in ("C1", scene.direct):
        yield "conversations.info", {"channel": channel}
    yield "conversations.open", {"users": "U1"}
    for user in ("U1", "U2", "U3", "U5"):
        yield "users.info", {"user": user, "include_locale": True}
    yield "users.lookupByEmail", {"email": "eve@example.com"}
    yield "usergroups.users.list", {"usergroup": "S1"}
    yield "agents.sessions.setStatus", {**thread, "status": "active", "title": "A question"}
    yield "agents.sessions.rename", {**thread, "title": "Another name"}
    yield "assistant.threads.setStatus", {**thread, "status": "thinks"}
    yield "assistant.threads.setTitle", {**thread, "title": "A title"}
    prompts = [{"title": "Why?", "message": "Why is that so?"}]
    yield "assistant.threads.setSuggestedPrompts", {**thread, "prompts": prompts}


def _views_and_files(scene: Scene) -> Iterator[tuple[str, Json]]:
    """Calls about modals, the Home tab and files."""
    blocks = [{"type": "actions", "elements": [button()]}]

    def trigger() -> str:
        ts = scene.post(text="t", blocks=blocks)
        return str(scene.workspace.press("U1", "C1", ts, "retry", now=scene.now).payload["trigger_id"])

    flags = {"clear_on_close": True, "notify_on_close": True}
    whole = modal(external_id="mine", submit=plain("Send"), close=plain("No"), **flags)
    yield "views.open", {"trigger_id": trigger(), "view": whole}
    yield "views.update", {"external_id": "mine", "view": whole}
    yield "views.push", {"trigger_id": trigger(), "view": {**whole, "external_id": "second"}}
    yield "views.publish", {"user_id": "U1", "view": {"type": "home", "blocks": blocks}}
    shared = scene.workspace.say("U1", "C1", "", now=scene.now, files=[PersonFile("a.txt", b"abc")])
    (file,) = scene.workspace.state.messages["C1"][shared].files
    yield "files.info", {"file": file["id"]}
    yield "files.delete", {"file": file["id"]}
    yield "files.getUploadURLExternal", {"filename": "b.txt", "length": 1}
    told = scene.ok("files.getUploadURLExternal", filename="c.txt", length=1)
    scene.workspace.receive_file(told["file_id"], b"x")
    files = [{"id": told["file_id"], "title": "C"}]
    yield "files.completeUploadExternal", {"files": files, "channel_id": "C1", "thread_ts": scene.root}


@pytest.fixture(scope="module")
def answered() -> dict[str, set[tuple[str, str, str]]]:
    """What each method answered, in a workspace with people, files, forms and threads."""
    scene = Scene(manifest=replace(EVERYTHING, scopes=EVERYTHING.scopes | {CUSTOMIZE}))
    found: dict[str, set[tuple[str, str, str]]] = {method: set() for method in METHODS}
    for calls in (_mark, _conversations, _views_and_files):
        for method, args in calls(scene):
            token: dict[str, Any] = {"_token": CONFIG_TOKEN} if method == "apps.manifest.export" else {}
            found[method] |= set(shape(scene.ok(method, **token, **args)))
    return found


def test_all_methods_that_the_bot_calls_are_looked_at() -> None:
    assert RECORDED.keys() == METHODS.keys()


@pytest.mark.parametrize("method", METHODS)
def test_each_key_was_seen_in_slack_s_answers_with_that_type(
    method: str, answered: dict[str, set[tuple[str, str, str]]]
) -> None:
    assert difference(answered[method], RECORDED[method]) == set()


def test_what_is_not_answered_is_read_by_nobody() -> None:
    """Else the bot would work in the emulated workspace by chance."""
    assert read_of_what_is_left_out(RECORDED.values()) == READ_ELSEWHERE.keys()
