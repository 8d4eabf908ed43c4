"""What is remembered of a trusted agent card, and what of a later one is another matter.

That is where the agent is asked, and how it wants to be logged in to: whoever can change it can have the
questions and the credentials.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, Self
from urllib.parse import urlsplit, urlunsplit

from ...turn.json_values import list_of, object_of, read_json
from .auth import bare, origin_of
from .card import AgentCard
from .frames import quote

ACCEPT_CARD = "SLACK_BOT_AGENT__ACCEPT_CARD"
_FINGERPRINT_CHARS = 24
_MOST_NAMED = 10  # addresses, or schemes, in a sentence


class CardMemory(Protocol):
    """What was trusted of the card at an address, as text; "" at first. Both methods raise StoreError."""

    async def read(self, address: str) -> str: ...

    async def write(self, address: str, text: str) -> None: ...


@dataclass(frozen=True, slots=True)
class CardFacts:
    """What of a card must not change unseen, each in an order of its own."""

    addresses: tuple[str, ...]
    security: tuple[str, ...]

    @classmethod
    def of(cls, card: AgentCard) -> Self:
        addresses = {_address(each.url, each.tenant) for each in card.interfaces}
        return cls(tuple(sorted(addresses)), tuple(sorted(set(card.security))))

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """None: nothing was trusted yet, or it cannot be read."""
        try:
            found = object_of(read_json(text))
        except (ValueError, RecursionError):
            return None
        if not found:
            return None
        return cls(*(tuple(map(str, list_of(found.get(name)))) for name in ("addresses", "security")))

    @property
    def text(self) -> str:
        return json.dumps({"addresses": self.addresses, "security": self.security})

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()[:_FINGERPRINT_CHARS]

    def changes_to(self, later: Self) -> str:
        """What an operator has to know of `later`; "": nothing. An address fewer changes nothing, nor does
        one more at a server that is still named as before.
        """
        kept = {origin_of(each) for each in later.addresses if each in self.addresses}
        is_elsewhere = any(
            each not in self.addresses and origin_of(each) not in kept for each in later.addresses
        )
        return " and ".join(self._changes(later, is_elsewhere=is_elsewhere))

    def _changes(self, later: Self, *, is_elsewhere: bool) -> Iterator[str]:
        if is_elsewhere:
            yield f"the address ({_listed(self.addresses)} -> {_listed(later.addresses)})"
        if later.security != self.security:
            yield f"the security ({_listed(self.security)} -> {_listed(later.security)})"


def card_address(url: str) -> str:
    """`url` without what may be a secret: of its query only a mark that it is another one."""
    parts = urlsplit(bare(url))
    scheme, host = parts.scheme.lower(), parts.netloc.lower()
    mark = f"query-{hashlib.sha256(parts.query.encode()).hexdigest()[:8]}" if parts.query else ""
    return urlunsplit((scheme, host, parts.path or "/", mark, ""))


def _address(url: str, tenant: str | None) -> str:
    return f"{card_address(url)} (tenant {tenant})" if tenant else card_address(url)


def _listed(names: tuple[str, ...]) -> str:
    shown = [quote(each).replace("; ", ", ") for each in names[:_MOST_NAMED]]
    more = [f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else []
    return ", ".join([*shown, *more]) or "none"
