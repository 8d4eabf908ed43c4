"""Opens the store that an address names.

Each kind of store is a module with an `OPENER`, and a row in `store_kinds`. The module is imported only when
it is used, because the library of another kind may not be installed.
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

    `lock_wait`: seconds to wait for another process that holds the store. `lease`: seconds without a renewal
    after which other replicas take over the threads of a process. `patience`: seconds for one call of a
    server.
    """

    url: str
    ages: Ages
    collections: Sequence[Collection[Any]]
    lock_wait: float = 0.0
    lease: float = 10.0
    patience: float = 2.0


@dataclass(frozen=True, slots=True)
class JoinedStore:
    """A store that a bot may be using at the same time.

    `is_alone`: this process holds the store. `has_bot`: asks whether a bot is running.
    """

    store: Store
    is_alone: bool
    has_bot: Callable[[], Awaitable[bool]]


class Calls(Protocol):
    """Receives the result of each call of a server."""

    def failed(self, problem: str) -> None:
        """A call had no answer, for the reason `problem`."""

    def passed(self) -> None:
        """A call was answered."""


class OpenableAdmin(StoreAdmin, Protocol):
    """The store of an operator's command, before it is opened."""

    async def open(self) -> None:
        """Open the store. Raises StoreError."""


class StoreOpener(Protocol):
    """What the module of a store has as `OPENER`.

    Methods raise SettingsError for a bad address, else StoreError.
    """

    def place(self, url: str) -> str:
        """The address without its password, for messages to people."""

    async def open(self, options: StoreOptions, calls: Calls) -> Store:
        """Open the store for a bot. `calls` receives the result of each later call of the server."""

    async def join(self, options: StoreOptions) -> JoinedStore:
        """Open the store beside a running bot, or hold it if none is running."""

    def admin(self, options: StoreOptions) -> OpenableAdmin:
        """A store that must exist already, for an operator's command. It is not open yet."""

    async def is_held(self, url: str) -> bool:
        """Whether another process has locked the store."""


def opener_of(url: str) -> StoreOpener:
    """The opener for the kind of store that `url` names.

    Raises ImportError if its library is not installed.
    """
    opener: StoreOpener = import_module(f".{store_kind(url).module}", __package__).OPENER
    return opener


async def open_store(options: StoreOptions, calls: Calls) -> Store:
    """Open the store for a bot. Raises SettingsError and StoreError."""
    return await opener_of(options.url).open(options, calls)


async def check_store(options: StoreOptions) -> None:
    """Raise SettingsError or StoreError if the store cannot be used.

    Changes nothing and waits for no lock.
    """
    if not store_kind(options.url).is_lost:
        with suppress(StoreMissing, StoreOutdated):  # the start makes it, or brings it up to date
            async with open_admin(options):
                pass


async def join_store(options: StoreOptions) -> JoinedStore:
    """Open the store beside a bot that may be running. Raises SettingsError and StoreError."""
    return await opener_of(options.url).join(options)


@asynccontextmanager
async def open_admin(options: StoreOptions) -> AsyncIterator[StoreAdmin]:
    """Open a store that exists, for an operator's command, and close it at the end.

    Raises StoreError, and SettingsError if the address names a store in memory.
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
