"""One token for all calls of a process: from a token endpoint, or from a file that another program renews.

A fetched token is renewed in the background after 80 % of its life. Calls use the old one meanwhile, and wait
only if there is none. One fetch at a time serves all calls. Tokens are kept in memory only.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from ...clock import Clock
from ...errors import AgentError, TokenUnavailable
from .auth import TokenSource

_log = logging.getLogger(__name__)

RENEW_AT = 0.8  # of a token's life
_RETRY_PAUSE = 5.0
"""Seconds until a failed renewal is tried again, while the old token is still valid."""
_HUNG = 10.0
"""Seconds without another attempt after a token server did not answer: each question would wait for it."""
_UNTRIED = 10.0
"""Seconds without another token after the agent refused a new one: it would refuse the next one, too."""
_MOST_FILE_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class FetchedToken:
    """A token, and the seconds for which it is valid after it was asked for."""

    value: str = field(repr=False)
    life: float


@dataclass(slots=True)
class _Current:
    value: str = field(repr=False)
    fetched_at: float
    renew_at: float
    ends_at: float
    is_accepted: bool = False


class FetchedTokens(TokenSource):
    """Tokens from a token endpoint. `fetch` gets a new one, or raises TokenUnavailable or TokenRefused."""

    def __init__(self, fetch: Callable[[], Awaitable[FetchedToken]], clock: Clock) -> None:
        self._fetch, self._now = fetch, clock.monotonic
        self._current: _Current | None = None
        self._retry_at = self._hung_until = float("-inf")
        self._hung = ""  # what was said of a server that did not answer
        self._fetching: asyncio.Task[_Current] | None = None

    @property
    def secrets(self) -> tuple[str, ...]:
        return () if self._current is None else (self._current.value,)

    async def token(self) -> str:
        current, now = self._current, self._now()
        if current is None or now >= current.ends_at:
            if now < self._hung_until:
                raise TokenUnavailable(self._hung, is_slow=True)
            return (await self._fetched()).value
        if now >= max(current.renew_at, self._retry_at):
            self._begin_fetch()
        return current.value

    async def renewed(self, refused: str) -> str | None:
        current = self._current
        if current is not None and current.value == refused:
            if not current.is_accepted and self._now() < current.fetched_at + _UNTRIED:
                return None
            self._current = None
        new = await self.token()
        return None if new == refused else new

    def accept(self, token: str) -> None:
        if self._current is not None and self._current.value == token:
            self._current.is_accepted = True

    async def _fetched(self) -> _Current:
        """Wait for the running fetch.

        If the caller is cancelled the fetch goes on, because others wait for it.
        """
        return await asyncio.shield(self._begin_fetch())

    def _begin_fetch(self) -> asyncio.Task[_Current]:
        if self._fetching is None:
            self._fetching = asyncio.create_task(self._fetch_one(), name="token for the agent")
            self._fetching.add_done_callback(self._end_fetch)
        return self._fetching

    async def _fetch_one(self) -> _Current:
        began = self._now()
        token = await self._fetch()
        return _Current(token.value, began, began + RENEW_AT * token.life, began + token.life)

    def _end_fetch(self, fetching: asyncio.Task[_Current]) -> None:
        self._fetching = None
        if fetching.cancelled():
            return
        if (error := fetching.exception()) is None:
            self._current = fetching.result()
            return
        self._retry_at = self._now() + _RETRY_PAUSE
        if isinstance(error, TokenUnavailable) and error.is_slow:
            self._hung, self._hung_until = error.brief, self._now() + _HUNG
        if self._current is not None and (seconds_left := self._current.ends_at - self._now()) > 0:
            why = error.brief if isinstance(error, AgentError) else type(error).__name__
            _log.warning(
                "the token for the agent is good for %.0f s more, and no new one came: %s", seconds_left, why
            )


class FileTokens(TokenSource):
    """The token in a file, read for each call. Another program renews the file."""

    def __init__(self, path: str, setting: str) -> None:
        self._path, self._setting, self._last = path, setting, ""

    @property
    def secrets(self) -> tuple[str, ...]:
        return (self._last,) if self._last else ()

    async def token(self) -> str:
        self._last = read_token(self._path, self._setting)
        return self._last

    async def renewed(self, refused: str) -> str | None:
        token = await self.token()
        return None if token == refused else token

    def accept(self, token: str) -> None:
        """Does nothing: a file's token is read again anyway."""


def read_token(path: str, setting: str) -> str:
    """Read the token in a file. Raises TokenUnavailable if there is no file or no token in it."""
    try:
        with Path(path).open("rb") as file:
            token = file.read(_MOST_FILE_BYTES).decode("ascii").strip()
    except OSError as error:
        raise TokenUnavailable(
            f"{path} cannot be read ({error.strerror}); correct {setting}, or the owner and mode of that file"
        ) from error
    except UnicodeDecodeError:
        token = ""
    if not token or not token.isprintable() or " " in token:
        raise TokenUnavailable(
            f"{path} holds no token; {setting} names a file with one token and nothing else"
        )
    return token
