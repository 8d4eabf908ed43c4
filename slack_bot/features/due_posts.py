"""Posts that are kept until they are made: a process that ends leaves them to the next one."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from ..errors import StoreError
from ..store.collection import Collection, CollectionStore, Key

_log = logging.getLogger(__name__)

SPARE = 10.0  # seconds after which another process makes a post that this one was to make
_AGAIN, _GIVE_UP = 30.0, 3600.0  # seconds until a post is tried again, and after which it is not
_AT_ONCE = 20


@dataclass(frozen=True, slots=True)
class KeptPost:
    """`at`, `due`: seconds since 1970. `due`: when any process makes the post; None: never again. `ts`: of
    its message.
    """

    at: float
    due: float | None = None
    ts: str = ""


P = TypeVar("P", bound=KeptPost)
T = TypeVar("T")


class DuePosts(Generic[P]):
    """The posts of one collection. `wall`: the time in seconds since 1970."""

    def __init__(self, store: CollectionStore, collection: Collection[P], wall: Callable[[], float]) -> None:
        self._store, self._collection = store, collection
        self._wall = wall
        self._making = set[Key]()

    async def add(self, key: Key, post: P) -> bool:
        """Keep `post`, which this process makes now. False: it was kept before. Raises StoreError."""
        now = self._wall()
        kept = replace(post, due=now + SPARE)

        def added(post_before: P | None) -> P | None:
            return post_before or kept

        offer = await self._store.change(self._collection, key, added, now)
        return offer.before is None

    async def find(self, key: Key) -> P | None:
        """The post with this key. Raises StoreError."""
        return await self._store.get(self._collection, key)

    async def change(self, key: Key, revise: Callable[[P], P]) -> P | None:
        """Change a kept post. Returns it as it was. Raises StoreError."""

        def revised(post_before: P | None) -> P | None:
            return None if post_before is None else revise(post_before)

        revision = await self._store.change(self._collection, key, revised, self._wall())
        return revision.before

    async def remove(self, key: Key) -> None:
        """Forget a post. Raises StoreError."""
        await self._store.remove(self._collection, key)

    async def make(self, key: Key, work: Awaitable[T]) -> T:
        """Await `work`, which makes the post. No other process makes it meanwhile."""
        self._making.add(key)
        renewing = asyncio.create_task(self._renew(key), name=f"renew {key}")
        try:
            return await work
        finally:
            renewing.cancel()
            self._making.discard(key)

    async def _renew(self, key: Key) -> None:
        def renewed(post_before: P) -> P:
            due = None if post_before.due is None else self._wall() + SPARE
            return replace(post_before, due=due)

        while True:
            await asyncio.sleep(SPARE / 2)
            try:
                await self.change(key, renewed)
            except StoreError as error:
                _log.log(error.log_level, "that a post is being made was not stored: %s", error)

    async def note(self, key: Key, ts: str) -> None:
        """It was made as `ts`; "": Slack did not take it. A store that fails is only logged: the post is
        looked for then before it is made again.
        """
        now = self._wall()

        def noted(post_before: P) -> P:
            due = None if ts or now - post_before.at > _GIVE_UP else now + _AGAIN
            return replace(post_before, due=due, ts=ts)

        try:
            await self.change(key, noted)
        except StoreError as error:
            _log.log(error.log_level, "that a post was made was not stored: %s", error)

    async def run(
        self, key_of: Callable[[P], Key], make: Callable[[P], Awaitable[None]], interval: float
    ) -> None:
        """Make what a process that ended did not. Looks each `interval` seconds. Never returns."""
        while True:
            try:
                for post in await self._store.due(self._collection, self._wall(), _AT_ONCE):
                    key = key_of(post)
                    if key not in self._making and await self._claim(key, post.due):
                        await self.make(key, make(post))
            except StoreError as error:
                _log.log(error.log_level, "the store was not asked for posts: %s", error)
                await asyncio.sleep(_AGAIN)
            await asyncio.sleep(interval)

    async def _claim(self, key: Key, due: float | None) -> bool:
        """False: another process has it."""
        until = self._wall() + SPARE
        before = await self.change(
            key,
            lambda post_before: replace(post_before, due=until) if post_before.due == due else post_before,
        )
        return before is not None and before.due == due
