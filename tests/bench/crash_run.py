"""One case of the crash run: a bot in a process of its own, killed and started again, and its workspace.

Slack lives in this process, so that the judge sees the threads as people do; the agents in a third one.
"""

from __future__ import annotations

import asyncio
import json
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp

from slack_bot.testing.slack.server import RETRY_DELAYS, SlackServer
from slack_bot.testing.slack.workspace import Change, SeenMessage, Workspace, WorkspaceRules
from tests.processes import child, end_by

from .crash_cases import WAITING, Asked, Case, Kill
from .crash_judge import (
    GOOD,
    Deliveries,
    Fact,
    Report,
    Seen,
    abridged,
    judge_asked,
    judge_question,
    leftovers,
    lines_of,
    notices,
    questions_back,
)
from .running import ROOT, bot_environment, steady_clock
from .stand_stills import StandStills

CHANNEL = "C1"
FASTER = 30.0
"""Slack's retries come after 0, 60 and 300 s; here so many times sooner. Its 3 s for an ack stay."""
_SETTLES = 60.0  # seconds after the last start until all answers must be there. Stand-stills do not count
LEASE = 4.0
"""Seconds, in place of 10, after which a replica that was killed counts as gone."""
_STARTS = 60.0
_ENDS = 60.0
_REPLY = 0.3  # seconds until a person has written what the agent wants to know


@asynccontextmanager
async def agents() -> AsyncIterator[Mapping[str, str]]:
    """The agents' process; its addresses."""
    command, pipe = (sys.executable, "-m", "tests.bench.crash_agent"), asyncio.subprocess.PIPE
    quiet = asyncio.subprocess.DEVNULL
    async with child(*command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=quiet) as process:
        assert process.stdout is not None
        yield json.loads(await asyncio.wait_for(process.stdout.readline(), _STARTS))


@dataclass(frozen=True, slots=True)
class _Place:
    """The thread of a question."""

    channel: str
    root: str


