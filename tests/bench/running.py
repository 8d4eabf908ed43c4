"""The bot as it is deployed: `slack-bot run` in a process of its own, between an agent and a Slack of ours.

Agent and Slack live in the measuring process, on real sockets, so both ends of a way through the bot are read
off one clock, and what the bot needs in time and memory is its own.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from slack_bot.clock import Clock
from slack_bot.testing.agent.scripted import ScriptedAgent, ScriptedAnswer, serve_scripted
from slack_bot.testing.slack.server import SlackServer
from slack_bot.testing.slack.workspace import APP_TOKEN, BOT_TOKEN, Workspace
from slack_bot.testing.tape.tape import Moment, Recording, Tape
from tests.processes import child

ROOT = Path(__file__).parents[2]
CHANNEL = "C1"
_WITHIN = 60.0  # seconds that anything here may take before the run is given up


def steady_clock() -> Clock:
    """Both readings from one counter that never jumps."""
    behind = time.time() - time.perf_counter()
    return Clock(monotonic=time.perf_counter, wall=lambda: behind + time.perf_counter())


class StampedAgent(ScriptedAgent):
    """A scripted agent that notes when it handed each event to the socket: (time, bytes)."""

    def __init__(self, *sources: Tape | Recording, clock: Clock) -> None:
        super().__init__(*sources)
        self._reading = clock
        self.sent: list[tuple[float, bytes]] = []

    async def handle(
        self, method: str, url: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> ScriptedAnswer:
        """As it does, with a stamp on every chunk."""
        answer = await super().handle(method, url, body, headers)
        return replace(answer, body=self._stamped(answer.body))

    async def _stamped(self, body: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
        async with aclosing(body):
            async for data in body:
                self.sent.append((self._reading.wall(), data))
                yield data


@dataclass
class Deployed:
    """A running bot and its two neighbours. `born` is when its process was started."""

    workspace: Workspace
    face: SlackServer
    agent: StampedAgent
    clock: Clock
    born: float
    process: asyncio.subprocess.Process
    connected_after: float = 0.0
    roots: list[str] = field(default_factory=list)

    def ask(self, number: int, text: str = "go") -> str:
        """Somebody of their own asks in a thread of their own; returns its ts."""
        user = f"U{number}"
        self.workspace.add_user(user)
        mention = f"<@{self.workspace.bot.user_id}> {text}"
        self.roots.append(self.workspace.say(user, CHANNEL, mention, now=self.clock.wall()))
        return self.roots[-1]

    async def until(self, condition: Callable[[], object], within: float = _WITHIN) -> None:
        """Wait for `condition`, looking when the workspace changes and every 50 ms. TimeoutError."""
        changed = asyncio.Event()
        stop = self.workspace.listen(lambda _: changed.set())
        try:
            async with asyncio.timeout(within):
                while not condition():
                    changed.clear()
                    with suppress(TimeoutError):
                        await asyncio.wait_for(changed.wait(), 0.05)
        finally:
            stop()

    def answers_done(self) -> int:
        """How many threads hold an answer and no open stream."""
        return sum(self._is_done(root) for root in self.roots)

    def _is_done(self, root: str) -> bool:
        mine = [seen for seen in self.workspace.thread(CHANNEL, root) if seen.is_bot]
        return bool(mine) and all(seen.state != "streaming" for seen in mine)

    def resident(self) -> int:
        """The bot process's resident memory in bytes. OSError where there is no /proc."""
        return memory_of(self.process.pid)

    def peak(self) -> int:
        """The most that `resident` ever was. OSError where there is no /proc."""
        return memory_of(self.process.pid, "VmHWM:")

    def cpu_seconds(self) -> float:
        """The processor time of the bot's process by now. OSError where there is no /proc."""
        return cpu_of(self.process.pid)

    def files(self) -> int:
        """The files and sockets that the bot's process has open. OSError where there is no /proc."""
        return sum(1 for _ in Path(f"/proc/{self.process.pid}/fd").iterdir())


