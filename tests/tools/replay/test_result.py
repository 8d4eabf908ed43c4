"""The figures of a replay, from facts and from what stood in the thread when."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any, TypeAlias

import pytest

from slack_bot.observe.facts import AgentEvent, EventHandled, Fact, SlackCalled, TurnEnded, TurnStarted
from slack_bot.testing.slack.rendering import SeenMessage
from slack_bot.tools.replay.result import ThreadQuestion, as_line, as_text, make_result, pace_of, visible
from slack_bot.tools.turn_log import LoggedTurn, TurnLog
from slack_bot.turn.events import AnswerText, FinalAnswer, Narrated, StopRequested, StreamEnd, StreamEnded
from slack_bot.turn.progress import MessageRecord
from tests.tools.trace import turns

from .messages import card, shown

Entry: TypeAlias = Fact | tuple[float, str]

KEYS = [
    *("outcome", "reason", "context_id", "task_id", "trace_id", "calls", "thread", "visible"),
    *(
        "first_answer_event",
        "first_sign",
        "first_visible",
        "longest_gap",
        "live_share",
        "events",
        "dropped",
        "latches",
        "masked",
    ),
]


def answer(text: str, ts: str = "1.0") -> SeenMessage:
    return shown(ts, text, "sealed")


def decided(at: float, event: object) -> EventHandled:
    return EventHandled(at, "turn", event, (), "answering")


def closed(at: float = 20.0, late: int = 0) -> TurnEnded:
    return TurnEnded(at, "turn", "answered", None, "ctx", "task", "trace", {"answer_begun": True}, late)


def result(*entries: Entry, thread: Sequence[SeenMessage] = ()) -> dict[str, object]:
    log = TurnLog()
    for entry in entries:
        if isinstance(entry, tuple):
            log.look(*entry)
        else:
            log.take(entry)
    log.look(30.0, visible(thread))  # nothing changes unseen
    return make_result(log, thread, asked_at=10.0)


def test_a_question_nobody_took() -> None:
    got = result()
    assert list(got) == KEYS
    assert got["outcome"] is None and got["reason"] == "the bot did not take the question"
    assert got["visible"] == "" and got["live_share"] is None and got["longest_gap"] is None
    assert got["dropped"] == {"late": 0}


def test_a_whole_turn() -> None:
    entries: list[Entry] = [
        (10.0, ""),
        TurnStarted(10.0, "turn", "U1", "C1", "1.0", "q"),
        AgentEvent(10.5, "turn", "task", {}),
        AgentEvent(11.0, "turn", "streaming_result", {}),
        decided(11.0, Narrated("hm")),
        AgentEvent(11.6, "turn", "streaming_result", {}),
        decided(11.61, AnswerText("abc")),
        SlackCalled(12.5, "turn", "chat.startStream", {"chunks": ({"text": "abc"},)}, True, None, 0.5),
        (12.0343, "abc "),
        SlackCalled(13.0, "turn", "chat.appendStream", {}, False, "ratelimited", 0.0),
        (13.5, "abc "),
        decided(15.0, FinalAnswer("abcd", "final_result")),
        (15.0, "abc d"),
        decided(15.1, StreamEnded(StreamEnd.CLOSED)),
        closed(late=2),
    ]
    got = result(*entries, thread=[shown("0.9", "oops", "posted"), answer("abc d")])
    assert (got["outcome"], got["context_id"], got["task_id"], got["trace_id"]) == (
        "answered",
        "ctx",
        "task",
        "trace",
    )
    assert got["calls"] == [
        {
            "t": 2.0,
            "method": "chat.startStream",
            "args": {"chunks": [{"text": "abc"}]},
            "ok": True,
            "error": None,
        },
        {"t": 3.0, "method": "chat.appendStream", "args": {}, "ok": False, "error": "ratelimited"},
    ]
    assert got["visible"] == "abc d"
    assert (got["first_answer_event"], got["first_visible"]) == (1.61, 2.034)
    assert (got["longest_gap"], got["live_share"]) == (2.966, 0.75)
    assert got["events"] == {"streaming_result": 2, "task": 1}
    assert got["dropped"] == {"late": 2} and got["latches"] == {"answer_begun": True}


def test_what_is_shown_in_the_instant_of_the_end_is_not_live() -> None:
    end = decided(12.0, FinalAnswer("abc", "final_result"))
    assert result(end, (12.0, "abc"), closed(), thread=[answer("abc")])["live_share"] == 0.0
    assert result((12.0, "abc"), end, closed(), thread=[answer("abc")])["live_share"] == 0.0


def test_text_that_was_rewritten_was_not_live() -> None:
    end = decided(12.0, FinalAnswer("good news", "final_result"))
    got = result((11.0, "go away please"), end, (12.0, "good news"), closed(), thread=[answer("good news")])
    assert got["live_share"] == 0.25


LONG = "The quick brown fox jumps over the lazy dog. " * 2


@pytest.mark.parametrize(
    ("early", "share"),
    [
        ("Let me look that up: " + LONG[:45], 0.5),
        ("Let me look that up: " + LONG, 1.0),
        ("Let me look that up: The quick", 0.0),
        ("Let me look that up: " + LONG[:45] + "Not so!", 0.5),
        (LONG.replace("brown", "red", 1), 0.931),
        (LONG.replace(" ", "\n"), 1.0),
    ],
)
def test_what_a_rewrite_changed_does_not_count_against_the_rest(early: str, share: float) -> None:
    end = decided(12.0, FinalAnswer(LONG, "final_result"))
    assert result((11.0, early), end, closed(), thread=[answer(LONG)])["live_share"] == share


def test_without_any_end_all_text_counts() -> None:
    assert result((12.0, "ab"), (13.0, "abcd"), thread=[answer("abcd")])["live_share"] == 1.0


def test_text_that_shrinks_is_no_growth() -> None:
    got = result((11.0, "abcdef"), (12.0, "abc"), (13.0, "abcdefg"), thread=[answer("abcdefg")])
    assert (got["first_visible"], got["longest_gap"]) == (1.0, 2.0)


def test_a_split_answer_reads_as_the_answer() -> None:
    assert visible([answer("one "), answer("two"), answer(""), answer("\nthree")]) == "one two\nthree"
    assert visible([answer("日"), shown("2.0", "a note", "posted"), answer("本")]) == "日本"


def test_the_thread_is_told_message_by_message() -> None:
    message = shown(
        "1.0",
        "hi",
        "streaming",
        blocks=({"type": "context"},),
        tasks=(card("A", "error"),),
        status_line="is thinking...",
    )
    assert result(thread=[message])["thread"] == [
        {
            "ts": "1.0",
            "text": "hi",
            "blocks": [{"type": "context"}],
            "tasks": [{"id": "a", "title": "A", "status": "error", "details": "", "output": ""}],
            "state": "streaming",
            "status_line": "is thinking...",
        }
    ]


def test_markup_that_was_added_to_a_message_is_named() -> None:
    messages = [answer("```py\na\n```", "1.0"), answer("```py\nb\n```\n", "2.0"), answer("c", "3.0")]
    records = (MessageRecord("1.0", "stream", closing="```"), MessageRecord("2.0", "stream", "```py\n"))
    thread = result(replace(closed(), messages=records), thread=messages)["thread"]
    added = [(each.get("opening"), each.get("closing")) for each in thread]
    assert added == [("", "```"), ("```py\n", ""), (None, None)]


def test_one_line_of_ascii_whatever_the_arguments_hold() -> None:
    class Color(StrEnum):
        RED = "red"

    args = {"a": Color.RED, "b": {"c": {1}}, "d": "\U0001f600\ud800\u2028"}
    line = as_line(result(SlackCalled(10.0, "turn", "m", args, True, None, 0.0), thread=[answer("漢")]))
    assert line.isascii() and "\n" not in line
    assert json.loads(line)["calls"][0]["args"] == {
        "a": "red",
        "b": {"c": "{1}"},
        "d": "\U0001f600\ud800\u2028",
    }
    assert json.loads(line)["calls"][0]["t"] == 0.0


def test_rounding_never_gives_a_negative_zero() -> None:
    call = SlackCalled(9.9999, "turn", "m", {}, True, None, 0.0)
    assert '"t": 0.0' in as_line(result(call))


def test_what_came_too_late_is_no_answer_and_what_was_taken_away_was_not_visible() -> None:
    late = EventHandled(3.0, "turn", FinalAnswer("x", "final_result"), (), "stopping", late=True)
    got = result(late, (3.5, "Something went wrong"), (3.5, ""), closed(late=1))
    assert (got["first_answer_event"], got["first_visible"], got["live_share"]) == (None, None, None)


def test_each_question_counts_for_itself() -> None:
    asked = [TurnStarted(at, "turn", "U1", "C1", "1.0", "q") for at in (10.0, 20.0)]
    got = result(
        *(asked[0], (11.0, "one"), decided(12.0, FinalAnswer("one", "x")), closed(13.0)),
        *(asked[1], decided(21.0, FinalAnswer("two!!", "x")), (22.0, "onetwo!!"), closed(23.0)),
        thread=[answer("one"), answer("two!!", "2.0")],
    )
    assert (got["live_share"], got["longest_gap"], got["first_visible"]) == (0.375, 0.0, 1.0)


# -- as text ------------------------------------------------------------------------------------------------


def said(*thread: SeenMessage, **more: Any) -> dict[str, Any]:
    return {**make_result(TurnLog(), thread, 0.0), **more}


def test_a_thread_with_everything() -> None:
    thread = [
        shown(
            "1.0",
            "# Answer\nBody.\n",
            "sealed",
            blocks=(
                {"type": "markdown", "text": "# Answer\nBody."},
                {"type": "context", "elements": [{"type": "mrkdwn", "text": "sources"}]},
                {
                    "type": "actions",
                    "elements": [{"type": "button", "text": {"type": "plain_text", "text": "Retry"}}],
                },
                {"type": "context_actions", "elements": [{"type": "button", "text": "Plain"}]},
                {"type": "divider"},
            ),
            tasks=(
                card("Search", "complete", "12 hits\nread 3\n"),
                card("Fetch", "error"),
                card("Odd", "novel"),
            ),
            status_line="is thinking...",
        )
    ]
    got = as_text(said(*thread), "U1", [ThreadQuestion(0, "why?")], ["answered, 0 Slack calls"])
    assert got == (
        "U1: why?\n\n"
        "bot (streamed):\n"
        "  [x] Search - complete\n"
        "      12 hits\n"
        "      read 3\n"
        "  [!] Fetch - error\n"
        "  [?] Odd - novel\n"
        "# Answer\nBody.\n"
        "  | sources\n"
        "  | [Retry]\n"
        "  | [Plain]\n"
        "  | <divider>\n"
        "  (is thinking...)\n\n"
        "-- answered, 0 Slack calls\n"
    )


def test_a_thread_with_nothing() -> None:
    assert as_text(said(), "U1", [ThreadQuestion(0, "q")], ["not taken"]) == "U1: q\n\n-- not taken\n"


def test_each_further_question_stands_where_it_was_asked() -> None:
    thread = [shown(f"{n}.0", f"Answer {n}.", "sealed") for n in range(3)]
    paces = ["asked, 3 Slack calls", "answered, 3 Slack calls"]
    got = as_text(said(*thread), "U1", [ThreadQuestion(0, "one"), ThreadQuestion(1, "two")], paces)
    assert [part.split("\n")[0] for part in got.split("\n\n")] == [
        "U1: one",
        "bot (streamed):",
        "-- asked, 3 Slack calls",
        "U1: two",
        "bot (streamed):",
        "bot (streamed):",
        "-- answered, 3 Slack calls",
    ]


WORDS = "word " * 100


def line(*entries: Fact | tuple[float, str]) -> str:
    log = turns.logged(turns.opened(), *entries, log=TurnLog())
    return pace_of(log.turns[0])


def test_an_agent_that_is_silent_and_says_everything_at_once() -> None:
    at_once = ((12.0 + n / 100, WORDS[: 50 * (n + 1)]) for n in range(10))
    assert line(turns.called(12.0, "chat.startStream"), *at_once, turns.closed(12.2)) == (
        "answered, first visible text after 12 s, 100% of it within half a second, 100% live, "
        "longest gap 0.01 s, 1 Slack calls"
    )


def test_one_that_dies_keeps_its_reader_waiting() -> None:
    steady = ((1.0 + n, WORDS[: 50 * (n + 1)]) for n in range(10))
    words = line(*steady, turns.closed(70.0))
    assert "within half a second" not in words
    assert "first visible text after 1 s, 60 s without anything new, 100% live" in words


def test_a_sentence_always_comes_at_once() -> None:
    words = line((1.0, "Which day?"), turns.closed(1.2))
    assert words == "answered, first visible text after 1 s, 100% live, 0 Slack calls"


def test_nothing_at_all() -> None:
    nothing = pace_of(LoggedTurn())
    assert nothing == "not taken (the bot did not take the question), 0 Slack calls"


def test_what_only_found_that_the_human_had_stopped_did_not_fail() -> None:
    sealed = turns.called(1.0, "chat.stopStream", error="message_not_in_streaming_state")
    assert line(turns.decided(0.5, StopRequested("U1")), sealed, turns.closed(2.0)).endswith("1 Slack calls")
    assert line(sealed, turns.closed(2.0)).endswith("1 Slack calls, 1 of them failed")


def test_what_came_with_the_end_was_not_live() -> None:
    end = turns.decided(2.0, FinalAnswer(WORDS, "final_result"))
    assert "50% live" in line((1.0, WORDS[:250]), end, (2.0, WORDS), turns.closed(2.1))


def test_the_handle_of_a_form_is_numbered_where_it_stands_and_nowhere_else() -> None:
    """A sign-in's button has the value `link`, and calls have an argument `unfurl_links`."""
    buttons = [
        {"action_id": "form_opened", "value": "link"},
        {"action_id": "feedback", "value": "x"},
        {"action_id": "form_fill", "value": "kZ1"},
        {"action_id": "form_choose-2", "value": "kZ1|2"},
    ]
    args = {"unfurl_links": False, "kZ1": "the kZ1 of words", "private_metadata": "kZ1", "blocks": buttons}
    line = as_line({"args": args})
    assert json.loads(line)["args"] == {
        "unfurl_links": False,
        "kZ1": "the kZ1 of words",
        "private_metadata": "form-1",
        "blocks": [*buttons[:2], {**buttons[2], "value": "form-1"}, {**buttons[3], "value": "form-1|2"}],
    }
