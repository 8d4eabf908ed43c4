"""What is measured of a turn, and that the agent's side is read without the bot's help."""

from __future__ import annotations

from dataclasses import replace

from slack_bot.observe.facts import AgentEvent, Fact
from slack_bot.tools.conform.measures import Measures, measure
from slack_bot.tools.sent import visible_chars
from slack_bot.tools.turn_log import TurnLog
from slack_bot.turn.actions import AppendText
from slack_bot.turn.events import AnswerText, FinalAnswer
from slack_bot.turn.progress import MessageRecord
from tests.tools.conform.measured import FIRST, SECOND, TEXT, artifact, facts, measured, observed, thread
from tests.tools.trace.turns import START, called, closed, decided, logged, opened


def test_what_is_measured() -> None:
    seen = measured()
    assert (seen.total, seen.streamed, seen.stopped, seen.append_calls) == (len(TEXT), len(TEXT), 0, 1)
    assert seen.begun == len(FIRST)
    assert (seen.opened, seen.latched, seen.already_streamed, seen.delivery) == (
        True,
        True,
        True,
        "live stream",
    )
    assert (seen.plan_steps, seen.final_chunks, seen.tools, seen.tool_order) == (
        2,
        2,
        {"search": 1},
        ("search",),
    )
    assert (seen.outcomes, seen.questions, seen.asked) == (("answered",), 1, 1)
    first, whole = (len(visible_chars(each)) for each in (FIRST, TEXT))
    assert seen.sent == ((1.0, first), (2.0, whole))
    assert seen.visible == ((1.3, first), (2.3, whole))
    assert (seen.live_share, seen.agent_burst_share) == (1.0, round(max(first, whole - first) / whole, 3))
    assert seen.text == TEXT
    assert seen.texts == (TEXT,)
    assert seen.final == TEXT
    assert seen.narration == ("I will look it up first.",)
    assert "Calling search" in seen.said


def with_artifacts(*more: Fact) -> list[Fact]:
    return [opened(), *more, closed(9.0)]


def test_a_result_in_pieces_is_one_and_the_last_one_counts() -> None:
    pieces = (artifact(1, "one ", "final_result"), artifact(2, "two", "final_result", append=True))
    assert measured(with_artifacts(*pieces)).final == "one two"
    assert measured(with_artifacts(*pieces, artifact(3, "new", "final_result"))).final == "new"
    assert measured(with_artifacts(artifact(1, "half", "partial_result"))).final == "half"
    assert measured(with_artifacts(artifact(1, " ", "final_result"))).final is None


def test_a_task_as_it_stands_tells_the_result_too_and_nonsense_is_passed_over() -> None:
    task = {
        "kind": "task",
        "id": "t",
        "contextId": "c",
        "status": {"state": "completed"},
        "artifacts": [{"artifactId": "r", "name": "final_result", "parts": [{"text": "whole"}]}],
    }
    seen = measured(
        with_artifacts(
            AgentEvent(START + 1, "q", "task", task),
            AgentEvent(START + 2, "q", "?", {"error": {"code": -1, "message": "no"}}),
            AgentEvent(START + 3, "q", "?", {"kind": "status-update", "status": {"state": "working"}}),
        )
    )
    assert seen.final == "whole"


def status(t: float, state: str, text: str) -> Fact:
    message = {"role": "agent", "messageId": "m", "parts": [{"kind": "text", "text": text}]}
    said = {"kind": "status-update", "status": {"state": state, "message": message}}
    return AgentEvent(START + t, "q", "status_update", said)


def reply(t: float, text: str) -> Fact:
    message = {
        "kind": "message",
        "role": "agent",
        "messageId": "m",
        "parts": [{"kind": "text", "text": text}],
    }
    return AgentEvent(START + t, "q", "message", message)


def test_an_agent_without_artifacts_says_its_result_with_its_tasks_end_or_in_its_only_message() -> None:
    working, ended = status(1, "working", "Wait."), status(2, "completed", "whole")
    assert measured(with_artifacts(working, ended)).final == "whole"
    assert measured(with_artifacts(artifact(1, "answer", "answer"), ended)).final is None
    assert measured(with_artifacts(working, status(2, "failed", "no"))).final is None
    assert measured(with_artifacts(reply(1, "one"))).final == "one"
    assert measured(with_artifacts(reply(1, "one"), reply(2, "two"))).final is None


