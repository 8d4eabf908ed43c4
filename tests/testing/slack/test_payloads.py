"""What the app is sent: real shapes, twins of mentions, its own messages."""

from __future__ import annotations

import json

import pytest

from .scene import NOW, Scene, button, feedback, modal, plain, rules, text


def test_a_mention_in_a_channel_has_a_twin() -> None:
    scene = Scene()
    ts = scene.workspace.say("U1", "C1", "<@U0BOT> hi", now=NOW, thread_ts=scene.root)
    first, second = (envelope.payload for envelope in scene.workspace.take())
    assert [p["event"]["type"] for p in (first, second)] == ["app_mention", "message"]
    assert (first["team_id"], first["api_app_id"], first["event_time"]) == ("T1", "A0APP", int(NOW))
    assert first["authorizations"][0]["user_id"] == "U0BOT"
    assert first["event_id"] != second["event_id"]
    mention, message = first["event"], second["event"]
    assert (mention["ts"], mention["thread_ts"], mention["user"], mention["team"]) == (
        ts,
        scene.root,
        "U1",
        "T1",
    )
    assert (message["channel_type"], message["parent_user_id"], "channel_type" in mention) == (
        "channel",
        "U1",
        False,
    )
    assert mention["client_msg_id"] == message["client_msg_id"]
    assert mention["blocks"][0]["elements"][0]["elements"][0] == {"type": "user", "user_id": "U0BOT"}


def test_the_twins_can_come_the_other_way_round() -> None:
    scene = Scene(rules=rules(mention_first=False))
    scene.workspace.say("U1", "C1", "<@U0BOT|slack_bot> hi", now=NOW)
    assert [event["type"] for event in scene.events()] == ["message", "app_mention"]


def test_other_messages_come_once() -> None:
    scene = Scene()
    scene.workspace.say("U1", "C1", "hello all", now=NOW)
    scene.workspace.say("U1", scene.direct, "<@U0BOT> hi", now=NOW)
    channel, direct = scene.events()
    assert (channel["type"], channel["channel_type"]) == ("message", "channel")
    assert (direct["type"], direct["channel_type"], "thread_ts" in direct) == ("message", "im", False)


def test_a_guest_is_known_by_the_own_team() -> None:
    scene = Scene()
    scene.workspace.say("U2", "C1", "<@U0BOT> hi", now=NOW)
    mention = scene.events()[0]
    assert (mention["user_team"], mention["source_team"]) == ("T2", "T2")


def test_an_event_says_whether_the_channel_is_shared_with_another_organisation() -> None:
    scene = Scene()
    for user in ("U1", "U2", "U1"):
        scene.workspace.say(user, "C1", "hi", now=NOW)
    said = [envelope.payload["is_ext_shared_channel"] for envelope in scene.workspace.take()]
    assert said == [False, True, True]


def test_on_enterprise_grid_the_organisation_stands_in_place_of_the_team() -> None:
    scene = Scene()
    scene.workspace.state.enterprise = "E1"
    scene.workspace.add_user("U8", team="T8", enterprise="E1")
    scene.workspace.say("U8", "C1", "hi", now=NOW)
    (envelope,) = scene.workspace.take()
    event = envelope.payload["event"]
    assert (event["user_team"], event["source_team"], event["team"]) == ("E1", "T8", "T8")
    assert not envelope.payload["is_ext_shared_channel"]
    assert envelope.payload["authorizations"][0]["enterprise_id"] == "E1"


def test_another_bot_shows_as_one() -> None:
    scene = Scene()
    scene.workspace.say("U3", "C1", "<@U0BOT> hi", now=NOW)
    assert scene.events()[0]["bot_id"] == "B3"
    assert scene.ok("conversations.history", channel="C1")["messages"][0]["bot_id"] == "B3"


def test_a_file_makes_a_subtype() -> None:
    scene = Scene()
    scene.workspace.say("U1", scene.direct, "see", now=NOW, files=["a.txt"])
    (event,) = scene.events()
    assert (event["subtype"], event["files"][0]["name"]) == ("file_share", "a.txt")


def test_the_app_hears_its_own_posts_edits_and_deletions() -> None:
    scene = Scene()
    ts = scene.post(text="<@U0BOT> myself")
    scene.ok("chat.update", channel="C1", ts=ts, text="t")
    scene.ok("chat.delete", channel="C1", ts=ts)
    post, edit, deletion = scene.events()
    assert (post["type"], post["bot_id"], post["user"]) == ("message", "B0BOT", "U0BOT")
    assert (edit["subtype"], edit["hidden"], edit["message"]["text"]) == ("message_changed", True, "t")
    assert (deletion["subtype"], deletion["deleted_ts"]) == ("message_deleted", ts)


def test_a_session_changes_the_root_and_nothing_to_read() -> None:
    scene = Scene()
    for status in ("is thinking...", "is responding..."):
        scene.ok("assistant.threads.setStatus", channel_id="C1", thread_ts=scene.root, status=status)
    (event,) = scene.events()
    assert (event["subtype"], event["message"]["agent_session"]) == (
        "message_changed",
        {"status": "processing"},
    )
    assert event["message"]["text"] == event["previous_message"]["text"]


