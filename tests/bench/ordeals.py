"""One turn of the fault run: planned from (seed, number), run on virtual time, judged by its thread.

The same seed and number give the same turn, whatever was run before it.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

from slack_bolt.request.async_request import AsyncBoltRequest

from slack_bot.app import App, build
from slack_bot.observe.facts import Decided, Fact, TurnClosed
from slack_bot.playground.inprocess import SlackSession
from slack_bot.playground.scripted import ScriptedAgent, ScriptedTransport
from slack_bot.playground.workspace import (
    BOT_TOKEN,
    SIGNING_SECRET,
    Call,
    Envelope,
    Rules,
    SeenMessage,
    Workspace,
)
from slack_bot.settings import load, with_overrides
from slack_bot.store.memory import MemoryStore
from slack_bot.tools import virtual
from slack_bot.tools.recording import read_recording
from slack_bot.tools.replay import replay
from slack_bot.tools.tape import Recording, Tape
from slack_bot.turn.actions import Close
from slack_bot.turn.safety import neutralise

from . import answers, hostile
from .verdict import Scene, Truth, Verdict, judge

CHANNEL, USER = "C1", "U1"
CAPTURES = Path(__file__).parents[3] / "shared" / "captures" / "a2a"

_MESSAGES, _FEW = 20, 2  # messages an answer may take before the rest goes into a file
_LONGEST = 3 * 3600.0  # virtual seconds after which a turn counts as hung
_KINDS = {
    "storm": 58,
    "calm": 8,
    "cut": 9,
    "no streams": 6,
    "not this one": 3,
    "stopped": 6,
    "gone": 4,
    "dead": 4,
    "archived": 4,
}


@dataclass(frozen=True, slots=True)
class Plan:
    """What happens in a turn.

    `at` is when a person or Slack steps in, in seconds from the question. `messages`: after so many the whole
    answer is given as a file.
    """

    number: int
    kind: str
    about: str
    source: Tape | Recording
    truth: Truth
    scripts: Mapping[str, hostile.Script] = field(default_factory=dict)
    at: float = 0.0
    cut_after: int | None = None
    with_replies: bool = False
    messages: int = _MESSAGES


@dataclass(slots=True)
class Report:
    """A turn that was run. `seconds` is real time, `took` virtual time; `thread` is what stands there now.

    `closings` counts how often the turn was decided to be over.
    """

    plan: Plan
    verdict: Verdict
    seconds: float = 0.0
    took: float = 0.0
    closings: int = 0
    made: list[Call] = field(default_factory=list)
    thread: list[SeenMessage] = field(default_factory=list)


class TookTooLong(KeyboardInterrupt):
    """The turn's real time is up. Not an `Exception`: the loop must not keep it to itself."""


# -- the plan


def plan(seed: int, number: int) -> Plan:
    """The turn `number` of the run `seed`."""
    random = Random(f"{seed}:{number}")
    kind = random.choices(list(_KINDS), list(_KINDS.values()))[0]
    about, source, truth = _what(random)
    planned = Plan(
        number,
        kind,
        about,
        source,
        truth,
        hostile.scripts(Random(f"{seed}:{number}:faults"), 0.0 if kind == "calm" else 0.1),
        at=random.uniform(0.0, _length(source) * 1.1),
        with_replies=random.random() < 0.5,
        messages=_FEW if Random(f"{seed}:{number}:messages").random() < 0.1 else _MESSAGES,
    )
    return _of_kind(planned, random)


def _what(random: Random) -> tuple[str, Tape | Recording, Truth]:
    """Something the agent says, captured or written for this turn."""
    captured = _captured()
    if captured and random.random() < 0.15:
        name, recording, text = captured[random.randrange(len(captured))]
        return f"capture {name}", recording, Truth(text)
    written = answers.answer(random)
    tape, failing = answers.tape(random, written)
    about = f"{len(written)} characters, wire {tape.head['wire']}"
    return about, tape, Truth(neutralise(written), failing=failing)


def _of_kind(planned: Plan, random: Random) -> Plan:
    source = planned.source
    match planned.kind:
        case "calm":
            return replace(planned, truth=replace(planned.truth, closed=True))
        case "cut":
            after = random.randint(1, len(source.moments)) if isinstance(source, Tape) else None
            # what a tool became while the connection was away is in no task: its card cannot know
            return replace(planned, cut_after=after, truth=replace(planned.truth, failing=frozenset()))
        case "no streams" | "not this one":
            names = hostile.NOT_HERE if planned.kind == "no streams" else hostile.NOT_THIS_ONE
            return replace(planned, scripts={**planned.scripts, "chat.startStream": [random.choice(names)]})
        case "stopped":
            return replace(planned, truth=_ending(planned.truth, "stopped"))
        case "gone" | "dead" | "archived":
            return replace(planned, truth=_unreachable(planned))
        case _:
            return planned


