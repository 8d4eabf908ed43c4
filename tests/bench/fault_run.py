"""One turn of the fault run: run on virtual time, judged by its thread and by what the agent was asked."""

from __future__ import annotations

import asyncio
import signal
import time
from base64 import b64decode
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from random import Random
from types import FrameType
from typing import Any

from slack_bolt.request.async_request import AsyncBoltRequest

from slack_bot.app import App, build
from slack_bot.observe.facts import EventHandled, Fact, TurnEnded, TurnStarted
from slack_bot.settings.load import Settings, load
from slack_bot.slack.file_fallback import FILE
from slack_bot.testing import virtual_clock
from slack_bot.testing.agent.scripted import ScriptedAgent, ScriptedTransport
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.overrides import with_overrides
from slack_bot.testing.slack import blocks as blockkit
from slack_bot.testing.slack.files import PersonFile
from slack_bot.testing.slack.in_process import SlackSession
from slack_bot.testing.slack.workspace import (
    BOT_TOKEN,
    SIGNING_SECRET,
    Envelope,
    SeenMessage,
    SlackCall,
    Workspace,
    WorkspaceRules,
)
from slack_bot.testing.tape.tape import Tape
from slack_bot.turn.actions import EndTurn

from . import fault_scripts
from .agent_behaviours import MADE, Said
from .away import Away
from .plans import Plan, collected_errors, length, plan
from .verdict import Asked, Scene, Verdict, judge, judge_all

__all__ = ["Plan", "Report", "plan", "run"]

CHANNEL, USER = "C1", "U1"

_LATENCY = 0.05  # seconds until a call arrives: no turn writes anything in less
_LONGEST = 3 * 3600.0  # virtual seconds after which a turn counts as hung
_MOST_PRESSES = 20
_GIVEN = "given-{}.bin"  # files of the question
_NO_PAGE = 1800.0  # virtual seconds to wait for an answer to go on in another message


@dataclass(slots=True)
class Report:
    """A turn that was run. `seconds` is real time, `took` virtual time; `thread` is what stands there now.

    `outcomes` are the ends of its questions. `closings` counts how often a question was decided to be over.
    `left` is what stands around the answers and should not: a typing status, an hourglass, a busy session, a
    status that came beside a stream.
    """

    plan: Plan
    verdict: Verdict
    seconds: float = 0.0
    took: float = 0.0
    closings: int = 0
    outcomes: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    made: list[SlackCall] = field(default_factory=list)
    thread: list[SeenMessage] = field(default_factory=list)


class TookTooLong(KeyboardInterrupt):
    """The turn's real time is up. Not an `Exception`: the loop must not keep it to itself."""


def run(planned: Plan, *, most_seconds: float = 60.0) -> Report:
    """Run a turn and judge it. One that takes `most_seconds` of real time, or never ends, has hung."""
    report = Report(planned, Verdict("hung"))
    began = time.perf_counter()
    with collected_errors() as broken:
        ordeal = _Ordeal(planned, report, broken)
        try:
            with _bounded(most_seconds):
                virtual_clock.run(ordeal.run())
        except (TookTooLong, TimeoutError, virtual_clock.Deadlock) as error:
            report.verdict = Verdict("hung", f"{type(error).__name__}: {error}")
            report.took = ordeal.now
    report.seconds = time.perf_counter() - began
    return report


