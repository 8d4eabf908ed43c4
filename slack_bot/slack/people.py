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
    """Reads of people. None: Slack does not say, or not in time; it is not asked again for a while.

    An answer that comes too late counts for who asks after it.
    """

    def __init__(self, api: SlackApi, settings: SlackSettings, clock: Clock) -> None:
        self._api, self._settings, self._clock = api, settings, clock
        self._known: dict[tuple[str, ...], tuple[Mapping[str, Any] | None, float]] = {}
        self._reads: dict[tuple[str, ...], asyncio.Task[Mapping[str, Any] | None]] = {}  # under way

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
        if key not in self._reads:
            self._reads[key] = asyncio.create_task(self._read(key, method, args), name=f"read {key}")
        read, timeout = self._reads[key], self._settings.lookup_timeout
        await asyncio.wait({read}, timeout=timeout)
        if read.done():
            return read.result()
        self._remember(key, None)
        return None

    async def _read(
        self, key: tuple[str, ...], method: str, args: Mapping[str, str]
    ) -> Mapping[str, Any] | None:
        try:
            result = await self._api.call(method, args, patience=self._settings.lookup_timeout)
        finally:
            del self._reads[key]
        found = None if isinstance(result, CallFailed) else result.data
        if found is not None or key not in self._known:
            self._remember(key, found)
        return found

    def _remember(self, key: tuple[str, ...], found: Mapping[str, Any] | None) -> None:
        ttl = self._settings.lookup_ttl if found is not None else self._settings.lookup_retry
        self._known[key] = found, self._clock.monotonic() + ttl
        if len(self._known) > _MOST:
            del self._known[next(iter(self._known))]
