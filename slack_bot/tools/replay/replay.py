"""`slack-bot replay`: a capture through the whole bot onto an emulated workspace, on a virtual clock.

Only HTTP is in memory: a replay takes milliseconds and gives the same result every time.
"""

import argparse
import asyncio
import math
import sys
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import indent
from typing import Any, Literal, TextIO

from ...app import App
from ...clock import Clock, system_clock
from ...errors import SettingsError, UnreadableInput
from ...http_client import AsyncBaseTransport
from ...observe.facts import Fact, TurnEnded, TurnStarted
from ...settings.load import Settings
from ...testing import virtual_clock
from ...testing.agent.scripted import ScriptedAgent, ScriptedTransport
from ...testing.harness import allow_bot, bot_settings, build_in_memory, keep_delivering, set_context
from ...testing.overrides import with_overrides
from ...testing.slack.workspace import Change, PersonFile, SeenMessage, Workspace, WorkspaceRules
from ...testing.tape.json_file import Json
from ...testing.tape.tape import (
    MappedLines,
    Recording,
    Tape,
    Turns,
    assumption,
    end_in,
    gap_in,
    interrupted_at,
    turns_of,
    wait_in,
)
from ...turn.record import ThreadKey
from ..files import open_capture, read_text
from ..not_understood import exit_status, tell_unread, unread_events
from ..terminal import LiveLine
from ..turn_log import Entry, LoggedTurn, TextChange, TurnLog
from .form_play import is_played, play
from .result import Observation, ThreadQuestion, as_line, as_text, pace_of, readable_beside, visible
from .scenario import Scenario, as_captured, read_scenario
from .spans import SpanLog, as_lines

INTERRUPTED = "interrupted"
"""The outcome of a turn whose capture ends before it."""

_TAKEN_WITHIN = 1.0  # seconds
_SETTLES = 2.0  # seconds, longer than any text waits in the buffer
_LONGEST = 7 * 86_400.0  # seconds


def main(args: argparse.Namespace) -> int:
    """The verb. `args`: files, scenario, key, json, spans, play, speed, golden, update, shrink, output,
    strict.
    """
    check_options(args)
    if args.shrink:
        from . import shrink

        return shrink.main(args)
    if args.golden:
        from . import golden

        return golden.main(args)
    return print_threads(args)


def check_options(args: argparse.Namespace) -> None:
    """Raises UnreadableInput for options that exclude each other."""
    wrong = {
        "--golden prints its own report; leave --json, --spans and --play out": args.golden
        and (args.json or args.spans or args.play),
        "--update belongs to --golden DIR, without --shrink": args.update
        and (args.shrink or not args.golden),
        "--output is where --shrink writes; leave it out": args.output and not args.shrink,
        "--shrink wants -o FILE for the smaller tape": args.shrink and not args.output,
        "--strict judges what is printed; leave it out with --golden, --shrink and --play": args.strict
        and (args.golden or args.shrink or args.play),
        "--shrink takes one FILE": args.shrink and len(args.files) > 1,
        "--speed is for looking on; leave it out with --golden and --shrink": args.speed is not None
        and (args.golden or args.shrink),
        "--speed must be above 0": args.speed is not None and not 0 < args.speed < math.inf,
    }
    if (mistake := next((said for said, holds in wrong.items() if holds), None)) is not None:
        raise UnreadableInput(mistake)


def print_threads(args: argparse.Namespace) -> int:
    """Each capture's thread, or its result as JSON."""
    scenario = read_scenario_file(args.scenario)
    captures = [open_capture(path, args.key, scenario) for path in map(Path, args.files)]
    unread = [unread_events(capture) for capture in captures]
    for path, capture, not_understood in zip(args.files, captures, unread, strict=True):
        tell_unread(path, not_understood)
        log = _log_for(args, capture)
        try:
            seen = replayed(capture, scenario, log=log, speed=args.speed)
        finally:
            if isinstance(log, WatchedLog):
                log.line.wipe()
        result = seen.result()
        tell_assumed(path, capture, result)
        if isinstance(log, SpanLog):
            sys.stdout.write(as_lines(log.spans))
            continue
        if args.json:
            if not_understood:
                result["not_understood"] = [each.as_json() for each in not_understood]
            sys.stdout.write(as_line(result) + "\n")
            continue
        head, end = (f"== {path}\n\n", "\n") if len(captures) > 1 else ("", "")
        text = as_text(result, seen.asker, seen.questions, list(map(pace_of, seen.log.turns)))
        sys.stdout.write(head + text + end)
    return exit_status(0, unread, strict=args.strict)


