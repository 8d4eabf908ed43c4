"""`slack-bot explain`: why each part of an answer went where it went."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from slack_bot.cli import main
from slack_bot.observe.facts import TurnEnded, TurnStarted
from slack_bot.testing.slack.rendering import SeenMessage
from slack_bot.testing.tape.builders import answer, chunk, status, task
from slack_bot.testing.tape.items import Moment
from slack_bot.testing.tape.tape import Tape, write_tape
from slack_bot.text.words import RESPONDING
from slack_bot.tools.files import open_capture
from slack_bot.tools.replay.explain import explain, explain_capture, parts_of
from slack_bot.tools.replay.provenance import Provenance
from slack_bot.tools.replay.replay import replayed
from slack_bot.tools.replay.result import Observation, ThreadQuestion, as_text, pace_of
from slack_bot.tools.replay.scenario import Scenario
from slack_bot.turn.actions import (
    AppendText,
    CardState,
    EndTurn,
    FlushText,
    NoOp,
    RewriteAnswer,
    SetPlanTitle,
    ShowForm,
    ShowStatus,
    TaskCard,
    UpdateCard,
)
from slack_bot.turn.events import (
    AnswerText,
    FinalAnswer,
    InputRequired,
    Narrated,
    StreamEnd,
    StreamEnded,
    TaskEnd,
    TaskEnded,
    TaskKnown,
)
from slack_bot.turn.form import Form, FormKind
from slack_bot.turn.record import Outcome
from tests.slack.test_extras import ROWS, artifact, tape
from tests.tools.trace.turns import START, called, closed, decided, event, opened

from .messages import card, shown
from .test_provenance import account, grows

WHICH = "which the agent says why it failed, hidden from readers (SLACK_BOT_AGENT__ERROR_TEXT=hide)"
TEXT = "First line.\nSecond line.\nThird line, the last one."


def test_all_text_that_stands_there_is_accounted_for() -> None:
    text = explain_capture(answer(TEXT, seconds=6.0), Scenario())
    sizes = [int(line.split(" shows ")[1].split(" ")[0]) for line in text.splitlines() if " shows " in line]
    assert len(sizes) > 2
    assert sum(sizes) == len(replayed(answer(TEXT, seconds=6.0)).result()["visible"])
    assert "answer latched: is_final_answer on streaming_result" in text
    assert "Sent again" not in text, "the bot's own word for the end is nothing that was sent"
    assert "Not part of the answer's text" not in text, "all that was sent stands there"
    assert "markup that the bot" not in text


@pytest.mark.parametrize(
    "faults",
    [
        {"chat.appendStream": ["internal_error!", None]},
        {"chat.startStream": ["channel_type_not_supported"]},
        {"chat.appendStream": [None, "message_not_in_streaming_state", None]},
    ],
)
def test_with_faults_too(faults: dict[str, tuple[str | None, ...]]) -> None:
    around = Scenario(slack_faults=faults)
    text = explain_capture(answer(TEXT, seconds=6.0), around)
    sizes = [int(line.split(" shows ")[1].split(" ")[0]) for line in text.splitlines() if " shows " in line]
    assert sum(sizes) == len(replayed(answer(TEXT, seconds=6.0), around).result()["visible"])
    assert "Calls that failed" in text


def test_what_was_shown_and_did_not_stay_is_said() -> None:
    first, second = "Something else is written here at first. ", "It is taken back, all of it, in the end."
    moments = [
        Moment(0.1, event=task()),
        Moment(0.2, event={**chunk(first), "append": False}),
        Moment(3.0, event=chunk(second)),
        Moment(6.0, event={**chunk(TEXT), "append": False}),
        Moment(6.1, event=status("completed")),
        Moment(6.2, end="closed"),
    ]
    said = explain_capture(Tape({"wire": "0.3"}, tuple(moments)), Scenario()).splitlines()
    assert replayed(Tape({"wire": "0.3"}, tuple(moments))).result()["visible"] == TEXT
    (line,) = (each for each in said if each.startswith("Taken back: "))
    assert int(line.split()[2]) > len(second)
    assert "Taken back" not in explain_capture(answer(TEXT, seconds=6.0), Scenario())


def test_the_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tape, scenario = tmp_path / "answer.jsonl", tmp_path / "around.json"
    tape.write_text(write_tape(answer(TEXT)), "utf-8")
    scenario.write_text(json.dumps({"text": "why?", "user": "U7"}), "utf-8")
    assert main(["explain", str(tape), "--scenario", str(scenario)]) == 0
    whole, live, left_out, _, asked, *_ = capsys.readouterr().out.split("\n")
    assert whole == f"Whole:    yes, {len(TEXT)} characters (answered)"
    assert live == "Live:     from 0.6 s on, 100% of it before the agent's end"
    assert (left_out, asked) == ("Left out: nothing", "U7: why?")
    assert main(["explain", str(tmp_path / "nothing.jsonl")]) == 2
    assert "nothing.jsonl" in capsys.readouterr().err


def observed(seen: Provenance, thread: Sequence[SeenMessage], *questions: ThreadQuestion) -> Observation:
    return Observation(seen.log, tuple(thread), START, "U1", questions)


def told(seen: Provenance, *thread: SeenMessage) -> str:
    return explain(seen, observed(seen, thread, ThreadQuestion(0, "what?")))


def message(text: str, state: str = "sealed") -> SeenMessage:
    return shown("1.1", text, state)


def usual() -> Provenance:
    return account(
        event(0.5, "hm"),
        decided(0.5, Narrated("hm", reason="flag"), NoOp("narration is not shown as text: flag")),
        *grows(1.0, "one "),
        event(1.2, "two "), decided(1.2, AnswerText("two "), AppendText("two ", "answer grows")),
        event(1.4, "three"), decided(1.4, AnswerText("three"), AppendText("three", "answer grows")),
        (1.5, "one two three"), called(1.45, "chat.startStream", "one two three"),
        called(1.6, "chat.appendStream", error="ratelimited"),
        decided(2.0, StreamEnded(StreamEnd.CLOSED), EndTurn(Outcome.ANSWERED, reason="stream closed")),
        closed(2.1),
    )  # fmt: skip


def test_each_part_says_who_brought_it_why_when_and_which_call_showed_it() -> None:
    text = told(usual(), message("one two three"))
    assert text.split("\n\n", 1)[1].startswith(
        "U1: what?\n4 events of the agent were heard.\n\nMessage 1, streamed: 13 characters"
    )
    assert '1.500 s  chat.startStream shows 13 characters: "one two three"' in text
    assert "event 2 (streaming_result), at 1 s: grows: one" in text
    assert "events 3 to 4 (streaming_result), 1.2 to 1.4 s: answer grows" in text


@pytest.mark.parametrize("reason", ["narration is not shown as text: flag", "said on the way"])
def test_narration_is_known_by_what_it_is_and_not_by_its_reason(reason: str) -> None:
    seen = account(
        event(0.5, "hm"),
        decided(0.5, Narrated("hm", reason="flag"), NoOp(reason)),
        *grows(1.0, "one "),
        decided(2.0, StreamEnded(StreamEnd.CLOSED), EndTurn(Outcome.ANSWERED, reason="stream closed")),
        closed(2.1),
    )
    assert "Left out: 2 characters that are not the answer (narration)\n" in told(seen, message("one"))


LOOK, READ = "I look into the handbook.", "I read its second page."


@pytest.mark.parametrize(
    ("details", "lines"),
    [
        ("", ["Left out: 23 characters that are not the answer (narration)",
              "On the way: 25 characters for which readers saw a typing status"]),
        (f"Search\n{READ}", ["Left out: nothing",
              "On the way: 25 characters for which readers saw a typing status;"
              " 23 characters in the details of steps"]),
        (f"{LOOK}\n{READ}", ["Left out: nothing", "On the way: 48 characters in the details of steps"]),
    ],
)  # fmt: skip
def test_what_became_of_narration_is_said_and_is_not_left_out(details: str, lines: list[str]) -> None:
    seen = account(
        event(0.5, LOOK),
        decided(0.5, Narrated(LOOK, reason="flag"), ShowStatus(RESPONDING, "narration: flag")),
        event(0.6, "\n"),
        decided(0.6, Narrated("\n", reason="flag"), NoOp("flag")),
        event(0.7, READ),
        decided(0.7, Narrated(READ, reason="flag"), NoOp("narration is not shown as text: flag")),
        *grows(1.0, "one "),
        decided(2.0, StreamEnded(StreamEnd.CLOSED), EndTurn(Outcome.ANSWERED, reason="stream closed")),
        closed(2.1),
    )
    tasks = (card("Search", "complete", details),) if details else ()
    assert told(seen, shown("1.1", "one", "sealed", tasks=tasks)).splitlines()[2 : 2 + len(lines)] == lines


@pytest.mark.parametrize(
    ("outcome", "has_end"), [(Outcome.WATCHED, False), (Outcome.ANSWERED, True), (Outcome.FAILED, True)]
)
def test_a_task_that_was_left_open_is_told_where_the_verdict_is(outcome: Outcome, has_end: bool) -> None:
    end = [decided(1.5, TaskEnded(TaskEnd.COMPLETED), NoOp("end"))] if outcome is Outcome.ANSWERED else []
    seen = account(
        decided(0.4, TaskKnown("t1"), NoOp("known")),
        *grows(1.0, "one "),
        *end,
        decided(2.0, StreamEnded(StreamEnd.CLOSED), EndTurn(outcome, reason="stream closed")),
        replace(closed(2.1), outcome=outcome),
    )
    assert ("no terminal state was sent" in told(seen, message("one")).splitlines()[0]) is not has_end
    assert ("no terminal state was sent" in pace_of(seen.log.turns[0])) is not has_end


def test_what_was_left_out_what_failed_and_the_end() -> None:
    text = told(usual(), message("one two three"))
    assert "not shown: 2 characters\n" in text
    assert "event 1 (streaming_result, Narrated), at 0.5 s: narration is not shown as text: flag" in text
    assert "1.600 s  chat.appendStream: ratelimited" in text
    assert "answered\n              the bot, on StreamEnded, at 2 s: stream closed" in text
    assert "Cards" not in text


def test_a_part_over_two_messages_is_told_in_both() -> None:
    text = told(usual(), message("one "), message("two three"))
    assert 'shows 4 characters: "one"' in text
    assert "Message 2, streamed: 9 characters of the answer\n     1.500 s  chat.startStream shows 9" in text


def test_a_note_is_no_part_of_the_answer() -> None:
    text = told(usual(), shown("1.2", "Sorry.", "posted"), message("one two three"))
    assert 'Message 1, posted: not part of the answer\n              "Sorry."' in text
    assert "the turn ended as answered (stream closed)" in text


def test_a_question_that_was_asked_on_the_way_names_its_event() -> None:
    form = Form("Sign in", kind=FormKind.AUTH)
    seen = account(
        event(0.5, "Sign in"),
        decided(0.6, InputRequired(form, reason="state"), ShowForm(form, "it may go on by itself")),
        decided(2.0, StreamEnded(StreamEnd.CLOSED), EndTurn(Outcome.ANSWERED, reason="stream closed")),
        closed(2.1),
    )
    text = told(seen, shown("1.1", "Sign in", "posted"))
    why = "the agent's question (state): it may go on by itself"
    assert f'"Sign in"\n              event 1 (streaming_result), at 0.6 s: {why}' in text
    assert "Sent again" not in text
    assert "the turn ended as" not in text


def test_what_the_bot_added_is_named_so() -> None:
    seen = usual()
    seen.log.look(103.0, "one two three```")
    assert parts_of(seen)[-1].causes == ()
    assert "markup that the bot closed" in told(seen, message("one two three```"))
    assert "a call that never returned" in told(seen, message("one two three```"))


def test_text_that_was_made_harmless_is_found_again() -> None:
    seen = account(
        *grows(1.0, "ask @channel now"),
        (1.5, "ask `@channel` now"),
        called(1.45, "chat.startStream", "ask"),
    )
    [part] = parts_of(seen)
    assert [cause.number for cause in part.causes] == [1]


def test_what_stood_there_before_a_rewriting_keeps_its_cause() -> None:
    seen = account(
        *grows(1.0, "the wrong end"),
        (1.1, "the wrong end"), called(1.05, "chat.startStream"),
        event(2.0, "the right end", "final_result"),
        decided(2.0, FinalAnswer("the right end", "final_result", reason="the result"), NoOp("differs")),
        decided(3.0, StreamEnded(StreamEnd.CLOSED), RewriteAnswer("the right end", "not the answer")),
        (3.1, "the right end"), called(3.05, "chat.update"),
    )  # fmt: skip
    numbers = [[cause.number for cause in part.causes] for part in parts_of(seen)]
    assert numbers == [[1], [2], [1]]


def test_a_question_that_was_not_taken() -> None:
    assert "the bot did not take the question" in told(account())


def test_long_texts_are_quoted_shortly() -> None:
    seen = account(
        *grows(0.5, "word " * 100),
        (1.0, "word " * 100),
        called(0.9, "chat.startStream", error="internal_error"),
    )
    text = told(seen, message("word " * 100, "streaming"))
    assert "a stream that is still open: 500 characters" in text
    assert "chat.startStream (answered with internal_error) shows" in text
    assert " ... " in text


def test_cards_and_latches_are_told() -> None:
    seen = account(
        event(1.0, "x"),
        decided(1.0, AnswerText("x"), UpdateCard(TaskCard("a", "Search", CardState.RUNNING), "tool started")),
        decided(1.1, AnswerText("x"), SetPlanTitle("Step 1 of 2", "the running step changed")),
        TurnEnded(102.0, "q", "failed", "task failed", None, None, None, {"asked": True, "closed": False}, 0),
    )
    text = told(seen, shown("1.2", "Sorry.", "posted"))
    assert "Cards\n     1.000 s  Search - in_progress\n              event 1 (streaming_result)" in text
    assert "the line above the cards: Step 1 of 2" in text
    assert text.endswith("The end\n              failed: task failed\n              latched: asked\n")


def test_each_message_tells_its_own_parts_only() -> None:
    seen = account(
        *grows(1.0, "one "), (1.1, "one "), called(1.05, "chat.startStream"),
        *grows(2.0, "two"), (2.1, "one two"), called(2.05, "chat.startStream"),
    )  # fmt: skip
    _, _, first, second, *_ = told(seen, message("one "), message("two")).split("\n\n")
    assert ('"one"' in first, '"two"' in first) == (True, False)
    assert ('"one"' in second, '"two"' in second) == (False, True)


def test_of_a_post_that_is_all_blocks_the_words_are_told() -> None:
    block = {"type": "section", "text": {"type": "mrkdwn", "text": "Which one?"}}
    assert '"Which one?"' in told(usual(), shown("1.2", "", "posted", blocks=(block,)))


def test_a_question_in_a_stream_is_the_agents_and_names_its_event() -> None:
    seen = account(
        event(0.5, "Which day?"),
        decided(0.5, InputRequired(Form("Which day?"), "task is input-required"), FlushText("it asks")),
        decided(1.0, StreamEnded(StreamEnd.CLOSED), ShowForm(Form("Which day?"), "the agent waits")),
        (1.0, "Which day?"), called(1.0, "chat.startStream"), closed(1.1),
    )  # fmt: skip
    text = told(seen, message("Which day?"))
    why = "the agent's question (task is input-required): the agent waits"
    assert f"event 1 (streaming_result), at 0.5 s: {why}" in text
    assert "made harmless" not in text


def test_words_that_nobody_sent_are_the_bots_own() -> None:
    seen = usual()
    seen.log.look(103.0, "one two three and now something else entirely")
    assert "the bot's own words" in told(seen, message("one two three and now something else entirely"))


def test_each_further_question_has_its_own_messages_and_end() -> None:
    again = replace(cast(TurnStarted, opened("once more")), at=START + 2.0)
    end = decided(3.0, StreamEnded(StreamEnd.CLOSED), EndTurn(Outcome.ANSWERED, reason="second"))
    seen = account(
        *grows(1.0, "same"), (1.1, "same"), called(1.05, "chat.startStream"),
        decided(1.5, StreamEnded(StreamEnd.CLOSED), EndTurn(Outcome.ANSWERED, reason="first")), closed(1.6),
        again, *grows(2.5, "same"), (2.6, "samesame"), called(2.55, "chat.startStream"), end, closed(3.1),
    )  # fmt: skip
    thread = (message("same"), message("same"))
    text = explain(seen, observed(seen, thread, ThreadQuestion(0, "what?"), ThreadQuestion(1, "once more")))
    assert [part.split("\n")[0] for part in text.split("\n\n")[1:]] == [
        "U1: what?",
        "Message 1, streamed: 4 characters of the answer",
        "The end",
        "U1: once more",
        "Message 2, streamed: 4 characters of the answer",
        "The end",
    ]
    assert "event 1 (streaming_result)" in text.split("\n\n")[2]
    assert "event 2 (streaming_result)" in text.split("\n\n")[5]
    assert "first" in text.split("\n\n")[3] and "second" in text.split("\n\n")[6]


def test_what_stands_beside_the_text_is_named_and_shown() -> None:
    cited = {"type": "citations", "citations": ["https://x.example/a"]}
    held = tape(artifact("Two cities:", {"cities": ROWS}, b"one", cited))
    text = explain_capture(held, Scenario())
    assert "below the text: DataTable cities" in text
    assert "below the text: OutFile log.txt" in text
    assert "1 sources under the answer" in text
    thread = as_text(replayed(held).result(), "U1", [ThreadQuestion(0, "hi")])
    assert "city | n\nOslo | 1" in thread
    assert "[file] log.txt, 3 bytes" in thread
    assert "https://x.example/a" in thread


WORDS = f"KeyError: 'x'\n\x1b[2J token=sk-{'a8Kq2LmZ' * 4} {'word ' * 200}"


@pytest.mark.parametrize(
    "failure",
    [
        Moment(0.2, error={"code": -32603, "message": WORDS}),
        Moment(0.2, event=status("failed", WORDS)),
    ],
    ids=["an error", "a failed task"],
)
@pytest.mark.parametrize("verb", ["explain", "replay", "trace"])
def test_the_agents_words_on_its_failure_are_told_without_secrets_and_cut(
    verb: str, failure: Moment, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    moments = (Moment(0.1, event=task("working")), failure, Moment(0.3, end="closed"))
    (tmp_path / "tape").write_text(write_tape(Tape({"question": "q"}, moments)))
    assert main([verb, str(tmp_path / "tape")]) == 0
    told = capsys.readouterr().out
    assert re.search(r"KeyError: 'x' \[2J token=\[secret removed\] word [word ]+\.\.\.", told)
    assert "word " * 60 not in told
    assert "a8Kq2LmZ" not in told
    assert "\x1b" not in told


@pytest.mark.parametrize("name", ["pydai_tool", "strands_tool", "lg_tool"])
def test_an_answer_is_live_from_when_the_first_text_that_stays_was_written(name: str) -> None:
    capture = open_capture(Path(f"tests/captures/frameworks/{name}.sse"))
    text = explain_capture(capture, Scenario())
    live = re.search(r"(?m)^Live: +from ([\d.]+) s on", text)
    first = re.search(r"(?m)^ *([\d.]+) s  chat\.\w+ shows ", text)
    assert live is not None and first is not None
    assert float(live[1]) == pytest.approx(float(first[1]), abs=0.0011)
    assert ("text that did not stay: from " in text) is (name != "lg_tool")


def test_what_the_bot_says_of_an_empty_answer_is_no_answer() -> None:
    moments = Moment(0.1, event=task()), Moment(0.5, event=status("completed")), Moment(0.6, end="closed")
    told = explain_capture(Tape({}, moments), Scenario())
    assert told.startswith("Whole:    there was no answer to be had (no_text: the agent wrote nothing)\n")
    assert "Message 1, streamed: not part of the answer\n" in told
    assert '"_The agent finished without writing an answer._"' in told


@pytest.mark.parametrize(
    "state,error_text,left_out",
    [
        (
            "failed",
            "hide",
            f"11 characters in {WHICH}",
        ),
        ("failed", "show", "nothing"),
        ("rejected", "hide", "nothing"),
    ],
)
def test_words_of_a_failure_that_readers_do_not_get_are_left_out(
    state: str, error_text: str, left_out: str
) -> None:
    moments = (
        Moment(0.1, event=task()),
        Moment(0.5, event=status(state, "No such key")),
        Moment(0.6, end="closed"),
    )
    told = explain_capture(Tape({}, moments), Scenario(settings={"agent.error_text": error_text}))
    assert f"Left out: {left_out}\n" in told


def test_a_tape_of_a_turn_that_was_taken_over_never_says_that_the_answer_is_whole() -> None:
    tape = answer(TEXT, seconds=6.0)
    told = explain_capture(Tape({**tape.head, "taken_over": True}, tape.moments), Scenario())
    whole = f"Whole:    not known: the tape alone gives {len(TEXT)} characters (answered); "
    gap = "another process went on; words that came in between are not in the tape"
    assert told.startswith(f"{whole}{gap}\n")
