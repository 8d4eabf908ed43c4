"""A call's way in and out: faults, tokens, limits, arguments, and what is noted of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.testing.slack.call_pipeline import outcome, read
from slack_bot.testing.slack.faults import CallAnswer, ScriptedFault, parse
from slack_bot.testing.slack.rules import METHODS, MethodRate, WorkspaceRules
from slack_bot.testing.slack.state import Refused
from slack_bot.testing.slack.workspace import APP_TOKEN, BOT_TOKEN, Workspace

from .scene import NOW, U1, Scene, text

POST = "chat.postMessage"
DONE = CallAnswer({"ok": True, "ts": "1.2"})
WRONG = CallAnswer({"ok": False, "error": "no_text"})


def fault(entry: str) -> ScriptedFault:
    parsed = parse(entry)
    assert parsed is not None
    return parsed


@pytest.mark.parametrize(
    ("own", "entry", "seen"),
    [
        (None, "fatal_error", CallAnswer({"ok": False, "error": "fatal_error"})),
        (DONE, "fatal_error!", CallAnswer({"ok": False, "error": "fatal_error"})),
        (WRONG, "fatal_error!", WRONG),
        (None, "ratelimited:2", CallAnswer({"ok": False, "error": "ratelimited"}, 429, {"Retry-After": "2"})),
        (None, "timeout", CallAnswer({"ok": False, "error": "timeout"}, silence="timeout")),
        (WRONG, "timeout!", CallAnswer({"ok": False, "error": "timeout"}, silence="timeout")),
        (None, "connect", CallAnswer({"ok": False, "error": "connect"}, silence="connect")),
        (DONE, "cut!", CallAnswer({"ok": False, "error": "cut"}, silence="cut")),
        (WRONG, "http:503!", CallAnswer({"ok": False, "error": "http"}, 503, is_page=True)),
        (DONE, "slow:3!", CallAnswer(DONE.body, delay=3.0)),
    ],
)
def test_what_the_caller_gets_to_see(own: CallAnswer | None, entry: str, seen: CallAnswer) -> None:
    assert outcome(own, fault(entry)) == seen


def test_without_a_fault_the_caller_sees_slacks_answer() -> None:
    assert outcome(DONE, None) is DONE


def test_a_late_call_is_noted_when_it_arrives_and_meets_no_second_fault() -> None:
    workspace = Scene(faults={POST: ["slow:3", "fatal_error"]}).workspace
    args = {"channel": "C1", "text": "t"}
    late = workspace.call(POST, args, now=NOW, token=BOT_TOKEN)
    assert (late.delay, workspace.calls) == (3.0, [])
    assert late.arrive is not None and late.arrive(NOW + 3).body["ok"]
    assert [(call.now, call.ok, call.applied) for call in workspace.calls] == [(NOW + 3, True, True)]


def test_a_call_without_a_good_token_costs_nothing() -> None:
    workspace = Workspace(rules=WorkspaceRules.real())
    for _ in range(100):
        answer = workspace.call("conversations.info", {}, now=NOW, token="xoxb-wrong")
        assert answer.body["error"] == "invalid_auth"
    assert workspace.call("conversations.info", {}, now=NOW, token=BOT_TOKEN).status == 200


@pytest.mark.parametrize(
    ("method", "token", "error"),
    [
        ("auth.test", None, "not_authed"),
        ("auth.test", APP_TOKEN, "not_allowed_token_type"),
        ("chat.meMessage", BOT_TOKEN, "unknown_method"),
        (POST, BOT_TOKEN, "invalid_arguments"),
        ("conversations.info", BOT_TOKEN, "channel_not_found"),
    ],
)
def test_what_slack_refuses(method: str, token: str | None, error: str) -> None:
    args = {"channel": "C9"} if method == "conversations.info" else {}
    answer = Workspace().call(method, args, now=NOW, token=token)
    assert (answer.status, answer.body["ok"], answer.body["error"]) == (200, False, error)


def test_too_often_is_said_in_two_ways() -> None:
    scene = Scene(rules=WorkspaceRules(rates={"chat.startStream": (MethodRate(1),)}))
    scene.start(text("a"))
    args = {"channel": "C1", "thread_ts": scene.root, **U1}
    by_http, in_band = (
        scene.workspace.call("chat.startStream", args, now=NOW, token=BOT_TOKEN) for _ in range(2)
    )
    assert (by_http.status, by_http.body) == (429, {"ok": False, "error": "ratelimited"})
    assert by_http.headers["Retry-After"] == "60"
    assert (in_band.status, in_band.body) == (200, {"ok": False, "error": "rate_limited"})
    assert "Retry-After" not in in_band.headers
    assert [call.limited for call in scene.workspace.calls] == [False, True, True]


def test_only_streams_hear_of_it_in_the_body_and_every_second_time() -> None:
    rates = {"chat.appendStream": (MethodRate(1),), "chat.update": (MethodRate(1),)}
    workspace = Scene(rules=WorkspaceRules(rates=rates)).workspace
    for method, forms in (("chat.appendStream", [429, 200, 429]), ("chat.update", [429] * 3)):
        answers = [workspace.call(method, {}, now=NOW, token=BOT_TOKEN) for _ in range(4)]
        assert [answer.status for answer in answers[1:]] == forms


@pytest.mark.parametrize(
    ("name", "state", "then"),
    [
        ("message_not_in_streaming_state", "sealed", "message_not_in_streaming_state"),
        ("msg_too_long", "streaming", "msg_too_long"),
        ("stopped_by_user", "sealed", "stopped_by_user"),
    ],
)
def test_a_fault_about_a_stream_makes_it_so(name: str, state: str, then: str) -> None:
    scene = Scene(faults={"chat.appendStream": [name, None]})
    ts = scene.start(text("a"))
    for error in (name, then):
        assert scene.error("chat.appendStream", channel="C1", ts=ts, chunks=[text("b")]) == error
    assert (scene.last().state, scene.last().text) == (state, "a")


def test_a_token_is_not_noted() -> None:
    workspace = Scene().workspace
    workspace.call(POST, {"channel": "C1", "text": "t", "token": BOT_TOKEN}, now=NOW, token=BOT_TOKEN)
    assert dict(workspace.calls[0].args) == {"channel": "C1", "text": "t"}


def test_only_a_streams_fault_changes_a_stream() -> None:
    """A stream in a direct message may have no recipient; somebody stopped it all the same."""
    names = ["message_not_in_streaming_state", "msg_too_long", "stopped_by_user", "streaming_mode_mismatch"]
    scene = Scene(faults={"chat.update": names, "chat.appendStream": ["stopped_by_user"]})
    ts = scene.start(text("a"), channel=scene.direct, thread_ts=scene.direct_root)
    for name in names:
        assert scene.error("chat.update", channel=scene.direct, ts=ts, text="b") == name
    assert scene.workspace.open_streams() == [ts]
    message = scene.workspace.state.open_streams[ts]
    message.recipient = None
    assert (
        scene.error("chat.appendStream", channel=scene.direct, ts=ts, chunks=[text("b")]) == "stopped_by_user"
    )
    assert (message.state, message.stopped_by) == ("sealed", "USLACK")


def test_a_fault_about_no_stream_changes_nothing() -> None:
    scene = Scene(
        faults={"chat.startStream": ["msg_too_long", None], "chat.appendStream": ["fatal_error", None]}
    )
    assert scene.error("chat.startStream", channel="C1", thread_ts=scene.root, **U1) == "msg_too_long"
    ts = scene.start(text("a"))
    assert scene.error("chat.appendStream", channel="C1", ts=ts, chunks=[text("b")]) == "fatal_error"
    scene.append(ts, text("c"))
    assert scene.last().text == "ac"


REPLIES = "conversations.replies"
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.parametrize(
    ("method", "given_args", "is_json", "error"),
    [
        (POST, {"text": "t"}, True, "invalid_arguments"),
        (POST, {"channel": "C1", "txt": "t"}, True, "invalid_arguments"),
        (POST, {"channel": 7}, True, "invalid_arguments"),
        (POST, {"channel": "C1", "unfurl_links": "maybe"}, False, "invalid_arguments"),
        (POST, {"channel": "C1", "unfurl_links": []}, True, "invalid_arguments"),
        (POST, {"channel": "C1", "blocks": "[{"}, False, "invalid_blocks_format"),
        (POST, {"channel": "C1", "blocks": "{}"}, False, "invalid_blocks_format"),
        (POST, {"channel": "C1", "blocks": "[" * 200_000}, False, "invalid_blocks_format"),
        (POST, {"channel": "C1", "attachments": {}}, True, "invalid_arguments"),
        (POST, {"channel": "C1", "metadata": "x"}, False, "invalid_metadata_format"),
        (POST, {"channel": "C1", "metadata": []}, True, "invalid_metadata_format"),
        ("chat.appendStream", {"channel": "C1", "ts": "1.2", "chunks": "x"}, False, "invalid_chunks"),
        (REPLIES, {"channel": "C1", "ts": "1.2"}, True, "invalid_arguments"),
        (REPLIES, {"channel": "C1", "ts": "1.2", "limit": "few"}, False, "invalid_arguments"),
        (REPLIES, {"channel": "C1", "ts": "1.2", "limit": "²"}, False, "invalid_arguments"),
        ("views.open", {"trigger_id": "t", "view": "nope"}, True, "invalid_arguments"),
    ],
)
def test_wrong_arguments(method: str, given_args: dict[str, Any], is_json: bool, error: str) -> None:
    with pytest.raises(Refused) as caught:
        read(method, given_args, is_json)
    assert caught.value.error == error
    assert caught.value.detail and caught.value.detail in str(caught.value)


@pytest.mark.parametrize(
    ("method", "given_args", "is_json", "expected"),
    [
        (POST, {"channel": "C1", "text": None, "token": "x", "team_id": "T1"}, True, {"channel": "C1"}),
        (POST, {"channel": "C1", "unfurl_links": True}, True, {"channel": "C1", "unfurl_links": True}),
        (POST, {"channel": "C1", "unfurl_links": "0"}, False, {"channel": "C1", "unfurl_links": False}),
        (POST, {"channel": "C1", "unfurl_links": 1}, True, {"channel": "C1", "unfurl_links": True}),
        (POST, {"channel": "C1", "blocks": "[]"}, False, {"channel": "C1", "blocks": []}),
        (POST, {"channel": "C1", "metadata": "{}"}, False, {"channel": "C1", "metadata": {}}),
        (
            REPLIES,
            {"channel": "C1", "ts": "1.2", "limit": "5"},
            False,
            {"channel": "C1", "ts": "1.2", "limit": 5},
        ),
        ("files.getUploadURLExternal", {"filename": "f", "length": 3}, False, {"filename": "f", "length": 3}),
        ("users.info", {"user": "U1"}, False, {"user": "U1"}),
        ("auth.test", {}, True, {}),
    ],
)
def test_right_arguments(
    method: str, given_args: dict[str, Any], is_json: bool, expected: dict[str, Any]
) -> None:
    assert read(method, given_args, is_json) == expected


def test_a_refusal_without_detail_is_its_name() -> None:
    assert str(Refused("no_text")) == "no_text"


@given(method=st.sampled_from(sorted(METHODS)), data=st.data(), is_json=st.booleans())
def test_whatever_comes_is_read_or_refused(method: str, data: st.DataObject, is_json: bool) -> None:
    names = st.sampled_from([*METHODS[method].arguments, "strange"])
    args = data.draw(st.dictionaries(names, ANYTHING | ANYTHING.map(json.dumps), max_size=4))
    try:
        known = read(method, args, is_json)
    except Refused as refused:
        assert refused.error.startswith("invalid_")
    else:
        assert set(known) <= set(METHODS[method].arguments)
