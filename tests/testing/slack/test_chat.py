"""Posts, edits, deletions, messages for one person, reactions: Slack's rules, then what a person sees."""

# ruff: noqa: E501 - one rule a line reads better than one argument a line

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slack_bot.testing.slack.rules import SHIPPED
from slack_bot.testing.slack.state import Refused
from slack_bot.testing.slack.workspace import Change, WorkspaceRules

from .scene import EVERYTHING, NOW, U1, Scene, button, context, task, text

CUSTOMIZED = replace(EVERYTHING, scopes=EVERYTHING.scopes | {"chat:write.customize"})
ROOT, POST = "<root>", "<post>"
META = {"event_type": "t", "event_payload": {"a": 1}}
MARKDOWN = {"type": "markdown", "text": "**Hi**"}
RULES: list[tuple[str, str, dict[str, Any], str | None]] = [
    ("text", "chat.postMessage", {"channel": "C1", "text": "t"}, None),
    ("markdown", "chat.postMessage", {"channel": "C1", "markdown_text": "t"}, None),
    ("blocks", "chat.postMessage", {"channel": "C1", "blocks": [MARKDOWN]}, None),
    ("attachments", "chat.postMessage", {"channel": "C1", "attachments": [{"text": "t"}]}, None),
    ("blocks and text", "chat.postMessage", {"channel": "C1", "blocks": [MARKDOWN], "text": "t"}, None),
    ("markdown and text", "chat.postMessage", {"channel": "C1", "markdown_text": "t", "text": "t"}, "markdown_text_conflict"),
    ("markdown and blocks", "chat.postMessage", {"channel": "C1", "markdown_text": "t", "blocks": []}, "markdown_text_conflict"),
    ("nothing", "chat.postMessage", {"channel": "C1"}, "no_text"),
    ("blank", "chat.postMessage", {"channel": "C1", "text": "  \n"}, "no_text"),
    ("12,001", "chat.postMessage", {"channel": "C1", "markdown_text": "x" * 12_001}, "msg_too_long"),
    ("51 blocks", "chat.postMessage", {"channel": "C1", "blocks": [context()] * 51}, "invalid_blocks"),
    ("in a thread", "chat.postMessage", {"channel": "C1", "text": "t", "thread_ts": ROOT}, None),
    ("in no thread", "chat.postMessage", {"channel": "C1", "text": "t", "thread_ts": "1.2"}, "invalid_thread_ts"),
    ("no channel", "chat.postMessage", {"channel": "C9", "text": "t"}, "channel_not_found"),
    ("not a member", "chat.postMessage", {"channel": "C2", "text": "t"}, "not_in_channel"),
    ("archived", "chat.postMessage", {"channel": "C3", "text": "t"}, "is_archived"),
    ("to a person", "chat.postMessage", {"channel": "U1", "text": "t"}, None),
    ("to a person without a DM", "chat.postMessage", {"channel": "U2", "text": "t"}, "channel_not_found"),
    ("metadata", "chat.postMessage", {"channel": "C1", "text": "t", "metadata": META}, None),
    ("metadata's type", "chat.postMessage", {"channel": "C1", "text": "t", "metadata": {**META, "event_type": 1}}, "invalid_metadata_format"),
    ("metadata's fields", "chat.postMessage", {"channel": "C1", "text": "t", "metadata": {**META, "more": 1}}, "invalid_metadata_schema"),
    ("metadata's size", "chat.postMessage", {"channel": "C1", "text": "t", "metadata": {**META, "event_payload": {"a": "x" * 9_000}}}, "metadata_too_large"),
    ("update", "chat.update", {"channel": "C1", "ts": POST, "text": "t"}, None),
    ("update with markdown", "chat.update", {"channel": "C1", "ts": POST, "markdown_text": "x" * 12_000}, None),
    ("update with 4,001", "chat.update", {"channel": "C1", "ts": POST, "text": "x" * 4_001}, "msg_too_long"),
    ("update with nothing", "chat.update", {"channel": "C1", "ts": POST}, "no_text"),
    ("update nothing", "chat.update", {"channel": "C1", "ts": "1.2", "text": "t"}, "message_not_found"),
    ("update a person's", "chat.update", {"channel": "C1", "ts": ROOT, "text": "t"}, "cant_update_message"),
    ("delete", "chat.delete", {"channel": "C1", "ts": POST}, None),
    ("delete a person's", "chat.delete", {"channel": "C1", "ts": ROOT}, "cant_delete_message"),
    ("delete nothing", "chat.delete", {"channel": "C1", "ts": "1.2"}, "message_not_found"),
    ("ephemeral", "chat.postEphemeral", {"channel": "C1", "user": "U1", "text": "t", "thread_ts": ROOT}, None),
    ("ephemeral in the channel", "chat.postEphemeral", {"channel": "C1", "user": "U1", "markdown_text": "t"}, None),
    ("ephemeral for nobody", "chat.postEphemeral", {"channel": "C1", "user": "U9", "text": "t"}, "user_not_found"),
    ("ephemeral for a stranger", "chat.postEphemeral", {"channel": "C1", "user": "U2", "text": "t"}, "user_not_in_channel"),
    ("react", "reactions.add", {"channel": "C1", "timestamp": ROOT, "name": "eyes"}, None),
    ("react to nothing", "reactions.add", {"channel": "C1", "timestamp": "1.2", "name": "eyes"}, "message_not_found"),
    ("take back what is not there", "reactions.remove", {"channel": "C1", "timestamp": ROOT, "name": "eyes"}, "no_reaction"),
    ("take back from nothing", "reactions.remove", {"name": "eyes"}, "no_item_specified"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "args", "error"), [r[1:] for r in RULES], ids=[r[0] for r in RULES])
