"""Receives posts of agents about news of a task: `POST /a2a/push/{id}` (A2A push).

A post is only a hint to read the task, so one that is forged, repeated or late changes nothing. All that
matters is what it costs: the id cannot be guessed, and a body is read only if the secret is right.

Servers send the secret in three different places (facts: A2A 12).
"""

import hmac
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from aiohttp import web
from multidict import CIMultiDictProxy

from ...agents.push_target import PUSH_ID, PUSH_PATH, hash_secret, push_url
from ...agents.wire.frames import task_id_of
from ...errors import AgentError, StoreError
from ...inbound.http_server import Handler, keep_open, read_body, refusal
from ...settings.push import PushSettings
from ...threads.ports import CommonParts, ThreadPorts
from ...threads.registry import Registry
from ..feature import BotParts, Feature, FeatureWork, PortReceiver, SettingsCheck
from .address_check import check
from .offers import PushOffers
from .push_jwt import JwtVerifier

log = logging.getLogger(__name__)

_ADDRESS = "SLACK_BOT_PUSH__"  # what the names of the settings of the port begin with
_TOKEN_HEADERS = ("X-A2A-Notification-Token", "A2A-Notification-Token")
_MEDIA_TYPES = ("application/json", "application/a2a+json")


@dataclass(frozen=True, slots=True)
class PushWatch:
    """A watched task, and the hash (`PushTarget.secret_hash`) of the secret that its agent got."""

    task_id: str
    secret_hash: str


FindPushWatch: TypeAlias = Callable[[str], Awaitable[PushWatch | None]]
"""Returns the watch with this id, or None if there is none or it is over. Raises StoreError."""


class PushReceiver(PortReceiver):
    """Receives the posts. `on_hint` is called with the id of the watch for each valid post."""

    def __init__(
        self,
        settings: PushSettings,
        find_watch: FindPushWatch,
        on_hint: Callable[[str], Awaitable[None]],
        verifier: JwtVerifier | None = None,
    ) -> None:
        super().__init__(_ADDRESS, settings.host, settings.port)
        self._settings, self._find_watch = settings, find_watch
        self._on_hint, self._verifier = on_hint, verifier

    @property
    def routes(self) -> Mapping[str, Handler]:
        return {PUSH_PATH: self._handle}

    async def prepare(self) -> None:
        """Read the keys of tokens. Raises SettingsError if they cannot be used."""
        if self._verifier is not None:
            await self._verifier.check()

    def announce(self, host: str, port: int) -> None:
        log.info("waiting for agents at http://%s:%s%s", host, port, PUSH_PATH)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        push_id = request.path.removeprefix(PUSH_PATH)
        try:
            status = _check_head(request, push_id) or await self._take(request, push_id)
        except StoreError as error:
            log.warning("the post of an agent was not taken: %s", error)
            status = 503
        return web.Response() if status == 200 else refusal(status)

    async def _take(self, request: web.BaseRequest, push_id: str) -> int:
        watch = await self._find_watch(push_id)
        if watch is None:
            return 404
        if not await self._is_authentic(request.headers, push_id, watch):
            return 401
        body = await read_body(request, self._settings.body_timeout, self._settings.max_body_bytes)
        if isinstance(body, int):
            return body
        keep_open(request)
        try:
            task_id = task_id_of(json.loads(body))
        except (ValueError, RecursionError, AgentError):
            return 400
        if task_id != watch.task_id:
            return 403
        await self._on_hint(push_id)
        return 200

    async def _is_authentic(self, headers: CIMultiDictProxy[str], push_id: str, watch: PushWatch) -> bool:
        """Whether the request has at least one token, and every one that it has is valid."""
        tokens, bearers = _tokens(headers), _bearers(headers)
        for each in tokens:
            if not _matches(each, watch):
                return False
        for each in bearers:
            if not (_matches(each, watch) or await self._is_signed(each, push_id)):
                return False
        return bool(tokens or bearers)

    async def _is_signed(self, token: str, push_id: str) -> bool:
        if self._verifier is None:
            return False
        return await self._verifier.is_valid(token, push_url(self._settings.public_url or "", push_id))


def _check_head(request: web.BaseRequest, push_id: str) -> int | None:
    """The status with which to refuse a request because of its head; None if it may go on."""
    if not PUSH_ID.fullmatch(push_id):
        return 404
    if request.method != "POST":
        return 405
    if request.content_type not in _MEDIA_TYPES:
        return 415
    return None if _tokens(request.headers) or _bearers(request.headers) else 401


def _tokens(headers: CIMultiDictProxy[str]) -> list[str]:
    return [each for name in _TOKEN_HEADERS for each in headers.getall(name, ())]


def _bearers(headers: CIMultiDictProxy[str]) -> list[str]:
    credential_pairs = (each.partition(" ") for each in headers.getall("Authorization", ()))
    return [credentials.strip() for scheme, _, credentials in credential_pairs if scheme.lower() == "bearer"]


def _matches(token: str, watch: PushWatch) -> bool:
    return hmac.compare_digest(hash_secret(token), watch.secret_hash)


async def _watch_of(registry: Registry, push_id: str) -> PushWatch | None:
    turn = await registry.watched_turn(push_id)
    if turn is None or turn.task_id is None or turn.push_hash is None:
        return None
    return PushWatch(turn.task_id, turn.push_hash)


def serve_threads(common: CommonParts, ports: ThreadPorts) -> ThreadPorts:
    """Let agents post, if the settings have the address at which they reach the bot."""
    url = common.settings.push.public_url
    return ports if url is None else replace(ports, news=PushOffers(common.agents, url))


def start(bot: BotParts) -> FeatureWork:
    """Receive the posts, if agents may post."""
    settings, registry = bot.common.settings.push, bot.threads.registry
    if settings.public_url is None:
        return FeatureWork()
    verifier = None if settings.jwks is None else JwtVerifier(settings, bot.common.clock)
    find_watch = partial(_watch_of, registry)
    return FeatureWork(receiver=PushReceiver(settings, find_watch, registry.on_hint, verifier))


FEATURE = Feature("push", start, serve_threads, check=SettingsCheck(check, ("public_url", "jwks")))
