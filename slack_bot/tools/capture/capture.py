"""`slack-bot capture`: ask a live agent, and keep everything it sends, with the time at which it came.

The bot's own client asks, with the settings' credentials; a tap on it writes the tape line by line, so that a
broken stream, a wrong event or Ctrl-C leaves a tape that can be read.
"""

from __future__ import annotations

import argparse
import asyncio
import uuid
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import httpx

from ...a2a.agent import Agent, new_http
from ...a2a.wire.card import AgentCard
from ...a2a.wire.frames import ArtifactUpdate, MessageReply, Snapshot, StatusUpdate, TaskState
from ...a2a.wire.origins import bare
from ...clock import Clock, loop_clock
from ...errors import AgentError, BotError, UnreadableInput
from ...settings.load import Settings, load
from ...testing.tape.json_file import Json
from ...testing.tape.tape import READS
from ..output_file import Output, OutputFile
from .agent_address import masks_of, settings_for, with_remedy
from .http_tap import HttpTap
from .progress import Progress
from .tape_writer import RawLines, TapeLines

_POLL_EVERY = 1.0


@dataclass(frozen=True, slots=True)
class CaptureRequest:
    """What to capture: questions in their order, and how. Times are seconds.

    `named` is the argument of the command line that gave the agent's address.
    """

    questions: tuple[str, ...]
    streaming: bool = True
    raw: bool = False
    cut_after: float | None = None
    poll: bool = False
    named: str = "URL"


def main(args: argparse.Namespace) -> int:
    """The verb. `args`: url, text, output, no_stream, sse, then, cut_after, poll. Returns the exit status.

    Raises UnreadableInput for wrong usage, AgentError where there was no agent to ask.
    """
    wanted = _wanted(args)
    given = load()
    settings, note = settings_for(args.url, given)
    progress = Progress()
    if note:
        progress.say(f"note: {note}")
    with OutputFile(args.output) as file:
        try:
            return asyncio.run(capture(wanted, settings, file, progress, also=(given,)))
        except KeyboardInterrupt:
            kept = f"what came until then is in {args.output}"
            progress.say(
                f"interrupted; {kept if file.has_content else 'nothing had come, so nothing was written'}"
            )
            raise


def _wanted(args: argparse.Namespace) -> CaptureRequest:
    questions = (args.text, *args.then)
    if not all(each.strip() for each in questions):
        raise UnreadableInput("a question is empty; write what to ask the agent")
    if args.poll and args.cut_after is None:
        raise UnreadableInput("--poll follows a task whose stream was dropped: add --cut-after SECONDS")
    if args.cut_after is not None and not 0 <= args.cut_after < float("inf"):
        raise UnreadableInput("--cut-after wants a number of seconds, such as 2.5")
    if args.cut_after is not None and (args.no_stream or args.then):
        raise UnreadableInput("--cut-after drops one stream: leave --no-stream and --then out")
    if args.sse and (args.then or args.poll):
        raise UnreadableInput("--sse keeps the bytes of one answer: leave --then and --poll out")
    return CaptureRequest(questions, not args.no_stream, args.sse, args.cut_after, args.poll)


async def capture(
    wanted: CaptureRequest,
    settings: Settings,
    file: Output,
    progress: Progress,
    *,
    also: tuple[Settings, ...] = (),
    transport: httpx.AsyncBaseTransport | None = None,
) -> int:
    """Ask, listen, write. Returns 0 if every answer came to its end and held no errors.

    The secrets of `settings`, and of those that `also` are given, are kept out of the file and of what is
    said. `transport` stands in for the network.
    Raises AgentError if nothing at all came.
    """
    clock = loop_clock()
    masks = masks_of(settings, *also)
    progress.masks = masks
    lines: TapeLines | RawLines
    if wanted.raw:
        lines = RawLines(file.write, masks)
    else:
        lines = TapeLines(file.text, _head(wanted, settings, clock), masks)
    problem: AgentError | None = None
    async with new_http(settings.agent, transport) as http:
        tap = HttpTap(http, (lines, progress), clock, settings.agent.max_event_bytes, masks)
        asker = _Asker(_agent(http, settings, clock, wanted.streaming), tap, wanted, settings, progress)
        try:
            async with progress.ticking(tap):
                await asker.ask_all()
            if asker.dropped:
                lines.interrupted(tap.now())
        except AgentError as error:
            problem = error
        except asyncio.CancelledError:
            if not tap.hung_up:
                lines.interrupted(tap.now())
            raise
        finally:
            lines.flush()
    if not file.has_content:
        raise (
            with_remedy(problem, wanted.named, masks)
            if problem
            else BotError("the agent sent nothing; is this an A2A agent's address?")
        )
    how = "" if problem is None else f", and then: {masks.text(str(problem))}"
    count = f"{progress.events:,} events, {progress.chars:,} characters"
    count += f", {progress.wrong:,} error{'s' * (progress.wrong > 1)}" if progress.wrong else ""
    progress.say(f"{count} in {tap.now():.2f} s -> {file.path}{how}")
    return 1 if problem is not None or progress.wrong else 0


