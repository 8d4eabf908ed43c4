"""What contradicts itself in the login of the bot at an agent."""

from collections.abc import Callable, Iterator, Mapping

from ..installing import how_to_install, is_installed
from .models import AgentSettings, ClientSettings


def login_contradictions(agent: AgentSettings, variable_of: Callable[[str], str]) -> Iterator[str]:
    """What is missing or too much for a login at the agent. `variable_of`: names a setting of it."""
    client = agent.client
    names = {leaf: variable_of(f"client.{leaf}") for leaf in ClientSettings.model_fields}
    proofs = ("secret", "private_key", "assertion_file")
    proof_names = [names[each] for each in proofs if getattr(client, each) is not None]
    places = [names[each] for each in ("token_url", "issuer") if getattr(client, each) is not None]
    sources = {
        variable_of("bearer_token"): agent.bearer_token is not None,
        names["token_file"]: client.token_file is not None,
        names["id"]: client.fetches_tokens,
    }
    if len(token_names := [name for name, is_set in sources.items() if is_set]) > 1:
        yield f"{' and '.join(token_names)} each give a token for the agent: set one of them"
    if client.certificate is None and client.certificate_key is not None:
        yield f"{names['certificate_key']} is set and {names['certificate']} is not: set both or neither"
    if not client.fetches_tokens:
        if proof_names or places:
            yield f"{' and '.join(proof_names + places)} need {names['id']}: set it to the bot's client id"
        return
    if len(places) != 1:
        yield f"{names['id']} needs either {names['token_url']} or {names['issuer']}: set one of them"
    yield from _proof_contradictions(client, names)
    if not (is_installed("authlib") and is_installed("joserfc")):
        remedy = how_to_install("oauth", "run.txt")
        yield f"{names['id']} is set, and Authlib, which fetches tokens, is not here: {remedy}"


def _proof_contradictions(client: ClientSettings, variables: Mapping[str, str]) -> Iterator[str]:
    """What is missing as a proof of the bot's identity."""
    if client.grant == "jwt_bearer":
        if client.private_key is None:
            yield f"{variables['grant']} is jwt_bearer: set {variables['private_key']}, which signs"
        return
    proofs = {
        "auto": ("secret", "private_key", "assertion_file"),
        "private_key_jwt": ("private_key", "assertion_file"),
        "tls_client_auth": ("certificate",),
    }.get(client.method, ("secret",))
    if all(getattr(client, each) is None for each in proofs):
        remedy = " or ".join(variables[each] for each in proofs)
        yield f"{variables['id']} is set, and no proof of it: set {remedy}"
    if client.method == "tls_client_auth" and client.certificate_for == "agent":
        yield f"{variables['method']} is tls_client_auth: set {variables['certificate_for']} to token or both"
