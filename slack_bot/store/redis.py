"""The store of several replicas, in Redis."""

from __future__ import annotations

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from ..errors import SettingsError

SCHEMES = ("redis://", "rediss://")


def connect(url: str, timeout: float) -> Redis:
    """A client for `url`; nothing is sent. `timeout`: seconds for each command. Raises SettingsError.

    A connection that Redis has closed meanwhile is replaced once; nothing else is repeated.
    """
    try:
        return Redis.from_url(
            url,
            decode_responses=True,
            socket_timeout=timeout,
            socket_connect_timeout=timeout,
            retry=Retry(NoBackoff(), 1),
        )
    except ValueError as error:
        raise SettingsError(
            f"SLACK_BOT_STORE__URL cannot be read ({error}); write redis://host:6379/0, or rediss:// for TLS."
        ) from None
