"""How people sign in, so that agents act with their rights."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr

from .identity import TokenServerSettings
from .section import SecureUrl, SettingsSection

_KEY_BYTES, _MOST_KEYS = 32, 2


def keys_in(value: SecretStr) -> list[bytes]:
    """The keys in a setting. Raises ValueError."""
    texts = [each.strip() for each in value.get_secret_value().split(",") if each.strip()]
    try:
        keys = [base64.b64decode(each, validate=True) for each in texts]
    except binascii.Error:
        keys = []
    if not 0 < len(keys) <= _MOST_KEYS or any(len(each) != _KEY_BYTES for each in keys):
        raise ValueError("should be one key or two with a comma between them, each 32 bytes in base64")
    return keys


def _usable(value: SecretStr) -> SecretStr:
    keys_in(value)
    return value


class OAuthSettings(TokenServerSettings):
    """The authorization server at which people sign in for an agent (`identity` oauth): that of `issuer`."""

    variables = "SLACK_BOT_AGENT__OAUTH__"

    method: Literal["auto", "none", "client_secret_basic", "client_secret_post", "private_key_jwt"] = "auto"
    """How the bot proves to the server who it is. auto: by `assertion_file` or `private_key` if one of them
    is set, else by `secret` in a header, else not at all: then PKCE alone protects a sign-in."""
    scope: str = "openid email offline_access"
    """Scopes to ask for, with spaces between them: those that the agent needs, `openid email` to learn who
    signed in, and `offline_access`, where the server knows it, to renew the tokens."""
    resource: str | None = None
    """Address of the agent for which the tokens are (RFC 8707)."""
    register_client: bool = False
    """Whether the bot registers itself at the issuer (RFC 7591) when the first person signs in, in place of
    `id` and `secret`. What it gets is kept encrypted in the store."""
    registration_token: SecretStr | None = None
    """Initial access token, where the issuer lets only those register that have one (RFC 7591, 3)."""
    device_flow: bool = False
    """Whether people type a code in at the server (RFC 8628) in place of opening a link that leads through
    the bot, which then needs no address of its own. A code is passed on more easily than a link."""


class SignInSettings(SettingsSection):
    """Where people come back to after they signed in, and how their tokens are kept."""

    base_url: SecureUrl | None = None
    """Address at which browsers reach the bot: the link of a sign-in is below it, and `/oauth/callback` is
    the redirect address to register at the authorization server."""
    keys: Annotated[SecretStr, AfterValidator(_usable)] | None = None
    """Keys that encrypt what is kept of sign-ins (AES-GCM): 32 bytes in base64, as `openssl rand -base64 32`
    prints them. A second one after a comma only decrypts: a new key is put before the old one. Needs the
    extra `oauth`."""
    host: str = "127.0.0.1"
    """Address that the server for browsers listens on: where a reverse proxy on this machine, or a browser on
    it, comes. 0.0.0.0: every address, as containers need it; the container image sets that. HTTP mode takes
    browsers on Slack's port instead."""
    port: int = Field(default=3002, ge=0, le=65535)
    """Port of that server."""
