"""`slack-bot capture`: ask a live agent with the bot's own client, and keep everything it sends.

The tape is written line by line: a broken stream, a wrong event or Ctrl-C leaves one that can be read.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from ...agents.agent import Agent
from ...agents.wire.auth import bare
from ...agents.wire.calls import MessageRequest
from ...agents.wire.card import AgentCard
from ...agents.wire.frames import Frame, MessageReply, Snapshot, StatusUpdate, TaskState, Unknown, decode
from ...agents.wire.transport import new_http
from ...clock import Clock, system_clock
from ...errors import AgentError, AgentRefused, BotError, StreamIdle, UnreadableInput
from ...http_client import AsyncBaseTransport
from ...settings.load import Settings, load
from ...settings.models import AgentSettings
from ...testing.tape.items import Moment, http_status_of
from ...testing.tape.json_file import Json
from ...testing.tape.tape import READS
from ...text.redaction import Redactor
from ..files import Output, OutputFile, keep_what_is_there
from ..tables import printable
from ..terminal import LiveLine, told_if_interrupted
from ..turn_log import name_of, text_of
from .agent_address import masks_of, settings_for, with_remedy
from .http_tap import HttpTap
from .tape_writer import ExchangeListener, RawWriter, TapeWriter, TappedCall

_POLL_EVERY = 1.0  # seconds
_TICK = 0.1  # seconds
_LINE_EVERY = 5.0  # seconds between lines where there is no terminal
_LONG_WAIT = 10.0  # seconds from which on it is said how a wait ends


@dataclass(frozen=True, slots=True)
class CaptureRequest:
    """Questions in order, and how to ask them. `cut_after`: seconds. `argument` gave the agent's address."""

    questions: tuple[str, ...]
    streaming: bool = True
    raw: bool = False
    cut_after: float | None = None
    poll: bool = False
    argument: str = "URL"


def main(args: argparse.Namespace) -> int:
    """The verb. `args`: url, text, output, force, no_stream, sse, then, cut_after, poll. Returns the exit
    status.

    Raises UnreadableInput for wrong usage, AgentError where there was no agent to ask.
    """
    request = _request(args)
    if not args.force:
        keep_what_is_there(Path(args.output))
    given = load()
    settings = settings_for(args.url, given)
    progress = CaptureProgress(hint=": Ctrl-C ends the capture and keeps what came until then")
    with (
        OutputFile(args.output) as file,
        told_if_interrupted(
            lambda: (
                f"what came until then is in {args.output}: {progress.count}, the last one: {progress.last}"
                if file.has_content
                else "nothing had come, so nothing was written"
            )
        ),
    ):
        return asyncio.run(capture(request, settings, file, progress, also=(given,)))


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
    transport: AsyncBaseTransport | None = None,
) -> int:
    """Ask and write. Returns 0 if every answer ended and held no errors.

    The secrets of `settings` and `also` are kept out of the file and of `progress`. `transport` replaces the
    network. Raises BotError, and leaves no file, if nothing came: that the agent refuses the login is no
    answer. How it fails otherwise can be played.
    """
    clock = system_clock()
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
        asked = agent.in_conversation(f"capture {uuid.uuid4()}")
        session = _CaptureSession(asked, tap, request, settings.agent, progress)
        try:
            async with progress.ticking(tap):
                was_dropped = await session.ask_all()
            if was_dropped:
                writer.interrupt(tap.now())
        except AgentError as error:
            problem = error
        except asyncio.CancelledError:
            if not tap.is_done:
                writer.interrupt(tap.now())
            raise
        finally:
            writer.flush()
    is_locked_out = isinstance(problem, AgentRefused) and problem.is_lasting
    if file.has_content and is_locked_out and not progress.events:
        file.discard()
        progress.say(f"no event came, so {file.path} is not written")
    if not file.has_content:
        nothing = BotError("the agent sent nothing; is this an A2A agent's address?")
        raise nothing if problem is None else with_remedy(problem, request.argument, settings, masks)
    how = "" if problem is None else f", and then: {with_remedy(problem, request.argument, settings, masks)}"
    progress.say(f"{progress.count} in {tap.now():.2f} s -> {file.path}{how}")
    return 1 if problem is not None or progress.errors else 0


class _BlockingAgent(Agent):
    """An agent that is asked for the whole answer at once, whatever its card promises."""

    async def ensure_card(self) -> AgentCard:
        return replace(await super().ensure_card(), streaming=False)