def test_the_rules(method: str, args: dict[str, Any], error: str | None) -> None:
    scene = Scene()
    names = {ROOT: scene.root, POST: scene.post(text="first")}
    filled = {k: names.get(v, v) if isinstance(v, str) else v for k, v in args.items()}
    assert scene.error(method, **filled) == error


def test_a_post_shows_its_blocks_and_keeps_its_metadata() -> None:
    scene = Scene()
    scene.post(text="fallback", blocks=[MARKDOWN, context("Ask more.")], metadata=META)
    seen = scene.last()
    assert (seen.text, seen.extras, seen.state, seen.metadata) == ("**Hi**", ("Ask more.",), "posted", META)


def test_a_post_to_a_person_is_a_direct_message() -> None:
    scene = Scene()
    assert scene.ok("chat.postMessage", channel="U1", text="t")["channel"] == scene.direct


def test_an_edit_replaces_everything_but_the_metadata() -> None:
    scene = Scene()
    ts = scene.start(task(status="complete"), text("Old"))
    scene.stop(ts, blocks=[context()], metadata=META)
    scene.ok("chat.update", channel="C1", ts=ts, markdown_text="New")
    seen = scene.last()
    assert (seen.text, seen.blocks, seen.tasks, seen.metadata) == ("New", (), (), META)
    assert (seen.edited, seen.state) == (True, "sealed")
    scene.ok("chat.update", channel="C1", ts=ts, markdown_text="New", metadata={**META, "event_type": "u"})
    assert scene.last().metadata == {**META, "event_type": "u"}


def test_an_edit_with_what_was_read_back_keeps_cards_and_words() -> None:
    scene = Scene()
    ts = scene.start(
        task(status="complete", details="3 hits"), text("**Bold** words"), task_display_mode="plan"
    )
    shown = scene.stop(ts)["message"]["blocks"]
    scene.ok("chat.update", channel="C1", ts=ts, text="words", blocks=[*shown, context("Stopped.")])
    seen = scene.last()
    assert (seen.text, seen.extras) == ("Bold words", ("Stopped.",))
    assert [(card.title, card.status, card.details) for card in seen.tasks] == [
        ("Search", "complete", "3 hits")
    ]


def test_a_deleted_message_is_gone() -> None:
    scene = Scene()
    scene.ok("chat.delete", channel="C1", ts=scene.post(text="t"))
    assert scene.seen() == []
    assert [event["subtype"] for event in scene.events() if "subtype" in event] == ["message_deleted"]


def test_an_ephemeral_message_is_for_one_person_and_for_nobody_else() -> None:
    scene = Scene()
    scene.ok("chat.postEphemeral", channel="C1", user="U1", text="psst", thread_ts=scene.root)
    assert (scene.last().text, scene.last().ephemeral_for) == ("psst", "U1")
    assert len(scene.ok("conversations.replies", channel="C1", ts=scene.root)["messages"]) == 1
    assert scene.error("chat.update", channel="C1", ts=scene.last().ts, text="t") == "message_not_found"
    assert scene.events() == []


def test_reactions_come_and_go() -> None:
    scene = Scene()
    where = {"channel": "C1", "timestamp": scene.root, "name": ":eyes:"}
    scene.ok("reactions.add", **where)
    assert scene.error("reactions.add", **where) == "already_reacted"
    root = scene.workspace.thread("C1", scene.root)[0]
    assert root.reactions == {"eyes": ("U0BOT",)}
    scene.ok("reactions.remove", **where)
    assert scene.workspace.thread("C1", scene.root)[0].reactions == {}


