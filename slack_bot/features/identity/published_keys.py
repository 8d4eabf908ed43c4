"""Serves the public keys of the tokens that say who asks: `GET /.well-known/jwks.json`, in HTTP mode.

In Socket Mode the bot has no address for it: `slack-bot keys` prints the same, for a file or a web server.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from ...agents.wire.person_signer import public_keys, signing_keys
from ...inbound.http_server import Handler, refusal
from ...settings.identity import IdentitySettings
from ...settings.models import SlackSettings
from ..feature import BotParts, Feature, FeatureWork, SettingsCheck
from .exchanged import EXCHANGED, serve_threads
from .identity_check import check

KEYS_PATH = "/.well-known/jwks.json"
_CACHE = "public, max-age=300"


class PublishedKeys:
    """Answers with the key set of `settings`."""

    def __init__(self, settings: IdentitySettings) -> None:
        self._settings = settings
        self._keys: Mapping[str, Any] = {}

    @property
    def routes(self) -> Mapping[str, Handler]:
        return {KEYS_PATH: self._handle}

    async def check_port(self, wait: float) -> None:
        """It has no port of its own."""

    async def prepare(self) -> None:
        """Read the keys. Raises SettingsError if one cannot be used."""
        self._keys = public_keys(signing_keys(self._settings))

    @asynccontextmanager
    async def listening(self, slack: SlackSettings) -> AsyncIterator[None]:
        """In Socket Mode nothing listens for it."""
        yield

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.method not in ("GET", "HEAD"):
            return refusal(405)
        return web.json_response(self._keys, headers={"Cache-Control": _CACHE})


def start(bot: BotParts) -> FeatureWork:
    """Publish the keys, if there are any."""
    settings = bot.common.settings.identity
    return FeatureWork(receiver=PublishedKeys(settings)) if settings.keys else FeatureWork()


FEATURE = Feature(
    "identity",
    start,
    serve_threads,
    check=SettingsCheck(check, ("issuer", "keys")),
    collections=(EXCHANGED,),
)
