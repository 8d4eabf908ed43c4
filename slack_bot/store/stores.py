"""The store that an address names is opened.

A store is one module with an OPENER, and a row in `store_kinds`. Its module is imported when it is used: the
library of another one may not be installed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

from ..errors import SettingsError, StoreMissing, StoreOutdated
from ..store_kinds import store_kind
from .collection import Ages, Collection
from .contracts import Store, StoreAdmin


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """How a store is opened.

    `lock_wait`: seconds for which another process may still hold it. `lease`: seconds without a sign of life
    after which other replicas take over. `patience`: seconds for one call of a server.
    """

    url: str
    ages: Ages
    collections: Sequence[Collection[Any]]
    lock_wait: float = 0.0
    lease: float = 10.0
    patience: float = 2.0


@dataclass(frozen=True, slots=True)
class JoinedStore:
    """A store that a bot may be using. `is_alone`: this process holds it. `has_bot`: whether a bot runs."""

    store: Store
    is_alone: bool
    has_bot: Callable[[], Awaitable[bool]]


class Calls(Protocol):
    """Learns how the calls of a server go."""

    def failed(self, problem: str) -> None:
        """There was no answer."""

    def passed(self) -> None:
        """There was one."""


class OpenableAdmin(StoreAdmin, Protocol):
    """A store that is to be opened."""

    async def open(self) -> None:
        """Raises StoreError."""


class StoreOpener(Protocol):
    """What a store's module gives as OPENER. All raise SettingsError for an address, else StoreError."""

    def place(self, url: str) -> str:
        """The address for people, without a password."""

    async def open(self, options: StoreOptions, calls: Calls) -> Store:
        """For a bot. `calls` learns of those from then on."""

    async def join(self, options: StoreOptions) -> JoinedStore:
        """Beside a bot, or in its place."""

    def admin(self, options: StoreOptions) -> OpenableAdmin:
        """One that exists: to be opened."""

    async def is_held(self, url: str) -> bool:
        """Whether another process has it alone."""


def opener_of(url: str) -> StoreOpener:
    """Raises ImportError where its library is not installed."""
    opener: StoreOpener = import_module(f".{store_kind(url).module}", __package__).OPENER
    return opener


async def open_store(options: StoreOptions, calls: Calls) -> Store:
    """The store of a bot. Raises SettingsError and StoreError."""
    return await opener_of(options.url).open(options, calls)


async def check_store(options: StoreOptions) -> None:
    """Raises SettingsError or StoreError where the store cannot be used. Nothing is changed or waited for."""
    if not store_kind(options.url).is_lost:
        with suppress(StoreMissing, StoreOutdated):  # the start makes it, or brings it up to date
            async with open_admin(options):
                pass


async def join_store(options: StoreOptions) -> JoinedStore:
    """The store, beside a bot that uses it. Raises SettingsError and StoreError."""
    return await opener_of(options.url).join(options)


@asynccontextmanager
async def open_admin(options: StoreOptions) -> AsyncIterator[StoreAdmin]:
    """A store that exists, for an operator.

    Raises StoreError, and SettingsError for an address that has none.
    """
    if store_kind(options.url).is_lost:
        raise SettingsError(
            f"SLACK_BOT_STORE__URL is {options.url}, which is gone when the bot's process ends; this verb"
            " works with sqlite:///file.sqlite and redis://host:6379/0."
        )
    store = opener_of(options.url).admin(options)
    try:
        await store.open()
        yield store
    finally:
        await store.close()