class _Ordeal:
    def __init__(self, planned: Plan, report: Report, broken: list[str]) -> None:
        self._plan, self._report, self._broken = planned, report, broken
        self._facts: list[Fact] = []
        self._clock = virtual_clock.new_clock()
        self._workspace = Workspace(rules=WorkspaceRules.real())
        self._workspace.add_channel(CHANNEL)
        self._workspace.add_user(USER)
        self._agent = ScriptedAgent(
            *(said.source for said in planned.said),
            cut_after=planned.cut_after,
            goes_on=planned.way != "stuck",
        )
        self._root = ""
        self._stopped_at: float | None = None
        self._clock_at_end = 0.0
        self._delivered: set[str] = set()
        self._told = asyncio.Condition()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def now(self) -> float:
        """Virtual seconds, also when it is over."""
        return self._loop.time() if self._loop is not None else 0.0

    async def run(self) -> None:
        planned, self._loop = self._plan, asyncio.get_running_loop()
        settings = _settings(planned)
        timeout = settings.slack.timeout
        session = SlackSession(self._workspace, self._clock, timeout=timeout, latency=_LATENCY)
        self._report.made = self._workspace.calls
        away = Random(f"{planned.number}:away")
        app = await build(
            settings,
            clock=self._clock,
            observer=lambda fact: self._facts.append(fact),
            http_transport=Away(ScriptedTransport(self._agent), planned.way, away),
            slack_session=session,
            store=MemoryStore(),
        )
        async with app:
            self._befall(planned.scripts)
            await self._ask(app)
            self._report.took = self.now
            self._clock_at_end = self._clock.wall()
        self._conclude()

    def _conclude(self) -> None:
        report, planned = self._report, self._plan
        report.thread = self._mine()
        decided = (fact for fact in self._facts if isinstance(fact, EventHandled))
        report.closings = sum(isinstance(each, EndTurn) for fact in decided for each in fact.actions)
        report.left = list(self._left())
        scenes = self._scenes()
        report.outcomes = [str(scene.outcome) for scene in scenes]
        truths = [said.truth for said in planned.said]
        verdicts = [judge(truth, scene) for truth, scene in zip(truths, scenes, strict=False)]
        report.verdict = judge_all(verdicts, self._asked())
        if report.verdict.is_right and (wrong := self._wrong_files()):
            report.verdict = replace(report.verdict, kind="wrong", why=wrong)

    # -- what happens ----------------------------------------------------------------------------------------

    async def _ask(self, app: App) -> None:
        mail, planned = asyncio.Event(), self._plan
        self._workspace.listen(lambda change: mail.set() if change.kind == "envelope" else None)
        is_queue = planned.kind == "queued"
        async with _beside(self._deliver(app, mail)), _beside(self._step_in()), asyncio.timeout(_LONGEST):
            given = [PersonFile(_GIVEN.format(number), each) for number, each in enumerate(planned.given)]
            await self._question(planned.said[0], given)
            for said in planned.then:
                if is_queue:
                    await asyncio.sleep(planned.at)
                else:
                    await app.threads.idle()
                await (self._fill(app, said) if said.fills else self._question(said))
            await app.threads.idle()
            while await app.store.unfinished():  # a task is watched
                await asyncio.sleep(30.0)
                await app.threads.idle()

    async def _question(self, said: Said, files: Sequence[PersonFile] = ()) -> None:
        """Mention the bot, and wait until it was told."""
        text, now = f"<@{self._workspace.bot.user_id}> {said.asks}", self._clock.wall()
        ts = self._workspace.say(USER, CHANNEL, text, now=now, thread_ts=self._root or None, files=files)
        self._root = self._root or ts
        async with self._told:
            await self._told.wait_for(lambda: ts in self._delivered)

    async def _fill(self, app: App, said: Said) -> None:
        """Answer by the form, pressing until it is answered; where there is none, in words."""
        for _ in range(_MOST_PRESSES):
            form = next((seen for seen in self._mine()[::-1] if "form_" in str(seen.blocks)), None)
            if form is None:
                break
            self._fill_in(form)
            (action, *_) = (each["action_id"] for _, each in blockkit.controls([*map(dict, form.blocks)]))
            self._press(form.ts, action)
            await self._handed_over(app)
            if self._workspace.modal(USER) is not None:
                self._fill_in_modal()
                sent = self._workspace.submit(USER, now=self._clock.wall())
                await self._handed_over(app)
                await _hand_over(app, sent, self._workspace)  # once more, as who presses twice
            else:
                with suppress(LookupError):
                    self._press(form.ts, action)
                await self._handed_over(app)
        if len(self._agent.questions) < len(self._plan.said):
            await self._question(said)

    def _press(self, ts: str, action: str) -> None:
        self._workspace.press(USER, CHANNEL, ts, action, now=self._clock.wall())

    async def _handed_over(self, app: App) -> None:
        """All that was done so far has come to the bot, and is done with."""
        await asyncio.sleep(1.0)
        await app.threads.idle()
        await asyncio.sleep(1.0)

    def _fill_in(self, form: SeenMessage) -> None:
        for label, given in _given([dict(block) for block in form.blocks]):
            self._workspace.fill(USER, CHANNEL, form.ts, label, given, now=self._clock.wall())

    def _fill_in_modal(self) -> None:
        view = self._workspace.modal(USER)
        for label, given in _given(view["blocks"] if view else []):
            self._workspace.fill_modal(USER, label, given, now=self._clock.wall())

    def _befall(self, scripts: Mapping[str, fault_scripts.Script]) -> None:
        for method, script in scripts.items():
            self._workspace.faults.set(method, script)

    async def _deliver(self, app: App, mail: asyncio.Event) -> None:
        while True:
            mail.clear()
            for envelope in self._workspace.take():
                await _hand_over(app, envelope, self._workspace)
                async with self._told:
                    self._delivered.add(str(envelope.payload.get("event", {}).get("ts", "")))
                    self._told.notify_all()
            await mail.wait()

    async def _step_in(self) -> None:
        """What a person or Slack does in the middle of the turn."""
        planned, workspace = self._plan, self._workspace
        await self._page(planned.page)
        await asyncio.sleep(planned.at)
        now = self._clock.wall()
        match planned.kind:
            case "stopped" | "stopped late":
                self._stop(now)
            case "gone":
                workspace.delete_root(CHANNEL, self._root, now=now, with_replies=planned.with_replies)
            case "dead":
                self._befall(fault_scripts.dead())
            case "archived":
                workspace.state.channels[CHANNEL].archived = True
            case _:
                pass

    def _stop(self, now: float) -> None:
        self._stopped_at = now
        if self._plan.by_word:
            text = f"<@{self._workspace.bot.user_id}> stop"
            self._workspace.say(USER, CHANNEL, text, now=now, thread_ts=self._root)
        else:
            self._workspace.stop(USER, CHANNEL, self._root, now=now)

    async def _page(self, number: int) -> None:
        """Wait until a message of the answer is over, for the `number`th time: it goes on in the next."""
        changed = asyncio.Event()
        stop = self._workspace.listen(lambda _: changed.set())
        try:
            async with asyncio.timeout(_NO_PAGE):
                while sum(seen.state == "sealed" for seen in self._mine()) < number:
                    changed.clear()
                    await changed.wait()
        except TimeoutError:
            pass  # it went on by edits, or not at all: then the stop comes late
        finally:
            stop()

    # -- what came of it -------------------------------------------------------------------------------------

    def _mine(self) -> list[SeenMessage]:
        if not self._root:
            return []
        seen = self._workspace.thread(CHANNEL, self._root)
        return [each for each in seen if each.is_bot and each.ephemeral_for is None]

    def _left(self) -> Iterator[str]:
        workspace, thread = self._workspace, (CHANNEL, self._root)
        yield from ("status beside a stream" for _ in workspace.status_rows(*thread))
        if workspace.status_line(*thread, now=self._clock_at_end) is not None:
            yield "status"
        if workspace.session(*thread) == "processing":
            yield "session"
        yield from ("reaction" for seen in workspace.thread(*thread) if seen.reactions)

    def _scenes(self) -> list[Scene]:
        """What came of each question: what was written from when its turn began to when the next one did."""
        started = [fact for fact in self._facts if isinstance(fact, TurnStarted)]
        opened = list({fact.turn: fact for fact in reversed(started)}.values())[::-1]  # a watched turn twice
        begins = [virtual_clock.WALL_ZERO + fact.at + _LATENCY / 2 for fact in opened]
        spans = zip([0.0, *begins[1:]], [*begins[1:], float("inf")], strict=True) if begins else []
        scenes = []
        for fact, (start, end) in zip(opened, spans, strict=True):
            closed = [each for each in self._facts if isinstance(each, TurnEnded) and each.turn == fact.turn]
            messages = [seen for seen in self._mine() if start <= float(seen.ts) < end]
            outcome = str(closed[-1].outcome) if closed else None
            scenes.append(self._scene(messages, outcome, is_last=end == float("inf")))
        return scenes

    def _scene(self, messages: list[SeenMessage], outcome: str | None, *, is_last: bool) -> Scene:
        strays = [seen.text for seen in self._workspace.history(CHANNEL) if seen.is_bot]
        directs = [
            seen.text
            for channel in self._workspace.state.channels.values()
            if channel.kind == "im"
            for seen in self._workspace.history(channel.id)
            if seen.is_bot
        ]
        return Scene(
            messages,
            outcome,
            files=[file.content for seen in messages for file in seen.files if file.name == FILE],
            strays=strays if is_last else (),
            directs=directs if is_last else (),
            broken=self._broken if is_last else (),
            unnamed=frozenset(self._unnamed()),
            plain=any(call.error in fault_scripts.WRONG_CALLS for call in self._workspace.calls),
        )

    def _unnamed(self) -> Iterator[str]:
        """The messages whose start was applied and not answered: their ts is the time of that call."""
        times = {call.now for call in self._workspace.calls if call.applied and not call.ok}
        return (seen.ts for seen in self._mine() if any(abs(float(seen.ts) - at) < 1e-3 for at in times))

    def _wrong_files(self) -> str:
        """Each file comes byte for byte, once, or a line in the thread names it. "": they do."""
        parts = [part for call in self._agent.questions for part in call.params["message"]["parts"]]
        got = [(each["file"]["name"], b64decode(each["file"]["bytes"])) for each in parts if "file" in each]
        shown = [(each.name, each.content) for seen in self._report.thread for each in seen.files]
        said = "\n".join(seen.read for seen in self._report.thread)
        for name, files, found in ((_GIVEN, self._plan.given, got), (MADE, self._plan.made, shown)):
            for number, content in enumerate(files):
                here = [each for of, each in found if of == name.format(number)]
                if here != [content] and (here or name.format(number) not in said):
                    return f"{name.format(number)} came {len(here)} times, or otherwise than it was"
        return ""

    def _asked(self) -> Asked:
        """What the agent was asked, and what was written when it should not have been."""
        planned, stopped = self._plan, self._stopped_at
        ids = [str((call.params.get("message") or {}).get("messageId")) for call in self._agent.questions]
        tasks = [(call.params.get("message") or {}).get("taskId") for call in self._agent.questions]
        opened = [virtual_clock.WALL_ZERO + fact.at for fact in self._facts if isinstance(fact, TurnStarted)]
        is_stopped = "stopped" in self._report.outcomes
        works = False
        if opened and stopped is not None and isinstance(planned.source, Tape):  # else its end is not known
            works = opened[0] <= stopped < opened[0] + length(planned.source) - 1.0
        return Asked(
            expected=len(planned.said),
            opened=len(self._report.outcomes),
            ids=ids,
            continued=planned.kind != "asked back" or tasks[1:] in ([], ["task-1"]),
            stopped=is_stopped,
            cancelled=any("ancel" in call.method for call in self._agent.calls),
            must_stop=works,
            late=[] if stopped is None or not is_stopped else self._late(stopped),
        )

    def _late(self, stopped: float) -> list[str]:
        """The calls that went on writing the answer after the stop, and what was on its way is over."""
        went_on = ("chat.startStream", "chat.appendStream")
        return [
            call.method
            for call in self._workspace.calls
            if call.method in went_on and call.now > stopped + fault_scripts.SLOWEST
        ]


def _settings(planned: Plan) -> Settings:
    settings = load(
        {
            "SLACK_BOT_TOKEN": BOT_TOKEN,
            "SLACK_SIGNING_SECRET": SIGNING_SECRET,
            "A2A_AGENT_URL": "http://agent.test/",
        },
        env_file=None,
        secrets_dir=None,
    )
    return with_overrides(settings, {"max_segments": planned.messages, "watch_for": 3600.0})


async def _hand_over(app: App, envelope: Envelope, workspace: Workspace) -> None:
    """Deliver as Slack does: again, after a while, where the app does not acknowledge."""
    for pause in (1.0, 60.0, 300.0, None):
        request = AsyncBoltRequest(body=dict(envelope.payload), mode="socket_mode")
        response = await app.bolt.async_dispatch(request)
        if response.status == 200 or pause is None:
            workspace.answered(envelope, response.body)
            return
        await asyncio.sleep(pause)


def _given(shown: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """A value for each input."""
    for block, element in blockkit.inputs(shown):
        options = element.get("options") or [{"text": {"text": "Something."}}]
        yield blockkit.plain(block["label"]), options[0]["text"]["text"]


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