def test_a_session_without_a_root_is_silent() -> None:
    scene = Scene()
    ts = scene.start(text("a"))
    scene.workspace.delete_root("C1", scene.root, now=NOW)
    scene.workspace.take()
    scene.stop(ts)
    assert all("agent_session" not in event["message"] for event in scene.events())
    assert scene.workspace.session("C1", scene.root) == "active"


def test_slacks_own_stop() -> None:
    scene = Scene()
    ts = scene.start(text("a"))
    scene.workspace.take()
    scene.workspace.stop("U1", "C1", scene.root, now=NOW)
    sealed, stopped = scene.events()
    assert sealed["message"]["streaming_state"] == "completed"
    assert stopped["type"] == "agent_session_stopped"
    assert (stopped["thread_ts"], stopped["user"], stopped["streaming_message_ts"]) == (
        scene.root,
        "U1",
        [ts],
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "positive|k"),
        ("negative|k", "negative|k"),
        ("negative", "negative|k"),
        ("positive", "positive|k"),
    ],
)
def test_a_press_of_feedback(value: str | None, expected: str) -> None:
    scene = Scene()
    ts = scene.post(text="t", blocks=[feedback()])
    payload = scene.workspace.press("U1", "C1", ts, "feedback", now=NOW, value=value).payload
    action = payload["actions"][0]
    assert (payload["type"], action["type"], action["value"]) == (
        "block_actions",
        "feedback_buttons",
        expected,
    )
    assert action["block_id"] == payload["message"]["blocks"][0]["block_id"]
    where = {"message_ts": ts, "channel_id": "C1", "thread_ts": scene.root}
    assert payload["container"] == {"type": "message", "is_ephemeral": False, **where}
    assert (payload["user"]["id"], payload["user"]["team_id"], payload["channel"]["id"]) == ("U1", "T1", "C1")


def test_a_press_in_the_channel_has_no_thread() -> None:
    scene = Scene()
    row = {"type": "actions", "elements": [button(value="a"), button("other", "b")]}
    ts = scene.ok("chat.postMessage", channel="C1", text="t", blocks=[row])["ts"]
    payload = scene.workspace.press("U1", "C1", ts, "other", now=NOW, value="b").payload
    assert (payload["actions"][0]["value"], "thread_ts" in payload["container"]) == ("b", False)


def test_a_modal_that_is_sent() -> None:
    scene = Scene()
    ts = scene.post(text="t", blocks=[feedback()])
    trigger = scene.workspace.press("U1", "C1", ts, "feedback", now=NOW).payload["trigger_id"]
    view = scene.ok("views.open", trigger_id=trigger, view=modal(submit=plain("Send"), private_metadata="k"))[
        "view"
    ]
    values = {"b1": {"a1": {"type": "plain_text_input", "value": "x"}}}
    envelope = scene.workspace.submit_view("U1", view["id"], values, now=NOW)
    assert (envelope.type, envelope.payload["type"]) == ("interactive", "view_submission")
    assert (envelope.payload["view"]["state"]["values"], envelope.payload["view"]["private_metadata"]) == (
        values,
        "k",
    )


def test_a_person_comes_home() -> None:
    scene = Scene()
    scene.workspace.open_home("U1", now=NOW, tab="messages")
    (event,) = scene.events()
    assert (event["type"], event["tab"], event["channel"]) == ("app_home_opened", "messages", scene.direct)


def test_everything_is_json_and_the_same_every_time() -> None:
    def story() -> str:
        scene = Scene()
        ts = scene.start(text("a"))
        scene.stop(ts, blocks=[feedback()])
        scene.workspace.press("U1", "C1", ts, "feedback", now=NOW)
        return json.dumps([envelope.payload for envelope in scene.workspace.take()])

    assert story() == story()


def test_an_edit_of_a_mention_is_told_twice_and_one_of_other_words_once() -> None:
    scene = Scene()
    for words in ("<@U0BOT> hi", "hi"):
        ts = scene.workspace.say("U1", "C1", words, now=NOW)
        scene.workspace.take()
        scene.workspace.edit("C1", ts, f"{words} all", now=NOW)
        changed, *again = scene.events()
        assert (changed["previous_message"]["text"], changed["message"]["text"]) == (words, f"{words} all")
        assert [(each["type"], each["ts"], "edited" in each) for each in again] == (
            [("app_mention", ts, True)] if "<" in words else []
        )


def test_the_home_tab_is_told_of_once_it_was_written() -> None:
    scene = Scene()
    for is_written in (False, True):
        scene.workspace.open_home("U1", now=NOW)
        (event,) = scene.events()
        assert ("view" in event) == is_written
        scene.ok("views.publish", user_id="U1", view={"type": "home", "blocks": []})


def test_the_last_reply_takes_the_tombstone_with_it() -> None:
    scene = Scene()
    root = scene.workspace.say("U1", "C1", "root", now=NOW)
    replies = [scene.workspace.say("U1", "C1", "reply", now=NOW, thread_ts=root) for _ in range(2)]
    scene.workspace.take()
    scene.workspace.delete_root("C1", root, now=NOW)
    (tombstone,) = scene.events()
    assert (tombstone["message"]["reply_count"], tombstone["previous_message"]["reply_count"]) == (2, 2)
    heard = []
    for ts in replies:
        scene.workspace.delete("C1", ts, now=NOW)
        heard += [(event["subtype"], event["previous_message"] == []) for event in scene.events()]
    assert heard == [("message_deleted", False), ("message_deleted", False), ("message_changed", True)]
