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
        self._reads: dict[tuple[object, ...], asyncio.Task[Mapping[str, Any] | None]] = {}  # under way

    async def user(self, user: str, patience: float | None = None) -> Mapping[str, Any] | None:
        """The `user` of `users.info`.

        `patience`: the most seconds to wait for it, where a failure a while ago does not count. None:
        `lookup_timeout`, and it does.
        """
        found = await self._ask("users.info", {"user": user, "include_locale": "true"}, patience)
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

    async def _ask(
        self, method: str, args: Mapping[str, str], patience: float | None = None
    ) -> Mapping[str, Any] | None:
        key, now = (method, *args.values()), self._clock.monotonic()
        known, until = self._known.get(key, (None, now))
        if now < until and (known is not None or patience is None):
            return known
        self._known.pop(key, None)
        seconds = self._settings.lookup_timeout if patience is None else patience
        if (seconds, *key) not in self._reads:
            reading = self._read(key, method, args, seconds)
            self._reads[seconds, *key] = asyncio.create_task(reading, name=f"read {key}")
        read = self._reads[seconds, *key]
        await asyncio.wait({read}, timeout=seconds)
        if read.done():
            return read.result()
        self._remember(key, None)
        return None

    async def _read(
        self, key: tuple[str, ...], method: str, args: Mapping[str, str], seconds: float
    ) -> Mapping[str, Any] | None:
        try:
            result = await self._api.call(method, args, patience=seconds)
        finally:
            del self._reads[seconds, *key]
        found = None if isinstance(result, CallFailed) else result.data
        if found is not None or key not in self._known:
            self._remember(key, found)
        return found

    def _remember(self, key: tuple[str, ...], found: Mapping[str, Any] | None) -> None:
        ttl = self._settings.lookup_ttl if found is not None else self._settings.lookup_retry
        self._known[key] = found, self._clock.monotonic() + ttl
        if len(self._known) > _MOST:
            del self._known[next(iter(self._known))]