class CrashRun:
    """Runs `case` in `home`, with the `store` of this URL.

    With several `replicas` the first one is killed, and nobody is waited for.
    """

    def __init__(
        self,
        case: Case,
        urls: Mapping[str, str],
        home: Path,
        store: str = "sqlite:///store.sqlite",
        replicas: int = 1,
    ) -> None:
        self.case, self._urls, self._home = case, urls, home
        self._store, self._replicas = store, replicas
        self.report = Report(case, replicas=replicas)
        self._clock = steady_clock()
        self.workspace = Workspace(rules=WorkspaceRules.real())
        self.workspace.add_channel(CHANNEL)
        self._slack = SlackServer(
            self.workspace, self._clock, retry_delays=[delay / FASTER for delay in RETRY_DELAYS]
        )
        self._places: dict[str, _Place] = {}  # by the question's token
        self._replied: Counter[str] = Counter()
        self._stopped: dict[str, int] = {}  # how many lines were there
        self._may_reply = asyncio.Event()
        if case.kill.point != WAITING:
            self._may_reply.set()
        self._processes: list[asyncio.subprocess.Process] = []
        self._waits: asyncio.subprocess.Process | None = None  # for the store that another one holds
        self._killed: list[float] = []
        self._connected_at = 0.0
        self._unfinished: dict[tuple[str, str], str] = {}  # threads of the process before, as they stood then
        self._went_on: dict[tuple[str, str], float] = {}
        self._log: Any = None
        self._still = StandStills()

    async def run(self) -> Report:
        """What goes wrong is a problem in the report."""
        async with AsyncExitStack() as stack:
            self._log = stack.enter_context((self._home / "0.log").open("w"))
            await stack.enter_async_context(self._slack)
            stack.callback(self.workspace.listen(self._on_change))
            people = [asyncio.create_task(self._still.beat())]
            try:
                process = await self._start(self.case.kill)
                for _ in range(1, self._replicas):
                    await self._start(None)
                people += [asyncio.create_task(each) for each in (self._ask(), self._reply())]
                await self._end(await self._story(process))
            except TimeoutError as error:
                self.report.problems.append(str(error) or "something took too long")
            finally:
                for task in people:
                    task.cancel()
                await asyncio.gather(*people, return_exceptions=True)
                for process in self._processes:
                    if process.returncode is None:
                        process.kill()
                    await process.wait()
            await self._judge()
        return self.report

    async def _story(self, process: asyncio.subprocess.Process) -> asyncio.subprocess.Process:
        """The bot dies as the case says, and is started again. Returns the last process."""
        if not await self._dies(process, self.case.kill):
            return process
        if self.case.stops is not None:
            self._stop(self.case.questions[self.case.stops])
        for kill in (self.case.again, None):
            if kill is None or not await self._dies(process := await self._start_again(kill), kill):
                break
        return process if process.returncode is None else await self._start_again(None)

    async def _start_again(self, kill: Kill | None) -> asyncio.subprocess.Process:
        self._note_takeovers()
        self._connected_at = time.time()
        await self._remember()
        process, self._waits = self._waits, None
        if process is None:
            await asyncio.sleep(self.case.down)
        self._may_reply.set()
        return await self._start(kill) if process is None else await self._connected(process)

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        await self._until(self._is_settled, _SETTLES, "the threads did not come to rest")
        self._note_takeovers()
        running = [each for each in self._processes if each.returncode is None]
        for each in running:
            end_by(each, signal.SIGTERM)
        async with asyncio.timeout(_ENDS):
            statuses = [await each.wait() for each in {*running, process}]
        if -signal.SIGKILL in statuses:  # its point came as it ended
            self._was_killed()
            await self._end(await self._start_again(None))
        elif wrong := [each for each in statuses if each not in (0, -signal.SIGTERM)]:  # as it began
            self.report.problems.append(f"the bot ended with status {wrong}")

    def _was_killed(self) -> None:
        self._killed.append(time.time())
        self.report.kills += 1

    # -- processes -------------------------------------------------------------------------------------------

    async def _start(self, kill: Kill | None) -> asyncio.subprocess.Process:
        return await self._connected(await self._spawn(kill))

    async def _connected(self, process: asyncio.subprocess.Process) -> asyncio.subprocess.Process:
        over = asyncio.ensure_future(process.wait())
        await self._until(lambda: over.done() or self._is_connected(), _STARTS, "the bot did not connect")
        over.cancel()
        if self._replicas == 1:  # else the others went on when this one died
            self._connected_at = time.time()
        if over.done() and process.returncode != -signal.SIGKILL:
            raise TimeoutError(f"the bot did not connect, status {process.returncode}")
        return process

    def _is_connected(self) -> bool:
        """The process started last. The others connect again, too, when they like."""
        return "connected to Slack" in (self._home / f"{len(self._processes)}.log").read_text("utf-8")

    async def _spawn(self, kill: Kill | None, **more: str) -> asyncio.subprocess.Process:
        settings = {
            **more,
            "SLACK_BOT_STORE__URL": self._store,
            "SLACK_BOT_STORE__LEASE": f"{LEASE:g}",
            "SLACK_BOT_TURNS__SHUTDOWN_GRACE": f"{self.case.grace:g}",
        }
        if kill is not None and kill.probe:
            settings |= {"CRASH_AT": kill.probe, "CRASH_NTH": str(kill.nth)}
        number = len(self._processes) + 1
        self._note(f"process {number} starts: {kill}")
        with (self._home / f"{number}.log").open("w") as log:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "tests.bench.crash_bot"),
                env=bot_environment(self._urls[self.case.wire], self._slack.api_url, settings),
                cwd=self._home,
                stderr=log,
            )
        self._processes.append(process)
        return process

    async def _dies(self, process: asyncio.subprocess.Process, kill: Kill) -> bool:
        """Wait for the end of `process`, or bring it about. False: it did not come to that point."""
        over = asyncio.ensure_future(process.wait())
        if kill.probe:
            await self._until(lambda: over.done() or self._is_settled(), _SETTLES, f"{kill} is not reached")
        else:
            await self._moment(kill)
            await self._end_by_signal(process)
        if not over.done():
            over.cancel()
            return False
        self._note(f"process {self._processes.index(process) + 1} died: {over.result()}")
        if over.result() == -signal.SIGKILL:
            self._was_killed()
        elif kill.probe or over.result() != 0:
            self.report.problems.append(f"the bot ended with status {over.result()}")
        return True

    async def _moment(self, kill: Kill) -> None:
        first = self.case.questions[0]
        await self._until(lambda: first.token in self._places, _STARTS, "nobody asked")
        if kill.point == WAITING:
            await self._until(
                lambda: questions_back(first, self._thread(first)),
                _SETTLES,
                "the agent's question is not shown",
            )
        await asyncio.sleep(kill.seconds)

    async def _end_by_signal(self, process: asyncio.subprocess.Process) -> None:
        play = self.case.play
        if play == "second in vain":
            await self._start_in_vain()
            return
        if play == "two at once" and self._replicas == 1:
            self._waits = await self._spawn(None)
            await asyncio.sleep(self.case.down)
        if play != "kill" and process.returncode is None:
            end_by(process, signal.SIGTERM)
            if play == "kill in drain":
                await asyncio.sleep(self.case.down / 3)
        if play in ("kill", "kill in drain") and process.returncode is None:
            end_by(process, signal.SIGKILL)
        await asyncio.wait_for(process.wait(), _ENDS)

    async def _start_in_vain(self) -> None:
        """A second process on the same file ends with a sentence, and the first one goes on."""
        if self._replicas > 1:
            return
        second = await self._spawn(None, SLACK_BOT_STORE__LOCK_WAIT="0.5")
        status = await asyncio.wait_for(second.wait(), _ENDS)
        said = (self._home / f"{len(self._processes)}.log").read_text("utf-8").splitlines()
        if status != 1 or "Another process has the store" not in said[-1]:
            self.report.problems.append(f"the second process ended with status {status} and {said[-1:]}")

    def _note(self, text: str) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        print(f"{now} ---- {text}", file=self._log, flush=True)

    def log(self) -> str:
        """What all processes and this one wrote, in order; each line with the number of its process."""
        found = []
        for path in self._home.glob("*.log"):
            at = ""
            for line in path.read_text("utf-8", "replace").splitlines():
                at = line[:24] if line.startswith("20") else at
                found.append((at, path.stem, line))
        return "\n".join(f"{number} {line}" for _, number, line in sorted(found, key=lambda each: each[0]))

    # -- people ----------------------------------------------------------------------------------------------

    async def _ask(self) -> None:
        began = time.monotonic()
        for asked in sorted(self.case.questions, key=lambda each: each.after):
            await asyncio.sleep(began + asked.after - time.monotonic())
            behind = None if asked.behind is None else self._places[self.case.questions[asked.behind].token]
            self.workspace.add_user(asked.user)
            channel = self.workspace.direct(asked.user) if asked.is_direct else CHANNEL
            root = None if behind is None else behind.root
            ts = self._say(asked, channel, asked.text, root)
            self._places[asked.token] = _Place(channel, root or ts)

    def _say(self, asked: Asked, channel: str, text: str, root: str | None) -> str:
        if not asked.is_direct:
            text = f"<@{self.workspace.bot.user_id}> {text}"
        return self.workspace.say(asked.user, channel, text, now=self._clock.wall(), thread_ts=root)

    async def _reply(self) -> None:
        """People answer what the agent asks back, as often as it does."""
        asking = [asked for asked in self.case.questions if asked.kind == "asks"]
        while asking:
            await self._until(lambda: any(map(self._is_unanswered, asking)), 10 * _SETTLES, "no question")
            await self._may_reply.wait()
            await asyncio.sleep(_REPLY)
            for asked in filter(self._is_unanswered, asking):
                place = self._places[asked.token]
                self._replied[asked.token] += 1
                text = replace(asked, kind="plain").text
                self._say(asked, place.channel, text, place.root)

    def _is_unanswered(self, asked: Asked) -> bool:
        return self._replied[asked.token] < questions_back(asked, self._thread(asked))

    def _stop(self, asked: Asked) -> None:
        """A person presses Stop, which Slack shows under an open stream."""
        thread = self._thread(asked)
        if asked.behind is not None and not lines_of(asked, thread):
            return  # the stream is another one's answer
        later = [each for each in self.case.questions if each.behind is not None and each.after > asked.after]
        place = self._places.get(asked.token)
        before = [
            each
            for each in self.case.questions
            if each.after < asked.after and self._places.get(each.token) == place
        ]
        if any(lines_of(each, thread) for each in later) or not all(map(self._is_done, before)):
            return
        if any(message.state == "streaming" for message in thread):
            place = self._places[asked.token]
            self._stopped[asked.token] = len(lines_of(asked, thread))
            self._note(f"{asked.token} is stopped after {self._stopped[asked.token]} lines")
            self.workspace.stop(asked.user, place.channel, place.root, now=self._clock.wall())

    # -- what they see ---------------------------------------------------------------------------------------

    def _thread(self, asked: Asked) -> list[SeenMessage]:
        place = self._places.get(asked.token)
        if place is None:
            return []
        return self.workspace.thread(place.channel, place.root, now=self._clock.wall())

    def _seen(self) -> dict[tuple[str, str], Seen]:
        found = {}
        for token, place in self._places.items():
            asked = next(each for each in self.case.questions if each.token == token)
            session = self.workspace.session(place.channel, place.root)
            found[place.channel, place.root] = Seen(self._thread(asked), session)
        return found

    def _read(self, channel: str, root: str) -> str:
        ours = [each for each in self.workspace.thread(channel, root) if each.is_bot]
        return "\n".join([*(each.text for each in ours), *notices(ours)])

    def _is_settled(self) -> bool:
        if len(self._places) < len(self.case.questions) or leftovers(self._seen()):
            return False
        return all(self._is_done(asked) for asked in self.case.questions)

    def _is_done(self, asked: Asked) -> bool:
        return self._fact(asked, Deliveries()).fate in GOOD

    def _fact(self, asked: Asked, told: Deliveries) -> Fact:
        thread, stopped_at = self._thread(asked), self._stopped.get(asked.token)
        killed = [at - self._still.between(told.first, at) for at in self._killed]
        return judge_question(asked, thread, told, killed=killed, stopped_at=stopped_at)

    def _on_change(self, change: Change) -> None:
        place = change.channel, change.thread_ts
        waits = change.kind == "thread" and place in self._unfinished and place not in self._went_on
        if waits and self._read(*place) != self._unfinished[place]:
            self._went_on[place] = time.time()

    async def _remember(self) -> None:
        """How the threads stand that another process must go on with."""
        told = await self._told()
        begun = self._begun()
        places = [
            self._places[each.token]
            for each in self.case.questions
            if each.token in self._places
            and told[each.token].messages
            and not self._is_done(each)
            and (self._replicas == 1 or self._places[each.token].root in begun)
        ]
        self._went_on.clear()
        self._unfinished = {(each.channel, each.root): self._read(each.channel, each.root) for each in places}

    def _begun(self) -> set[str]:
        """The threads of turns that ended processes began and did not end, by their logs."""
        begun = set()
        for number, process in enumerate(self._processes, 1):
            if process.returncode is not None:
                log = (self._home / f"{number}.log").read_text("utf-8", "replace")
                begun |= set(re.findall(r"turn begins .*?thread=(\S+)", log))
                begun -= set(re.findall(r"turn ends: .*?thread=(\S+)", log))
        return begun

    def _note_takeovers(self) -> None:
        unmarked = {self._places.get(each.token) for each in self.case.questions if each.kind == "untagged"}
        for place, at in self._went_on.items():
            took = self.report.took_unmarked if _Place(*place) in unmarked else self.report.took
            took.append(max(0.0, at - self._connected_at))
        self._unfinished.clear()

    async def _until(self, condition: Callable[[], object], within: float, why: str) -> None:
        """Wait for `condition`, looking when the workspace changes and every 100 ms."""
        changed = asyncio.Event()
        stop, began = self.workspace.listen(lambda _: changed.set()), time.time()
        try:
            while not condition():
                now = time.time()
                if now - began > within + self._still.between(began, now):
                    raise TimeoutError(why)
                changed.clear()
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), 0.1)
                await asyncio.sleep(0.02)
        finally:
            stop()

    # -- the verdict -----------------------------------------------------------------------------------------

    async def _told(self) -> dict[str, Deliveries]:
        """What came to the agent, by the question's token."""
        async with aiohttp.ClientSession() as session, session.get(f"{self._urls['ledger']}asked") as answer:
            ledger = await answer.json()
        found = {}
        for asked in self.case.questions:
            of_it = [each for each in ledger["received"].values() if each["text"].split()[0] == asked.token]
            tasks = tuple(each["task"] for each in of_it if each["task"])
            found[asked.token] = Deliveries(
                messages=len(of_it),
                times=sum(each["times"] for each in of_it),
                first=max((each["first"] for each in of_it), default=0.0),
                tasks=tasks,
                is_cancelled=any(task in ledger["cancelled"] for task in tasks),
            )
        return found

    async def _judge(self) -> None:
        told, report = await self._told(), self.report
        report.stood_still = self._still.worst()
        for asked in self.case.questions:
            self._note(f"{asked.token}: {told[asked.token]}, {self._replied[asked.token]} replies")
            report.facts.append(self._fact(asked, told[asked.token]))
            if (why := judge_asked(asked, told[asked.token], self._replied[asked.token])) is not None:
                report.asked_twice.append(why)
        report.left = leftovers(self._seen())
        if self._slack.lost:
            report.problems.append(f"{len(self._slack.lost)} envelopes were never acknowledged")
        strays = [each for each in self.workspace.history(CHANNEL) if each.is_bot]
        report.problems += [f"a message outside of all threads: {each.read!r}" for each in strays]

    def thread_texts(self) -> str:
        """All threads, as a person reads them; lines of answers are counted."""
        found = []
        for (channel, root), seen in self._seen().items():
            found.append(f"thread {channel} {root}, session {seen.session}")
            for message in seen.messages:
                status = f", status {message.status_line!r}" if message.status_line else ""
                read = abridged(message.read).replace("\n", "\n    ")
                found.append(f"  {message.ts} {message.author} {message.state}{status}\n    {read}")
        return "\n".join(found)
