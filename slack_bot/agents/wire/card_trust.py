"""Remembers what a trusted agent card said, and which changes of a later card are not accepted.

These are the agent's addresses and its logins: whoever can change them can get the questions and the
credentials.
"""

import hashlib
import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, Self
from urllib.parse import urlsplit, urlunsplit

from ...clock import Clock
from ...errors import AgentError, CardError, CardUntrusted, StoreError
from ...settings.agents import sentence_of
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
    """Reads and stores facts by subject and name. Both methods raise StoreError."""

    async def profile(self, agent: str) -> dict[str, str]: ...

    async def save_fact(self, agent: str, name: str, value: str, now: float) -> None: ...


class CardTrust:
    """Decides which card of the configured agent is trusted, and says why another one is not."""

    def __init__(self, settings: AgentSettings, store: FactStore | None, clock: Clock, name: str) -> None:
        self._address, self._accepted = card_address(settings.url or ""), settings.accept_card or ""
        self._store, self._clock = store, clock
        self._name = name
        self._trusted: CardFacts | None = None
        self._refusal = ""

    async def check(self, card: AgentCard) -> None:
        """Compare the card with the trusted one. A signed card may change, because the signature is the
        proof.

        Raises CardUntrusted if it has changed, and CardError if the store cannot be asked.
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
        """Whether the error means that no card may be used, not even an older one.

        The reason is logged once.
        """
        if not isinstance(error, CardUntrusted):
            return False
        if self._refusal != str(error):
            self._refusal = str(error)
            _log.error("the agent is not asked: %s", sentence_of(self._name, str(error)))
        return True


@dataclass(frozen=True, slots=True)
class CardFacts:
    """What must not change in a card without notice: its addresses and its logins, both sorted."""

    addresses: tuple[str, ...]
    security: tuple[str, ...]

    @classmethod
    def of(cls, card: AgentCard) -> Self:
        addresses = {_address(each.url, each.tenant) for each in card.interfaces}
        return cls(tuple(sorted(addresses)), tuple(sorted(set(card.security))))

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Read stored facts; None if there are none, or if they cannot be read."""
        try:
            stored = object_of(read_json(text))
        except (ValueError, RecursionError):
            return None
        if not stored:
            return None
        return cls(*(tuple(map(str, list_of(stored.get(name)))) for name in ("addresses", "security")))

    @property
    def text(self) -> str:
        return json.dumps({"addresses": self.addresses, "security": self.security})

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()[:_FINGERPRINT_CHARS]

    def changes_to(self, later: Self) -> str:
        """What an operator has to know about `later`, or "".

        A missing address is no change, and neither is a new one at a server that the later card also names
        with a known address.
        """
        known_origins = {origin_of(each) for each in later.addresses if each in self.addresses}
        is_elsewhere = any(
            each not in self.addresses and origin_of(each) not in known_origins for each in later.addresses
        )
        return " and ".join(self._changes(later, is_elsewhere=is_elsewhere))

    def _changes(self, later: Self, *, is_elsewhere: bool) -> Iterator[str]:
        if is_elsewhere:
            yield f"the address ({_listed(self.addresses)} -> {_listed(later.addresses)})"
        if later.security != self.security:
            yield f"the security ({_listed(self.security)} -> {_listed(later.security)})"


def card_address(url: str) -> str:
    """`url` without what may be secret.

    The query is replaced by a mark, so that another query can be noticed.
    """
    parts = urlsplit(bare(url))
    scheme, host = parts.scheme.lower(), parts.netloc.lower()
    mark = f"query-{hashlib.sha256(parts.query.encode()).hexdigest()[:8]}" if parts.query else ""
    return urlunsplit((scheme, host, parts.path or "/", mark, ""))


def _address(url: str, tenant: str | None) -> str:
    return f"{card_address(url)} (tenant {tenant})" if tenant else card_address(url)


def _listed(names: Sequence[str]) -> str:
    quoted = [quote(each).replace("; ", ", ") for each in names[:_MOST_NAMED]]
    more = [f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else []
    return ", ".join([*quoted, *more]) or "none"
