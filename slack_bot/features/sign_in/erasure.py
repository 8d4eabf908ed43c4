"""Has authorization servers forget the tokens of a person who is erased from the store."""

from __future__ import annotations

from ...clock import system_clock
from ...settings.config_file import read_agents
from ...settings.load import Settings
from ...settings.sign_in import keys_in
from ...store.contracts import StoreAdmin
from ...store.sign_ins import SIGNED_IN, SignInKey
from ...threads.background import TaskSet
from ..vault import Vault
from .registrar import RegistrationParts
from .rules import redirect_uri_below
from .server import AuthorizationServer
from .tokens import SignInParts, TokenStore


async def sign_out_everywhere(
    store: StoreAdmin, settings: Settings, user: str, team: str | None
) -> list[str]:
    """Sign a person out; with `team`, in that workspace only. Raises StoreError and SettingsError.

    Returns the hosts that did not say that they revoked the tokens.
    """
    found = {
        SignInKey(key[0], key[1], key[2]): record.host
        async for key, record in store.records(SIGNED_IN)
        if SIGNED_IN.is_about(key, record, user, team)
    }
    if not found:
        return []
    if (keys := settings.sign_in.keys) is None:
        return list(dict.fromkeys(found.values()))
    vault, clock, background = Vault(keys_in(keys)), system_clock(), TaskSet()
    redirect_uri = redirect_uri_below(settings.sign_in.base_url or "")
    registering = RegistrationParts(redirect_uri, vault, store, background)
    servers = {
        name: AuthorizationServer(entry.oauth, clock, None, registering.for_agent(name))
        for name, entry in read_agents(settings).entries.items()
        if entry.identity == "oauth"
    }
    tokens = TokenStore(SignInParts(servers, vault, store, clock, background, 0.0))
    hosts = [await tokens.forget(key) for key in found]
    return list(dict.fromkeys(filter(None, hosts)))
