"""The judge of a thread: what a person would complain about, it names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slack_bot.playground.workspace import SeenFile, SeenMessage, SeenTask

from .verdict import Scene, Truth, Verdict, judge

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
    assert found(message(ANSWER[:20]), truth=truth, outcome="stopped").is_right
    assert found(message(ANSWER[:20]), truth=truth).kind == "lost"
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
