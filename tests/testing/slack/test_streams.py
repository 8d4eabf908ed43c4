"""Slack's streaming rules, as a table: a sequence of calls, and what the last one answers."""

# ruff: noqa: E501 - one rule a line reads better than one argument a line

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.testing.slack.rules import WorkspaceRules
from slack_bot.testing.slack.state import Refused, StoredMessage
from slack_bot.testing.slack.streams import added, check_room, next_end, weighted_bytes

from .scene import NOW, U1, Scene, context, feedback, task, text

ROOT, TS, DIRECT, DIRECT_ROOT = "<root>", "<ts>", "<direct>", "<direct_root>"
START = ("chat.startStream", {"channel": "C1", "thread_ts": ROOT, **U1})
CHUNKED = ("chat.startStream", {"channel": "C1", "thread_ts": ROOT, **U1, "chunks": [text("a")]})
PLAIN = ("chat.startStream", {"channel": "C1", "thread_ts": ROOT, **U1, "markdown_text": "a"})
STOP = ("chat.stopStream", {"channel": "C1", "ts": TS})
Step = tuple[str, dict[str, Any]]


def start(**args: Any) -> Step:
    return ("chat.startStream", {**START[1], **args})


def append(**args: Any) -> Step:
    return ("chat.appendStream", {"channel": "C1", "ts": TS, **args})


def stop(**args: Any) -> Step:
    return ("chat.stopStream", {"channel": "C1", "ts": TS, **args})


def chunk(**fields: Any) -> Step:
    return append(chunks=[fields])


def without(*names: str, **more: Any) -> Step:
    return ("chat.startStream", {k: v for k, v in {**START[1], **more}.items() if k not in names})


