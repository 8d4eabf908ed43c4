"""Defects put into the bot on purpose, one at a time: each must be seen by a named check of `conform`.

A suite that nothing can fail proves nothing. The defects are those that bots of this kind have been seen to
have (facts: CAIPE 1, 8), put into the classes that run in production; which check has to see which is said
beforehand, in the table.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from slack_bot.agents.answer.filters import MarkerFilter
from slack_bot.agents.task import task_consumer
from slack_bot.agents.task.stream_consumer import TurnHandle
from slack_bot.agents.task.task_consumer import TaskConsumer
from slack_bot.playground.reference.modes import memory_target
from slack_bot.slack import question_files
from slack_bot.slack.answer import AnswerPace
from slack_bot.slack.answer_state import SurfaceChoice
from slack_bot.slack.cards import MessageCards
from slack_bot.slack.delivery import Delivery
from slack_bot.slack.faults import CallOk
from slack_bot.slack.orders import Step
from slack_bot.slack.surfaces import StreamSurface
from slack_bot.slack.turn_calls import TurnCalls
from slack_bot.text import buffer
from slack_bot.text.buffer import StreamBuffer
from slack_bot.text.compare import Comparison, compare
from slack_bot.text.fit import MessageLimits
from slack_bot.text.ledger import Ledger
from slack_bot.text.sanitize import StreamSanitizer
from slack_bot.tools.conform.cases import Case, CaseRun, open_suite
from slack_bot.tools.conform.conform import run_case
from slack_bot.turn import machine
from slack_bot.turn.actions import AppendText, NoOp
from slack_bot.turn.events import AnswerText, InputRequired, Narrated, StreamEnd, StreamEnded
from slack_bot.turn.machine import Latch, StepCards, Turn, TurnAnswer
from slack_bot.turn.notices import failure
from slack_bot.turn.quotes import Surroundings
from slack_bot.turn.record import Outcome

Patch = pytest.MonkeyPatch
Defect = Callable[[Patch], None]

_UNLIMITED = MessageLimits(rotate_bytes=10**6, rotate_after=math.inf)


@functools.cache
def suite() -> tuple[Mapping[str, Case], Any]:
    found, tapes = open_suite("extended")
    return {case.name: case for case in found.cases}, tapes


def ran(name: str) -> CaseRun:
    cases, tapes = suite()
    return run_case(cases[name], memory_target(), tapes, lambda _: None)


def failed(run: CaseRun, name: str) -> set[str]:
    checks = suite()[0][name].checks
    return {wanted.name for wanted, verdict in zip(checks, run.results, strict=True) if verdict.ok is False}


# -- the defects ---------------------------------------------------------------------------------------------


def flush_at_blank_lines_only(patch: Patch) -> None:
    def deadline(self: StreamBuffer) -> float | None:
        return self.waiting_since if "\n\n" in self._waiting.front or self._is_forced() else None

    patch.setattr(StreamBuffer, "deadline", deadline)


def interval_clock_begins_at_construction(patch: Patch) -> None:
    honest = StreamBuffer.deadline
    patch.setattr(
        StreamBuffer, "deadline", lambda self: honest(self) if self.clock.begun else self.waiting_since
    )


def timer_only_on_append(patch: Patch) -> None:
    patch.setattr(AnswerPace, "deadline", lambda self, due, now: None)


def everything_at_the_end(patch: Patch) -> None:
    patch.setattr(StreamBuffer, "deadline", lambda self: self.waiting_since if self._is_forced() else None)


def words_are_cut(patch: Patch) -> None:
    patch.setattr(StreamBuffer, "_cut", lambda self, now, **_: buffer._anywhere(self._waiting.front))


def latch_is_never_set(patch: Patch) -> None:
    def forgetting(honest: Callable[[Turn, Any], Any]) -> Callable[[Turn, Any], Any]:
        def handle(self: Turn, event: Any) -> Any:
            found = honest(self, event)
            self.latches[Latch.ANSWER_BEGUN] = False
            return found

        return handle

    for name in ("_grow", "_settle"):
        patch.setattr(Turn, name, forgetting(getattr(Turn, name)))


def tagged_text_is_kept_for_the_end(patch: Patch) -> None:
    def grow(self: Turn, event: AnswerText) -> Any:
        return [NoOp("kept")]

    patch.setattr(Turn, "_grow", grow)


def final_result_is_streamed_again(patch: Patch) -> None:
    patch.setattr(TurnAnswer, "reconcile", lambda self, whole, why: AppendText(whole, why))


def narration_is_streamed(patch: Patch) -> None:
    def narrate(self: Turn, event: Narrated) -> Any:
        return [AppendText(event.text, event.reason)]

    patch.setattr(Turn, "_narrate", narrate)


def garbage_is_shown_and_taken_back(patch: Patch) -> None:
    """As when growing snapshots are read as deltas; the final result puts it right."""
    honest = Turn._grow
    patch.setattr(
        Turn, "_grow", lambda self, event: honest(self, replace(event, text=event.text + event.text))
    )


def last_words_are_dropped(patch: Patch) -> None:
    def steps(shown: str, whole: str) -> Generator[None, None, Comparison]:
        yield
        return compare(shown, whole)._replace(missing="" if shown else whole)

    patch.setattr(machine, "compare_in_steps", steps)


def other_result_is_ignored(patch: Patch) -> None:
    def steps(shown: str, whole: str) -> Generator[None, None, Comparison]:
        yield
        return compare(shown, whole)._replace(is_same=bool(shown))

    patch.setattr(machine, "compare_in_steps", steps)


def marker_is_shown(patch: Patch) -> None:
    def feed(self: MarkerFilter, text: str, *, is_end: bool = False) -> tuple[str, str]:
        self.opened = True
        return "", text

    patch.setattr(MarkerFilter, "feed", feed)


def mentions_are_passed_on(patch: Patch) -> None:
    patch.setattr(StreamSanitizer, "push", lambda self, text: text)


def cards_are_left_open(patch: Patch) -> None:
    patch.setattr(MessageCards, "closing", lambda self, how: ())


def stop_is_missing(patch: Patch) -> None:
    def stop(self: StreamSurface, message: Any, *rest: Any, **more: Any) -> Step[CallOk]:
        message.is_open = False
        yield from ()
        return CallOk({})

    patch.setattr(StreamSurface, "stop", stop)


def text_goes_with_the_stop(patch: Patch) -> None:
    honest = TurnCalls.call_until_known

    def call(self: TurnCalls, method: str, args: Mapping[str, Any], **more: Any) -> Any:
        if method == "chat.stopStream":
            extra = {"type": "markdown_text", "text": "One more thing."}
            args = {**args, "chunks": [*args.get("chunks", ()), extra]}
        return honest(self, method, args, **more)

    patch.setattr(TurnCalls, "call_until_known", call)


def rotation_repeats_the_last_lines(patch: Patch) -> None:
    honest = Ledger.closed

    def closed(self: Ledger) -> None:
        assert self.present is not None
        self.released = self.present.text[-200:] + self.released
        honest(self)

    patch.setattr(Ledger, "closed", closed)


def messages_are_never_left(patch: Patch) -> None:
    patch.setattr(SurfaceChoice, "limits", lambda self: replace(_UNLIMITED, max_segments=20))


def append_in_doubt_is_made_again(patch: Patch) -> None:
    def doubt(self: Delivery, message: Any, write: Any, failed: Any) -> Step[None]:
        self.state.ledger.refused()
        yield from ()

    patch.setattr(Delivery, "_doubt", doubt)


def refused_text_is_forgotten(patch: Patch) -> None:
    patch.setattr(Ledger, "refused", Ledger.confirmed)


def cut_is_taken_for_the_end(patch: Patch) -> None:
    async def after(self: TaskConsumer, *_: Any, **__: Any) -> StreamEnded:
        return StreamEnded(StreamEnd.CLOSED)

    patch.setattr(TaskConsumer, "_after", after)


def question_is_sent_again_after_a_cut(patch: Patch) -> None:
    honest: Callable[..., Awaitable[StreamEnded]] = TaskConsumer._after

    async def after(self: TaskConsumer, *args: Any, **more: Any) -> StreamEnded:
        async def nothing_along(baseline: object) -> Surroundings:
            return Surroundings()

        patch.setattr(self, "_on_send", nothing_along)  # what went along is let go once the agent has it
        await self._ask()
        return await honest(self, *args, **more)

    patch.setattr(TaskConsumer, "_after", after)


def forms_are_answered_in_plain_words(patch: Patch) -> None:
    """What was filled in goes as a text, whoever asked."""
    honest = task_consumer.reply_of
    patch.setattr(task_consumer, "reply_of", lambda asked: honest(replace(asked, form=None)))


def failure_passes_for_an_answer(patch: Patch) -> None:
    patch.setattr(
        machine,
        "failure",
        lambda end, **how: replace(failure(end, **how), outcome=Outcome.ANSWERED),
    )


def failure_says_nothing_about_what_to_do(patch: Patch) -> None:
    patch.setattr(machine, "failure", lambda end, **how: replace(failure(end, **how), offer_retry=False))


def question_back_is_ignored(patch: Patch) -> None:
    def ask(self: Turn, event: InputRequired) -> Any:
        return [NoOp("ignored")]

    patch.setattr(Turn, "_ask", ask)


def stop_is_ignored(patch: Patch) -> None:
    patch.setattr(TurnHandle, "stop", lambda self, user: None)


def files_lose_their_last_byte(patch: Patch) -> None:
    honest = question_files._given
    patch.setattr(question_files, "_given", lambda file, content: honest(file, content[:-1]))


def sources_are_dropped(patch: Patch) -> None:
    patch.setattr(StepCards, "cite", lambda self, event: [NoOp("dropped")])


def files_stay_behind(patch: Patch) -> None:
    patch.setattr(task_consumer, "_with", lambda request, around, **_: request)


@dataclass(frozen=True, slots=True)
class Row:
    """A defect, the case that shows it, and the checks that have to see it."""

    defect: Defect
    case: str
    caught_by: tuple[str, ...]


TABLE = (
    Row(flush_at_blank_lines_only, "pause-in-a-sentence", ("never_lags",)),
    Row(flush_at_blank_lines_only, "one-line", ("burst_share", "shown_soon")),
    Row(interval_clock_begins_at_construction, "long-silence", ("whole_words",)),
    Row(timer_only_on_append, "pause-in-a-sentence", ("never_lags",)),
    Row(
        everything_at_the_end, "first-look", ("first_visible_text", "shown_soon", "burst_share", "live_share")
    ),
    Row(words_are_cut, "first-look", ("whole_words",)),
    Row(latch_is_never_set, "simple-chat", ("final_answer_latched",)),
    Row(tagged_text_is_kept_for_the_end, "first-look", ("burst_share", "live_share")),
    Row(final_result_is_streamed_again, "same-result", ("text_equals_final", "nothing_twice")),
    Row(narration_is_streamed, "same-result", ("no_narration", "text_equals_final")),
    *(Row(garbage_is_shown_and_taken_back, f"rag-{case}", ("only_grows",)) for case in ("simple", "complex")),
    Row(garbage_is_shown_and_taken_back, "no-result", ("only_grows",)),
    Row(last_words_are_dropped, "rest-in-result", ("text_equals_final",)),
    Row(other_result_is_ignored, "other-result", ("text_equals_final", "text_lacks")),
    Row(marker_is_shown, "marker", ("no_marker",)),
    Row(mentions_are_passed_on, "pings", ("text_lacks",)),
    Row(cards_are_left_open, "open-steps", ("nothing_left_open",)),
    Row(stop_is_missing, "same-result", ("nothing_left_open",)),
    Row(text_goes_with_the_stop, "same-result", ("no_duplicate", "stop_has_no_text", "text_equals_final")),
    Row(rotation_repeats_the_last_lines, "long-answer", ("text_equals_final", "nothing_twice")),
    Row(messages_are_never_left, "long-answer", ("calls_accepted",)),
    Row(append_in_doubt_is_made_again, "slack-unsure", ("text_equals_final", "nothing_twice")),
    Row(refused_text_is_forgotten, "slack-seals", ("text_equals_final",)),
    Row(cut_is_taken_for_the_end, "agent-cut", ("text_is",)),
    Row(question_is_sent_again_after_a_cut, "agent-cut", ("asked_once",)),
    Row(failure_passes_for_an_answer, "fails", ("outcomes",)),
    Row(failure_says_nothing_about_what_to_do, "fails", ("text_has",)),
    Row(question_back_is_ignored, "asks-back", ("outcomes", "text_has")),
    Row(stop_is_ignored, "stopped", ("ends_in_time",)),
    Row(forms_are_answered_in_plain_words, "form-strands-words", ("form_answered",)),
    Row(forms_are_answered_in_plain_words, "form-agentstack-approval", ("form_answered",)),
    Row(files_lose_their_last_byte, "files", ("files_arrived",)),
    Row(files_stay_behind, "files", ("files_arrived",)),
    Row(sources_are_dropped, "sources", ("sources_shown",)),
)


def called(row: Row) -> str:
    return f"{row.defect.__name__}-{row.case}"


@pytest.mark.parametrize("row", TABLE, ids=called)
@pytest.mark.slow
def test_a_defect_is_seen_by_the_checks_that_were_named(row: Row, monkeypatch: Patch) -> None:
    row.defect(monkeypatch)
    seen = failed(ran(row.case), row.case)
    assert set(row.caught_by) <= seen, f"of {row.caught_by} only {seen}"


@pytest.mark.parametrize("name", sorted({row.case for row in TABLE}))
@pytest.mark.slow
def test_without_a_defect_nothing_is_seen(name: str) -> None:
    run = ran(name)
    assert run.error is None
    assert failed(run, name) == set()


def test_there_are_fifteen_defects_at_least() -> None:
    assert len({row.defect for row in TABLE}) >= 15
