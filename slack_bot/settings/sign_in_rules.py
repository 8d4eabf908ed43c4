"""What is missing for an agent for which people sign in, or too much."""

from collections.abc import Callable, Iterator
from importlib.util import find_spec

from ..installing import how_to_install
from .models import AgentSettings
from .names import env_name
from .sign_in import OAuthSettings, SignInSettings

_BASE_URL, _KEYS = env_name(("sign_in", "base_url")), env_name(("sign_in", "keys"))


def sign_in_contradictions(
    entry: AgentSettings, sign_in: SignInSettings, variable_of: Callable[[str], str]
) -> Iterator[str]:
    """One line for each problem. `variable_of`: names a setting of the agent."""
    oauth, setting = entry.oauth, variable_of("identity")
    if entry.identity != "oauth":
        if oauth.issuer is not None:
            yield f"{variable_of('oauth.issuer')} needs {setting} = oauth: set it, or leave the issuer out"
        elif oauth.register_client:
            yield f"{variable_of('oauth.register_client')} needs {setting} = oauth: set it, or leave it out"
        return
    wanted = {
        variable_of("oauth.issuer"): oauth.issuer,
        _KEYS: sign_in.keys,
    }
    if not oauth.register_client:
        wanted[variable_of("oauth.id")] = oauth.id
    if not oauth.device_flow:
        wanted[_BASE_URL] = sign_in.base_url
    if oauth.token_url is not None:
        yield f"{variable_of('oauth.token_url')} has no effect: leave it out, the issuer's metadata has it"
    yield from _of_registration(oauth, variable_of)
    for name, value in wanted.items():
        if value is None:
            yield f"{setting} is oauth, and {name} is not set: docs/configure.md has how people sign in"
    if find_spec("joserfc") is None:  # brings `cryptography`
        yield f"{setting} is oauth, and joserfc is not here: {how_to_install('oauth', 'run.txt')}"


def _of_registration(oauth: OAuthSettings, variable_of: Callable[[str], str]) -> Iterator[str]:
    register = variable_of("oauth.register_client")
    if not oauth.register_client:
        if oauth.registration_token is not None:
            token = variable_of("oauth.registration_token")
            yield f"{token} has no effect: set {register} too, or leave it out"
        return
    for leaf in ("id", "secret", "private_key", "assertion_file"):
        if getattr(oauth, leaf) is not None:
            yield f"{register} is set, and so is {variable_of(f'oauth.{leaf}')}: leave one of them out"
    if oauth.method == "private_key_jwt":
        yield f"{register} is set: {variable_of('oauth.method')} cannot be private_key_jwt, leave it out"
