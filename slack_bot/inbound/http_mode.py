"""HTTP mode: Slack sends events and presses to one address, signed.

Anyone may send anything to the port, or try to block it for Slack. So a body is read only if its head looks
like Slack's and is recent, and parsed only if its signature is right.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.signature import SignatureVerifier

from ..errors import SettingsError
from ..observe.health import Health, HealthCheck
from ..settings.models import SlackSettings
from .http_server import Handler, keep_open, listening, read_body, refusal, slack_limits

log = logging.getLogger(__name__)

EVENTS_PATH = "/slack/events"
HTTP_ADDRESS = "SLACK_BOT_SLACK__HTTP_"
"""The prefix of this port's settings."""

_UNREADABLE = (ValueError, AttributeError, TypeError, RecursionError)
"""Raised for a body that is not text or that Bolt cannot read."""
_TIMESTAMP, _SIGNATURE = "X-Slack-Request-Timestamp", "X-Slack-Signature"
_TIMESTAMP_DIGITS = 20
_OLDEST = 300.0  # seconds for which a signature is valid. Slack: five minutes.


async def serve_http(
    bolt: AsyncApp,
    slack: SlackSettings,
    stop: asyncio.Event,
    *,
    health: Health,
    now: Callable[[], float],
    ready: Callable[[], None] | None = None,
    others: Mapping[str, Handler] | None = None,
) -> None:
    """Receive Slack's requests until `stop` is set. `ready` is called when the port is open.

    `now` gives seconds since 1970. `others`: more routes for the same port (see `listening`). Raises
    SettingsError without a signing secret, or if the port cannot be used.
    """
    if slack.signing_secret is None:  # then anyone could pose as Slack
        raise SettingsError("SLACK_SIGNING_SECRET is not set: HTTP mode needs it")
    events = _Events(bolt, slack, SignatureVerifier(slack.signing_secret.get_secret_value()), now)
    routes = {EVENTS_PATH: events.handle, **(others or {})}
    async with listening(routes, slack_limits(slack), HTTP_ADDRESS, slack.http_host, slack.http_port):
        health.passed(HealthCheck.SLACK)
        log.info("waiting for Slack at http://%s:%s%s", slack.http_host, slack.http_port, EVENTS_PATH)
        if ready is not None:
            ready()
        try:
            await stop.wait()
        finally:
            health.failed(HealthCheck.SLACK, "The port for Slack is closed.")


class _Events:
    def __init__(
        self, bolt: AsyncApp, slack: SlackSettings, verifier: SignatureVerifier, now: Callable[[], float]
    ) -> None:
        self._bolt, self._slack, self._verifier, self._now = bolt, slack, verifier, now

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        headers = request.headers
        if request.method != "POST":
            return refusal(405)
        if not self._may_be_signed(headers):
            return refusal(401)
        body = await read_body(request, self._slack.http_body_timeout, self._slack.http_max_body_bytes)
        if isinstance(body, int):
            return refusal(body)
        try:
            if not self._verifier.is_valid(body, headers[_TIMESTAMP], headers[_SIGNATURE]):
                return refusal(401)
            bolt_request = AsyncBoltRequest(
                body=body.decode(), query=request.query_string, headers=dict(headers)
            )
            _check_shape(bolt_request.body)
        except _UNREADABLE:
            return refusal(400)
        keep_open(request)
        return await to_aiohttp_response(await self._bolt.async_dispatch(bolt_request))

    def _may_be_signed(self, headers: Mapping[str, str]) -> bool:
        """Whether the head could be Slack's.

        The SDK raises for a timestamp that is no number, and for non-ASCII text.
        """
        timestamp, signature = headers.get(_TIMESTAMP, ""), headers.get(_SIGNATURE, "")
        is_time = timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= _TIMESTAMP_DIGITS
        is_recent = is_time and abs(self._now() - int(timestamp)) <= _OLDEST
        return is_recent and signature.isascii() and bool(signature)


def _check_shape(body: Mapping[str, Any]) -> None:
    """Raise TypeError for a body in which Bolt would fail, because a part has another type than Slack's."""
    event, view, actions = body.get("event", {}), body.get("view", {}), body.get("actions", [{}])
    if not isinstance(event, dict) or not isinstance(view, dict | None):
        raise TypeError("an event or a view is no object")
    if not isinstance(actions, list) or not actions or not all(isinstance(each, dict) for each in actions):
        raise TypeError("actions are no objects")
    kinds = (
        body.get("type"),
        event.get("type"),
        event.get("subtype"),
        *(each.get("type") for each in actions),
    )
    if not all(isinstance(kind, str | None) for kind in kinds):
        raise TypeError("a type is no text")