def _ending(truth: Truth, *outcomes: str) -> Truth:
    """It may also end so, with a part of its answer."""
    return replace(truth, outcomes=truth.outcomes | {*outcomes}, partial=frozenset(outcomes))


def _unreachable(planned: Plan) -> Truth:
    """From some time on nobody can be shown anything in the thread."""
    truth = replace(_ending(planned.truth, "gone", "failed"), may_be_silent=True)
    if planned.kind == "gone":
        return truth
    is_dead = planned.kind == "dead"
    return replace(truth, may_stay_open=True, may_break=is_dead, told_directly=0 if is_dead else 1)


def _length(source: Tape | Recording) -> float:
    return source.moments[-1].t if isinstance(source, Tape) else 2.0


@cache
def _captured() -> list[tuple[str, Recording, str]]:
    """The captures whose undisturbed replay is an answer, with that answer."""
    found = []
    for path in sorted(CAPTURES.glob("*.txt")):
        raw = path.read_bytes()
        recording = read_recording(raw) if b"raw body below" in raw else None
        if recording is None:
            continue
        with _heard():
            result = replay(recording)
        if result["outcome"] == "answered" and len(result["visible"]) >= 20:
            found.append((path.stem, recording, result["visible"]))
    return found


# -- the turn


def run(planned: Plan, *, most_seconds: float = 60.0) -> Report:
    """Run a turn and judge it. One that takes `most_seconds` of real time, or never ends, has hung."""
    report = Report(planned, Verdict("hung"))
    began = time.perf_counter()
    with _heard() as broken:
        ordeal = _Ordeal(planned, report, broken)
        try:
            with _bounded(most_seconds):
                virtual.run(ordeal.run())
        except (TookTooLong, TimeoutError, virtual.DeadEnd) as error:
            report.verdict = Verdict("hung", f"{type(error).__name__}: {error}")
            report.took = ordeal.now
    report.seconds = time.perf_counter() - began
    return report


