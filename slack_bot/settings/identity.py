"""Who asks, as agents learn it: a claim in the message, a token that the bot signs for the person, or one
that the agent's authorization server gives for it.
"""

from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import AfterValidator, Field, SecretStr

from .section import SecureUrl, SettingsSection, Texts, ids_of

Identity: TypeAlias = Literal["none", "id", "name", "email", "signed", "exchange", "oauth"]
CLAIMS: tuple[Identity, ...] = ("none", "id", "name", "email")
"""What a message's metadata may say, from least to most. With all others, each call carries a token."""
PERSONAL: frozenset[Identity] = frozenset({"exchange", "oauth"})
"""An agent that is asked so acts with the rights of the person: its answers are for that person alone."""
_MOST_KEYS = 2


def _key_files(files: tuple[str, ...]) -> tuple[str, ...]:
    if len(files) > _MOST_KEYS:
        raise ValueError("should be one file or two: the key that signs, and the one before or after it")
    return files


class TokenServerSettings(SettingsSection):
    """A server that gives tokens, and how the bot proves there who it is."""

    variables: ClassVar[str]
    """What the names of its environment variables begin with."""

    id: str | None = None
    """Client id of the bot at the token server."""
    secret: SecretStr | None = None
    """Client secret."""
    token_url: SecureUrl | None = None
    """Address of the token endpoint."""
    issuer: SecureUrl | None = None
    """Issuer in place of `token_url`: its OAuth or OpenID metadata, which must name the same issuer letter by
    letter, says where the token endpoint is."""
    scope: str | None = None
    """Scopes to ask for, with spaces between them. Entra: `api://AGENT/.default`."""
    audience: str | None = None
    """Audience to ask for: the agent's name at the token server."""
    private_key: str | None = None
    """File of the private key that signs (PEM, JWK, or the JSON of a Google service account), read for each
    token. If the PEM has a certificate too, its thumbprint is sent, as Entra wants it."""
    key_id: str | None = None
    """Name of that key at the server (`kid`)."""
    algorithm: Literal["auto", "RS256", "PS256", "ES256"] = "auto"
    """Algorithm that signs. auto: RS256 or ES256, by the kind of the key."""
    assertion_file: str | None = None
    """File of a token that another issuer wrote, and that stands for a secret at the token endpoint (workload
    identity on AKS: `/var/run/secrets/azure/tokens/azure-identity-token`). It is read for each token."""
    token_timeout: float = Field(default=5.0, gt=0)
    """Seconds to fetch a token, its issuer's metadata included."""


class ExchangeSettings(TokenServerSettings):
    """The server that gives a token for the agent in exchange for the one that the bot signed (RFC 8693)."""

    variables = "SLACK_BOT_AGENT__EXCHANGE__"

    method: Literal["auto", "none", "client_secret_basic", "client_secret_post", "private_key_jwt"] = "auto"
    """How the bot proves to the token endpoint who it is. auto: by `assertion_file` or `private_key` if one
    of them is set, else by `secret` in a header, else not at all."""
    resource: str | None = None
    """Address of the agent for which the token is asked (RFC 8707)."""


class IdentitySettings(SettingsSection):
    """The tokens that the bot signs for people, for agents with `identity` signed or exchange."""

    issuer: SecureUrl | None = None
    """Who signs (`iss`): the address under which agents find the public keys at `/.well-known/jwks.json`."""
    keys: Annotated[Texts, AfterValidator(_key_files)] = ()
    """Files of private keys (EC on the curve P-256, as PEM or JWK). The first one signs; the public halves of
    all are published, so that a new key is known before it signs. Needs the extra `oauth`."""
    trusted_teams: Annotated[
        Texts, ids_of("TE", "ids of workspaces or organisations (T0123456 or E0123456)")
    ] = ()
    """Ids of workspaces and organisations whose verified e-mail addresses are believed. Empty: the bot's."""
