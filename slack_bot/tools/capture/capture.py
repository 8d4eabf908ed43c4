"""`slack-bot capture`: ask a live agent, and keep everything it sends, with its times.

The bot's own client asks, with the settings' credentials. A tap on it writes the tape line by line, so that a
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
from ...settings.models import AgentSettings
from ...testing.tape.json_file import Json
from ...testing.tape.tape import READS
from ..output_file import Output, OutputFile
from .agent_address import masks_of, settings_for, with_remedy
from .http_tap import HttpTap
from .progress import CaptureProgress
from .tape_writer import RawWriter, TapeWriter

_POLL_EVERY = 1.0


@dataclass(frozen=True, slots=True)
class CaptureRequest:
    """Questions in order, and how to ask them. `cut_after` is in seconds.

    `argument` of the command line gave the agent's address.
    """

    questions: tuple[str, ...]
    streaming: bool = True
    raw: bool = False
    cut_after: float | None = None
    poll: bool = False
    argument: str = "URL"


def main(args: argparse.Namespace) -> int:
    """The verb. `args`: url, text, output, no_stream, sse, then, cut_after, poll. Returns the exit status.

    Raises UnreadableInput for wrong usage, AgentError where there was no agent to ask.
    """
    request = _request(args)
    given = load()
    settings, note = settings_for(args.url, given)
    progress = CaptureProgress()
    if note:
        progress.say(f"note: {note}")
    with OutputFile(args.output) as file:
        try:
            return asyncio.run(capture(request, settings, file, progress, also=(given,)))
        except KeyboardInterrupt:
            kept = f"what came until then is in {args.output}"
            kept = kept if file.has_content else "nothing had come, so nothing was written"
            progress.say(f"interrupted; {kept}")
            raise


def _request(args: argparse.Namespace) -> CaptureRequest:
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
    request: CaptureRequest,
    settings: Settings,
    file: Output,
    progress: CaptureProgress,
    *,
    also: tuple[Settings, ...] = (),
    transport: httpx.AsyncBaseTransport | None = None,
) -> int:
    """Ask and write. Returns 0 if every answer ended and held no errors.

    The secrets of `settings` and `also` are kept out of the file and of `progress`. `transport` replaces the
    network. Raises BotError if nothing came.
    """
    clock = loop_clock()
    masks = masks_of(settings, *also)
    progress.masks = masks
    writer: TapeWriter | RawWriter
    if request.raw:
        writer = RawWriter(file.write, masks)
    else:
        writer = TapeWriter(file.text, _head(request, settings, clock), masks)
    problem: AgentError | None = None
    async with new_http(settings.agent, transport) as http:
        tap = HttpTap(http, (writer, progress), clock, settings.agent.max_event_bytes, masks)
        agent = (Agent if request.streaming else _BlockingAgent)(http, settings.agent, clock)
        session = _CaptureSession(agent.in_conversation("capture"), tap, request, settings.agent, progress)
        try:
            async with progress.ticking(tap):
                await session.ask_all()
            if session.was_dropped:
                writer.interrupt(tap.now())
        except AgentError as error:
            problem = error
        except asyncio.CancelledError:
            if not tap.is_done:
                writer.interrupt(tap.now())
            raise
        finally:
            writer.flush()
    if not file.has_content:
        raise (
            with_remedy(problem, request.argument, masks)
            if problem
            else BotError("the agent sent nothing; is this an A2A agent's address?")
        )
    how = "" if problem is None else f", and then: {masks.text(str(problem))}"
    count = f"{progress.events:,} events, {progress.chars:,} characters"
    count += f", {progress.errors:,} error{'s' * (progress.errors > 1)}" if progress.errors else ""
    progress.say(f"{count} in {tap.now():.2f} s -> {file.path}{how}")
    return 1 if problem is not None or progress.errors else 0


class _BlockingAgent(Agent):
    """An agent that is asked for the whole answer at once, whatever its card promises."""

    async def ensure_card(self) -> AgentCard:
        """The card, without its streaming."""
        return replace(await super().ensure_card(), streaming=False)


class _CaptureSession:
    """The questions of one capture, in one context."""

    def __init__(
        self,
        agent: Agent,
        tap: HttpTap,
        request: CaptureRequest,
        settings: AgentSettings,
        progress: CaptureProgress,
    ) -> None:
        self.tap = tap
        self._agent, self._request, self._settings, self._progress = agent, request, settings, progress
        self._context: str | None = None
        self._task: str | None = None
        self._state = TaskState.UNKNOWN
        self.was_dropped = False
        """The last stream was left on purpose, and its task was not followed."""

    async def ask_all(self) -> None:
        """Ask the questions, one after the other."""
        await self._agent.ensure_card()  # else its time would count as part of the answer
        for number, text in enumerate(self._request.questions):
            if number and self._context is None:
                raise AgentError("the agent named no context, so there is none to follow up in")
            cut = await self._ask(text)
            if cut and self._request.poll:
                await self._follow()
            self.was_dropped = cut and not self._request.poll

    async def _ask(self, text: str) -> bool:
        """One question. True: its stream was dropped on purpose."""
        task_id, self._state = (self._task if self._state.is_asking else None), TaskState.UNKNOWN
        limit = asyncio.timeout(self._request.cut_after)
        try:
            async with limit:
                asking = self._agent.ask(
                    text, message_id=f"capture-{uuid.uuid4().hex}", context_id=self._context, task_id=task_id
                )
                async with aclosing(asking) as events:
                    async for received in events:
                        self._learn(received.frame)
                        self._end_soon(limit)
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

    def _end_soon(self, limit: asyncio.Timeout) -> None:
        """A server that does not end a stream which is over is not waited for, as in the bot."""
        if not self._is_done:
            return
        settings = self._settings
        grace = settings.input_required_grace if self._state.is_asking else settings.terminal_grace
        if limit.when() is None or not self.tap.is_done:
            self.tap.is_done = True
            limit.reschedule(asyncio.get_running_loop().time() + grace)

    async def _follow(self) -> None:
        """Poll the task until it ends, waits for a human or takes too long."""
        if self._task is None:
            raise AgentError("the agent named no task before the cut, so there is none to follow")
        last = ""
        while not self._is_done:
            if self.tap.now() > self._settings.turn_timeout:
                raise AgentError(f"the task was still {self._state} after agent.turn_timeout")
            snapshot = await self._agent.get(self._task)
            self._state = snapshot.state
            chars = sum(len(each.text) for each in snapshot.artifacts)
            shown = f"task {snapshot.state}, {len(snapshot.artifacts)} artifacts, {chars:,} characters"
            if shown != last:
                self._progress.say(f"{self.tap.now():7.2f} s  from the side: {shown}")
                last = shown
            await asyncio.sleep(_POLL_EVERY)

    def _learn(self, frame: object) -> None:
        match frame:
            case Snapshot() | StatusUpdate():
                self._save_ids(frame.context_id, frame.task_id)
                self._state = frame.state
            case ArtifactUpdate():
                self._save_ids(frame.context_id, frame.task_id)
            case MessageReply(message=message):
                self._save_ids(message.context_id, message.task_id)

    def _save_ids(self, context: str | None, task: str | None) -> None:
        self._context, self._task = context or self._context, task or self._task


def _head(request: CaptureRequest, settings: Settings, clock: Clock) -> Json:
    """The first line: no credentials, and of the settings only how to read the answer."""
    agent = settings.agent
    reads = {name: value for name in READS if (value := getattr(agent, name)) != "auto"}
    at = datetime.fromtimestamp(clock.wall(), UTC).isoformat(timespec="seconds")
    name = bare(agent.url or "").partition("?")[0].rstrip("/")
    head: Json = {"agent": name, "question": request.questions[0], "captured_at": at}
    return head | ({"settings": reads} if reads else {})
