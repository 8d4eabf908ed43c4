"""Keeps the tokens that were exchanged for people, encrypted: a process that takes an answer over masks those
of the one that died. Nobody is asked with them, as each process exchanges its own.

They are encrypted with keys that are made of those that sign for people. Who has these can have the server
give such tokens anyway.
"""

from __future__ import annotations

import base64
import json
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from ...agents.wire.asker_tokens import ExchangedMemory
from ...agents.wire.person_signer import signing_keys
from ...clock import Clock
from ...errors import StoreError
from ...settings.identity import IdentitySettings
from ...store.collection import Collection, CollectionStore, KeptPerson, Key
from ...threads.ports import CommonParts, ThreadPorts
from ...turn.json_values import list_of, read_json, text_of
from ...turn.people import AskingPerson
from ..vault import KEY_BYTES, Vault

if TYPE_CHECKING:
    from joserfc.jwk import ECKey

_log = logging.getLogger(__name__)

_MOST = 6  # for one person and agent: those of some replicas, and of some renewals
_AGE = 86_400.0  # seconds: no token is used longer (`agents/wire/token_endpoint.py`)
_PURPOSE = b"slack-bot exchanged tokens"


class ExchangedKey(NamedTuple):
    """A person of a workspace, and the agent that gets the tokens."""

    team: str
    user: str
    agent: str


@dataclass(frozen=True, slots=True)
class ExchangedTokens:
    """The newest tokens, encrypted. `kept_at`: when the last one came, in seconds since 1970."""

    sealed: str = field(repr=False)
    kept_at: float


def _person_of(key: Key, _record: ExchangedTokens) -> list[KeptPerson]:
    return [KeptPerson(key[1], key[0])]


EXCHANGED = Collection(
    "exchanged_tokens",
    ExchangedTokens,
    age=lambda _: _AGE,
    since=lambda record: record.kept_at,
    people=_person_of,
    view=lambda key, record, _user: {"agent": key[2], "at": record.kept_at},
    label="tokens that were exchanged",
)
"""By workspace, person and agent."""


class KeptTokens(ExchangedMemory):
    """Those in the store. A store that does not work is logged: no question waits for it."""

    def __init__(self, store: CollectionStore, vault: Vault, clock: Clock) -> None:
        self._store, self._vault, self._now = store, vault, clock.wall

    async def keep(self, agent_name: str, asker: AskingPerson, token: str) -> None:
        """See `ExchangedMemory`."""
        key, now = ExchangedKey(asker.team, asker.user, agent_name), self._now()

        def with_it(record: ExchangedTokens | None) -> ExchangedTokens:
            tokens = dict.fromkeys((token, *self._opened(key, record)))
            return ExchangedTokens(self._vault.seal(json.dumps([*tokens][:_MOST]), *key), now)

        try:
            await self._store.change(EXCHANGED, key, with_it, now)
        except StoreError as error:
            _log.warning("a token was not kept, so another process will not mask it: %s", error)

    async def known(self, agent_name: str, asker: AskingPerson) -> tuple[str, ...]:
        """See `ExchangedMemory`."""
        key = ExchangedKey(asker.team, asker.user, agent_name)
        try:
            record = await self._store.get(EXCHANGED, key)
        except StoreError as error:
            _log.warning("tokens of other processes are not masked: %s", error)
            return ()
        return self._opened(key, record)

    def _opened(self, key: ExchangedKey, record: ExchangedTokens | None) -> tuple[str, ...]:
        text = None if record is None else self._vault.read(record.sealed, *key)
        return () if text is None else tuple(map(text_of, list_of(read_json(text))))


def vault_of(settings: IdentitySettings) -> Vault:
    """One with keys made of those that sign. Raises SettingsError."""
    return Vault([_key_of(each) for each in signing_keys(settings)])


def _key_of(signing: ECKey) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    number = str(signing.as_dict(private=True)["d"])
    secret = base64.urlsafe_b64decode(number + "=" * (-len(number) % 4))
    return HKDF(SHA256(), KEY_BYTES, salt=None, info=_PURPOSE).derive(secret)


def serve_threads(common: CommonParts, ports: ThreadPorts) -> ThreadPorts:
    """Have tokens kept, if an agent gets exchanged ones."""
    entries = common.agents.settings.entries.values()
    if common.agents.people is not None and any(each.identity == "exchange" for each in entries):
        vault = vault_of(common.settings.identity)
        common.agents.people.remember(KeptTokens(common.store, vault, common.clock))
    return ports
