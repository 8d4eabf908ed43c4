"""One configured agent: its card, its address, its wire.

The card names the wire, until the agent refuses a method or version, or cannot be connected. Such a question
was not executed, so it is sent on the other wire, or to the next address. Nothing else is sent twice
(delivery.md 7).
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Hashable, Mapping, Sequence
from contextlib import aclosing
from copy import copy
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple, Self

from ..clock import Clock
from ..errors import (
    AgentError,
    AgentFailed,
    AgentRefused,
    AgentUnreachable,
    CardUntrusted,
    SettingsError,
    TokenRefused,
    TokenUnavailable,
)
from ..http_client import AsyncClient, Cookies
from ..observe.health import Health
from ..settings.agents import sentence_of
from ..settings.models import AgentSettings
from ..turn.people import AskingPerson
from ..turn.progress import DEFAULT_AGENT
from ..turn.record import Introduction
from .answer.habits import PROFILE_KEYS
from .reachability import Reachability
from .recovery_policy import NOT_OFFERED
from .wire.asker_tokens import TokensByAsker
from .wire.auth import Credentials, Learn, TokenSource, key_of_agent, missing, origin_of
from .wire.calls import HISTORY_LENGTH, Binding, Interface, MessageRequest, TaskVerb, Wire
from .wire.card import AgentCard, check_card_keys, fetch_card, introduction_of, signed_part
from .wire.card_trust import CardTrust, FactStore
from .wire.client import Client
from .wire.frames import Received, Snapshot
from .wire.token_endpoint import token_source

_log = logging.getLogger(__name__)

CONTEXT = "context"
"""Name of the habit that says who names a conversation."""
PUSH = "push"
"""Name of the habit that says that the agent has no push, though its card may offer it."""
_NOT_EXECUTED = (-32601, -32009)
"""Method not found, version not supported: the request was refused before anything ran (facts: A2A 1.6)."""
_NO_SUCH_PATH = (404, 405, 501)
"""HTTP statuses that say the same of a path."""
_WIRES: Mapping[str, Wire] = {"0.3": "0.3", "1.0": "1.0"}
_BINDINGS: Mapping[str, Binding] = {"HTTP+JSON": "HTTP+JSON"}
_PUSH_REFUSED = (-32003, -32004)  # no push, though the card offers it. a2a-sdk 0.3 answers with the second.
_MOST_STOPPED = 1000  # conversations
NO_TASK = "no-such-task"
"""A task that no agent has: what an agent answers to it shows whether it lets the bot in."""
_UNSUPPORTED = -32004
"""Unsupported operation: what a2a-sdk answers to a streaming call if its card does not promise streaming."""


class Routes:
    """Where the agent is asked, and how: as it worked before, else as its card says.

    `wire`: the wire that worked, "0.3" or "1.0". `waits_for_whole`: the last question went with the waiting
    method, so that nothing comes before its answer.
    """

    def __init__(self, settings: AgentSettings, name: str) -> None:
        self._name, self._is_auto = name, settings.protocol_version == "auto"
        self.wire: Wire | None = None
        self._binding: Binding | None = None
        self._url = ""  # that could be connected, until the next card
        self.waits_for_whole = False

    def begin(self, *, streams: bool) -> None:
        """A question is sent now."""
        self.waits_for_whole = not streams

    def learn(self, at: Interface) -> None:
        self.wire, self._binding = at.wire, at.binding
        self._url = at.url

    def forget_address(self) -> None:
        self._url = ""

    @property
    def profile(self) -> dict[str, str]:
        """What was learned, by name: for the store."""
        if self.wire is None or not self._is_auto:
            return {}
        binding = {} if self._binding == "JSONRPC" else {"binding": str(self._binding)}
        return {"wire": str(self.wire)} | binding

    def load_profile(self, facts: Mapping[str, str]) -> None:
        if self._is_auto:
            self.wire = _WIRES.get(facts.get("wire", ""))
            # where none was stored, JSON-RPC was the only one
            self._binding = self.wire and _BINDINGS.get(facts.get("binding", ""), "JSONRPC")

    def interfaces(self, card: AgentCard) -> list[Interface]:
        """Where to ask, in order: as before, then as the card says, then on JSON-RPC's other wire."""

        def is_new(each: Interface) -> tuple[bool, bool, bool]:
            other_wire = self.wire is not None and each.wire != self.wire
            other_binding = self._binding is not None and each.binding != self._binding
            return other_wire, other_binding, bool(self._url) and each.url != self._url

        offered = list(card.interfaces)
        if self._is_auto:
            named = {(each.wire, each.binding) for each in offered}
            first = next((each for each in offered if each.binding == "JSONRPC"), None)
            missing_wires = [wire for wire in _WIRES.values() if (wire, "JSONRPC") not in named]
            offered += [replace(first, wire=wire) for wire in missing_wires] if first else []
        return sorted(offered, key=is_new)

    def others(self, at: Sequence[Interface], error: AgentError) -> list[Interface]:
        """Where to ask instead of at `at[0]`, which did not take the question: it executed nothing."""
        now, *others = at
        if isinstance(error, TokenUnavailable):
            return []
        if isinstance(error, AgentUnreachable):
            others = [each for each in others if origin_of(each.url) != origin_of(now.url)]
        elif isinstance(error, AgentRefused) and error.status in _NO_SUCH_PATH:
            others = [each for each in others if (each.url, each.binding) != (now.url, now.binding)]
        elif isinstance(error, AgentFailed) and error.code in _NOT_EXECUTED:
            others = [each for each in others if (each.wire, each.binding) != (now.wire, now.binding)]
        else:
            return []
        if others:
            _log.info(
                "the agent does not answer on A2A %s over %s (%s); trying %s over %s",
                now.wire, now.binding, sentence_of(self._name, str(error)), others[0].wire, others[0].binding,
            )  # fmt: skip
        return others


