"""What is missing or too much for an agent that learns who asks by a token."""

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from urllib.parse import urlsplit

from ..installing import how_to_install
from .identity import IdentitySettings
from .models import AgentSettings
from .names import env_name

_ISSUER, _KEYS = env_name(("identity", "issuer")), env_name(("identity", "keys"))


def identity_contradictions(
    entry: AgentSettings, identity: IdentitySettings, variable_of: Callable[[str], str]
) -> Iterator[str]:
    """One line for each problem. `variable_of`: names a setting of the agent."""
    exchange, setting = entry.exchange, variable_of("identity")
    places = [leaf for leaf in ("token_url", "issuer") if getattr(exchange, leaf) is not None]
    if entry.identity != "exchange" and places:
        names = " and ".join(variable_of(f"exchange.{leaf}") for leaf in places)
        yield f"{names} need {setting} = exchange: set it, or leave them out"
    if not entry.knows_people:
        return
    what = f"{setting} is {entry.identity}"
    is_signed_here = entry.identity != "oauth"
    for name, value in ((_ISSUER, identity.issuer), (_KEYS, identity.keys)):
        if is_signed_here and not value:
            yield f"{what}, and {name} is not set: docs/configure.md has how the bot signs for people"
    if entry.identity == "exchange" and len(places) != 1:
        names = " or ".join(variable_of(f"exchange.{leaf}") for leaf in ("token_url", "issuer"))
        yield f"{what}: set one of {names}"
    if entry.identity_header is None and _logs_in_by_authorization(entry):
        yield f"{what}, and the bot's own login needs Authorization: set {variable_of('identity_header')}"
    if entry.identity_header is not None and _is_authorization(entry.identity_header):
        yield f"{variable_of('identity_header')} is Authorization: leave it out, or name another header"
    if not (_is_installed("joserfc") and _is_installed("authlib")):
        yield f"{what}, and joserfc, which signs, is not here: {how_to_install('oauth', 'run.txt')}"


def _logs_in_by_authorization(entry: AgentSettings) -> bool:
    client = entry.client
    tokens = entry.bearer_token, client.id, client.token_file
    is_header = entry.header_value is not None and _is_authorization(entry.header_name or "")
    return any(each is not None for each in tokens) or is_header or _has_login(entry.url or "")


def _is_authorization(header: str) -> bool:
    return header.strip().lower() == "authorization"


def _has_login(url: str) -> bool:
    return urlsplit(url).username is not None


def _is_installed(module: str) -> bool:
    return find_spec(module) is not None
