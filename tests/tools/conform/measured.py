"""A turn measured by hand, for the tests of the checks: change one thing, and see which check says no."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from slack_bot.observe.facts import AgentEvent, Fact
from slack_bot.testing.slack.rendering import SeenMessage
from slack_bot.tools.conform.cases import Case, CaseResult, CaseRun, SuiteResult
from slack_bot.tools.conform.checks import CHECKS, CheckResult
from slack_bot.tools.conform.measures import Measures, measure
from slack_bot.tools.replay.result import Observation
from slack_bot.tools.turn_log import TurnLog
from slack_bot.turn.actions import AppendText
from slack_bot.turn.events import AnswerText, FinalAnswer, PlanChanged, PlanStep, StepState, ToolStarted
from tests.tools.replay.messages import card, shown
from tests.tools.trace.turns import START, called, closed, decided, logged, opened

TEXT = "The first line says this.\nThe second line says that.\n"
FIRST, SECOND = TEXT[:26], TEXT[26:]


def artifact(t: float, text: str, name: str, append: bool = False, **metadata: Any) -> Fact:
    one = {"artifactId": f"{name}-1", "name": name, "metadata": metadata}
    raw = {"kind": "artifact-update", "append": append, "artifact": one | {"parts": [{"text": text}]}}
    return AgentEvent(START + t, "q", name, raw)


def facts() -> list[Fact]:
    """Narration, a tool, a plan, the answer in two pieces, the result."""
    steps = (PlanStep("s", "Look", StepState.DONE), PlanStep("w", "Write", StepState.RUNNING))
    return [
        opened(),
        artifact(0.5, "I will look it up first. ", "streaming_result", is_narration=True),
        artifact(0.8, "Calling search", "tool_notification_start"),
        decided(0.8, ToolStarted("t1", "Search")),
        decided(0.9, PlanChanged(steps)),
        artifact(1.0, FIRST, "streaming_result", is_final_answer=True),
        decided(1.0, AnswerText(FIRST), AppendText(FIRST, "answer")),
        called(1.2, "chat.startStream", FIRST),
        artifact(2.0, SECOND, "streaming_result", append=True, is_final_answer=True),
        decided(2.0, AnswerText(SECOND), AppendText(SECOND, "answer")),
        called(2.2, "chat.appendStream", SECOND),
        artifact(3.0, TEXT, "final_result"),
        decided(3.0, FinalAnswer(TEXT, "final_result")),
        called(3.1, "chat.stopStream"),
        replace(closed(3.2), latches={"answer_begun": True}),
    ]


def thread(*texts: str) -> list[SeenMessage]:
    cards = (card("Search", "complete"),)
    return [shown(f"{n}.0", text, "sealed", tasks=cards) for n, text in enumerate(texts, 1)]


def observed(log: TurnLog, *shown_there: SeenMessage, sent: int | None = None) -> Observation:
    return Observation(log, shown_there, START, "U1", (), sent)


def measured(
    happened: Sequence[Fact] | None = None, looks: Sequence[tuple[float, str]] = (), asked: int | None = 1
) -> Measures:
    log = logged(*(facts() if happened is None else happened), *(looks or ((1.3, FIRST), (2.3, TEXT))))
    return measure(observed(log, *thread(TEXT), sent=asked))


def verdict(name: str, seen: Measures, **params: Any) -> CheckResult:
    return replace(CHECKS[name], given=params).judge(seen)


def case_result(name: str = "one", *oks: Sequence[bool | None], error: str | None = None) -> CaseResult:
    """A case with as many checks as each run has verdicts."""
    wanted = tuple(replace(CHECKS[each], about=f"About {each}") for each in ("live_streamed", "no_tools"))
    runs = oks or ((True, True),)
    return CaseResult(
        Case(name, "why | how?", wanted[: len(runs[0])]),
        tuple(
            CaseRun(
                1.0 + number,
                None if error else measured(),
                tuple(CheckResult(ok, f"detail {number}") for ok in run),
                error,
            )
            for number, run in enumerate(runs)
        ),
    )


def suite_result(*cases: CaseResult, **more: Any) -> SuiteResult:
    return SuiteResult("mine", "http://agent/", 1_700_000_000.0, 65.0, cases, **more)