def memory_of(pid: int, name: str = "VmRSS:") -> int:
    """The memory of a process in bytes; `name`: which, as /proc calls it. OSError where there is no /proc."""
    lines = Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def cpu_of(pid: int) -> float:
    """The processor time of a process by now, in seconds. OSError where there is no /proc."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@asynccontextmanager
async def deployed(
    *tapes: Tape | Recording, command: Sequence[str] = ("slack_bot", "run"), **settings: str
) -> AsyncIterator[Deployed]:
    """Start `slack-bot run`, wait until its Socket Mode connection stands. `settings`: extra variables.

    `command`: the module to run instead, and its arguments.
    """
    clock = steady_clock()
    workspace = Workspace()
    workspace.add_channel(CHANNEL)
    agent = StampedAgent(*tapes, clock=clock)
    async with serve_scripted(agent) as agent_url, SlackServer(workspace, clock) as face:
        with tempfile.TemporaryDirectory() as home:
            born = clock.monotonic()
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", *command),
                env=bot_environment(agent_url, face.api_url, settings),
                cwd=home,
                stderr=asyncio.subprocess.DEVNULL,
            )
            running = Deployed(workspace, face, agent, clock, born, process)
            try:
                await _connected(running)
                yield running
            finally:
                await _ended(process)


async def _connected(running: Deployed) -> None:
    standing = asyncio.ensure_future(running.face.sockets.connected())
    over = asyncio.ensure_future(running.process.wait())
    await asyncio.wait({standing, over}, timeout=_WITHIN, return_when=asyncio.FIRST_COMPLETED)
    running.connected_after = running.clock.monotonic() - running.born
    over.cancel()
    if not standing.done():
        standing.cancel()
        raise RuntimeError("slack-bot run did not connect; start it by hand to see what it says")


async def _ended(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.send_signal(signal.SIGTERM)
    try:
        await asyncio.wait_for(process.wait(), 10.0)
    except TimeoutError:
        process.kill()
        await process.wait()


def bot_environment(agent_url: str, api_url: str, settings: Mapping[str, str]) -> dict[str, str]:
    """Nothing of this shell's own settings, so that a run measures the defaults."""
    return {
        "PATH": os.environ.get("PATH", ""),
        "PYTHONPATH": str(ROOT),
        "SLACK_BOT_TOKEN": BOT_TOKEN,
        "SLACK_APP_TOKEN": APP_TOKEN,
        "SLACK_API_URL": api_url,
        "A2A_AGENT_URL": agent_url,
        "SLACK_BOT_STORE__URL": "memory://",
        "SLACK_BOT_TURNS__SHUTDOWN_GRACE": "0",
        **settings,
    }


@asynccontextmanager
async def helper(module: str, *arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Another process that runs `module`, to be talked to by lines."""
    pipes = {"stdin": asyncio.subprocess.PIPE, "stdout": asyncio.subprocess.PIPE}
    async with child(sys.executable, "-m", module, *arguments, cwd=ROOT, **pipes) as process:
        yield process


async def line_of(process: asyncio.subprocess.Process, within: float = 300.0) -> str:
    """The next line that a helper prints. RuntimeError: it ended."""
    assert process.stdout is not None
    line = await asyncio.wait_for(process.stdout.readline(), within)
    if not line:
        raise RuntimeError("a process of the benchmark ended early")
    return line.decode().strip()


async def tell(process: asyncio.subprocess.Process) -> None:
    """Send a helper a line."""
    assert process.stdin is not None
    process.stdin.write(b"go\n")
    await process.stdin.drain()


def event(text: str, ids: str = "1") -> dict[str, Any]:
    """A chunk of answer text, tagged as such."""
    artifact = {
        "artifactId": f"streaming_result-{ids}",
        "name": "streaming_result",
        "metadata": {"is_final_answer": True},
        "parts": [{"kind": "text", "text": text}],
    }
    ours = {"taskId": f"task-{ids}", "contextId": f"ctx-{ids}"}
    return {"kind": "artifact-update", **ours, "append": True, "artifact": artifact}


def done(ids: str = "1") -> dict[str, Any]:
    """The task is completed."""
    ours = {"taskId": f"task-{ids}", "contextId": f"ctx-{ids}"}
    return {"kind": "status-update", **ours, "status": {"state": "completed"}, "final": True}


def spoken(pieces: list[str], spacing: float, *, rest: float = 0.1, ids: str = "1") -> Tape:
    """A tape that says `pieces` every `spacing` seconds and is completed `rest` seconds after the last."""
    moments = [Moment(0.3 + spacing * number, event=event(piece, ids)) for number, piece in enumerate(pieces)]
    end = moments[-1].t + rest
    return Tape({"wire": "0.3"}, (*moments, Moment(end, event=done(ids)), Moment(end, end="closed")))
