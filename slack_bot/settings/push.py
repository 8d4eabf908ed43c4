"""Settings of news that agents post about tasks that outlive their turn."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from .section import HttpUrl, SettingsSection


def _key_set(value: str) -> str:
    if "://" in value and not re.match(r"https://[^/\s]+", value):
        raise ValueError("should be a file, or an address that begins with https://")
    return value


class PushSettings(SettingsSection):
    """Posts by which agents say that there is news of a long task (A2A push)."""

    public_url: HttpUrl | None = None
    """Address, best with https, at which agents reach the bot: they post to `/a2a/push/...` below it. Unset:
    long tasks are only polled."""
    host: str = "0.0.0.0"
    """Address that the server of these posts listens on. HTTP mode takes them on Slack's port instead."""
    port: int = Field(default=3001, ge=0, le=65535)
    """Port of that server."""
    body_timeout: float = Field(default=10.0, gt=0)
    """Seconds for the whole body of a post to come."""
    max_body_bytes: int = Field(default=1024 * 1024, gt=0)
    """Bytes of the body of a post, which may be the whole task; more is refused."""
    hint_delay: float = Field(default=2.0, ge=0)
    """Seconds from a post to the question for the task: posts come in bursts."""
    jwks: Annotated[str, AfterValidator(_key_set)] | None = None
    """File or https address of the keys (JWKS) of agents that sign a JSON Web Token, with RS256 or ES256, in
    place of the secret that the bot gave them. Unset: the secret only. Needs the extra `jwt`."""
    jwks_ttl: float = Field(default=3600.0, gt=0)
    """Seconds those keys are believed before they are read again."""
    jwt_issuer: str | None = None
    """`iss` that such a token must have."""