def test_who_listens_sees_a_reaction_come_and_go() -> None:
    scene = Scene()
    where = {"channel": "C1", "timestamp": scene.root, "name": "eyes"}
    looks: list[object] = []

    def look(change: Change) -> None:
        if change.kind == "thread":
            looks.append(scene.workspace.thread("C1", scene.root)[0].reactions)

    scene.workspace.listen(look)
    scene.ok("reactions.add", **where)
    scene.ok("reactions.remove", **where)
    assert looks == [{"eyes": ("U0BOT",)}, {}]


def test_the_app_hears_which_message_has_a_reaction_and_no_more_of_it() -> None:
    scene = Scene()
    reply = scene.workspace.say("U1", "C1", "and this?", now=NOW, thread_ts=scene.root)
    scene.workspace.take()
    scene.workspace.react("U2", "C1", reply, "robot_face", now=NOW)
    (envelope,) = scene.workspace.take()
    told = envelope.payload["event"]
    assert told.pop("event_ts")
    assert told == {
        "type": "reaction_added",
        "user": "U2",
        "reaction": "robot_face",
        "item_user": "U1",
        "item": {"type": "message", "channel": "C1", "ts": reply},
    }
    assert envelope.payload["is_ext_shared_channel"] is False
    with pytest.raises(Refused, match="already_reacted"):
        scene.workspace.react("U2", "C1", reply, "robot_face", now=NOW)
    scene.workspace.unreact("U2", "C1", reply, "robot_face", now=NOW)
    assert [each.payload["event"]["type"] for each in scene.workspace.take()] == ["reaction_removed"]
    with pytest.raises(Refused, match="no_reaction"):
        scene.workspace.unreact("U2", "C1", reply, "robot_face", now=NOW)


def test_the_app_hears_its_own_reactions_and_none_from_where_it_is_no_member() -> None:
    scene = Scene()
    scene.ok("reactions.add", channel="C1", timestamp=scene.root, name="eyes")
    assert [each.payload["event"]["user"] for each in scene.workspace.take()] == ["U0BOT"]
    elsewhere = scene.workspace.say("U1", "C2", "hi", now=NOW)
    scene.workspace.take()
    scene.workspace.react("U1", "C2", elsewhere, "eyes", now=NOW)
    assert scene.workspace.take() == []


def test_reactions_are_told_only_to_an_app_that_asked_for_them() -> None:
    scene = Scene(manifest=SHIPPED)
    scene.workspace.react("U1", "C1", scene.root, "eyes", now=NOW)
    assert scene.workspace.take() == []


def test_text_beyond_forty_thousand_is_cut() -> None:
    scene = Scene()
    scene.post(text="x" * 50_000)
    assert len(scene.last().text) == 40_000


def test_a_workspace_may_ignore_markdown_text_as_emulators_do() -> None:
    scene = Scene(rules=WorkspaceRules(ignores_markdown_text=frozenset({"chat.postMessage", "chat.update"})))
    posted = scene.ok("chat.postMessage", channel="C1", thread_ts=scene.root, markdown_text="**One**")
    assert (posted["message"]["text"], scene.last().text) == ("", "")
    where = {"channel": "C1", "ts": posted["ts"]}
    assert scene.ok("chat.update", **where, text="One")["text"] == "One"
    edited = scene.ok("chat.update", **where, markdown_text="**Two**")
    assert (edited["text"], edited["message"]["text"], scene.last().text) == ("One", "One", "One")


def pressed(scene: Scene, ts: str | None = None) -> str:
    """The key of the response_url that a press gives."""
    ts = ts or scene.post(text="old", blocks=[{"type": "actions", "elements": [button()]}])
    payload = scene.workspace.press("U1", "C1", ts, "retry", now=scene.now).payload
    return str(payload["response_url"]).rpartition("/")[2]


def respond(scene: Scene, key: str, **body: Any) -> str | None:
    error: str | None = scene.workspace.respond(key, body, now=scene.now).body.get("error")
    return error


def test_a_private_message_can_be_changed_and_removed_there_alone() -> None:
    scene = Scene()
    block = {"type": "actions", "elements": [button()]}
    where = {"channel": "C1", "thread_ts": scene.root}
    sent = scene.ok("chat.postEphemeral", **where, user="U1", text="psst", blocks=[block])
    key = pressed(scene, sent["message_ts"])
    assert respond(scene, key, text="done", replace_original=True) is None
    (shown,) = [seen for seen in scene.seen() if seen.ephemeral_for]
    assert (shown.text, shown.blocks) == ("done", ())
    assert respond(scene, key, delete_original=True) is None
    assert [seen for seen in scene.seen() if seen.ephemeral_for] == []
    assert [each for each in scene.events() if each.get("subtype")] == []


def test_the_presser_alone_sees_it_by_default() -> None:
    scene = Scene()
    assert respond(scene, pressed(scene), text="Thanks") is None
    assert (scene.last().text, scene.last().ephemeral_for) == ("Thanks", "U1")