@dataclass
class _CaptureSession:
    agent: Agent
    tap: HttpTap
    request: CaptureRequest
    settings: AgentSettings
    progress: CaptureProgress
    context: str | None = None
    task: str | None = None
    state: TaskState = TaskState.UNKNOWN
    is_reply: bool = False  # a message, without a task, is an answer and its end
    unknown: int = 0

    async def ask_all(self) -> bool:
        """True: the last stream was dropped on purpose, and its task was not followed."""
        await self.agent.ensure_card()  # else its time would count as part of the answer
        was_dropped = False
        for number, text in enumerate(self.request.questions):
            if number and self.context is None:
                raise AgentError("the agent named no context, so there is none to follow up in")
            was_dropped = await self._ask(text)
            if was_dropped and self.request.poll:
                await self._follow()
                was_dropped = False
        return was_dropped

    async def _ask(self, text: str) -> bool:
        """True: the stream was dropped on purpose."""
        task_id, self.state = (self.task if self.state.is_asking else None), TaskState.UNKNOWN
        self.task, self.is_reply = task_id, False
        self.unknown = 0
        message_id, limit = f"capture-{uuid.uuid4().hex}", asyncio.timeout(self.request.cut_after)
        asking = self.agent.ask(MessageRequest(text, message_id, self.context, task_id))
        streams = (await self.agent.ensure_card()).streaming  # else the first event may be the whole answer
        silence = self.settings.idle_timeout if streams else self.settings.turn_timeout
        try:
            async with limit, aclosing(asking) as events:
                while True:
                    self.progress.ends_itself = f"when nothing comes for {silence:g} s"
                    async with asyncio.timeout(silence):
                        received = await anext(events, None)
                    if received is None:
                        break
                    silence = self.settings.idle_timeout
                    self._learn(received.frame)
                    self._end_soon(limit)
        except TimeoutError as error:
            if not limit.expired():
                raise StreamIdle(f"the agent sent no event for {silence:g} s") from error
            if not self._is_done:
                self.progress.say("the stream is dropped, as --cut-after says", self.tap.now())
                return True
        if not (self._is_done or self.is_reply or self.progress.has_failed):  # an error is an end
            self.progress.say(_no_end(self.state, self.unknown, is_known=self.task is not None))
        return False

    @property
    def _is_done(self) -> bool:
        return self.state.is_terminal or self.state.is_asking

    def _end_soon(self, limit: asyncio.Timeout) -> None:
        """A server that does not end a stream which is over is not waited for, as in the bot."""
        if self._is_done and (limit.when() is None or not self.tap.is_done):
            settings = self.settings
            grace = settings.input_required_grace if self.state.is_asking else settings.terminal_grace
            self.tap.is_done = True
            limit.reschedule(asyncio.get_running_loop().time() + grace)

    async def _follow(self) -> None:
        """Poll the task until it ends, waits for a human or takes too long."""
        if self.task is None:
            raise AgentError("the agent named no task before the cut, so there is none to follow")
        last, self.progress.ends_itself = "", f"after {self.settings.turn_timeout:g} s"
        while not self._is_done:
            if self.tap.now() > self.settings.turn_timeout:
                raise AgentError(f"the task was still {self.state} after agent.turn_timeout")
            snapshot = await self.agent.task("get", self.task)
            self.state = snapshot.state
            chars = sum(len(each.text) for each in snapshot.artifacts)
            shown = f"task {snapshot.state}, {len(snapshot.artifacts)} artifacts, {chars:,} characters"
            if shown != last:
                self.progress.say(f"from the side: {shown}", self.tap.now())
                last = shown
            await asyncio.sleep(_POLL_EVERY)

    def _learn(self, frame: Frame) -> None:
        if isinstance(frame, Snapshot | StatusUpdate):
            self.state = frame.state
        self.is_reply = self.is_reply or isinstance(frame, MessageReply)
        self.unknown += isinstance(frame, Unknown)
        if not isinstance(frame, Unknown):
            source = frame.message if isinstance(frame, MessageReply) else frame
            self.context = source.context_id or self.context
            self.task = source.task_id or self.task


def _no_end(state: TaskState, unknown: int, *, is_known: bool) -> str:
    """What is said of an answer that stopped without an end. `unknown`: how many events were of unknown
    kinds. `is_known`: its task can be asked for.
    """
    last = "no state came at all" if state is TaskState.UNKNOWN else f"its last state was {state}"
    if unknown:
        last += f" ({_counted(unknown, 'event')} of unknown kinds; slack-bot replay names them)"
    then = (
        "asks for the task until it ends" if is_known else "has no task to ask for: the answer counts as lost"
    )
    return (
        f"note: the answer stopped without an end: {last}, and the agent must close with one that ends the"
        f" task, such as completed. The bot {then}; docs/agents.md, *What goes wrong*, has what people see"
    )


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _head(request: CaptureRequest, settings: Settings, clock: Clock) -> Json:
    """The first line: no credentials, and of the settings only how to read the answer."""
    agent = settings.agent
    reads = {name: value for name in READS if (value := getattr(agent, name)) != "auto"}
    at = datetime.fromtimestamp(clock.wall(), UTC).isoformat(timespec="seconds")
    name = bare(agent.url or "").partition("?")[0].rstrip("/")
    head: Json = {"agent": name, "question": request.questions[0], "captured_at": at}
    return head | ({"settings": reads} if reads else {})