class _Ordeal:
    def __init__(self, planned: Plan, report: Report, broken: list[str]) -> None:
        self._plan, self._report, self._broken = planned, report, broken
        self._facts: list[Fact] = []
        self._clock = virtual.virtual_clock()
        self._workspace = Workspace(rules=Rules.real())
        self._workspace.add_channel(CHANNEL)
        self._workspace.add_user(USER)
        self._root = ""
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def now(self) -> float:
        """Virtual seconds, also when it is over."""
        return self._loop.time() if self._loop is not None else 0.0

    async def run(self) -> None:
        planned, self._loop = self._plan, asyncio.get_running_loop()
        settings = load(
            {
                "SLACK_BOT_TOKEN": BOT_TOKEN,
                "SLACK_SIGNING_SECRET": SIGNING_SECRET,
                "A2A_AGENT_URL": "http://agent.test/",
            },
            env_file=None,
            secrets_dir=None,
        )
        settings = with_overrides(settings, {"max_segments": planned.messages})
        timeout = settings.slack.slack_timeout
        session = SlackSession(self._workspace, self._clock, timeout=timeout, latency=0.05)
        self._report.made = self._workspace.calls
        agent = ScriptedAgent(planned.source, cut_after=planned.cut_after, clock=self._clock)
        app = await build(
            settings,
            clock=self._clock,
            watcher=lambda fact: self._facts.append(fact),
            http_transport=ScriptedTransport(agent),
            slack_session=session,
            store=MemoryStore(),
        )
        async with app:
            self._befall(planned.scripts)
            await self._ask(app)
            self._report.took = self.now
        self._report.thread = self._mine()
        decided = (fact for fact in self._facts if isinstance(fact, Decided))
        self._report.closings = sum(isinstance(each, Close) for fact in decided for each in fact.actions)
        self._report.verdict = judge(planned.truth, self._scene())

    async def _ask(self, app: App) -> None:
        mail = asyncio.Event()
        self._workspace.listen(lambda change: mail.set() if change.kind == "envelope" else None)
        text = f"<@{self._workspace.bot.user_id}> go"
        self._root = self._workspace.say(USER, CHANNEL, text, now=self._clock.wall())
        taken = asyncio.Event()
        async with _beside(self._deliver(app, mail, taken)), _beside(self._step_in()):
            async with asyncio.timeout(_LONGEST):
                await taken.wait()
                await app.desk.idle()

    def _befall(self, scripts: Mapping[str, hostile.Script]) -> None:
        for method, script in scripts.items():
            self._workspace.faults.set(method, script)

    async def _deliver(self, app: App, mail: asyncio.Event, taken: asyncio.Event) -> None:
        while True:
            mail.clear()
            for envelope in self._workspace.take():
                await app.bolt.async_dispatch(
                    AsyncBoltRequest(body=dict(envelope.payload), mode="socket_mode")
                )
                taken.set()
            await mail.wait()

    async def _step_in(self) -> None:
        """What a person or Slack does in the middle of the turn."""
        planned, workspace = self._plan, self._workspace
        await asyncio.sleep(planned.at)
        now = self._clock.wall()
        match planned.kind:
            case "stopped":
                workspace.stop(USER, CHANNEL, self._root, now=now)
            case "gone":
                workspace.delete_root(CHANNEL, self._root, now=now, with_replies=planned.with_replies)
            case "dead":
                self._befall(hostile.dead())
            case "archived":
                workspace.state.channels[CHANNEL].archived = True
            case _:
                pass

    def _mine(self) -> list[SeenMessage]:
        seen = self._workspace.thread(CHANNEL, self._root)
        return [each for each in seen if each.is_bot and each.ephemeral_for is None]

    def _scene(self) -> Scene:
        closed = [fact for fact in self._facts if isinstance(fact, TurnClosed)]
        strays = [seen.text for seen in self._workspace.history(CHANNEL) if seen.is_bot]
        directs = [
            seen.text
            for channel in self._workspace.state.channels.values()
            if channel.kind == "im"
            for seen in self._workspace.history(channel.id)
            if seen.is_bot
        ]
        return Scene(
            self._mine(),
            str(closed[-1].outcome) if closed else None,
            files=[file.content for seen in self._mine() for file in seen.files],
            strays=strays,
            directs=directs,
            broken=self._broken,
            unnamed=frozenset(self._unnamed()),
        )

    def _unnamed(self) -> Iterator[str]:
        """The messages whose start was applied and not answered: their ts is the time of that call."""
        times = {call.now for call in self._workspace.calls if call.applied and not call.ok}
        return (seen.ts for seen in self._mine() if any(abs(float(seen.ts) - at) < 1e-3 for at in times))


async def _hand_over(app: App, envelope: Envelope) -> None:
    """Deliver as Slack does: again, after a while, where the app does not acknowledge."""
    for pause in (1.0, 60.0, 300.0, None):
        request = AsyncBoltRequest(body=dict(envelope.payload), mode="socket_mode")
        if (await app.bolt.async_dispatch(request)).status == 200 or pause is None:
            return
        await asyncio.sleep(pause)


@asynccontextmanager
async def _beside(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Let `work` go on beside the block. What breaks in it breaks here."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@contextmanager
def _bounded(seconds: float) -> Iterator[None]:
    """`TookTooLong` out of whatever runs when `seconds` of real time are over."""

    def ring(number: int, frame: FrameType | None) -> None:
        del number
        raise TookTooLong(f"{seconds:g} s of real time are over, in {_where(frame)}")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 10.0)  # again, where even the clearing up does not end
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def _where(frame: FrameType | None) -> str:
    """The innermost functions of the bot's."""
    names: list[str] = []
    while frame is not None and len(names) < 4:
        if "slack_bot" in frame.f_code.co_filename and "tests" not in frame.f_code.co_filename:
            names.append(f"{frame.f_code.co_qualname}:{frame.f_lineno}")
        frame = frame.f_back
    return " < ".join(names) or "?"


@contextmanager
def _heard() -> Iterator[list[str]]:
    """The tracebacks that are logged meanwhile; nothing is printed."""
    broken: list[str] = []
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    ear = _Ear(broken)
    root.handlers[:] = [ear]
    root.setLevel(logging.ERROR)
    try:
        yield broken
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


class _Ear(logging.Handler):
    def __init__(self, broken: list[str]) -> None:
        super().__init__(logging.ERROR)
        self._broken = broken

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and record.exc_info[1] is not None:
            error, trace = record.exc_info[1], record.exc_info[2]
            while trace is not None and trace.tb_next is not None:
                trace = trace.tb_next
            at = f"{trace.tb_frame.f_code.co_qualname}:{trace.tb_lineno}" if trace else "?"
            self._broken.append(f"{record.getMessage()}: {type(error).__name__}: {error} in {at}")