def _log_for(args: argparse.Namespace, capture: Tape | Recording) -> TurnLog:
    if args.spans:
        return SpanLog()
    is_long = isinstance(capture, Tape) and isinstance(capture.moments, MappedLines) and sys.stderr.isatty()
    return WatchedLog(sys.stderr) if args.speed or is_long else TurnLog()


class WatchedLog(TurnLog):
    """A log that shows on a terminal how much of the answer can be read."""

    def __init__(self, out: TextIO) -> None:
        super().__init__(self._show)
        self.line = LiveLine(out)
        self._began: float | None = None

    def _show(self, turn: LoggedTurn, entry: Entry) -> None:
        if isinstance(entry, TextChange) and self.line.is_terminal:
            self._began = entry.at if self._began is None else self._began
            last = " ".join(self.text[-200:].split())[-50:]
            seconds, chars = entry.at - self._began, entry.chars
            self.line.show(f"{seconds:7.1f} s  {chars:,} characters can be read  ...{last}")


def tell_assumed(name: str, capture: Tape | Recording, result: Json, *, tells_gap: bool = True) -> None:
    """Write to stderr what the result assumes beyond the capture, and what is missing in that."""
    said = [assumption(capture, result["outcome"])]
    said += [wait_in(capture), gap_in(capture), end_in(capture)] if tells_gap else []
    sys.stderr.writelines(f"note: {name}: {each}\n" for each in said if each is not None)


def replayed(
    capture: Tape | Recording,
    scenario: Scenario | None = None,
    *,
    log: TurnLog | None = None,
    speed: float | None = None,
    profiles: dict[str, str] | None = None,
) -> Observation:
    """What is seen of one capture. Raises SettingsError for the scenario's settings.

    `speed`: the agent's, in real time, as a multiple of the recorded one; None: in virtual time.
    `profiles`: what was learned of the agent before; what is known of it afterwards.
    """
    around = as_captured(scenario or Scenario(), capture)
    turns = turns_of(capture)
    agent = agent_of(turns, around, speed or 1.0)
    clock = virtual_clock.new_clock() if speed is None else system_clock()
    stops = interrupted_at(turns[-1][1])
    asking = ReplayQuestions(
        follow_ups=tuple(text or "" for text, _ in turns[1:]),
        stops=None if stops is None else stops / (speed or 1.0),
        profiles={} if profiles is None else profiles,
    )
    observed = observe(around, bot_settings(around.settings), clock, ScriptedTransport(agent), log, asking)
    seen = virtual_clock.run(observed) if speed is None else asyncio.run(observed)
    said = agent.questions[-1].params if agent.questions else {}
    return replace(seen, sent=len(agent.questions), said=said)


def agent_of(turns: Turns, around: Scenario, speed: float) -> ScriptedAgent:
    """The agent that answers the n-th question as in `turns`, with the scenario's faults."""
    return ScriptedAgent(
        *(turn for _, turn in turns),
        cut_after=around.cut_after,
        agent_error=around.agent_error,
        speed=speed,
    )


@dataclass(frozen=True, slots=True)
class ReplayQuestions:
    """How the question of a scenario is asked, and the `follow_ups` in the same thread.

    `stops`: seconds after the last question from which on the capture says nothing; `limit`: the longest wait
    for any answer, in seconds. `profiles` is what was learned of the agent before, and learned now. `ended`:
    set when the person who looks on wants to see what came until then.
    """

    follow_ups: tuple[str, ...] = ()
    stops: float | None = None
    limit: float | None = None
    profiles: dict[str, str] = field(default_factory=dict)
    ended: asyncio.Event | None = None