def test_narration_that_is_answer_too_is_no_narration_and_short_words_are_not_looked_for() -> None:
    both = artifact(
        1, "This is the answer itself.", "streaming_result", is_narration=True, is_final_answer=True
    )
    short = artifact(2, "Hm. ", "streaming_result", is_narration=True)
    assert measured(with_artifacts(both, short)).narration == ()


def test_the_texts_of_a_follow_up_are_those_of_its_own_messages() -> None:
    log = TurnLog(keeps_events=True)
    for fact in (opened(), closed(1.0)):
        log.take(fact)
    log.look(START + 1, "Which one?")
    log.look(START + 1, "Which one?")
    log.take(opened("that one"))
    log.look(START + 2, "Which one?" + TEXT)
    seen = measure(observed(log, *thread("Which one?", TEXT)))
    assert seen.texts == (TEXT,)
    assert len(seen.looks) == 2
    assert seen.questions == 2


def test_markup_that_was_added_is_no_text_of_the_answer() -> None:
    log = TurnLog(keeps_events=True)
    messages = (MessageRecord("1.0", "stream", closing="```"), MessageRecord("2.0", "stream", "```py\n"))
    for fact in (opened(), replace(closed(1.0), messages=messages)):
        log.take(fact)
    seen = measure(observed(log, *thread("```py\na\n```", "```py\nb\n```\n")))
    assert "".join(seen.texts) == "```py\na\nb\n```\n"


KEPT_BACK = [f"{word} " for word in TEXT.split()] * 8


def kept_back(until: float, ends: float) -> Measures:
    """Written token by token in statuses from 1 s on, known to the bot and shown at `until`, in one piece."""
    text = "".join(KEPT_BACK)
    told = (status(1 + n / 20, "working", word) for n, word in enumerate(KEPT_BACK))
    known = decided(until, AnswerText(text), AppendText(text, "the whole answer"))
    last = decided(ends, FinalAnswer(text, "result"))
    log = logged(opened(), *told, known, (until, text), last, closed(ends))
    return measure(observed(log, *thread(text)))


def test_text_that_was_kept_back_was_not_live_however_late_the_end_comes() -> None:
    for ends in (6.02, 6.2, 16.0):
        assert kept_back(6.0, ends).live_share == 0.0
    assert kept_back(6.0, 6.02).result["live_share"] == 0.0
    assert kept_back(6.0, 16.0).result["live_share"] == 1.0, "`replay` does not know when it was written"


def test_a_burst_of_the_bot_is_not_the_agents() -> None:
    seen = kept_back(6.0, 6.02)
    assert seen.summary.burst_share == 1.0
    assert seen.agent_burst_share is not None and seen.agent_burst_share < 0.2
    assert seen.sent[0][0] == 1.0 and seen.sent[-1][0] > 4.0


def test_what_the_bot_read_from_the_task_was_sent_at_a_time_that_is_not_known() -> None:
    kept = [fact for fact in facts() if not isinstance(fact, AgentEvent) or "result" not in str(fact.kind)]
    seen = measured(kept)
    assert (seen.sent, seen.agent_burst_share, seen.live_share) == ((), None, 1.0)


def test_how_it_was_delivered() -> None:
    def having(*names: str) -> str:
        kept = [
            fact
            for fact in facts()
            if not getattr(fact, "method", "").startswith("chat.") or fact.method in names
        ]  # type: ignore[union-attr]
        return measured(kept).delivery

    assert having("chat.startStream") == "live stream"
    assert having() == "posted"
    log = TurnLog(keeps_events=True)
    log.take(opened())
    assert measure(observed(log)).delivery == "empty"
    at_the_end = called(3.0, "chat.stopStream", TEXT)
    assert measured([opened(), at_the_end]).delivery == "stopStream only"
    assert measured([*facts(), at_the_end]).delivery == "split"


def test_visible_characters() -> None:
    assert visible_chars(" a\n b\t") == "ab"
    assert SECOND in TEXT
