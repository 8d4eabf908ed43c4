"""The judge of a thread: what a person would complain about, it names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slack_bot.testing.slack.workspace import SeenFile, SeenMessage, SeenTask

from .verdict import Asked, Scene, Truth, Verdict, judge, judge_all

ANSWER = "One line of it.\n\nAnd a second, much longer one that goes on."
FEEDBACK = {"type": "context_actions", "elements": [{"type": "feedback_buttons"}]}
TRUTH = Truth(ANSWER)


def message(text: str = "", *, kind: str = "answer", **more: Any) -> SeenMessage:
    metadata = {"event_type": "e", "event_payload": {"kind": kind}}
    return SeenMessage(ts="1.0", author="U0BOT", is_bot=True, text=text, metadata=metadata, **more)


def found(
    *messages: SeenMessage, truth: Truth = TRUTH, outcome: str | None = "answered", **more: Any
) -> Verdict:
    return judge(truth, Scene(messages, outcome, **more))


def card(status: str, title: str = "look_up") -> SeenTask:
    return SeenTask("a", title, status)


def test_a_whole_answer_is_right() -> None:
    assert found(message(ANSWER)).is_right
    assert found(message(ANSWER[:17]), message(ANSWER[17:], blocks=(FEEDBACK,))).is_right
    assert found(message(ANSWER), message("A word about it.", kind="note")).is_right


@pytest.mark.parametrize(
    "texts,kind",
    [
        ((ANSWER[:-5],), "lost"),
        ((ANSWER.replace("much ", ""),), "wrong"),
        ((ANSWER, ANSWER), "doubled"),
        ((ANSWER[:20], ANSWER[10:]), "doubled"),
        ((ANSWER + " Sorry.",), "wrong"),
        ((), "lost"),
    ],
)
def test_text_that_is_not_the_answer_is_named(texts: tuple[str, ...], kind: str) -> None:
    verdict = found(*map(message, texts))
    assert verdict.kind == kind
    assert verdict.why
    assert not verdict.is_right


def test_a_part_is_enough_only_where_the_truth_says_so_and_never_twice() -> None:
    truth = Truth(ANSWER, frozenset({"answered", "stopped"}), frozenset({"stopped"}))
    part = message(ANSWER[:20], extras=("Stopped.",))
    assert found(part, truth=truth, outcome="stopped").is_right
    assert found(part, truth=truth).kind == "lost"
    silent = found(message(ANSWER[:20]), truth=truth, outcome="stopped")
    assert (silent.kind, silent.why) == ("lost", "how it ended is not told: ''")
    assert found(message("Stopped.", kind="note"), truth=truth, outcome="stopped").is_right
    assert found(message(ANSWER[:20]), message(ANSWER[:20]), truth=truth, outcome="stopped").kind == "doubled"


def test_an_outcome_that_is_not_true_is_named() -> None:
    assert found(message(ANSWER), outcome="lost").kind == "wrong"
    assert found(message(ANSWER), outcome=None).kind == "broke"


def test_what_is_left_open_is_counted() -> None:
    streaming = message(ANSWER, state="streaming", tasks=(card("in_progress"), card("complete")))
    assert found(streaming) == Verdict("right", "", 1, 1, "answered")
    assert not found(streaming).is_right
    assert found(streaming, truth=replace(TRUTH, may_stay_open=True)).is_right


def test_a_stream_nobody_can_know_of_counts_only_where_the_thread_stands() -> None:
    streaming = message(ANSWER, state="streaming")
    gone = Truth(ANSWER, frozenset({"gone"}), frozenset({"gone"}), may_be_silent=True)
    assert found(streaming, truth=gone, outcome="gone", unnamed=frozenset({"1.0"})).is_right
    assert found(streaming, truth=gone, outcome="gone").open_streams == 1
    assert found(streaming, unnamed=frozenset({"1.0"})).open_streams == 1


def test_a_file_counts_by_its_bytes() -> None:
    with_file = message("", kind="note", files=(SeenFile("a.md"),))
    part = message(ANSWER[:30])
    assert found(part, with_file, files=[ANSWER.encode()]).is_right
    assert found(part, with_file, files=[ANSWER.encode() + b"\n"]).kind == "wrong"
    lost = replace(TRUTH, outcomes=frozenset({"lost"}), partial=frozenset({"lost"}))
    said = message(ANSWER[:30], extras=("The agent has gone silent.",))
    assert found(said, with_file, truth=lost, outcome="lost", files=[ANSWER[:40].encode()]).is_right
    assert found(said, with_file, truth=lost, outcome="lost", files=[ANSWER[1:].encode()]).kind == "wrong"
    assert found(message(ANSWER[16:]), with_file, files=[ANSWER.encode()]).kind == "lost"


def test_what_stands_around_an_answer_is_looked_at() -> None:
    assert found(message(ANSWER[:17], blocks=(FEEDBACK,)), message(ANSWER[17:])).kind == "wrong"
    assert (
        found(message(ANSWER, blocks=(FEEDBACK,)), message("n", kind="note", blocks=(FEEDBACK,))).kind
        == "wrong"
    )
    assert found(message(ANSWER), message("", kind="note")).why == "an empty message"
    assert found(message(ANSWER, plan_failed=True)).kind == "wrong"
    assert found(message(ANSWER), strays=["Hello channel"]).kind == "wrong"
    assert found(message(ANSWER), directs=["Psst"]).kind == "wrong"
    assert found(message(ANSWER), broken=["Traceback"]).kind == "broke"


def test_a_failed_tool_must_not_read_as_done() -> None:
    truth = Truth(ANSWER, failing=frozenset({"look_up"}))
    assert found(message(ANSWER, tasks=(card("error"),)), truth=truth).is_right
    assert found(message(ANSWER, tasks=(card("complete"),)), truth=truth).kind == "wrong"
    carried = message("", tasks=(card("complete", "look_up (continues below)"),))
    assert found(carried, message(ANSWER, tasks=(card("error"),)), truth=truth).is_right
    assert found(carried, message(ANSWER), truth=truth).kind == "wrong"
    assert found(carried, message(ANSWER), truth=truth, plain=True).is_right, "Slack took no card any more"


def test_a_card_that_counts_others_stands_for_so_many() -> None:
    truth = Truth(ANSWER, standing=frozenset({"look_up", "fetch"}))
    counts = card("complete", "… 2 more steps (1 failed) (continues below)")
    assert found(message(ANSWER, tasks=(counts,)), truth=truth).is_right
    assert found(message(ANSWER, tasks=(card("complete", "… 1 more step"),)), truth=truth).kind == "lost"


def test_every_card_stands_there_and_tells_the_truth() -> None:
    truth = Truth(ANSWER, standing=frozenset({"look_up"}))
    assert found(message(ANSWER, tasks=(card("complete"),)), truth=truth).is_right
    assert found(message(ANSWER, tasks=(card("error"),)), truth=truth).kind == "wrong"
    assert found(message(ANSWER), truth=truth).kind == "lost"
    assert found(message(ANSWER), truth=truth, plain=True).is_right
    attached = message("", kind="note", files=(SeenFile("a.md"),))
    assert found(message(ANSWER), attached, truth=truth, files=[ANSWER.encode()]).is_right


RIGHT = Verdict("right", outcome="asked")


def test_a_thread_is_as_right_as_its_questions() -> None:
    assert judge_all([RIGHT, RIGHT], Asked(2, 2, ["1", "2"])) == Verdict("right", outcome="asked, asked")
    lost = Verdict("lost", "gone", 1, 2, "answered")
    assert judge_all([RIGHT, lost], Asked(2, 2, ["1", "2"])) == Verdict(
        "lost", "gone", 1, 2, "asked, answered"
    )


@pytest.mark.parametrize(
    "asked,kind",
    [
        (Asked(2, 1, ["1"]), "lost"),
        (Asked(1, 1, ["1", "2"]), "doubled"),
        (Asked(2, 2, ["1", "1"]), "doubled"),
        (Asked(continued=False), "wrong"),
        (Asked(must_stop=True, cancelled=True), "wrong"),
        (Asked(must_stop=True, stopped=True), "wrong"),
        (Asked(late=["chat.appendStream"]), "wrong"),
        (Asked(must_stop=True, stopped=True, cancelled=True), "right"),
        (Asked(), "right"),
    ],
)
def test_what_the_agent_was_asked_is_looked_at(asked: Asked, kind: str) -> None:
    assert judge_all([RIGHT], asked).kind == kind