async def observe(
    scenario: Scenario,
    settings: Settings,
    clock: Clock,
    transport: AsyncBaseTransport | None = None,
    log: TurnLog | None = None,
    asking: ReplayQuestions | None = None,
) -> Observation:
    """Ask the scenario's question in an emulated workspace, on the running loop's time.

    The agent of `settings` is reached through `transport`; None: over the network.
    """
    session = _ReplaySession(scenario, settings, clock, log or TurnLog())
    return await session.run(transport, asking or ReplayQuestions())


class _ReplaySession:
    def __init__(self, scenario: Scenario, settings: Settings, clock: Clock, log: TurnLog) -> None:
        self._scenario, self._clock, self._log = scenario, clock, log
        if not {"context", "channel.context"} & scenario.settings.keys():
            settings = with_overrides(settings, {"channel.context": "none"})  # the thread is made up
        self._settings = allow_bot(settings, scenario.user) if scenario.asker_is_bot else settings
        self._workspace = _workspace(scenario)
        self._turn_changed = asyncio.Event()
        self._is_over = False
        self._questions: list[ThreadQuestion] = []
        self._files = {name: text.encode("utf-8", "replace") for name, text in scenario.files.items()}
        self._turn_began = 0.0

    async def run(self, transport: AsyncBaseTransport | None, asking: ReplayQuestions) -> Observation:
        asked = self._scenario
        app = await build_in_memory(
            self._workspace, self._settings, self._clock, transport, observer=self._take
        )
        app.agent.load_profile(asking.profiles)
        async with app:
            thread = ThreadKey(asked.team, asked.channel, asked.thread_ts)
            if asked.context_id is not None:
                await set_context(app, thread, asked.context_id)
            asked_at = await self._ask(app, asking)
            asking.profiles.clear()  # a habit can be lost
            asking.profiles.update(app.agent.profile)
            shown, self._is_over = tuple(self._thread()), True  # what ending the bot early does is not shown
        questions, is_interrupted = tuple(self._questions), asking.ended is not None and asking.ended.is_set()
        seen = Observation(self._log, shown, asked_at, asked.user, questions, files=self._files)
        return replace(seen, is_interrupted=is_interrupted)

    async def _ask(self, app: App, asking: ReplayQuestions) -> float:
        """Ask the questions and wait for the end. Returns when the first was asked."""
        asked, workspace = self._scenario, self._workspace
        workspace.say(asked.user, asked.channel, "Hello.", now=0.0, ts=asked.thread_ts, is_told=False)
        workspace.listen(self._changed)
        asked_at = self._clock.monotonic()
        async with _running(keep_delivering(app, workspace), self._press_stop()):
            if asking.ended is None:
                await self._ask_all(app, asking)
            elif not await _done_before(asking.ended, self._ask_all(app, asking)):
                self._cut_short("ended with Ctrl-C", self._clock.monotonic())
        return asked_at

    async def _ask_all(self, app: App, asking: ReplayQuestions) -> None:
        for number, text in enumerate((self._scenario.text, *asking.follow_ups)):
            try:
                async with asyncio.timeout(asking.limit or _LONGEST):
                    await self._until("ended", number)
                self._questions.append(ThreadQuestion(len(self._thread()), text))
                self._turn_began = self._clock.monotonic()
                files = [] if number else [PersonFile(*each) for each in self._files.items()]
                async with asyncio.timeout(_TAKEN_WITHIN):
                    await self._say(text, files)
                async with asyncio.timeout(_TAKEN_WITHIN):
                    await self._until("started", number + 1)
            except TimeoutError:
                break
        await self._finish(app, asking.stops if asking.limit is None else asking.limit)

    async def _say(self, text: str, files: Sequence[PersonFile]) -> None:
        asked, workspace, now = self._scenario, self._workspace, self._clock.wall()
        if is_played(text):
            await play(text, workspace, self._thread(), asked.channel, asked.user, now)
            return
        said = f"<@{workspace.bot.user_id}> {text}"
        workspace.say(asked.user, asked.channel, said, now=now, thread_ts=asked.thread_ts, files=files)

    async def _finish(self, app: App, stops: float | None) -> None:
        if stops is None:
            await app.threads.close(_LONGEST)
            return
        try:
            async with asyncio.timeout(stops + _SETTLES):
                await app.threads.idle()
        except TimeoutError:
            reason = f"nobody waited longer than {stops:.2f} s for its end"
            self._cut_short(reason, self._turn_began + stops)

    def _cut_short(self, reason: str, known_until: float) -> None:
        """The last turn is shown as it stood at `known_until`."""
        reason += "; the agent could not be asked for its task" if self._log.turns[-1].is_away else ""
        self._take(TurnEnded(known_until, "", INTERRUPTED, reason, None, None, None, dict[str, bool](), 0))

    async def _until(self, what: Literal["started", "ended"], count: int) -> None:
        while sum(getattr(turn, what) is not None for turn in self._log.turns) < count:
            self._turn_changed.clear()
            await self._turn_changed.wait()

    async def _press_stop(self) -> None:
        asked = self._scenario
        if asked.stop_at is not None:
            await asyncio.sleep(asked.stop_at)
            self._workspace.stop(asked.user, asked.channel, asked.thread_ts, now=self._clock.wall())

    def _take(self, fact: Fact) -> None:
        if self._is_over:
            return
        self._log.take(fact)
        if isinstance(fact, TurnStarted | TurnEnded):
            self._turn_changed.set()

    def _changed(self, change: Change) -> None:
        if change.kind == "envelope" or self._is_over:
            return
        thread = self._thread()
        self._log.look(self._clock.monotonic(), visible(thread), readable_beside(thread))

    def _thread(self) -> list[SeenMessage]:
        asked = self._scenario
        seen = self._workspace.thread(asked.channel, asked.thread_ts)
        return [message for message in seen if message.is_bot]


