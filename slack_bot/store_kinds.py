"""PURE. The kinds of stores, by the scheme of their address: what each of them shares and needs."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoreKind:
    """A kind of store. `is_shared`: several processes work with it at once. `is_lost`: it ends with the
    process. `is_file`: `doctor` looks at its folder and disk. `needs`: a library.

    `module`: in `slack_bot.store`, with its OPENER. It opens the store for the bot and for an operator, so it
    is not the store's own module: `sqlite_admin` imports `sqlite`.
    """

    module: str
    is_shared: bool = False
    is_lost: bool = False
    is_file: bool = False
    needs: str = ""


_REDIS = StoreKind("redis_admin", is_shared=True, needs="redis")
STORES: Mapping[str, StoreKind] = {
    "sqlite": StoreKind("sqlite_admin", is_file=True),
    "memory": StoreKind("sqlite_admin", is_lost=True),
    "redis": _REDIS,
    "rediss": _REDIS,
    "redis+sentinel": _REDIS,
    "rediss+sentinel": _REDIS,
}
"""By the scheme of the address."""


def store_kind(url: str) -> StoreKind:
    """An address with a scheme that no store has is no address: the settings refuse it."""
    return STORES.get(url.partition("://")[0], STORES["sqlite"])


def is_store_address(url: str) -> bool:
    """A store has the scheme of `url`, which also says where it is."""
    kind, place = STORES.get(url.partition("://")[0]), url.partition("://")[2]
    if kind is None or kind.is_lost:
        return kind is not None
    return len(place) > 1 and place.startswith("/") if kind.is_file else place != ""
