"""How a case is put to the test: by a tape, by the playground's agent in memory, or by a live agent.

Each time the whole bot runs against an emulated workspace, as in `replay`. In memory time is virtual: an
answer of a minute takes a second, and is the same each time. A live agent is asked in real time, with the
settings of the environment.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import httpx

from ...clock import loop_clock
from ...errors import BotError
from ...observe.facts import AgentEvent, Fact
from ...settings.load import Settings, with_overrides
from ...testing import virtual_clock
from ...testing.agent.asgi_transport import AsgiTransport
from ...testing.harness import bot_settings, emulated
from ...testing.tape.tape import Recording, Tape
from ..capture.agent_address import masks_of
from ..capture.http_tap import asked_in
from ..capture.redaction import Redactor
from ..replay.replay import ReplayQuestions, observe, replayed
from ..turn_log import TurnLog
from .cases import PLAYGROUND, Case
from .checks import CheckResult
from .findings import CaseRun
from .measures import Measures, measure

_NOT_RUN = CheckResult(False, "could not be run")


class Asker(Protocol):
    """Somebody to whom the questions of cases are put."""

    @property
    def name(self) -> str:
        """Who it is, for the report."""

    def refusal(self, case: Case) -> str | None:
        """Why `case` cannot be put to it; None: it can."""

    def ask(self, case: Case) -> Measures:
        """Put it, and measure what was seen. Raises BotError where that cannot be done."""


class MemoryAsker:
    """The playground's agent, in memory. `build` makes its application for a pace, None being its own."""

    def __init__(self, name: str, build: Callable[[float | None], Served]) -> None:
        self.name = name
        self._build = build

    def refusal(self, case: Case) -> str | None:
        """It understands everything."""
        return None

    def ask(self, case: Case) -> Measures:
        """On virtual time."""
        return virtual_clock.run(self._ask(case))

    async def _ask(self, case: Case) -> Measures:
        served = self._build(case.pace)
        counting, log = Counting(AsgiTransport(served.asgi)), TurnLog(keeps_events=True)
        settings = bot_settings(case.around.settings)
        try:
            clock = virtual_clock.new_clock()
            asking = ReplayQuestions(follow_ups=case.then)
            seen = await observe(case.around, settings, clock, counting, log=log, asking=asking)
        finally:
            await served.aclose()
        return measure(log, seen.thread, seen.asked_at, counting.questions)


class Served(Protocol):
    """An agent in memory."""

    asgi: Any

    async def aclose(self) -> None:
        """End it."""


@dataclass(frozen=True, slots=True)
class LiveAsker:
    """The agent of `settings`, over the network. `is_ours`: it is the playground's, served elsewhere.

    What the bot learns of it in one case it knows in the next, as the running bot does. `limit`: seconds
    after which a question that has no end yet is judged as it stands.
    """

    name: str
    settings: Settings
    is_ours: bool = False
    limit: float | None = None
    profiles: dict[str, str] = field(default_factory=dict)

    @property
    def masks(self) -> Redactor:
        """They take out of a report what the agent was sent: it may send it back."""
        return masks_of(self.settings)

    def refusal(self, case: Case) -> str | None:
        """What is no matter of the agent's is left out."""
        if case.tape is not None:
            return "it plays a tape and asks no agent"
        if case.needs == PLAYGROUND and not self.is_ours:
            return "it asks for something that only the playground's agent understands"
        return None

    def ask(self, case: Case) -> Measures:
        """In real time."""
        return asyncio.run(self._ask(case))

    async def _ask(self, case: Case) -> Measures:
        around, log = case.around.settings, _RedactedLog(self.masks)
        settings = emulated(with_overrides(self.settings, around) if around else self.settings)
        asking = ReplayQuestions(case.then, limit=self.limit, profiles=self.profiles)
        seen = await observe(case.around, settings, loop_clock(), log=log, asking=asking)
        return measure(log, seen.thread, seen.asked_at, masks=self.masks)


class _RedactedLog(TurnLog):
    """Sees what the agent sent without its secrets."""

    def __init__(self, masks: Redactor) -> None:
        super().__init__(keeps_events=True)
        self._masks = masks

    def take(self, fact: Fact) -> None:
        """Keep what is needed of `fact`."""
        if isinstance(fact, AgentEvent):
            fact = replace(fact, raw=self._masks.value(fact.raw))
        super().take(fact)


class Counting(httpx.AsyncBaseTransport):
    """Stands in front of another transport and counts the questions that go through it."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner
        self.questions = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Count and pass on."""
        asked = asked_in(request)
        self.questions += asked is not None and asked.verb == "ask"
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        """Close the other one."""
        await self._inner.aclose()


def examine(case: Case, asker: Asker, tapes: Mapping[str, Tape | Recording]) -> CaseRun:
    """One run of `case`: its tape where it has one, else `asker`'s answer, and what the checks say."""
    try:
        seen = asker.ask(case) if case.tape is None else _played(case, tapes[case.tape])
    except BotError as error:
        return CaseRun(0.0, None, (_NOT_RUN,) * len(case.checks), str(error))
    verdicts = tuple(wanted.check.judge(seen, wanted.params) for wanted in case.checks)
    return CaseRun(seen.summary.end, seen, verdicts)


def _played(case: Case, tape: Tape | Recording) -> Measures:
    counters = list[Counting]()

    def through(inner: httpx.AsyncBaseTransport) -> httpx.AsyncBaseTransport:
        counters.append(Counting(inner))
        return counters[0]

    log = TurnLog(keeps_events=True)
    seen = replayed(tape, case.around, log=log, through=through)
    return measure(log, seen.thread, seen.asked_at, counters[0].questions)
