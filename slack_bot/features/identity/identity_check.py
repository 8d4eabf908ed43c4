"""The check of `doctor` for agents that learn who asks by a token."""

import asyncio
from collections.abc import AsyncIterator
from importlib.util import find_spec

from ...agents.wire.person_signer import signing_keys
from ...agents.wire.token_endpoint import TokenEndpoint
from ...clock import system_clock
from ...errors import AgentError, SettingsError
from ...observe.findings import Diagnosis, ok, split
from ...settings.config_file import read_agents
from ...settings.load import Settings

_CHECK = "identity"


async def check(settings: Settings) -> AsyncIterator[Diagnosis]:
    """The keys can be read, and the servers that exchange tokens can be reached."""
    identity = settings.identity
    if not identity.keys or find_spec("joserfc") is None:
        return  # an agent that needs them is a contradiction of the settings, and a finding of theirs
    try:
        keys = await asyncio.to_thread(signing_keys, identity)
    except SettingsError as error:
        yield split(_CHECK, str(error))
        return
    names = ", ".join(key.kid or "" for key in keys)
    yield ok(_CHECK, f"{keys[0].kid} signs who asks; public are {names} (`slack-bot keys` prints them)")
    try:
        entries = read_agents(settings).entries
    except SettingsError:
        return  # the check of agents says why
    for name, entry in entries.items():
        if entry.identity != "exchange":
            continue
        try:
            place = await TokenEndpoint(entry.exchange, system_clock()).reach()
        except AgentError as error:
            yield split(f"{_CHECK} ({name})", error.brief, "see whether the token server runs")
        else:
            yield ok(f"{_CHECK} ({name})", f"{place} can be reached; a question shows which people it knows")