async def _done_before(ended: asyncio.Event, work: Coroutine[Any, Any, None]) -> bool:
    """Whether `work` came to its end before `ended` was set. Else it is cancelled. Raises its errors."""
    working, waiting = asyncio.create_task(work), asyncio.create_task(ended.wait())
    try:
        await asyncio.wait((working, waiting), return_when=asyncio.FIRST_COMPLETED)
        is_done = working.done()
    finally:
        for task in (working, waiting):
            task.cancel()
        results = await asyncio.gather(working, waiting, return_exceptions=True)
    if is_done and isinstance(results[0], BaseException):
        raise results[0]
    return is_done


@asynccontextmanager
async def _running(*work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run `work` beside the block, and raise its errors behind it."""
    tasks = [asyncio.create_task(each) for each in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
    for end in ends:
        if isinstance(end, BaseException) and not isinstance(end, asyncio.CancelledError):
            raise end


def _workspace(scenario: Scenario) -> Workspace:
    workspace = Workspace(team=scenario.team, rules=WorkspaceRules.real(), faults=scenario.slack_faults)
    kinds: Mapping[str, Any] = {"D": "im", "G": "group"}
    workspace.add_channel(scenario.channel, kind=kinds.get(scenario.channel[0], "channel"))
    workspace.add_user(scenario.user, is_bot=scenario.asker_is_bot)
    return workspace


def read_scenario_file(path: str | None, settings: Settings | None = None) -> Scenario:
    """The scenario in the file at `path`; the default for None. It may change `settings`, by default ours.

    Raises UnreadableInput for what is no scenario, SettingsError for wrong settings.
    """
    if path is None:
        return Scenario()
    try:
        scenario = read_scenario(read_text(Path(path), path), path)
        with_overrides(settings or bot_settings(), scenario.settings)
    except SettingsError as error:
        raise SettingsError(indent(str(error), f"{path}: ")) from error
    return scenario
