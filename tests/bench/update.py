"""`python -m tests.bench.update --old CHECKOUT [--wire 1.0]`: an older edition and this one on one Redis.

First the older one works alone and this one is started beside it; the older one is ended, and this one goes
on. Then the other way round, as who takes an update back, and once more as at first. At the moment when a
process is ended there are answers that run, questions that wait, tasks that are watched, and questions of the
agent: in words, as a form, as an approval. People press, answer, stop, edit and delete while both run, and
more of the same when one has ended. Where the two have different formats of the store, they cannot run beside
each other: the newer one waits for the end of the older one, which cannot be started again then.

Each process is `slack-bot run`; CHECKOUT is a folder with another `slack_bot` in it. Judged is what stands in
the threads, and what the agent was asked.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import aiohttp

from slack_bot.slack.status import WAITING_REACTION
from slack_bot.testing.slack.server import RETRY_DELAYS, SlackServer
from slack_bot.testing.slack.workspace import SeenMessage, Workspace
from slack_bot.text.words import WATCHING
from tests.processes import end_by
from tests.redis_server import running_redis

from .crash_agent import FIELDS
from .crash_cases import Asked, Kind, prompt
from .crash_judge import Seen, leftovers, lines_of, notices
from .crash_run import CHANNEL, FASTER, agents
from .figures import machine
from .many import limits_of
from .running import ROOT, bot_environment, steady_clock

Act: TypeAlias = Literal["", "stop", "say stop", "press stop", "press", "fill in", "reply", "edit", "delete"]
Phase: TypeAlias = Literal["beside", "after"]
Process: TypeAlias = asyncio.subprocess.Process

_WITHIN = 150.0  # seconds for anything to come about
_RUNS, _LATE, _WATCHED_AFTER = 20.0, 55.0, 26.0
_SETTINGS = {
    "SLACK_BOT_AGENT__ACCEPT_TIMEOUT": "10",
    "SLACK_BOT_AGENT__CONNECT_TIMEOUT": "5",
    "SLACK_BOT_AGENT__IDLE_TIMEOUT": "8",
    "SLACK_BOT_AGENT__POLL_TIMEOUT": "3",
    "SLACK_BOT_STORE__LEASE": "4",
    "SLACK_BOT_TURNS__SHUTDOWN_GRACE": "1",
    "SLACK_BOT_AGENT__TURN_TIMEOUT": f"{_WATCHED_AFTER:g}",
    "SLACK_BOT_AGENT__WATCH_INTERVALS": "[2]",
}
_PLAY: tuple[tuple[Kind, str, tuple[Act, ...]], ...] = (
    ("late", "watched", ("", "press stop", "press stop")),
    ("plain", "running", ("", "", "stop", "stop", "say stop", "say stop")),
    ("plain", "waiting", ("", "", "edit", "edit", "delete", "delete")),
    ("asks", "asked in words", ("reply", "reply")),
    ("chooses", "asked by a form", ("press", "press")),
    ("approves", "asked to approve", ("press", "press")),
    ("fills", "with an open modal", ("fill in", "fill in")),
)
"""What the agent does, what the turn is then, and what people do about it: by turns beside, and after."""


@dataclass
class Thread:
    """A thread of one question. `waiting`: another one behind it, which the act is about."""

    asked: Asked
    state: str
    act: Act
    phase: Phase
    waiting: Asked | None = None
    root: str = ""
    waiting_ts: str = ""
    lines_at_stop: int | None = None

    @property
    def questions(self) -> Iterator[Asked]:
        yield self.asked
        if self.waiting is not None:
            yield self.waiting


def threads_of(round_: int) -> list[Thread]:
    """All that is asked in a round."""
    found = []
    for kind, state, acts in _PLAY:
        for number, act in enumerate(acts):
            n = 2 * len(found)
            seconds = _LATE if kind == "late" else _RUNS if kind == "plain" else 1.0
            asked = Asked(f"q{round_}x{n}", kind, 25, seconds, user=f"U{round_}x{n}")
            behind = Asked(f"q{round_}x{n + 1}", "plain", 12, 1.0, user=f"U{round_}x{n + 1}")
            phase: Phase = "beside" if number % 2 else "after"
            found.append(Thread(asked, state, act, phase, behind if state == "waiting" else None))
    return found


@dataclass
class Result:
    """`counts`: of what was looked at, and which edition did it."""

    wrong: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


class Update:
    """Use `run`. `home` is for the logs of the processes; `old` is the other checkout."""

    def __init__(self, old: Path, wire: str, urls: Mapping[str, str], home: Path, store: str) -> None:
        self._folders = {"old": old, "new": ROOT}
        self._wire, self._urls, self._home, self._store = wire, urls, home, store
        self._clock = steady_clock()
        self._workspace = Workspace()
        self._workspace.add_channel(CHANNEL)
        delays = [delay / FASTER for delay in RETRY_DELAYS]
        self._slack = SlackServer(self._workspace, self._clock, retry_delays=delays)
        self._processes: list[tuple[str, Process]] = []
        self._threads: list[Thread] = []
        self._replied: set[str] = set()
        self._is_shared = True
        self.result = Result()

    async def run(self, rounds: int = 3) -> Result:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._slack)
            stack.push_async_callback(self._kill_all)
            try:
                await self._tell(rounds)
            except TimeoutError as error:
                self.result.wrong.append(f"not in time: {error}")
            await self._judge()
        return self.result

    async def _tell(self, rounds: int) -> None:
        working = await self._start("old")
        await self._connected(working)
        for number in range(1, rounds + 1):
            edition = "new" if number % 2 else "old"
            if edition == "old" and not self._is_shared:
                await self._refused()
                return
            working = await self._round(number, working, edition)
        await self._end(working)

    async def _round(self, number: int, working: Process, edition: str) -> Process:
        """`working` is replaced by another one, at work. Returns that."""
        beside = await self._start(edition)
        await self._until(
            lambda: (
                self._is_over(beside)
                or self._is_connected(beside)
                or "replicas of an older version" in self._log(beside)
            ),
            f"the {edition} process beside the other one",
        )
        self._is_shared = self._is_connected(beside)
        threads = threads_of(number)
        self._threads += threads
        for kind in ("late", "plain"):  # who is watched must have worked for a while
            those = [each for each in threads if (each.asked.kind == "late") == (kind == "late")]
            await self._bring_about(those)
        self._note_states(threads)
        if self._is_shared:
            await self._act(threads, "beside")
        await self._end(working)
        if not self._is_shared:
            await self._connected(beside)
            await self._act(threads, "beside")
        await self._act(threads, "after")
        await self._until(lambda: self._is_settled(threads), f"the threads of round {number} at rest")
        return beside

    async def _bring_about(self, threads: Sequence[Thread]) -> None:
        for thread in threads:
            self._ask(thread)
        runs = [each for each in threads if each.asked.kind == "plain"]
        await self._until(lambda: all(lines_of(each.asked, self._seen(each)) for each in runs), "first lines")
        for thread in threads:
            self._ask_behind(thread)
        await self._until(lambda: all(map(self._is_ready, threads)), "all that is asked")
        for thread in (each for each in threads if each.act == "fill in"):
            self._press(thread, "form_")
            user = thread.asked.user
            await self._until(lambda user=user: self._workspace.modal(user), "a modal")

    async def _refused(self) -> None:
        """An older process does not start on a newer store."""
        process = await self._start("old")
        status = await asyncio.wait_for(process.wait(), _WITHIN)
        said = self._log(process).splitlines()[-1:]
        if status != 1 or "written by a newer version" not in "".join(said):
            self.result.wrong.append(f"the old one ended with status {status} and {said}")
        self.result.counts["starts of the old one that were refused"] += 1
        for edition, each in self._processes:
            if edition == "new":
                await self._end(each)

    # -- processes -------------------------------------------------------------------------------------------

    async def _start(self, edition: str) -> Process:
        settings = {
            **_SETTINGS,
            **limits_of(4),  # else some wait for a slot, and the update comes when they are not under way
            "SLACK_BOT_STORE__URL": self._store,
            "PYTHONPATH": str(self._folders[edition]),
        }
        with (self._home / f"{len(self._processes)}.log").open("w") as log:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "slack_bot", "run"),
                env=bot_environment(self._urls[self._wire], self._slack.api_url, settings),
                cwd=self._home,
                stderr=log,
            )
        self._processes.append((edition, process))
        return process

    def _log(self, process: Process) -> str:
        number = next(n for n, (_, each) in enumerate(self._processes) if each is process)
        return (self._home / f"{number}.log").read_text("utf-8", "replace")

    def _is_connected(self, process: Process) -> bool:
        return "connected to Slack" in self._log(process)

    async def _connected(self, process: Process) -> None:
        await self._until(
            lambda: self._is_over(process) or self._is_connected(process), "a process connected"
        )

    def _is_over(self, process: Process) -> bool:
        """Raises TimeoutError: nobody has told it to end."""
        if process.returncode is not None:
            raise TimeoutError(f"a process ended by itself: {self._log(process).splitlines()[-1:]}")
        return False

    async def _end(self, process: Process) -> None:
        if process.returncode is None:
            end_by(process, signal.SIGTERM)
        if status := await asyncio.wait_for(process.wait(), _WITHIN):
            self.result.wrong.append(f"a process ended with status {status}")

    async def _kill_all(self) -> None:
        for _, each in self._processes:
            if each.returncode is None:
                each.kill()
            await each.wait()

    # -- people ----------------------------------------------------------------------------------------------

    @property
    def _now(self) -> float:
        return self._clock.wall()

    def _ask(self, thread: Thread) -> None:
        thread.root = self._say(thread.asked)

    def _ask_behind(self, thread: Thread) -> None:
        if thread.waiting is not None:
            thread.waiting_ts = self._say(thread.waiting, thread.root)

    def _say(self, asked: Asked, root: str | None = None) -> str:
        self._workspace.add_user(asked.user)
        return self._workspace.say(
            asked.user, CHANNEL, self._mention(asked.text), now=self._now, thread_ts=root
        )

    def _mention(self, text: str) -> str:
        return f"<@{self._workspace.bot.user_id}> {text}"

    async def _act(self, threads: Sequence[Thread], phase: Phase) -> None:
        """What people do now. Who presses does it twice."""
        for thread in threads:
            if thread.act and thread.phase == phase:
                if thread.asked.kind == "plain" and self._is_answered(thread):
                    self.result.wrong.append(f"{thread.asked.token}: too late to {thread.act}")
                self._carry_out(thread)
                self.result.counts[f"{phase}: {thread.act}, {thread.state}"] += 1
        await asyncio.sleep(1.0)

    def _carry_out(self, thread: Thread) -> None:
        workspace, user = self._workspace, thread.asked.user
        match thread.act:
            case "stop" | "say stop" | "press stop":
                thread.lines_at_stop = len(lines_of(thread.asked, self._seen(thread)))
                if thread.act == "stop":
                    workspace.stop(user, CHANNEL, thread.root, now=self._now)
                elif thread.act == "say stop":
                    workspace.say(user, CHANNEL, self._mention("stop"), now=self._now, thread_ts=thread.root)
                else:
                    self._press(thread, "stop")
            case "press":
                self._replied.add(thread.asked.token)
                self._press(thread, "form_")
            case "fill in":
                self._replied.add(thread.asked.token)
                for label in FIELDS:
                    workspace.fill_modal(user, label, "Something.", now=self._now)
                workspace.submit(user, now=self._now)
            case "reply":
                self._replied.add(thread.asked.token)
                self._say(replace(thread.asked, kind="plain"), thread.root)
            case "edit":
                assert thread.waiting is not None
                thread.waiting = replace(thread.waiting, lines=7)
                text = self._mention(thread.waiting.text)
                workspace.edit(CHANNEL, thread.waiting_ts, text, now=self._now)
            case "delete":
                workspace.delete(CHANNEL, thread.waiting_ts, now=self._now)

    def _press(self, thread: Thread, action: str) -> None:
        seen, name = next(
            (seen, name)
            for seen in self._seen(thread)[::-1]
            for name in re.findall(rf"'action_id': '({action}[^']*)'", str(seen.blocks))
        )
        for _ in range(2):
            with suppress(LookupError):  # the buttons are gone
                self._workspace.press(thread.asked.user, CHANNEL, seen.ts, name, now=self._now)

    # -- what they see ---------------------------------------------------------------------------------------

    def _seen(self, thread: Thread) -> list[SeenMessage]:
        return self._workspace.thread(CHANNEL, thread.root, now=self._now) if thread.root else []

    def _is_ready(self, thread: Thread) -> bool:
        """It is in the state in which it should be when a process is ended."""
        seen = self._seen(thread)
        match thread.state:
            case "watched":
                return any(WATCHING in message.read for message in seen)
            case "waiting":
                marks = [message.reactions or {} for message in seen if message.ts == thread.waiting_ts]
                return bool(lines_of(thread.asked, seen)) and any(WAITING_REACTION in each for each in marks)
            case "running":
                return bool(lines_of(thread.asked, seen))
            case "asked in words":
                return any(prompt(thread.asked.token) in message.text for message in seen if message.is_bot)
            case _:
                return any("form_" in str(message.blocks) for message in seen)

    def _note_states(self, threads: Sequence[Thread]) -> None:
        for thread in threads:
            self.result.counts[f"at the update: {thread.state}"] += 1
            if not self._is_ready(thread) or self._is_answered(thread):
                self.result.wrong.append(f"{thread.asked.token} is not {thread.state} when the update comes")

    def _is_answered(self, thread: Thread) -> bool:
        return len(lines_of(thread.asked, self._seen(thread))) == thread.asked.lines

    def _is_settled(self, threads: Sequence[Thread]) -> bool:
        at_rest = not leftovers(self._all_seen(threads))
        return at_rest and not [each for thread in threads for each in self._wrong_in(thread)]

    def _all_seen(self, threads: Sequence[Thread]) -> dict[tuple[str, str], Seen]:
        return {
            (CHANNEL, each.root): Seen(self._seen(each), self._workspace.session(CHANNEL, each.root))
            for each in threads
        }

    def _wrong_in(self, thread: Thread) -> Iterator[str]:
        """How the thread reads, in the end."""
        seen = self._seen(thread)
        for asked in thread.questions:
            about = f"{asked.token} ({thread.state}, {thread.act or 'nothing'} {thread.phase})"
            words = lines_of(asked, seen)
            wanted = [f"{asked.token}w{n:04}" for n in range(1, asked.lines + 1)]
            if asked is thread.asked and thread.lines_at_stop is not None:
                least = thread.lines_at_stop  # words do not stop the stream by themselves, as the button does
                most = asked.lines - 1 if thread.act == "say stop" else least
                if words != wanted[: len(words)] or not least <= len(words) <= most:
                    yield f"{about}: {len(words)} lines, though it was stopped after {thread.lines_at_stop}"
                if not any(
                    "topped" in note for note in notices(message for message in seen if message.is_bot)
                ):
                    yield f"{about}: no word of the stop"
            elif asked is thread.waiting and thread.act == "delete":
                if words:
                    yield f"{about}: an answer to a deleted question"
            elif words != wanted:
                yield f"{about}: {len(words)} of {len(wanted)} lines, {len(set(words))} different ones"

    async def _until(self, condition: Callable[[], object], what: str) -> None:
        try:
            async with asyncio.timeout(_WITHIN):
                while not condition():  # noqa: ASYNC110  no event reports all of it
                    await asyncio.sleep(0.1)
        except TimeoutError:
            raise TimeoutError(what) from None

    # -- the verdict -----------------------------------------------------------------------------------------

    async def _judge(self) -> None:
        wrong, counts = self.result.wrong, self.result.counts
        async with aiohttp.ClientSession() as session, session.get(f"{self._urls['ledger']}asked") as answer:
            ledger = await answer.json()
        for thread in self._threads:
            wrong += self._wrong_in(thread)
            for asked in thread.questions:
                wrong += self._wrongly_asked(thread, asked, ledger)
        wrong += leftovers(self._all_seen(self._threads))
        if self._slack.lost:
            wrong.append(f"{len(self._slack.lost)} envelopes were never acknowledged")
        wrong += [f"refused: {call.method}" for call in self._workspace.calls if call.limited]
        for edition, process in self._processes:
            log = self._log(process)
            counts[f"turns that the {edition} one began"] += log.count("turn begins")
            counts[f"turns that the {edition} one took over"] += log.count("a turn is taken over")
            wrong += [
                f"{edition}: {line}" for line in log.splitlines() if " ERROR " in line or "Traceback" in line
            ]

    def _wrongly_asked(self, thread: Thread, asked: Asked, ledger: Mapping[str, Any]) -> Iterator[str]:
        received = list(ledger["received"].values())
        mine = [each for each in received if each["text"].split(maxsplit=1)[:1] == [asked.token]]
        tasks = {each["task"] for each in mine if each["task"]}
        mine += [each for each in received if each not in mine and each["continues"] in tasks]
        wanted = 1 + (asked.token in self._replied)
        if asked is thread.waiting and thread.act == "delete":
            wanted = 0
        if len(mine) != wanted or any(each["times"] != 1 for each in mine):
            told = f"{len(mine)} messages to the agent in place of {wanted}: {mine}"
            yield f"{asked.token} ({thread.state}): {told}"
        if len(tasks) > 1:
            yield f"{asked.token}: {len(tasks)} tasks"
        is_stopped = asked is thread.asked and thread.lines_at_stop is not None
        if is_stopped != bool(tasks & set(ledger["cancelled"])):
            yield f"{asked.token}: cancelled: {not is_stopped}"

    def logs(self) -> str:
        """Those of all processes in order, then the threads."""
        lines = []
        for number, (edition, process) in enumerate(self._processes):
            at = ""
            for line in self._log(process).splitlines():
                at = line[:24] if line.startswith("20") else at
                lines.append((at, f"{number} {edition} {line}"))
        texts = [
            f"{each.ts} {each.author} {each.state} {each.read}"
            for thread in self._threads
            for each in self._seen(thread)
        ]
        return "\n".join([*(line for _, line in sorted(lines, key=lambda each: each[0])), *texts])


async def run(old: Path, wire: str, rounds: int = 3) -> tuple[Result, str]:
    """What came of it, and what all processes logged."""
    with tempfile.TemporaryDirectory() as home, running_redis(Path(home) / "redis") as redis:
        async with agents() as urls:
            update = Update(old, wire, urls, Path(home), redis.url)
            return await update.run(rounds), update.logs()


def summary(result: Result) -> str:
    return "\n".join([*(f"{n:4} {what}" for what, n in sorted(result.counts.items())), *result.wrong])


def main(argv: Sequence[str] | None = None) -> int:
    """Run and print. 1 if anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.update", description=__doc__)
    parser.add_argument("--old", type=Path, required=True, metavar="CHECKOUT", help="the other edition")
    parser.add_argument("--wire", choices=("0.3", "1.0"), default="1.0")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", type=Path, metavar="FILE", help="where logs and threads are written")
    args = parser.parse_args(argv)
    print(f"{args.old} and this edition, wire {args.wire}, on {machine()}", flush=True)
    result, logs = asyncio.run(run(args.old, args.wire, args.rounds))
    if args.keep is not None:
        args.keep.write_text(logs, "utf-8")
    print(summary(result))
    print("wrong" if result.wrong else "all is right")
    return 1 if result.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