def test_it_can_be_for_everybody_in_the_thread() -> None:
    scene = Scene()
    assert respond(scene, pressed(scene), text="Hi", response_type="in_channel") is None
    assert (scene.last().text, scene.last().ephemeral_for) == ("Hi", None)


def test_it_can_replace_or_delete_the_message() -> None:
    scene = Scene()
    key = pressed(scene)
    assert respond(scene, key, text="new", replace_original=True) is None
    assert [m.text for m in scene.seen()] == ["new"]
    assert respond(scene, key, delete_original=True) is None
    assert scene.seen() == []
    assert respond(scene, key, text="still here") is None
    assert scene.workspace.history("C1")[-1].ephemeral_for == "U1"


def test_a_thread_can_be_named() -> None:
    scene = Scene()
    assert respond(scene, pressed(scene), text="Hi", thread_ts="1.2") == "invalid_thread_ts"


@pytest.mark.parametrize(
    "body", [[], "text", None, {"text": 5}, {"blocks": {}}, {"text": "x", "thread_ts": 1.2}]
)
def test_what_is_no_message_is_refused(body: Any) -> None:
    scene = Scene()
    key = pressed(scene)
    before = scene.seen()
    answer = scene.workspace.respond(key, body, now=scene.now)
    assert (answer.status, answer.body) == (400, {"ok": False, "error": "invalid_payload"})
    assert scene.seen() == before != []


@pytest.mark.parametrize("method", ["chat.postMessage", "chat.startStream", "assistant.threads.setStatus"])
@pytest.mark.parametrize("look", ["username", "icon_emoji", "icon_url"])
def test_another_name_or_picture_needs_a_scope_of_its_own(method: str, look: str) -> None:
    args = {"channel": "C1", "channel_id": "C1", "text": "x", "status": "x", look: "Someone"}
    assert Scene().error(method, **args) == "missing_scope"


def test_it_ends_after_five_uses() -> None:
    scene = Scene()
    key = pressed(scene)
    assert [respond(scene, key, text=str(n)) for n in range(6)] == [None] * 5 + ["expired_url"]


def test_it_ends_after_half_an_hour() -> None:
    scene = Scene()
    key = pressed(scene)
    scene.wait(1_801)
    assert respond(scene, key, text="late") == "expired_url"


@pytest.mark.parametrize("key", ["", "response-9"])
def test_what_was_never_offered(key: str) -> None:
    assert respond(Scene(), key, text="t") == "invalid_url"


def test_a_message_stands_under_the_name_and_picture_that_the_app_gives() -> None:
    scene = Scene(manifest=CUSTOMIZED)
    place = {"channel": "C1", "thread_ts": scene.root}
    posted = scene.ok(
        "chat.postMessage", **place, text="hi", username="Ops", icon_emoji=":wrench:", icon_url="x"
    )
    assert posted["message"]["username"] == "Ops"
    assert posted["message"]["icons"] == {"emoji": ":wrench:"}
    started = scene.ok(
        "chat.startStream", **place, **U1, chunks=[text("a")], username="R", icon_url="https://x/y"
    )
    scene.ok("chat.update", channel="C1", ts=posted["ts"], text="ho")
    _, first, second = scene.workspace.thread("C1", scene.root)
    assert (first.text, first.look) == ("ho", {"username": "Ops", "icon_emoji": ":wrench:"})
    assert second.look == {"username": "R", "icon_url": "https://x/y"}
    replies = scene.ok("conversations.replies", channel="C1", ts=scene.root)["messages"]
    assert [each.get("username") for each in replies] == [None, "Ops", "R"]
    assert replies[2]["ts"] == started["ts"] and replies[2]["icons"] == {"image_48": "https://x/y"}


def test_a_workspace_may_show_no_names_in_streams() -> None:
    scene = Scene(manifest=CUSTOMIZED, rules=WorkspaceRules(names_streams=False))
    place = {"channel": "C1", "thread_ts": scene.root}
    scene.ok("chat.startStream", **place, **U1, chunks=[text("a")], username="R")
    assert scene.workspace.thread("C1", scene.root)[-1].look == {}


def test_a_name_needs_a_scope_of_its_own() -> None:
    scene = Scene()
    place = {"channel": "C1", "thread_ts": scene.root}
    answer = scene.call("chat.postMessage", **place, text="hi", username="Ops")
    assert (answer["error"], answer["needed"]) == ("missing_scope", "chat:write.customize")
    assert scene.error("chat.startStream", **place, **U1, icon_emoji=":x:") == "missing_scope"
    status = {"channel_id": "C1", "thread_ts": scene.root, "status": "thinks"}
    assert scene.error("assistant.threads.setStatus", **status, username="Ops") == "missing_scope"
