"""One configured agent: its card, its address, its wire.

The card names the wire, until the agent refuses a method or version. Such a question was not executed, so it
is sent on the other wire. Nothing else is sent twice (delivery.md 7).
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Hashable, Mapping, Sequence
from contextlib import aclosing
from copy import copy
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Self

import httpx

from ..clock import Clock
from ..errors import AgentError, AgentFailed, AgentUnreachable, ForeignBinding, SettingsError
from ..observe.health import Health, HealthCheck
from ..settings.models import AgentSettings
from .answer.assembler import PROFILE_KEYS
from .recovery_policy import NOT_OFFERED
from .wire.auth import Credentials, bare, missing, origin_of
from .wire.card import AgentCard, fetch_card
from .wire.client import HISTORY_LENGTH, Client, MessageRequest, TaskVerb, Wire
from .wire.frames import Received, Snapshot

_log = logging.getLogger(__name__)

CONTEXT = "context"
"""Name of the habit that says who names a conversation."""
PUSH = "push"
"""Name of the habit that says that the agent has no push, though its card may offer it."""
_NOT_EXECUTED = (-32601, -32009)
"""Method not found, version not supported: the request was refused before anything ran (facts: A2A 1.6)."""
_WIRES: Mapping[str, Wire] = {"0.3": "0.3", "1.0": "1.0"}
_PUSH_REFUSED = (-32003, -32004)  # no push, though the card offers it. a2a-sdk 0.3 answers with the second.
_MOST_STOPPED = 1000  # conversations
_AWAY = "The agent could not be reached when it was last asked; see the log."
_UNSUPPORTED = -32004
"""Unsupported operation: what a2a-sdk answers to a streaming call if its card does not promise streaming."""


@dataclass(slots=True)
class _Known:
    """What is known about the agent, for all conversations."""

    card: AgentCard | None = None
    card_until: float = 0.0
    failure: AgentError | None = None
    failed_at: float = 0.0
    wire: Wire | None = None
    waits_for_whole: bool = False
    stopped_tasks: dict[Hashable, str] = field(default_factory=dict)
    fetching: asyncio.Lock = field(default_factory=asyncio.Lock)


class Agent:
    """The agent of `settings`. `http` is closed by its owner. SettingsError: no usable address or login."""

    def __init__(
        self, http: httpx.AsyncClient, settings: AgentSettings, clock: Clock, health: Health | None = None
    ) -> None:
        if settings.url is None:
            raise SettingsError("A2A_AGENT_URL is not set: give the agent's address, or its card's")
        if origin_of(settings.url) is None:
            raise SettingsError(
                "A2A_AGENT_URL is not an http or https address, such as https://agent.example/"
            )
        self._http, self._settings, self._clock = http, settings, clock
        self._health = health or Health()
        self._auth = self._card_auth = Credentials(settings)
        self._jar_of = lru_cache(settings.cookie_threads)(lambda _: httpx.Cookies())
        self._known = _Known()
        self._turn = ""
        self.traceparent: Callable[[str], str | None] = lambda _: None
        """The W3C header of that name for the requests of a turn."""
        self.habits: dict[str, str] = {}
        """What was learned about how it answers, by name (`profile`); the turns add to it."""
        self.name: str = bare(settings.url).partition("?")[0].rstrip("/")
        """Key for the store: origin and path of the configured URL, without credentials."""

    def in_conversation(self, key: Hashable, turn: str = "") -> Self:
        """The same agent, with the cookies of one conversation, for a turn."""
        found = copy(self)
        found._turn = turn
        found._auth = Credentials(self._settings, self._jar_of(key))
        return found

    @property
    def wire(self) -> str | None:
        """The wire that worked, "0.3" or "1.0"."""
        return self._known.wire

    @property
    def waits_for_whole(self) -> bool:
        """The last question went with the waiting method: nothing comes before its answer."""
        return self._known.waits_for_whole

    def stopped_task(self, conversation: Hashable) -> str | None:
        """The task of a conversation that was stopped, and of which the agent did not say that it ended."""
        return self._known.stopped_tasks.get(conversation)

    def note_stopped(self, conversation: Hashable, task_id: str | None) -> None:
        """None: it has ended."""
        tasks = self._known.stopped_tasks
        tasks.pop(conversation, None)
        if task_id is not None:
            tasks[conversation] = task_id
            if len(tasks) > _MOST_STOPPED:
                del tasks[next(iter(tasks))]

    @property
    def profile(self) -> dict[str, str]:
        """What was learned, by name: for the store."""
        is_learned = self.wire is not None and self._settings.protocol_version == "auto"
        return self.habits | {"wire": str(self.wire)} if is_learned else dict(self.habits)

    def load_profile(self, facts: Mapping[str, str]) -> None:
        self.habits = {name: facts[name] for name in (*PROFILE_KEYS, CONTEXT, PUSH) if name in facts}
        if self._settings.protocol_version == "auto":
            self._known.wire = _WIRES.get(facts.get("wire", ""))

    async def ensure_card(self) -> AgentCard:
        """At most `card_ttl` seconds old; an older one if no new one can be fetched.

        Raises AgentUnreachable or CardError if there is none.
        """
        known, asked_at = self._known, self._clock.monotonic()
        async with known.fetching:
            if known.failure is not None and known.failed_at > asked_at:
                raise known.failure  # it came while this one waited
            if known.card is None or self._clock.monotonic() >= known.card_until:
                try:
                    known.card = await fetch_card(self._http, self._card_auth, self._settings)
                    self._health.passed(HealthCheck.AGENT)
                    if warning := missing(known.card.auth, self._settings):
                        _log.warning("%s", warning)
                except AgentError as error:
                    problem = error.problem if isinstance(error, ForeignBinding) else _AWAY
                    self._health.failed(HealthCheck.AGENT, problem)
                    if known.card is None:
                        known.failure, known.failed_at = error, self._clock.monotonic()
                        raise
                    _log.warning("the agent card is kept though it is old: %s", error)
                known.card_until = self._clock.monotonic() + self._settings.card_ttl
            return known.card

    async def ask(self, asking: MessageRequest) -> AsyncGenerator[Received, None]:
        """Ask, and yield what comes, live; one event where the agent does not stream. Use `aclosing`.

        The caller keeps the time between events. After AgentUnreachable, CardError and AgentRefused the
        question was not taken.
        """
        card = await self.ensure_card()
        wires, streams, began = self._wires(card), card.streaming is not False, False
        while True:
            client, self._known.waits_for_whole = self._client(card, wires[0]), not streams
            try:
                async with aclosing(client.ask(asking, stream=streams)) as coming:
                    async for received in coming:
                        if not began:
                            began, self._known.wire = True, wires[0]
                            asking = replace(asking, files=())  # they may be large, and are not sent again
                            self._health.passed(HealthCheck.AGENT)
                        yield received
                return
            except AgentUnreachable:
                self._health.failed(HealthCheck.AGENT, _AWAY)
                raise
            except AgentFailed as error:
                # -32004 may also mean that the task had ended
                may_send = streams and card.streaming is None and asking.task_id is None
                if may_send and not began and error.code == _UNSUPPORTED:
                    streams = False
                elif began or not self._may_switch(wires, error):
                    raise
                else:
                    wires, streams = wires[1:], card.streaming is not False

    @property
    def can_resubscribe(self) -> bool:
        """A running task's stream can be joined again: on 1.0; on 0.3, which loses the gap, by setting."""
        if self._known.card is None or self._known.card.streaming is False:
            return False
        return self._wires(self._known.card)[0] == "1.0" or self._settings.resubscribe_03

    async def subscribe(self, task_id: str) -> AsyncGenerator[Received, None]:
        """Join a task's stream again, and close it (`aclosing`). 1.0 sends the present task first."""
        card = await self.ensure_card()
        return self._client(card, self._wires(card)[0]).subscribe(task_id)

    async def task(self, verb: TaskVerb, task_id: str, messages: int = HISTORY_LENGTH) -> Snapshot:
        """Read the task, with so many of its last messages, or cancel it.

        AgentFailed -32001: it is unknown; -32002: it had ended before it was cancelled.
        """
        card = await self.ensure_card()
        wires = self._wires(card)
        try:
            return await self._client(card, wires[0]).task(verb, task_id, messages)
        except AgentFailed as error:
            if not self._may_switch(wires, error):
                raise
        snapshot = await self._client(card, wires[1]).task(verb, task_id, messages)
        self._known.wire = wires[1]
        return snapshot

    async def find_task(self, context_id: str | None, message_id: str, since: float) -> str | None:
        """The task that has this message, in this conversation or among those that changed `since` then.

        None: not found, or this agent does not list its tasks.
        """
        card = await self.ensure_card()
        wire = self._wires(card)[0]
        if wire == "0.3":  # has no such method
            return None
        try:
            return await self._client(card, wire).find_task(context_id, message_id, since)
        except AgentFailed as error:
            if context_id is not None and error.code not in NOT_OFFERED:
                raise
            return None  # one that lists by conversation alone may say so with any code

    @property
    def can_push(self) -> bool:
        return self._known.card is not None and self._known.card.push and PUSH not in self.habits

    async def set_push(self, task_id: str, push_id: str, url: str, token: str) -> bool:
        """Have news of the task posted to `url`, with `token`. False: the agent does not do that.

        AgentFailed -32001: it does not know the task.
        """
        card = await self.ensure_card()
        try:
            await self._client(card, self._wires(card)[0]).set_push(task_id, push_id, url, token)
        except AgentFailed as error:
            if error.code in _PUSH_REFUSED:
                self.habits[PUSH] = "refused"
            elif error.code not in NOT_OFFERED:
                raise
            return False
        return True

    async def delete_push(self, task_id: str, push_id: str) -> None:
        card = await self.ensure_card()
        await self._client(card, self._wires(card)[0]).delete_push(task_id, push_id)

    def _wires(self, card: AgentCard) -> tuple[Wire, ...]:
        if self._settings.protocol_version != "auto":
            return (self._settings.protocol_version,)
        first = self._known.wire or card.interfaces[0].wire
        return ("1.0", "0.3") if first == "1.0" else ("0.3", "1.0")

    def _may_switch(self, wires: Sequence[Wire], error: AgentFailed) -> bool:
        if len(wires) == 1 or error.code not in _NOT_EXECUTED:
            return False
        wire, other = wires
        _log.info("the agent does not speak A2A %s (error %d); trying %s", wire, error.code, other)
        return True

    def _client(self, card: AgentCard, wire: Wire) -> Client:
        traceparent = self.traceparent(self._turn)
        return Client(self._http, card.on(wire), self._settings, self._auth, card.extensions, traceparent)
