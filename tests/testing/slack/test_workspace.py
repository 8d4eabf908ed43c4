"""The workspace as a whole: tokens, faults, people's actions, and a record of every call."""

from __future__ import annotations

import pytest

from slack_bot.testing.slack.workspace import APP_TOKEN, BOT_TOKEN, Workspace

from .scene import NOW, Scene, feedback, text


@pytest.mark.parametrize(
    ("method", "token", "error"),
    [
        ("auth.test", BOT_TOKEN, None),
        ("auth.test", None, "not_authed"),
        ("auth.test", "", "not_authed"),
        ("auth.test", "xoxb-wrong", "invalid_auth"),
        ("auth.test", APP_TOKEN, "not_allowed_token_type"),
        ("apps.connections.open", APP_TOKEN, None),
        ("apps.connections.open", "xoxb-wrong", "invalid_auth"),
        ("chat.meMessage", BOT_TOKEN, "unknown_method"),
    ],
)
def test_tokens(method: str, token: str | None, error: str | None) -> None:
    assert Workspace().call(method, {}, now=NOW, token=token).body.get("error") == error


def test_an_app_token_is_needed_for_a_socket() -> None:
    answer = Workspace().call("apps.connections.open", {}, now=NOW, token=BOT_TOKEN)
    assert answer.body == {"ok": False, "error": "not_allowed_token_type"}


def test_a_refusal_says_why() -> None:
    body = Scene().call("chat.postMessage", text="t")
    assert body["response_metadata"] == {"messages": ["[ERROR] missing required field: channel"]}


def test_a_refused_call_changes_nothing() -> None:
    scene = Scene(faults={"chat.postMessage": ["internal_error", None]})
    assert scene.error("chat.postMessage", channel="C1", thread_ts=scene.root, text="t") == "internal_error"
    assert scene.seen() == []
    scene.post(text="t")
    assert len(scene.seen()) == 1


def test_a_call_can_be_applied_and_answered_with_an_error() -> None:
    scene = Scene(faults={"chat_postMessage": ["internal_error!", None]})
    assert scene.error("chat.postMessage", channel="C1", thread_ts=scene.root, text="t") == "internal_error"
    assert scene.last().text == "t"
    call = scene.workspace.calls[-1]
    assert (call.ok, call.error, call.applied) == (False, "internal_error", True)


def test_a_fault_does_not_hide_a_mistake() -> None:
    scene = Scene(faults={"chat.postMessage": ["internal_error!"]})
    assert scene.error("chat.postMessage", channel="C9", text="t") == "channel_not_found"


@pytest.mark.parametrize(("fault", "applied"), [("timeout", False), ("timeout!", True)])
def test_a_call_that_is_never_answered(fault: str, applied: bool) -> None:
    scene = Scene(faults={"chat.postMessage": [fault]})
    args = {"channel": "C1", "thread_ts": scene.root, "text": "t"}
    answer = scene.workspace.call("chat.postMessage", args, now=NOW, token=BOT_TOKEN)
    assert answer.silence == "timeout"
    assert bool(scene.seen()) is applied
    call = scene.workspace.calls[-1]
    assert (call.error, call.applied) == ("timeout", applied)


def test_a_rate_limit_has_its_status_and_says_how_long() -> None:
    workspace = Workspace(faults={"auth.test": ["ratelimited:7"]})
    answer = workspace.call("auth.test", {}, now=NOW, token=BOT_TOKEN)
    assert (answer.status, answer.headers["Retry-After"]) == (429, "7")
    assert answer.body["error"] == "ratelimited"


def test_every_call_is_kept_without_its_token() -> None:
    workspace = Workspace()
    workspace.call("auth.test", {"token": BOT_TOKEN}, now=NOW, token=BOT_TOKEN)
    (call,) = workspace.calls
    assert (call.now, call.method, call.args, call.ok, call.error, call.applied) == (
        NOW,
        "auth.test",
        {},
        True,
        None,
        True,
    )


def test_a_message_can_stand_where_it_is_wanted_without_the_app_knowing() -> None:
    workspace = Workspace()
    workspace.add_channel("C1")
    ts = workspace.say("U123", "C1", "q", now=NOW, ts="111.222", is_told=False)
    assert (ts, workspace.outbox) == ("111.222", [])
    reply = workspace.say("U123", "C1", "more", now=NOW, thread_ts="111.222")
    assert [m.ts for m in workspace.thread("C1", "111.222")] == ["111.222", reply]


def test_people_cannot_do_what_is_not_there() -> None:
    scene = Scene()
    ts = scene.post(text="t", blocks=[feedback()])
    with pytest.raises(LookupError):
        scene.workspace.say("U1", "C1", "t", now=NOW, thread_ts="1.2")
    with pytest.raises(LookupError):
        scene.workspace.press("U1", "C1", "1.2", "feedback", now=NOW)
    for action, value in (("retry", None), ("feedback", "neutral")):
        with pytest.raises(LookupError):
            scene.workspace.press("U1", "C1", ts, action, now=NOW, value=value)
    with pytest.raises(LookupError):
        scene.workspace.submit_view("U1", "V9", {}, now=NOW)


def test_the_author_of_a_message_may_edit_it() -> None:
    scene = Scene()
    scene.workspace.edit("C1", scene.root, "why not?", now=NOW)
    (told,) = scene.workspace.take()
    assert told.payload["event"]["subtype"] == "message_changed"
    assert told.payload["event"]["message"]["text"] == "why not?"
    (shown,) = scene.ok("conversations.history", channel="C1")["messages"]
    assert (shown["text"], shown["edited"]["user"]) == ("why not?", "U1")


def test_a_deleted_root_closes_its_thread() -> None:
    scene = Scene()
    ts = scene.start(text("a"))
    scene.workspace.delete_root("C1", scene.root, now=NOW)
    assert (
        scene.error("chat.postMessage", channel="C1", thread_ts=scene.root, text="t") == "invalid_thread_ts"
    )
    status = {"channel_id": "C1", "thread_ts": scene.root, "status": "t"}
    assert scene.error("assistant.threads.setStatus", **status) == "invalid_thread_ts"
    scene.append(ts, text("b"))
    assert [m.text for m in scene.workspace.thread("C1", scene.root)] == ["ab"]


def test_a_thread_can_be_cleared() -> None:
    scene = Scene()
    ts = scene.start(text("a"))
    scene.workspace.delete_root("C1", scene.root, now=NOW, with_replies=True)
    assert scene.error("chat.appendStream", channel="C1", ts=ts, chunks=[text("b")]) == "message_not_found"
    assert scene.workspace.thread("C1", scene.root) == []


def test_whoever_speaks_becomes_known() -> None:
    workspace = Workspace()
    workspace.add_channel("C1")
    workspace.say("U7", "C1", "hi", now=NOW)
    assert workspace.state.people["U7"].team == "T1"
    assert [m.text for m in workspace.history("C1")] == ["hi"]


def test_the_time_of_the_last_call_decides_what_still_shows() -> None:
    scene = Scene()
    scene.ok("assistant.threads.setStatus", channel_id="C1", thread_ts=scene.root, status="is thinking...")
    assert scene.workspace.status_line("C1", scene.root) == "is thinking..."
    scene.wait(500)
    scene.ok("auth.test")
    assert scene.workspace.status_line("C1", scene.root) is None
