"""Who people are, and who is in a user group: asked of Slack when it is needed, and remembered."""

import asyncio
from collections.abc import Mapping
from typing import Any

from ..clock import Clock
from ..settings.models import SlackSettings
from .api import SlackApi
from .faults import CallFailed

_MOST = 10_000  # answers; beyond it the oldest is dropped


class People:
    """Reads of people. None: Slack does not say, or not in time; it is not asked again for a while."""

    def __init__(self, api: SlackApi, settings: SlackSettings, clock: Clock) -> None:
        self._api, self._settings, self._clock = api, settings, clock
        self._known: dict[tuple[str, ...], tuple[Mapping[str, Any] | None, float]] = {}

    async def user(self, user: str) -> Mapping[str, Any] | None:
        """The `user` of `users.info`."""
        found = await self._ask("users.info", {"user": user, "include_locale": "true"})
        known = found and found.get("user")
        return known if isinstance(known, Mapping) else None

    async def channel(self, channel: str) -> Mapping[str, Any] | None:
        """The `channel` of `conversations.info`."""
        found = await self._ask("conversations.info", {"channel": channel})
        known = found and found.get("channel")
        return known if isinstance(known, Mapping) else None

    async def members(self, group: str) -> frozenset[str] | None:
        """The ids of those in a user group."""
        found = await self._ask("usergroups.users.list", {"usergroup": group})
        known = found and found.get("users")
        return frozenset(map(str, known)) if isinstance(known, list) else None

    async def _ask(self, method: str, args: Mapping[str, str]) -> Mapping[str, Any] | None:
        key, now = (method, *args.values()), self._clock.monotonic()
        known, until = self._known.get(key, (None, now))
        if now < until:
            return known
        self._known.pop(key, None)
        try:
            async with asyncio.timeout(self._settings.lookup_timeout):
                result = await self._api.call(method, args, patience=self._settings.lookup_timeout)
        except TimeoutError:
            found = None
        else:
            found = None if isinstance(result, CallFailed) else result.data
        ttl = self._settings.lookup_ttl if found is not None else self._settings.lookup_retry
        self._known[key] = found, self._clock.monotonic() + ttl
        if len(self._known) > _MOST:
            del self._known[next(iter(self._known))]
        return found