class _Waiting(Agent):
    """An agent that is asked to answer in one piece, whatever its card promises."""

    async def ensure_card(self) -> AgentCard:
        """The card, without its streaming."""
        return replace(await super().ensure_card(), streaming=False)


def _agent(http: httpx.AsyncClient, settings: Settings, clock: Clock, streaming: bool) -> Agent:
    agent = (Agent if streaming else _Waiting)(http, settings.agent, clock)
    return agent.in_conversation("capture")


class _Asker:
    """The questions of one capture, in one context."""

    def __init__(
        self, agent: Agent, tap: HttpTap, wanted: CaptureRequest, settings: Settings, progress: Progress
    ) -> None:
        self.tap = tap
        self._agent, self._wanted, self._settings, self._progress = agent, wanted, settings, progress
        self._context: str | None = None
        self._task: str | None = None
        self._state = TaskState.UNKNOWN
        self.dropped = False
        """The last stream was left on purpose, and nobody looked what became of its task."""

    async def ask_all(self) -> None:
        """All questions; the next one when the answer to the last has ended."""
        await self._agent.ensure_card()  # or finding the card would count as part of the answer
        for number, text in enumerate(self._wanted.questions):
            if number and self._context is None:
                raise AgentError("the agent named no context, so there is none to follow up in")
            cut = await self._ask(text)
            if cut and self._wanted.poll:
                await self._follow()
            self.dropped = cut and not self._wanted.poll

    async def _ask(self, text: str) -> bool:
        """One question. True: its stream was dropped on purpose."""
        answers, self._state = (self._task if self._state.is_asking else None), TaskState.UNKNOWN
        limit = asyncio.timeout(self._wanted.cut_after)
        try:
            async with limit:
                asking = self._agent.ask(
                    text, message_id=f"capture-{uuid.uuid4().hex}", context_id=self._context, task_id=answers
                )
                async with aclosing(asking) as coming:
                    async for received in coming:
                        self._learn(received.frame)
                        self._shorten(limit)
        except TimeoutError:
            if not limit.expired():
                raise
            if self._is_done:
                return False
            self._progress.say(f"{self.tap.now():7.2f} s  the stream is dropped, as --cut-after says")
            return True
        return False

    @property
    def _is_done(self) -> bool:
        return self._state.is_terminal or self._state.is_asking

    def _shorten(self, limit: asyncio.Timeout) -> None:
        """Servers that never end a stream which is over are not waited for, as the bot does not."""
        if not self._is_done:
            return
        agent = self._settings.agent
        grace = agent.input_required_grace if self._state.is_asking else agent.terminal_grace
        if limit.when() is None or not self.tap.hung_up:
            self.tap.hung_up = True
            limit.reschedule(asyncio.get_running_loop().time() + grace)

    async def _follow(self) -> None:
        """The task from the side, until it is over, waits for a human or takes too long."""
        if self._task is None:
            raise AgentError("the agent named no task before the cut, so there is none to follow")
        seen = ""
        while not self._is_done:
            if self.tap.now() > self._settings.agent.turn_timeout:
                raise AgentError(f"the task was still {self._state} after agent.turn_timeout")
            snapshot = await self._agent.get(self._task)
            self._state = snapshot.state
            chars = sum(len(each.text) for each in snapshot.artifacts)
            shown = f"task {snapshot.state}, {len(snapshot.artifacts)} artifacts, {chars:,} characters"
            if shown != seen:
                self._progress.say(f"{self.tap.now():7.2f} s  from the side: {shown}")
                seen = shown
            await asyncio.sleep(_POLL_EVERY)

    def _learn(self, frame: object) -> None:
        match frame:
            case Snapshot() | StatusUpdate():
                self._name(frame.context_id, frame.task_id)
                self._state = frame.state
            case ArtifactUpdate():
                self._name(frame.context_id, frame.task_id)
            case MessageReply(message=message):
                self._name(message.context_id, message.task_id)

    def _name(self, context: str | None, task: str | None) -> None:
        self._context, self._task = context or self._context, task or self._task


def _head(wanted: CaptureRequest, settings: Settings, clock: Clock) -> Json:
    """What stands in the first line: no credentials, and of the settings only how to read the answer."""
    agent = settings.agent
    reads = {name: value for name in READS if (value := getattr(agent, name)) != "auto"}
    at = datetime.fromtimestamp(clock.wall(), UTC).isoformat(timespec="seconds")
    name = bare(agent.url or "").partition("?")[0].rstrip("/")
    head: Json = {"agent": name, "question": wanted.questions[0], "captured_at": at}
    return head | ({"settings": reads} if reads else {})