TABLE = {"type": "table", "rows": [[{"type": "raw_text", "text": "w" * 3_000}] * 2]}
RULES: list[tuple[str, list[Step], str | None]] = [
    # starting
    ("start", [START], None),
    ("start with text", [PLAIN], None),
    ("start with chunks", [CHUNKED], None),
    ("both", [start(markdown_text="a", chunks=[text("a")])], "cannot_provide_both_markdown_text_and_chunks"),
    ("no channel", [("chat.startStream", {"thread_ts": ROOT, **U1})], "invalid_arguments"),
    ("unknown channel", [start(channel="C9")], "channel_not_found"),
    ("not a member", [start(channel="C2")], "not_in_channel"),
    ("archived", [start(channel="C3")], "is_archived"),
    ("no thread", [without("thread_ts")], "invalid_thread_ts"),
    ("thread 0", [start(thread_ts="0")], "invalid_thread_ts"),
    ("unknown thread", [start(thread_ts="1.2")], "invalid_thread_ts"),
    ("a reply is no root", [CHUNKED, start(thread_ts=TS)], "invalid_thread_ts"),
    ("no recipient user", [without("recipient_user_id")], "missing_recipient_user_id"),
    ("no recipient team", [without("recipient_team_id")], "missing_recipient_team_id"),
    ("unknown recipient", [start(recipient_user_id="U9")], "user_not_found"),
    ("a guest with the home team", [start(recipient_user_id="U2")], "user_not_found"),
    ("a guest with their own team", [start(recipient_user_id="U2", recipient_team_id="T2")], None),
    ("a bot's id", [start(recipient_user_id="B0BOT")], "user_not_found"),
    ("a bot user", [start(recipient_user_id="U3")], "user_not_found"),
    ("a DM needs none", [without("recipient_user_id", "recipient_team_id", channel=DIRECT, thread_ts=DIRECT_ROOT)], None),
    ("but checks one", [start(channel=DIRECT, thread_ts=DIRECT_ROOT, recipient_team_id="T2")], "user_not_found"),
    ("and a team alone is nobody", [without("recipient_user_id", channel=DIRECT, thread_ts=DIRECT_ROOT)], "user_not_found"),
    ("plan", [start(task_display_mode="plan")], None),
    ("dense", [start(task_display_mode="dense")], "invalid_arguments"),
    ("blocks on start", [start(blocks=[context()])], "invalid_arguments"),
    ("metadata on start", [start(metadata={"event_type": "t", "event_payload": {}})], "invalid_arguments"),
    ("unfurling", [start(unfurl_links=False)], "invalid_arguments"),
    # appending
    ("append", [CHUNKED, append(chunks=[text("b")])], None),
    ("append text", [PLAIN, append(markdown_text="b")], None),
    ("append decides the mode", [START, append(markdown_text="b"), append(chunks=[text("c")])], "streaming_mode_mismatch"),
    ("text to chunks", [PLAIN, append(chunks=[text("b")])], "streaming_mode_mismatch"),
    ("chunks to text", [CHUNKED, append(markdown_text="b")], "streaming_mode_mismatch"),
    ("nothing to append", [CHUNKED, append()], "markdown_text_or_chunks_required"),
    ("no chunks to append", [CHUNKED, append(chunks=[])], "markdown_text_or_chunks_required"),
    ("an empty text", [PLAIN, append(markdown_text="")], "markdown_text_or_chunks_required"),
    ("append both", [CHUNKED, append(chunks=[text("b")], markdown_text="b")], "cannot_provide_both_markdown_text_and_chunks"),
    ("append to nothing", [START, append(ts="1.2", chunks=[text("b")])], "message_not_found"),
    ("append to a person's message", [append(ts=ROOT, chunks=[text("b")])], "message_not_owned_by_app"),
    ("append after stop", [CHUNKED, STOP, append(chunks=[text("b")])], "message_not_in_streaming_state"),
    ("append to a post", [("chat.postMessage", {"channel": "C1", "text": "p"}), append(chunks=[text("b")])], "message_not_in_streaming_state"),
    ("12,000", [START, append(markdown_text="x" * 12_000)], None),
    ("12,001", [START, append(markdown_text="x" * 12_001)], "msg_too_long"),
    ("12,000 in chunks", [START, append(chunks=[text("x" * 6_000)] * 2)], None),
    ("12,001 in chunks", [START, append(chunks=[text("x" * 6_000), text("y" * 6_001)])], "msg_too_long"),
    # chunks
    ("not an object", [CHUNKED, append(chunks=["text"])], "invalid_chunks"),
    ("not a list", [CHUNKED, append(chunks={"type": "markdown_text"})], "invalid_chunks"),
    ("not JSON", [CHUNKED, append(chunks="[{")], "invalid_chunks"),
    ("JSON in a string", [CHUNKED, append(chunks='[{"type": "markdown_text", "text": "b"}]')], None),
    ("unknown type", [CHUNKED, chunk(type="markdown", text="b")], "invalid_chunks"),
    ("a type that is no word", [CHUNKED, chunk(type=["markdown_text"], text="b")], "invalid_chunks"),
    ("text without text", [CHUNKED, chunk(type="markdown_text")], "invalid_chunks"),
    ("empty text", [CHUNKED, chunk(type="markdown_text", text="")], "invalid_chunks"),
    ("unknown field", [CHUNKED, chunk(type="markdown_text", text="b", id="1")], "invalid_chunks"),
    ("card", [CHUNKED, append(chunks=[task(details="d", output="o")])], None),
    ("card with a source", [CHUNKED, append(chunks=[task(sources=[{"type": "url", "text": "t", "url": "https://e.x"}])])], None),
    ("card with a bad source", [CHUNKED, append(chunks=[task(sources=[{"url": "https://e.x"}])])], "invalid_chunks"),
    ("card without id", [CHUNKED, chunk(type="task_update", title="t", status="complete")], "invalid_chunks"),
    ("card without title", [CHUNKED, chunk(type="task_update", id="1", status="complete")], "invalid_chunks"),
    ("card without status", [CHUNKED, chunk(type="task_update", id="1", title="t")], "invalid_chunks"),
    ("card's status", [CHUNKED, append(chunks=[task(status="completed")])], "invalid_chunks"),
    ("title of 256", [CHUNKED, append(chunks=[task(title="t" * 256)])], None),
    ("title of 257", [CHUNKED, append(chunks=[task(title="t" * 257)])], "invalid_chunks"),
    ("details of 257", [CHUNKED, append(chunks=[task(details="t" * 257)])], "invalid_chunks"),
    ("output of 257", [CHUNKED, append(chunks=[task(output="t" * 257)])], "invalid_chunks"),
    ("details no text", [CHUNKED, append(chunks=[task(details=["t"])])], "invalid_chunks"),
    ("plan title of 257", [CHUNKED, chunk(type="plan_update", title="t" * 257)], "invalid_chunks"),
    ("blocks chunk", [CHUNKED, chunk(type="blocks", blocks=[context()])], None),
    ("blocks chunk without blocks", [CHUNKED, chunk(type="blocks")], "invalid_chunks"),
    ("bad blocks chunk", [CHUNKED, chunk(type="blocks", blocks=[{"type": "text"}])], "invalid_blocks"),
    # stopping
    ("stop", [CHUNKED, STOP], None),
    ("stop with no chunks", [START, stop(chunks=[])], None),
    ("stop with the rest", [CHUNKED, stop(chunks=[text("b")])], None),
    ("stop in the other mode", [CHUNKED, stop(markdown_text="b")], "streaming_mode_mismatch"),
    ("stop twice", [CHUNKED, STOP, STOP], "message_not_in_streaming_state"),
    ("a table", [CHUNKED, chunk(type="blocks", blocks=[TABLE])], None),
    ("tables with too much for a message", [CHUNKED, *[chunk(type="blocks", blocks=[TABLE])] * 2], "invalid_blocks"),
    ("50 blocks", [CHUNKED, stop(blocks=[context()] * 50)], None),
    ("51 blocks", [CHUNKED, stop(blocks=[context()] * 51)], "msg_blocks_too_many"),
    ("bad blocks", [CHUNKED, stop(blocks=[{"type": "actions", "elements": []}])], "invalid_blocks"),
    ("blocks not JSON", [CHUNKED, stop(blocks="nope")], "invalid_blocks_format"),
    ("metadata", [CHUNKED, stop(metadata={"event_type": "t", "event_payload": {"a": 1}})], None),
    ("metadata without payload", [CHUNKED, stop(metadata={"event_type": "t"})], "invalid_metadata_format"),
    ("suspended", [CHUNKED, stop(session_status="suspended")], None),
    ("waiting", [CHUNKED, stop(session_status="waiting")], "invalid_arguments"),
    # others and an open stream
    ("update an open stream", [CHUNKED, ("chat.update", {"channel": "C1", "ts": TS, "text": "t"})], "streaming_state_conflict"),
    ("update a sealed one", [CHUNKED, STOP, ("chat.update", {"channel": "C1", "ts": TS, "text": "t"})], None),
    ("delete an open stream", [CHUNKED, ("chat.delete", {"channel": "C1", "ts": TS})], "cant_delete_message"),
    ("delete a sealed one", [CHUNKED, STOP, ("chat.delete", {"channel": "C1", "ts": TS})], None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("steps", "error"), [(s, e) for _, s, e in RULES], ids=[name for name, _, _ in RULES]
)
def test_the_rules(steps: list[Step], error: str | None) -> None:
    scene, ts = Scene(), ""
    for number, (method, args) in enumerate(steps, 1):
        names = {ROOT: scene.root, TS: ts, DIRECT: scene.direct, DIRECT_ROOT: scene.direct_root}
        filled = {k: names.get(v, v) if isinstance(v, str) else v for k, v in args.items()}
        body = scene.call(method, **filled)
        if number < len(steps):
            assert body["ok"], body
        ts = body.get("ts", ts)
    assert body.get("error") == error, body


def test_text_grows_live_and_stays() -> None:
    scene = Scene()
    ts = scene.start(text("One "))
    assert (scene.last().text, scene.last().state) == ("One ", "streaming")
    scene.append(ts, text("two"), text(" **three**\n"))
    assert scene.last().text == "One two **three**\n"
    scene.stop(ts, chunks=[text("four")], blocks=[feedback(), context("Ask me more.")])
    seen = scene.last()
    assert (seen.text, seen.state) == ("One two **three**\nfour", "sealed")
    assert seen.extras == ("Good Bad", "Ask me more.")
    assert [block["type"] for block in seen.blocks] == ["context_actions", "context"]


def test_white_space_alone_is_dropped_and_so_is_white_space_at_the_start() -> None:
    scene = Scene()
    ts = scene.start(text("\n\n Hello"))
    scene.append(ts, text("\n\n"))
    scene.append(ts, text("\n\nworld"))
    assert scene.last().text == "Hello\n\nworld"


def test_a_card_replaces_its_title_and_state_and_appends_details_and_output() -> None:
    scene = Scene()
    ts = scene.start({"type": "plan_update", "title": "Step 1"}, task(details="a", output="x"))
    scene.append(
        ts, {"type": "plan_update", "title": "Step 2"}, task(title="Found", details=" b", output="y")
    )
    source = {"type": "url", "text": "t", "url": "https://example.org"}
    scene.append(ts, task(title="Found it", status="complete", sources=[source]), task("t2", status="error"))
    (first, second) = scene.last().tasks
    assert (first.title, first.status, first.details, first.output) == ("Found it", "complete", "ab", "xy")
    assert (first.sources, second.status, scene.last().plan_title) == ((source,), "error", "Step 2")


def test_a_card_text_that_begins_with_two_hashes_shows_empty() -> None:
    scene = Scene()
    scene.start(task(details="## Heading"))
    assert scene.last().tasks[0].details == ""


@pytest.mark.parametrize("state", ["pending", "in_progress"])
def test_a_plan_that_stops_with_an_open_card_has_failed(state: str) -> None:
    scene = Scene()
    ts = scene.start(task(status=state), text("Answer"), task_display_mode="plan")
    scene.stop(ts)
    seen = scene.last()
    assert (seen.plan_failed, seen.plan_title) == (True, "Something went wrong")
    assert seen.text == "Something went wrong\n\nAnswer"


@pytest.mark.parametrize(
    ("display", "state"), [("plan", "complete"), ("plan", "error"), ("timeline", "in_progress")]
)
def test_other_cards_do_not_spoil_the_message(display: str, state: str) -> None:
    scene = Scene()
    scene.stop(scene.start(task(status=state), text("Answer"), task_display_mode=display))
    assert (scene.last().plan_failed, scene.last().text) == (False, "Answer")


@pytest.mark.parametrize("counts", [(60,), (40, 20), (49, 2, 5)])
def test_blocks_beyond_fifty_in_the_chunks_of_a_message_are_dropped(counts: tuple[int, ...]) -> None:
    scene = Scene()
    ts = scene.start(text("a"))
    for count in counts:
        scene.append(ts, {"type": "blocks", "blocks": [context()] * count})
    assert len(scene.last().blocks) == 50
    scene.stop(ts, blocks=[context()])
    assert len(scene.last().blocks) == 51, "those of the stop count apart"


def test_a_stop_by_a_person_ends_the_stream_for_good() -> None:
    scene = Scene()
    ts = scene.start(text("a"))
    assert scene.workspace.stop("U1", "C1", scene.root, now=scene.now) == [ts]
    assert (scene.last().state, scene.last().stopped_by) == ("sealed", "U1")
    assert scene.error("chat.appendStream", channel="C1", ts=ts, chunks=[text("b")]) == "stopped_by_user"
    assert scene.error("chat.stopStream", channel="C1", ts=ts) == "message_not_in_streaming_state"


def test_a_stream_makes_the_session_busy_and_its_stop_says_what_follows() -> None:
    scene = Scene()
    ts = scene.start(text("a"))
    assert scene.workspace.session("C1", scene.root) == "processing"
    answer = scene.stop(ts, session_status="suspended", metadata={"event_type": "t", "event_payload": {}})
    assert scene.workspace.session("C1", scene.root) == "suspended"
    assert answer["message"]["streaming_state"] == "completed"
    assert scene.last().metadata == {"event_type": "t", "event_payload": {}}


def test_the_app_hears_of_its_own_streams() -> None:
    scene = Scene()
    ts = scene.start(text("a"))
    scene.append(ts, text("b"))
    scene.stop(ts)
    events = [e for e in scene.events() if "agent_session" not in e.get("message", {})]
    first, last = events
    assert (first["type"], first["text"], first["streaming_state"], first["bot_id"]) == (
        "message",
        "",
        "in_progress",
        "B0BOT",
    )
    assert "subtype" not in first
    assert (last["subtype"], last["hidden"], last["message"]["streaming_state"]) == (
        "message_changed",
        True,
        "completed",
    )


def test_open_streams_are_counted() -> None:
    scene = Scene()
    ts = scene.start(text("a"))
    assert scene.workspace.open_streams() == [ts]
    scene.stop(ts)
    assert scene.workspace.open_streams() == []


PLAN = {"type": "plan_update", "title": "Plan"}
CARD = task("1", "Look", details="de", output="o")
BLOCKS = {"type": "blocks", "blocks": []}


def message() -> StoredMessage:
    return StoredMessage("C1", "1.2", "U0BOT", "T1")


@pytest.mark.parametrize(
    ("content", "bytes_"),
    [
        ("abc", 3),
        ("\u5b57\U0001f642", 7),
        ([text("abc"), text("d")], 4),
        ([CARD], 4 + 2 * 3),
        ([CARD, CARD], 4 + 2 * 3 + 2 * 3),
        ([CARD, task("1", "L")], 1 + 2 * 3),
        ([CARD, task("2", "L")], 4 + 2 * 3 + 1),
        ([PLAN], 4),
        ([PLAN, {"type": "plan_update", "title": "P"}], 1),
        ([BLOCKS], 0),
    ],
)
def test_what_content_adds(content: Any, bytes_: int) -> None:
    assert added(message(), content) == bytes_


CHUNKS = st.lists(
    st.one_of(
        st.text("a\u5b57 ", min_size=1, max_size=9).filter(str.strip).map(text),
        st.builds(
            task,
            st.sampled_from("12"),
            st.text("xy", min_size=1, max_size=5),
            details=st.text("de", max_size=5),
            output=st.text("o", max_size=5),
        ),
        st.text("p", min_size=1, max_size=5).map(lambda title: {"type": "plan_update", "title": title}),
    ),
    min_size=1,
    max_size=6,
)


@given(st.lists(CHUNKS, min_size=1, max_size=4))
def test_what_is_added_is_what_it_weighs_then(calls: list[list[dict[str, Any]]]) -> None:
    """At most: white space that Slack drops was counted."""
    scene = Scene()
    ts = scene.start()
    standing = scene.workspace.state.open_streams[ts]
    for chunks in calls:
        before, more = weighted_bytes(standing), added(standing, chunks)
        scene.append(ts, *chunks)
        spaces = sum(len(chunk.get("text", "")) - len(chunk.get("text", "").lstrip()) for chunk in chunks)
        assert before + more - spaces <= weighted_bytes(standing) <= before + more


def test_full_for_good() -> None:
    state = Scene(rules=WorkspaceRules(stream_bytes=10)).workspace.state
    standing = message()
    check_room(state, standing, "x" * 10)
    standing.body = "x" * 9
    check_room(state, standing, "y")
    with pytest.raises(Refused, match="msg_too_long"):
        check_room(state, standing, "yy")
    with pytest.raises(Refused, match="msg_too_long"):
        check_room(state, standing, "y")
    check_room(state, standing, [BLOCKS])


@pytest.mark.parametrize(
    ("rules", "end"),
    [
        (WorkspaceRules(), None),
        (WorkspaceRules(stream_life=300), 300),
        (WorkspaceRules(stream_idle=30), 130),
        (WorkspaceRules(stream_life=300, stream_idle=30), 130),
        (WorkspaceRules(stream_life=120, stream_idle=30), 120),
    ],
)
def test_a_stream_ends_by_age_or_by_silence(rules: WorkspaceRules, end: float | None) -> None:
    scene = Scene(rules=rules)
    ts = scene.start(text("a"))
    for _ in range(4):
        scene.wait(25)
        scene.append(ts, text("b"))
    assert next_end(scene.workspace.state) == (None if end is None else NOW + end)


def test_a_sealed_stream_ends_no_more() -> None:
    scene = Scene(rules=WorkspaceRules.real())
    scene.stop(scene.start(text("a")))
    assert next_end(scene.workspace.state) is None


def test_the_oldest_ends_first_and_each_in_its_own_time() -> None:
    scene = Scene(rules=WorkspaceRules.real())
    first = scene.start(text("a"))
    scene.wait(100)
    second = scene.start(text("b"))
    assert next_end(scene.workspace.state) == NOW + 300
    scene.workspace.pass_time(NOW + 299)
    assert scene.workspace.open_streams() == [first, second]
    scene.workspace.take()
    scene.workspace.pass_time(NOW + 399)
    assert scene.workspace.open_streams() == [second]
    assert {event["ts"][:10] for event in scene.events()} == {str(int(NOW + 300))}
    assert [seen.expired for seen in scene.seen()] == [True, False]


def test_a_press_of_stop_comes_too_late_for_what_is_over() -> None:
    scene = Scene(rules=WorkspaceRules.real())
    scene.start(text("a"))
    assert scene.workspace.stop("U1", "C1", scene.root, now=NOW + 301) == []
    assert scene.last().stopped_by is None


def test_a_deleted_stream_is_forgotten() -> None:
    scene = Scene(rules=WorkspaceRules.real())
    scene.start(text("a"))
    scene.workspace.delete_root("C1", scene.root, now=NOW + 1, with_replies=True)
    assert (scene.workspace.open_streams(), next_end(scene.workspace.state)) == ([], None)
