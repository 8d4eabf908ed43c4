"""The HTTP API: `POST /v1/messages`, `GET /v1/messages/{id}`, `POST /v1/hooks/NAME`.

A request is only put into the store, under a key that says it once, whichever replica gets it. From there on
it is a message like any other that the bot posts by itself (`features/outbound`). A body is read only if the
head has a key that is known, or belongs to a webhook.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any, TypeAlias

from aiohttp import web

from ...errors import BotError, StoreError
from ...inbound.authorizer import Identities
from ...inbound.http_server import Handler, keep_open, read_body
from ...settings.api import ApiSettings
from ...settings.api_access import ApiTable, HookEntry, KeyEntry
from ...turn.json_values import has_halves, read_json
from ..feature import PortReceiver
from .answers import Problem, RequestRefused, Taken, answered, refused
from .hooks import delivery_of, is_authentic, is_wanted
from .hooks import message_of as message_of_hook
from .keys import bearer_in, name_of_key
from .messages import WantedMessage, message_in, read_request
from .openapi import description
from .outbox import Outbox

_log = logging.getLogger(__name__)

ADDRESS = "SLACK_BOT_API__"
"""What the names of the settings of the port begin with."""
ROOT = "/v1/"
MESSAGES, HOOKS = f"{ROOT}messages", f"{ROOT}hooks/"
DESCRIPTION = f"{ROOT}openapi.json"
_ONCE = "Idempotency-Key"
_MOST_ONCE = 200  # characters
_AGAIN = 5.0  # seconds to wait where the store is away
_STATUSES = {each.status: each for each in Problem}

Handle: TypeAlias = Callable[[web.BaseRequest], Awaitable[Taken]]


class ApiReceiver(PortReceiver):
    """Serves the API, in HTTP mode on Slack's port, otherwise on one of its own."""

    def __init__(
        self, settings: ApiSettings, access: ApiTable, outbox: Outbox, identities: Identities
    ) -> None:
        super().__init__(ADDRESS, settings.host, settings.port)
        self._settings, self._access = settings, access
        self._outbox, self._identities = outbox, identities

    def use(self, access: ApiTable) -> None:
        """These are the keys and webhooks from now on."""
        self._access = access

    @property
    def routes(self) -> Mapping[str, Handler]:
        return {ROOT: self._handle}

    def announce(self, host: str, port: int) -> None:
        _log.info("waiting for programs at http://%s:%s%s", host, port, ROOT)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            handle = self._handler_of(request)
            return answered(await handle(request))
        except RequestRefused as refusal:
            _log.info("a request is refused: %s %s", refusal.problem.status, refusal.message)
            return refused(refusal)
        except StoreError as error:
            _log.warning("a request was not taken: %s", error)
            return refused(
                RequestRefused(Problem.UNAVAILABLE, "The bot cannot keep this now; send it again.", _AGAIN)
            )
        except BotError as error:
            _log.warning("a request was not taken: %s", error)
            words = "Slack does not answer now; send it again."
            return refused(RequestRefused(Problem.UNAVAILABLE, words, _AGAIN))

    def _handler_of(self, request: web.BaseRequest) -> Handle:
        path, method = request.path, request.method
        if path == DESCRIPTION:
            return _only("GET", method, self._describe)
        if path == MESSAGES:
            return _only("POST", method, self._post)
        if path.startswith(f"{MESSAGES}/"):
            return _only("GET", method, self._look)
        if path.startswith(HOOKS):
            return _only("POST", method, self._hook)
        raise RequestRefused(Problem.NOT_FOUND, f"There is no such address; {DESCRIPTION} has all of them.")

    async def _describe(self, _request: web.BaseRequest) -> Taken:
        return Taken(200, description())

    # -- messages

    async def _post(self, request: web.BaseRequest) -> Taken:
        name, key = self._key_of(request)
        once = request.headers.getall(_ONCE, [])
        if len(once) != 1 or not 0 < len(once[0]) <= _MOST_ONCE or not once[0].isprintable():
            words = f"Give each message its own {_ONCE}, a header of at most {_MOST_ONCE} characters."
            raise RequestRefused(Problem.BAD_REQUEST, words)
        body, _ = await self._body(request)
        wanted = read_request(body)
        message = replace(message_in(wanted, name, key), team=await self._team_of(wanted, name, key))
        same = sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
        message_id = _id_of(name, once[0])
        record = await self._outbox.put(("key", name), message_id, message, key.rate, fingerprint=same)
        return Taken(202, self._outbox.shown(record))

    async def _team_of(self, wanted: WantedMessage, name: str, key: KeyEntry) -> str:
        """The workspace in which it is said; "": there is one only. Raises RequestRefused and SlackError."""
        teams = {each.team_id or "" for each in await self._identities.all()}
        if wanted.team is not None and wanted.team not in teams:
            words = f"The bot is not in the workspace {wanted.team}"
            end = ": leave team out." if not self._identities.are_several else "."
            raise RequestRefused(Problem.FORBIDDEN, f"{words}{end}")
        if not self._identities.are_several:
            return ""
        if wanted.team is None:
            words = "The bot is in several workspaces: name the one of the channel or person as team."
            raise RequestRefused(Problem.BAD_REQUEST, words)
        if key.teams and wanted.team not in key.teams:
            words = f"This key may not write in the workspace {wanted.team} (teams of [keys.{name}])."
            raise RequestRefused(Problem.FORBIDDEN, words)
        if wanted.context_id is not None:
            words = "The bot is in several workspaces, and no conversation is of two: leave context_id out."
            raise RequestRefused(Problem.BAD_REQUEST, words)
        return wanted.team

    async def _look(self, request: web.BaseRequest) -> Taken:
        name, _ = self._key_of(request)
        found = await self._outbox.find(("key", name), request.path.removeprefix(f"{MESSAGES}/"))
        if found is None:
            raise RequestRefused(
                Problem.NOT_FOUND, "This key has no message with this id; it may be forgotten."
            )
        return Taken(200, await self._outbox.state(found))

    def _key_of(self, request: web.BaseRequest) -> tuple[str, KeyEntry]:
        """The key that the request has, and its name. Raises RequestRefused."""
        token = bearer_in(request.headers.getall("Authorization", []))
        name = name_of_key(token, self._access.keys) if token else None
        if name is None:
            words = "Send a key of the bot in the header Authorization: Bearer sbk_..."
            raise RequestRefused(Problem.UNAUTHORIZED, words)
        return name, self._access.keys[name]

    # -- webhooks

    async def _hook(self, request: web.BaseRequest) -> Taken:
        name = request.path.removeprefix(HOOKS)
        if (hook := self._access.hooks.get(name)) is None:
            raise RequestRefused(Problem.NOT_FOUND, "There is no such webhook.")
        if hook.verify == "bearer" and not is_authentic(hook, (), _authorization(request), b""):
            raise _not_authentic()
        body, raw = await self._body(request, check=lambda data: _check_signature(hook, request, data))
        if not is_wanted(hook, body):
            return Taken(200, {"state": "ignored"})
        names = request.headers.getall(hook.once_header, []) if hook.once_header else []
        delivery, message = delivery_of(hook, names, body, raw), message_of_hook(name, hook, body)
        record = await self._outbox.put(("hook", name), delivery[:32], message, hook.rate)
        return Taken(202, self._outbox.shown(record))

    async def _body(
        self, request: web.BaseRequest, check: Callable[[bytes], None] = lambda _: None
    ) -> tuple[Any, bytes]:
        """The JSON of the body, and its bytes. Raises RequestRefused."""
        if request.content_type != "application/json":
            raise RequestRefused(Problem.MEDIA_TYPE, "Send the body as application/json.")
        data = await read_body(request, self._settings.body_timeout, self._settings.max_body_bytes)
        if isinstance(data, int):
            most = self._settings.max_body_bytes
            words = {413: f"The body has more than {most} bytes.", 408: "The body did not come in time."}
            raise RequestRefused(_STATUSES[data], words.get(data, "The body did not come whole."))
        check(data)
        keep_open(request)
        try:
            body = read_json(data.decode())
        except (ValueError, RecursionError):
            raise RequestRefused(Problem.BAD_REQUEST, "The body is no JSON in UTF-8.") from None
        if has_halves(body):
            raise RequestRefused(
                Problem.BAD_REQUEST, "A text in the body holds half of a character; write it again."
            )
        return body, data


def _only(allowed: str, method: str, handle: Handle) -> Handle:
    if method != allowed:
        raise RequestRefused(Problem.METHOD_NOT_ALLOWED, f"Use {allowed} here.")
    return handle


def _authorization(request: web.BaseRequest) -> list[str]:
    return request.headers.getall("Authorization", [])


def _check_signature(hook: HookEntry, request: web.BaseRequest, body: bytes) -> None:
    if hook.verify == "hmac" and not is_authentic(hook, request.headers.getall(hook.header, []), (), body):
        raise _not_authentic()


def _not_authentic() -> RequestRefused:
    return RequestRefused(Problem.UNAUTHORIZED, "The signature or the secret is missing or wrong.")


def _id_of(name: str, once: str) -> str:
    """The id of a message, the same wherever the request comes to."""
    return sha256(json.dumps([name, once]).encode()).hexdigest()[:32]