class CardKeeper:
    """The agent's card, for all conversations: at most `card_ttl` seconds old, and believed."""

    def __init__(
        self,
        http: AsyncClient,
        auth: Credentials,
        settings: AgentSettings,
        clock: Clock,
        *,
        trust: CardTrust,
        reachability: Reachability,
        routes: Routes,
    ) -> None:
        self._http, self._auth = http, auth
        self._settings, self._now = settings, clock.monotonic
        self._trust, self._reachability, self._routes = trust, reachability, routes
        self.card: AgentCard | None = None
        self._until = 0.0
        self._extended: tuple[AgentCard, Introduction] | None = None  # what the agent says beyond that card
        self._failure: tuple[float, AgentError] | None = None  # when it came
        self._fetching = asyncio.Lock()

    async def newest(self) -> AgentCard:
        """An older one if no new one can be fetched. Raises as `ensure_card` of `Agent`."""
        asked_at = self._now()
        async with self._fetching:
            if self._failure is not None and self._failure[0] > asked_at:
                raise self._failure[1]  # it came while this one waited
            if self.card is not None and self._now() < self._until:
                return self.card
            try:
                card = await fetch_card(self._http, self._auth, self._settings)
                await self._trust.check(card)
                self.card = card
                if not self._reachability.is_locked_out:
                    self._reachability.passed()
                if lacking := missing(card.auth, self._settings):
                    _log.warning("%s", self._words("; ".join(lacking)))
            except AgentError as error:
                self._reachability.failed(error.problem)
                if self._trust.is_lost(error) or self.card is None:
                    self._failure = self._now(), error
                    raise
                _log.warning("the agent card is kept though it is old: %s", self._words(str(error)))
            self._until = self._now() + self._settings.card_ttl
            self._routes.forget_address()
            return self.card

    def _words(self, sentence: str) -> str:
        return sentence_of(self._reachability.name, sentence)

    async def introduction(self, card: AgentCard, client: Client, key: str) -> Introduction:
        """What the agent with this key says of itself in the extended card beside `card`, else in `card`."""
        async with self._fetching:
            if self._extended is None or self._extended[0] is not card:
                introduction = card.introduction
                try:
                    extended = await client.extended_card()
                    introduction = introduction_of((await signed_part(extended, key, self._settings))[0])
                except AgentError as error:
                    what = "is not used" if isinstance(error, CardUntrusted) else "cannot be read"
                    _log.warning("the extended agent card %s: %s", what, self._words(str(error)))
                self._extended = card, introduction
            return self._extended[1]


class StoppedNotes:
    """Of each conversation, the task that was stopped, and of which the agent did not say that it ended."""

    def __init__(self) -> None:
        self._tasks: dict[Hashable, str] = {}

    def task_of(self, conversation: Hashable) -> str | None:
        return self._tasks.get(conversation)

    def note(self, conversation: Hashable, task_id: str | None) -> None:
        """None: it has ended."""
        tasks = self._tasks
        tasks.pop(conversation, None)
        if task_id is not None:
            tasks[conversation] = task_id
            if len(tasks) > _MOST_STOPPED:
                del tasks[next(iter(tasks))]


class _Tokens(NamedTuple):
    bot: TokenSource | None
    people: TokensByAsker | None


class _Conversation:
    """`turn` is its question. Without one, no card is kept: what is asked then has not begun."""

    def __init__(
        self,
        settings: AgentSettings,
        tokens: TokenSource | None,
        session: str,
        *,
        key: Hashable = None,
        cookies: Cookies | None = None,
        turn: str | None = None,
        on_behalf: TokenSource | None = None,
        learn: Learn | None = None,
    ) -> None:
        self.auth = Credentials(settings, cookies, tokens, session, on_behalf, learn)
        self.key = key
        self.turn, self._begins = turn or "", turn is not None
        self.card: AgentCard | None = None

    def begin(self, card: AgentCard) -> None:
        """It is finished with this card, also where a later one is refused."""
        if self._begins:
            self.card = card


