"""One configured agent: its card, its address, its wire.

The card names the wire, until the agent refuses a method or version. What was refused was not executed, so
the question may be sent once more on the other wire; the wire that worked is kept. Nothing else is ever sent
twice (delivery.md 7).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Hashable, Mapping
from contextlib import aclosing
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Self

import httpx

from ..clock import Clock
from ..errors import AgentError, AgentFailed, SettingsError
from ..settings.models import AgentSettings
from .answer.assembler import PROFILE_KEYS
from .wire.auth import Credentials, missing
from .wire.card import AgentCard
from .wire.card_discovery import fetch_card
from .wire.client import Client
from .wire.cookies import CookieJars
from .wire.frames import Received, Snapshot
from .wire.origins import Origins, bare, origin_of
from .wire.requests import HISTORY_LENGTH, WIRES, MessageRequest, Wire, other_wire
from .wire.transport import new_http

__all__ = ["Agent", "new_http"]

_log = logging.getLogger(__name__)

_NOT_EXECUTED = (-32601, -32009)
"""Method not found, version not supported: the request was refused before anything ran (facts: A2A 1.6)."""
_UNSUPPORTED = -32004
"""Unsupported operation: what a2a-sdk answers to a streaming call if its card does not promise streaming."""


@dataclass(slots=True)
class _Known:
    """What is known about the agent, for all conversations."""

    card: AgentCard | None = None
    card_until: float = 0.0
    wire: Wire | None = None
    fetching: asyncio.Lock = field(default_factory=asyncio.Lock)


class Agent:
    """The agent of `settings`. `http` comes from `new_http`; its owner closes it.

    Raises SettingsError for an address or credentials that cannot be used.
    """

    def __init__(self, http: httpx.AsyncClient, settings: AgentSettings, clock: Clock) -> None:
        if settings.url is None:
            raise SettingsError("A2A_AGENT_URL is not set: give the agent's address, or its card's")
        if origin_of(settings.url) is None:
            raise SettingsError(
                "A2A_AGENT_URL is not an http or https address, such as https://agent.example/"
            )
        self._http, self._settings, self._clock = http, settings, clock
        self._auth = Credentials(settings, Origins(settings.url, settings.allowed_hosts))
        self._jars = CookieJars(settings.cookie_threads)
        self._conversation: Hashable = None
        self._known = _Known()
        self.habits: dict[str, str] = {}
        """What was learned about how it answers, by name (`profile`); the turns add to it."""
        self.name: str = bare(settings.url).partition("?")[0].rstrip("/")
        """Key for the store: origin and path of the configured URL, without credentials."""

    def in_conversation(self, key: Hashable) -> Self:
        """The same agent, with the cookies of one conversation.

        A server behind a balancer finds a task again by its cookie.
        """
        found = copy(self)
        found._conversation = key
        return found

    @property
    def wire(self) -> str | None:
        """The wire that worked, "0.3" or "1.0"; None while nothing is known. May be set from the store."""
        return self._known.wire

    @wire.setter
    def wire(self, value: str | None) -> None:
        self._known.wire = next((wire for wire in WIRES if wire == value), None)

    @property
    def profile(self) -> dict[str, str]:
        """What was learned, by name: for the store."""
        learned = self._known.wire is not None and self._settings.protocol_version == "auto"
        return {**self.habits, "wire": str(self._known.wire)} if learned else dict(self.habits)

    def load_profile(self, facts: Mapping[str, str]) -> None:
        """Take what was learned before. The settings count more."""
        self.habits = {name: facts[name] for name in PROFILE_KEYS if name in facts}
        if self._settings.protocol_version == "auto":
            self.wire = facts.get("wire")

    async def ensure_card(self) -> AgentCard:
        """The agent's card, at most `card_ttl` seconds old; an older one if no new one can be fetched.

        Raises AgentUnreachable or CardError if there is none at all.
        """
        async with self._known.fetching:
            if self._known.card is None or self._clock.monotonic() >= self._known.card_until:
                self._known.card = await self._fetched(self._known.card)
                self._known.card_until = self._clock.monotonic() + self._settings.card_ttl
            return self._known.card

    async def ask(
        self,
        text: str,
        *,
        message_id: str,
        context_id: str | None = None,
        task_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        patience: float | None = None,
    ) -> AsyncGenerator[Received, None]:
        """Ask, and yield what comes, live; one event where the agent does not stream. Use `aclosing`.

        The end of the stream is not the end of the task. `patience`: seconds for each event; None:
        `idle_timeout`, `math.inf`: the caller keeps the time. Raises subclasses of AgentError; after
        AgentUnreachable, CardError and AgentRefused the question was not taken.
        """
        card = await self.ensure_card()
        asking = MessageRequest(text, message_id, context_id, task_id, metadata or {})
        for wire, is_last in self._attempts(card):
            began = False
            try:
                async with aclosing(self._asked(card, wire, asking, patience)) as coming:
                    async for received in coming:
                        began, self._known.wire = True, wire
                        yield received
                return
            except AgentFailed as error:
                if began or is_last or error.code not in _NOT_EXECUTED:
                    raise
                self._log_switch(wire, error)

    @property
    def can_resubscribe(self) -> bool:
        """A running task's stream can be joined again: on 1.0; on 0.3, which loses the gap, by setting."""
        if self._known.card is None or self._known.card.streaming is False:
            return False
        (wire, _), *_ = self._attempts(self._known.card)
        return wire == "1.0" or self._settings.resubscribe_03

    async def subscribe(
        self, task_id: str, *, patience: float | None = None
    ) -> AsyncGenerator[Received, None]:
        """Join a running task's stream again. On 1.0 the present task comes first."""
        card = await self.ensure_card()
        wire, _ = self._attempts(card)[0]
        async with aclosing(self._client(card, wire).subscribe(task_id, patience)) as coming:
            async for received in coming:
                yield received

    async def get(self, task_id: str, messages: int = HISTORY_LENGTH) -> Snapshot:
        """The present task, with so many of its last messages. AgentFailed -32001: it is unknown."""
        return await self._called(lambda client: client.get(task_id, messages))

    async def cancel(self, task_id: str) -> Snapshot:
        """Stop the task, and return it. AgentFailed -32002: it had ended before."""
        return await self._called(lambda client: client.cancel(task_id))

    async def _called(self, call: Callable[[Client], Awaitable[Snapshot]]) -> Snapshot:
        card = await self.ensure_card()
        (wire, is_last), *rest = self._attempts(card)
        try:
            return await call(self._client(card, wire))
        except AgentFailed as error:
            if is_last or error.code not in _NOT_EXECUTED:
                raise
            self._log_switch(wire, error)
        second, _ = rest[0]
        snapshot = await call(self._client(card, second))
        self._known.wire = second
        return snapshot

    async def _asked(
        self, card: AgentCard, wire: Wire, asking: MessageRequest, patience: float | None
    ) -> AsyncGenerator[Received, None]:
        """Ask on one wire: streamed, or sent where the agent does not stream."""
        client, began = self._client(card, wire), False
        if card.streaming is not False:
            try:
                async with aclosing(client.stream(asking, patience)) as coming:
                    async for received in coming:
                        began = True
                        yield received
                return
            except AgentFailed as error:
                # -32004 may also mean that the task had ended
                if began or card.streaming or asking.task_id is not None or error.code != _UNSUPPORTED:
                    raise
        yield await client.send(asking)

    def _attempts(self, card: AgentCard) -> tuple[tuple[Wire, bool], ...]:
        """The wires to try, each with whether it is the last. A configured wire is the only one."""
        if self._settings.protocol_version != "auto":
            return ((self._settings.protocol_version, True),)
        first = self._known.wire or card.interfaces[0].wire
        return ((first, False), (other_wire(first), True))

    def _client(self, card: AgentCard, wire: Wire) -> Client:
        cookies = None if self._conversation is None else self._jars.of(self._conversation)
        return Client(self._http, card.on(wire), self._settings, self._auth.keeping(cookies))

    async def _fetched(self, old: AgentCard | None) -> AgentCard:
        try:
            card = await fetch_card(self._http, self._auth, self._settings)
        except AgentError as error:
            if old is None:
                raise
            _log.warning("the agent card is kept though it is old: %s", error)
            return old
        if warning := missing(card, self._settings):
            _log.warning("%s", warning)
        return card

    def _log_switch(self, wire: Wire, error: AgentFailed) -> None:
        _log.info("the agent does not speak A2A %s (error %d); trying %s", wire, error.code, other_wire(wire))
