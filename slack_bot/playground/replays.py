"""Captures on the page: each question of a tape is asked when the one before it is answered.

Each capture has a bot of its own, built as for `slack-bot replay`. All of them write into the page's
workspace and share its rates.
"""

import asyncio
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from html import escape
from typing import Any

from ..app import App
from ..clock import Clock
from ..observe.facts import Fact, Observer, TurnEnded
from ..settings.load import Settings
from ..settings.models import GovernorSettings
from ..slack.rate_limiter.local import RateLimiter
from ..testing.agent.scripted import ScriptedTransport
from ..testing.harness import allow_bot, bot_settings, build_in_memory, set_context
from ..testing.slack.workspace import Workspace
from ..testing.tape.tape import Recording, Tape, Turns, turns_of
from ..tools.replay.replay import agent_of
from ..tools.replay.scenario import Scenario
from ..turn.record import Question, ThreadKey
from .recorder import Recorder, ReplayRouter

REPLAYER = "U0REPLAY"
REPLAYING_BOT = "B0REPLAY"  # asks where the scenario's asker is a bot
_KEPT = 30  # replays whose bots are kept, for the buttons below their answers


@dataclass(frozen=True, slots=True)
class PlannedReplay:
    """A capture to replay, `speed` times as fast as it was; 0: at once.

    `around`: its scenario, whose place is not used; None: the page's faults.
    """

    name: str
    capture: Tape | Recording
    speed: float
    key: str | None = None
    around: Scenario | None = None


@dataclass(slots=True)
class _Replay:
    """A thread that is replayed. `further`: the questions that are still to be asked."""

    thread: ThreadKey
    asker: str
    around: Scenario
    settings: Settings
    transport: ScriptedTransport
    further: Turns
    waits_for: str = ""
    building: asyncio.Task[App] | None = field(default=None, repr=False)
    stopping: asyncio.TimerHandle | None = field(default=None, repr=False)


class Replays:
    """Asks the questions of captures, in `channel`. It observes turns, to ask the next question.

    `observer` gets all facts of the bots, `recorder` all that their agents send. `rate_limiter` None: each
    bot has its own.
    """

    def __init__(
        self,
        workspace: Workspace,
        clock: Clock,
        channel: str,
        recorder: Recorder,
        observer: Observer,
        rate_limiter: RateLimiter | None = None,
    ) -> None:
        self._workspace, self._clock, self._channel = workspace, clock, channel
        self._recorder, self._observer, self._rate_limiter = recorder, observer, rate_limiter
        self._replays: dict[str, _Replay] = {}
        self._ending: set[asyncio.Task[None]] = set()

    def begin(self, planned: PlannedReplay, around: Scenario) -> str:
        """Ask the first question of a capture in its scenario, `around`. Returns its ts.

        Raises SettingsError.
        """
        settings = bot_settings(around.settings)
        turns = turns_of(planned.capture)
        speed = planned.speed if planned.speed > 0 else math.inf
        transport = ScriptedTransport(agent_of(turns, around, speed))
        asker = REPLAYING_BOT if around.asker_is_bot else REPLAYER
        if around.asker_is_bot:
            settings = allow_bot(settings, REPLAYING_BOT)
        asked = "" if around.text == Scenario().text else f": {around.text}"
        chosen = f" ({planned.key})" if planned.key else ""
        # delivery is a task of its own: the replay is known before the question arrives
        ts = self._say(asker, f"Replay of `{planned.name}`{chosen}{asked}", None)
        thread = ThreadKey(self._workspace.state.team, self._channel, ts)
        replay = _Replay(thread, asker, around, settings, transport, turns[1:])
        replay.waits_for = self._key(ts)
        self._replays[ts] = replay
        if around.stop_at is not None:
            loop, stop = asyncio.get_running_loop(), partial(self._workspace.stop, asker, self._channel, ts)
            replay.stopping = loop.call_later(around.stop_at / speed, lambda: stop(now=self._clock.wall()))
        self._forget_oldest()
        return ts

    def around(self, thread_ts: str) -> Scenario | None:
        replay = self._replays.get(thread_ts)
        return None if replay is None else replay.around

    async def bot_for(self, payload: Mapping[str, Any]) -> App | None:
        """The bot that gets this payload; None: it is about no replay."""
        replay = next((self._replays[ts] for ts in _roots(payload) if ts in self._replays), None)
        if replay is None:
            return None
        if replay.building is None:
            replay.building = asyncio.create_task(self._build(replay), name=f"bot of {replay.thread.ts}")
        return await asyncio.shield(replay.building)

    async def close(self, grace: float) -> None:
        """End all bots; running answers get `grace` seconds."""
        await asyncio.gather(*(_end(replay, grace) for replay in self._replays.values()), *self._ending)

    def __call__(self, fact: Fact) -> None:
        """Ask the next question of a replay whose turn is over."""
        if not isinstance(fact, TurnEnded):
            return
        replay = next((each for each in self._replays.values() if each.waits_for == fact.turn), None)
        if replay is None:
            return
        replay.waits_for = ""
        if replay.further:
            said, replay.further = replay.further[0][0] or "(a follow-up)", replay.further[1:]
            ts = self._say(replay.asker, said, replay.thread.ts)
            replay.waits_for = self._key(ts)

    def _say(self, asker: str, said: str, thread_ts: str | None) -> str:
        text = f"<@{self._workspace.bot.user_id}> {escape(said, quote=False)}"
        return self._workspace.say(asker, self._channel, text, now=self._clock.wall(), thread_ts=thread_ts)

    def _key(self, ts: str) -> str:
        team = self._workspace.state.team
        return Question(ThreadKey(team, self._channel, ts), ts, REPLAYER, team, "").key

    async def _build(self, replay: _Replay) -> App:
        alone = replay.settings.governor != GovernorSettings()  # it has rates of its own
        app = await build_in_memory(
            self._workspace,
            replay.settings,
            self._clock,
            ReplayRouter(replay.transport, self._recorder),
            observer=self._observer,
            rate_limiter=None if alone else self._rate_limiter,
        )
        if replay.around.context_id is not None:
            await set_context(app, replay.thread, replay.around.context_id)
        return app

    def _forget_oldest(self) -> None:
        if len(self._replays) <= _KEPT:
            return
        over = next((ts for ts, replay in self._replays.items() if not replay.waits_for), None)
        if over is not None:
            ending = asyncio.create_task(_end(self._replays.pop(over), 0.0))
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)


async def _end(replay: _Replay, grace: float) -> None:
    if replay.stopping is not None:
        replay.stopping.cancel()
    if replay.building is not None:
        await (await replay.building).close(grace)


def _roots(payload: Mapping[str, Any]) -> Iterator[str]:
    event = payload.get("event") or {}
    inside = event.get("message"), event.get("previous_message")
    for place in (event, *inside, payload.get("container"), payload.get("message")):
        if isinstance(place, Mapping) and isinstance(root := place.get("thread_ts") or place.get("ts"), str):
            yield root
