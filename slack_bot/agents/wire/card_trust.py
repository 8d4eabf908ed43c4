"""What is remembered of a trusted agent card, and what of a later one is another matter.

That is where the agent is asked, and how it wants to be logged in to: who can change it can have the
questions and the credentials.
"""

import hashlib
import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, Self
from urllib.parse import urlsplit, urlunsplit

from ...clock import Clock
from ...errors import AgentError, CardError, CardUntrusted, StoreError
from ...settings.models import AgentSettings
from ...turn.json_values import list_of, object_of, read_json
from .auth import bare, origin_of
from .card import AgentCard
from .frames import quote

_log = logging.getLogger(__name__)

ACCEPT_CARD = "SLACK_BOT_AGENT__ACCEPT_CARD"
_FACT = "trusted"  # its name in the store
_FINGERPRINT_CHARS = 24
_MOST_NAMED = 10  # addresses, or schemes, in a sentence


class FactStore(Protocol):
    """Facts, by subject and by name. Both methods raise StoreError."""

    async def profile(self, agent: str) -> dict[str, str]: ...

    async def save_fact(self, agent: str, name: str, value: str, now: float) -> None: ...


class CardTrust:
    """Which card of the agent of `settings` is believed, and why another one is not."""

    def __init__(self, settings: AgentSettings, store: FactStore | None, clock: Clock) -> None:
        self._address, self._accepted = card_address(settings.url or ""), settings.accept_card or ""
        self._store, self._clock = store, clock
        self._trusted: CardFacts | None = None
        self._refusal = ""

    async def check(self, card: AgentCard) -> None:
        """CardUntrusted: it is not as it was. A signed one may change: the signature is the proof.

        CardError: that cannot be looked up.
        """
        if self._store is not None:
            await self._compare(card, self._store)
        self._refusal = ""

    async def _compare(self, card: AgentCard, store: FactStore) -> None:
        facts, whose = CardFacts.of(card), f"card of {self._address}"
        try:
            trusted = CardFacts.parse((await store.profile(whose)).get(_FACT, ""))
        except StoreError as error:
            if self._trusted != facts:
                raise CardError(f"what was trusted of the agent card cannot be looked up: {error}") from error
            return
        changes = "" if trusted is None or card.signed_by else trusted.changes_to(facts)
        if changes and self._accepted.strip().lower() != facts.fingerprint:
            raise CardUntrusted(
                f"the agent card of {self._address} has changed {changes} since it was trusted; if that is"
                f" right, set {ACCEPT_CARD}={facts.fingerprint}, else ask who runs the agent"
            )
        self._trusted = facts
        if trusted is None or changes or (card.signed_by and trusted != facts):
            try:
                await store.save_fact(whose, _FACT, facts.text, self._clock.wall())
            except StoreError as error:
                _log.error("which agent card is trusted was not stored: %s", error)

    def is_lost(self, error: AgentError) -> bool:
        """No card may be used, not even an older one. The log says once why."""
        if not isinstance(error, CardUntrusted):
            return False
        if self._refusal != str(error):
            self._refusal = str(error)
            _log.error("the agent is not asked: %s", error)
        return True


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