class Agent:
    """The agent of `settings`. `http` is closed by its owner. SettingsError: no usable address, login or key.

    `store`: keeps what is trusted of its card; without one, each card is seen for the first time. `name`: the
    one that the settings give it. `askers`: the tokens of people, where it gets some.
    """

    def __init__(
        self,
        http: AsyncClient,
        settings: AgentSettings,
        clock: Clock,
        health: Health | None = None,
        store: FactStore | None = None,
        traceparent: Callable[[str], str | None] = lambda _: None,
        name: str = DEFAULT_AGENT,
        askers: TokensByAsker | None = None,
    ) -> None:
        if settings.url is None:
            raise SettingsError("A2A_AGENT_URL is not set: give the agent's address, or its card's")
        if origin_of(settings.url) is None:
            raise SettingsError(
                "A2A_AGENT_URL is not an http or https address, such as https://agent.example/"
            )
        self.name, self.settings = name, settings
        self._http = http
        if settings.card_keys is not None:
            check_card_keys(settings.card_keys)
        self.tokens = _Tokens(token_source(settings.client, clock), askers)
        self._jar_of = lru_cache(settings.cookie_threads)(lambda _: Cookies())
        self.conversation = _Conversation(settings, self.tokens.bot, self.key)
        self._reachability = Reachability(health or Health(), name, is_for_people=askers is not None)
        self._routes = Routes(settings, name)
        self.cards = CardKeeper(
            http, self.conversation.auth, settings, clock,
            trust=CardTrust(settings, store, clock, name),
            reachability=self._reachability, routes=self._routes,
        )  # fmt: skip
        self.stopped = StoppedNotes()
        self._traceparent = traceparent
        self.habits: dict[str, str] = {}
        """What was learned about how it answers, by name (`profile`); the turns add to it."""

    def in_conversation(
        self, key: Hashable, turn: str = "", asker: AskingPerson | None = None, learn: Learn | None = None
    ) -> Self:
        """The same agent, with the cookies and the session of one conversation, for a turn. Where it gets
        tokens of people, each has their own, and calls without a person fail. `learn`: see `Credentials`.
        """
        found, tokens = copy(self), None
        if self.tokens.people is not None:
            key, tokens = (key, asker), self.tokens.people.of(asker)
        jar, session = self._jar_of(key), f"{self.key} {key}"
        found.conversation = _Conversation(
            self.settings, self.tokens.bot, session,
            key=key, cookies=jar, turn=turn, on_behalf=tokens, learn=learn,
        )  # fmt: skip
        return found

    @property
    def key(self) -> str:
        """Its key in the store."""
        return key_of_agent(self.name, self.settings)

    def why(self, error: AgentError) -> str:
        """What the log says of `error`: nothing that the agent's server wrote."""
        return sentence_of(self.name, error.brief)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The token with which the agent is asked now, if it was fetched or read."""
        return () if self.tokens.bot is None else self.tokens.bot.secrets

    @property
    def waits_for_whole(self) -> bool:
        """The last question went with the waiting method: nothing comes before its answer."""
        return self._routes.waits_for_whole

    @property
    def profile(self) -> dict[str, str]:
        """What was learned, by name: for the store."""
        return self.habits | self._routes.profile

    def load_profile(self, facts: Mapping[str, str]) -> None:
        self.habits = {name: facts[name] for name in (*PROFILE_KEYS, CONTEXT, PUSH) if name in facts}
        self._routes.load_profile(facts)

    async def ensure_card(self) -> AgentCard:
        """At most `card_ttl` seconds old; an older one if no new one can be fetched.

        Raises AgentUnreachable or CardError if there is none; CardUntrusted if it may not be believed. What
        has begun in a conversation goes on with the card it began with.
        """
        try:
            card = await self.cards.newest()
        except CardUntrusted:
            if (card_before := self.conversation.card) is None:
                raise
            return card_before
        self.conversation.begin(card)
        return card

    async def introduction(self) -> Introduction:
        """What the agent says of itself: in its extended card where it has one, else in its card.

        Raises as `ensure_card`.
        """
        card = await self.ensure_card()
        if not card.has_extended or self.tokens.people is not None:  # it is for people then
            return card.introduction
        client = self._client(card, self._routes.interfaces(card)[0])
        return await self.cards.introduction(card, client, self.key)

    async def ask(self, asking: MessageRequest) -> AsyncGenerator[Received, None]:
        """Ask, and yield what comes, live; one event where the agent does not stream. Use `aclosing`.

        The caller keeps the time between events. After AgentUnreachable, CardError and AgentRefused the
        question was not taken.
        """
        card = await self.ensure_card()
        at, streams, began = self._routes.interfaces(card), card.streaming is not False, False
        while True:
            self._routes.begin(streams=streams)
            client = self._client(card, at[0])
            try:
                async with aclosing(client.ask(asking, stream=streams)) as coming:
                    async for received in coming:
                        if not began:
                            began = True
                            self._routes.learn(at[0])
                            asking = replace(asking, files=())  # they may be large, and are not sent again
                            self._reachability.question_was_taken()
                        yield received
                return
            except TokenRefused as error:
                self._reachability.question_failed(error)
                raise
            except (AgentUnreachable, AgentRefused, AgentFailed) as error:
                # -32004 may also mean that the task had ended
                may_send = streams and card.streaming is None and asking.task_id is None
                others = [] if began else self._routes.others(at, error)
                if others:
                    at, streams = others, card.streaming is not False
                elif may_send and not began and isinstance(error, AgentFailed) and error.code == _UNSUPPORTED:
                    streams = False
                else:
                    self._reachability.question_failed(error)
                    raise

    async def try_login(self) -> None:
        """AgentRefused: the agent does not let the bot in. Whatever else it answers, a question will show."""
        if self.tokens.people is not None:
            return
        try:
            await self.task("get", NO_TASK)
        except AgentRefused as error:
            self._reachability.question_failed(error)
            if error.is_lasting:
                raise
        except AgentError:
            return

    @property
    def can_resubscribe(self) -> bool:
        """A running task's stream can be joined again: on 1.0; on 0.3, which loses the gap, by setting."""
        if self.cards.card is None or self.cards.card.streaming is False:
            return False
        return self._routes.interfaces(self.cards.card)[0].wire == "1.0" or self.settings.resubscribe_03

    async def subscribe(self, task_id: str, last_id: str = "") -> AsyncGenerator[Received, None]:
        """Join a task's stream again, and close it (`aclosing`). 1.0 sends the present task first.

        `last_id`: of the last event that came.
        """
        card = await self.ensure_card()
        return self._client(card, self._routes.interfaces(card)[0]).subscribe(task_id, last_id)

    async def task(self, verb: TaskVerb, task_id: str, messages: int = HISTORY_LENGTH) -> Snapshot:
        """Read the task, with so many of its last messages, or cancel it.

        AgentFailed -32001: it is unknown; -32002: it had ended before it was cancelled.
        """
        card = await self.ensure_card()
        at = self._routes.interfaces(card)
        try:
            return await self._client(card, at[0]).task(verb, task_id, messages)
        except AgentFailed as error:
            if not (others := self._routes.others(at, error)):
                raise
        snapshot = await self._client(card, others[0]).task(verb, task_id, messages)
        self._routes.learn(others[0])
        return snapshot

    async def find_task(self, context_id: str | None, message_id: str, since: float) -> str | None:
        """The task that has this message, in this conversation or among those that changed `since` then.

        None: not found, or this agent does not list its tasks.
        """
        card = await self.ensure_card()
        at = self._routes.interfaces(card)[0]
        if at.wire == "0.3":  # has no such method
            return None
        try:
            return await self._client(card, at).find_task(context_id, message_id, since)
        except AgentFailed as error:
            if context_id is not None and error.code not in NOT_OFFERED:
                raise
            return None  # one that lists by conversation alone may say so with any code

    @property
    def can_push(self) -> bool:
        return self.cards.card is not None and self.cards.card.push and PUSH not in self.habits

    async def set_push(self, task_id: str, push_id: str, url: str, token: str) -> bool:
        """Have news of the task posted to `url`, with `token`. False: the agent does not do that.

        AgentFailed -32001: it does not know the task.
        """
        card = await self.ensure_card()
        try:
            await self._client(card, self._routes.interfaces(card)[0]).set_push(task_id, push_id, url, token)
        except AgentFailed as error:
            if error.code in _PUSH_REFUSED:
                self.habits[PUSH] = "refused"
            elif error.code not in NOT_OFFERED:
                raise
            return False
        return True

    async def delete_push(self, task_id: str, push_id: str) -> None:
        card = await self.ensure_card()
        await self._client(card, self._routes.interfaces(card)[0]).delete_push(task_id, push_id)

    def _client(self, card: AgentCard, at: Interface) -> Client:
        traceparent, auth = self._traceparent(self.conversation.turn), self.conversation.auth
        if self.settings.client.api_key is not None:
            auth = auth.with_api_keys(card.auth)
        return Client(self._http, at, self.settings, auth, card.extensions, traceparent)