class CaptureProgress(ExchangeListener):
    """What a capture shows while it runs: on a terminal one line that is redrawn, else one now and then.

    `masks` take secrets out of every line: an agent may send back what it was sent. `hint`: what is said of a
    long wait.
    """

    def __init__(self, out: TextIO | None = None, hint: str = "", *, long_wait: float = _LONG_WAIT) -> None:
        self.masks, self._hint, self._long_wait = Redactor(), hint, long_wait
        self._out = out or sys.stderr
        self._line = LiveLine(self._out)
        self.events = self.chars = self.errors = 0
        self.last = "nothing yet"  # what the last event is called
        self.ends_itself = ""
        """When the wait is over without Ctrl-C."""
        self._is_told = False  # how the wait ends
        self._question, self._errors_before = "", 0
        self._line_at = 0.0

    @property
    def count(self) -> str:
        """How much came."""
        count = f"{_counted(self.events, 'event')}, {_counted(self.chars, 'character')}"
        return count + (f", {_counted(self.errors, 'error')}" if self.errors else "")

    @property
    def has_failed(self) -> bool:
        """The answer to the last question holds an error."""
        return self.errors > self._errors_before

    def on_request(self, t: float, call: TappedCall, body: bytes) -> None:
        if call.verb == "ask":
            if call.id == self._question:
                self.errors = self._errors_before  # another attempt: its refusal was no error
            self._question, self._errors_before = call.id, self.errors
            self.say(f"asking ({call.method}): {self._short(call.text)}", t)

    def on_response(self, t: float, status: int, headers: Mapping[str, str]) -> None:
        if not 200 <= status < 300:
            self.say(f"the server answered HTTP {status}", t)

    def on_data(self, t: float, data: bytes, moment: Moment | None) -> None:
        if moment is None:
            return
        if moment.event is not None:
            self.events += 1
            self.last, chars = _describe(moment.event)
            self.chars += chars
        elif moment.error is not None:
            self.errors += 1
            self.say(self._describe_error(moment.error), t)
        elif moment.raw is not None:
            self.errors += 1
            self.say(f"something that is no A2A event: {self._short(moment.raw)}", t)

    def say(self, line: str, t: float | None = None) -> None:
        """A line that stays; `t` seconds have passed."""
        line = self.masks.text(line if t is None else f"{t:7.2f} s  {line}")
        self._line.wipe()
        self._out.write((printable(line) if self._line.is_terminal else line) + "\n")
        self._out.flush()

    @asynccontextmanager
    async def ticking(self, tap: HttpTap) -> AsyncIterator[None]:
        """Inside, the line is kept up to date, also while nothing comes."""
        task = asyncio.create_task(self._tick(tap))
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            self._line.wipe()

    async def _tick(self, tap: HttpTap) -> None:
        while True:
            await asyncio.sleep(_TICK)
            now = tap.now()
            if now >= self._long_wait and not self._is_told and not tap.is_done:
                self._is_told = True
                itself = f"; {self.ends_itself}, it ends by itself" if self.ends_itself else ""
                self.say(f"the answer has not ended yet{self._hint}{itself}", now)
            is_due = now - self._line_at >= _LINE_EVERY
            self._line_at = now if is_due else self._line_at
            line = f"{now:7.2f} s  {self.events:,} events, {self.chars:,} characters, last: {self.last}"
            self._line.show(self.masks.text(line), is_due=is_due)

    def _describe_error(self, error: Json) -> str:
        message = self._short(str(error.get("message", "")))
        if http_status_of(error) is None or "code" in error:
            return f"the agent reported an error: {message}"
        return f"that is no answer of an agent{f': {message}' if message else ''}"

    def _short(self, text: str, most: int = 80) -> str:
        """The beginning of `text`. Secrets go first: half of one could not be recognised."""
        text = " ".join(self.masks.text(text).split())
        return text if len(text) <= most else text[: most - 3] + "..."


def _describe(event: Json) -> tuple[str, int]:
    try:
        frame = decode(event)
    except AgentError:
        return "unknown", 0
    return name_of(frame), len(text_of(frame))
