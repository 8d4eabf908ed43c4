"""The client as which the bot registers itself at an authorization server (RFC 7591): what it says of itself,
how the answer is read, and what is kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, NamedTuple, TypeAlias

from pydantic import SecretStr

from ...errors import AgentError, TokenRefused, TokenUnavailable
from ...settings.sign_in import OAuthSettings
from ...store.collection import Collection
from ...turn.json_values import Object, list_of, object_of, read_json, text_in, text_of

ClientMetadata: TypeAlias = Mapping[str, Any]
"""What the bot says of itself (RFC 7591, 2)."""

DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
_CODE_GRANT = "authorization_code"
_METHODS = ("client_secret_basic", "client_secret_post", "none")
"""How a registered client may prove who it is, the best first."""
_USUAL_METHOD = "client_secret_basic"  # of a server that does not say (RFC 8414, 2)
_MOST_CHARS = 4 * 1024  # of a client id or a secret
_EARLY = 60.0  # seconds before its end at which a secret is not used any more
_PASSING = frozenset({"server_error", "temporarily_unavailable"})
_BY_HAND = "or register the bot there by hand: {0}ID in place of {0}REGISTER_CLIENT"
_NO_STATEMENT = f"wants a software statement, which the bot does not have; switch that off there, {_BY_HAND}"
_REFUSALS: Mapping[str, str] = {
    "invalid_redirect_uri": f"does not take {{1}}, where browsers come back to; allow it there, {_BY_HAND}",
    "invalid_client_metadata": (
        f"does not take what the bot says of itself; correct {{0}}SCOPE and {{0}}METHOD, {_BY_HAND}"
    ),
    "invalid_software_statement": _NO_STATEMENT,
    "unapproved_software_statement": _NO_STATEMENT,
}
_WANTS_TOKEN = (
    f"lets nobody register without an initial access token; set {{0}}REGISTRATION_TOKEN, {_BY_HAND}"
)
_OTHER_TOKEN = "does not accept the initial access token; correct {0}REGISTRATION_TOKEN"
_NOT_THERE = f"has nothing at its address for registrations; see its settings, {_BY_HAND}"
_OTHER_REFUSAL = f"does not register the bot; see its log, {_BY_HAND}"


@dataclass(frozen=True, slots=True)
class RegisteredClient:
    """What the server gave. `ends_at`: when the secret ends, in seconds since 1970; 0: never."""

    id: str
    secret: str = field(repr=False)
    method: str
    ends_at: float = 0.0

    def is_over(self, now: float) -> bool:
        """Whether its secret is of no use any more."""
        return self.ends_at > 0 and now >= self.ends_at - _EARLY

    def used_by(self, settings: OAuthSettings) -> OAuthSettings:
        """The settings of the server with this client."""
        secret = SecretStr(self.secret) if self.secret else None
        return settings.model_copy(update={"id": self.id, "secret": secret, "method": self.method})

    @property
    def text(self) -> str:
        """What is encrypted and kept."""
        kept = {"id": self.id, "secret": self.secret, "method": self.method, "ends_at": self.ends_at}
        return json.dumps(kept)

    @classmethod
    def read(cls, text: str) -> RegisteredClient:
        """The client in a text that `text` made."""
        found = object_of(read_json(text))
        ends_at = found.get("ends_at")
        return cls(
            text_in(found, "id"),
            text_in(found, "secret"),
            text_in(found, "method"),
            float(ends_at) if isinstance(ends_at, int | float) else 0.0,
        )


class RegistrationKey(NamedTuple):
    """The agent for which people sign in, and the hash of what the bot says of itself there: with other
    settings it is another client.
    """

    agent: str
    asked: str


@dataclass(frozen=True, slots=True)
class Registration:
    """A client of the bot. `sealed`: the encrypted client; "" while there is none. `registrar`: the process
    that registers the bot, until `registering_until`. Times are seconds since 1970.
    """

    sealed: str = field(default="", repr=False)
    used_at: float = 0.0
    registrar: str = ""
    registering_until: float = 0.0

    def claimed(self, registrar: str, now: float, until: float) -> Registration | None:
        """A copy while `registrar` registers the bot; None: another process does."""
        if self.registrar and now < self.registering_until:
            return None
        return replace(self, registrar=registrar, registering_until=until)

    def released(self, registrar: str) -> Registration | None:
        """A copy with which another process may register the bot; None: another one does already."""
        return replace(self, registrar="", registering_until=0.0) if self.registrar == registrar else None


REGISTRATIONS = Collection(
    "registrations",
    Registration,
    age=lambda ages: ages.conversations,
    since=lambda record: record.used_at,
    label="registrations at authorization servers",
)
"""By agent and hash. Its age begins with its last use: the tokens of people are of no use without it."""


def key_for(agent: str, issuer: str, asked: ClientMetadata) -> RegistrationKey:
    """Where the client with these metadata is kept."""
    about = json.dumps([issuer, asked], sort_keys=True)
    return RegistrationKey(agent, sha256(about.encode()).hexdigest()[:16])


def metadata_for(settings: OAuthSettings, agent: str, redirect_uri: str) -> ClientMetadata:
    """What the bot says of itself, but for how it proves who it is."""
    about: dict[str, Any] = {"client_name": f"slack_bot ({agent})", "scope": settings.scope}
    if settings.device_flow:
        return {**about, "grant_types": [DEVICE_GRANT, "refresh_token"], "response_types": []}
    grants = [_CODE_GRANT, "refresh_token"]
    return {**about, "redirect_uris": [redirect_uri], "grant_types": grants, "response_types": ["code"]}


def method_for(settings: OAuthSettings, offered: Sequence[str], host: str) -> str:
    """How the bot will prove who it is. `offered`: by the server; empty: it does not say.

    Raises TokenRefused.
    """
    wanted = _METHODS if settings.method == "auto" else (settings.method,)
    method = next((each for each in wanted if each in (offered or [_USUAL_METHOD])), None)
    if method is None:
        names = " and ".join(offered) or _USUAL_METHOD
        raise TokenRefused(
            f"{host} takes {names} from its clients, and no {' or '.join(wanted)}; correct"
            f" {settings.variables}METHOD"
        )
    return method


def client_in(
    answer: Object, asked: ClientMetadata, settings: OAuthSettings, host: str, now: float
) -> RegisteredClient:
    """The client that a server registered (RFC 7591, 3.2.1). Raises TokenRefused if it is of no use.

    The server may have put other values in the place of those that were asked for.
    """
    wanted = text_of(asked.get("token_endpoint_auth_method"))
    client_id, secret = text_in(answer, "client_id"), text_in(answer, "client_secret")
    method = text_in(answer, "token_endpoint_auth_method") or wanted
    uris, grants = answer.get("redirect_uris"), answer.get("grant_types")
    ends_at = answer.get("client_secret_expires_at")
    ends_at = float(ends_at) if isinstance(ends_at, int | float) and not isinstance(ends_at, bool) else 0.0
    client = RegisteredClient(client_id, "" if method == "none" else secret, method, max(ends_at, 0.0))
    problems = (
        (not _is_usable(client_id), "gave no client id that can be sent"),
        (method != wanted and settings.method != "auto", f"registered another METHOD than {wanted}"),
        (method not in _METHODS, "registered the bot with a proof that it does not have"),
        (method != "none" and not _is_usable(secret), "gave no secret that can be sent"),
        (method != "none" and client.is_over(now), "gave a secret that has ended"),
        (
            bool(uris) and list_of(uris) != asked.get("redirect_uris", []),
            "registered another address for browsers than the bot's",
        ),
        (bool(grants) and asked["grant_types"][0] not in list_of(grants), "registered another grant"),
    )
    for is_so, what in problems:
        if is_so:
            raise TokenRefused(f"{host} {what}; see its rules, {_BY_HAND.format(settings.variables)}")
    return client


def refusal_of(
    status: int, answer: Object, asked: ClientMetadata, settings: OAuthSettings, host: str
) -> AgentError:
    """What to raise for an answer that registers nothing."""
    error = text_in(answer, "error")
    name = error if error.isidentifier() else f"HTTP {status}"
    if status == 429 or status >= 500 or error in _PASSING:
        return TokenUnavailable(f"{host} does not register the bot now ({name}); it may work later")
    sentence = _REFUSALS.get(error, _OTHER_REFUSAL)
    if status in (401, 403) and error not in _REFUSALS:
        sentence = _WANTS_TOKEN if settings.registration_token is None else _OTHER_TOKEN
    elif status in (404, 405, 410):
        sentence = _NOT_THERE
    uris = asked.get("redirect_uris") or [""]
    what, _, remedy = sentence.format(settings.variables, uris[0]).partition("; ")
    return TokenRefused(f"{host} {what} ({name}); {remedy}", error=error)


def _is_usable(value: str) -> bool:
    return 0 < len(value) <= _MOST_CHARS and value.isascii() and value.isprintable()
