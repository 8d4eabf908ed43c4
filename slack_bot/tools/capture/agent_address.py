"""Which agent a tool asks, and as whom: the address of the command line, the rest from the settings.

The settings' credentials belong to the settings' agent. Another address gets none of them: a token must not
leave for wherever a command line points.
"""

from __future__ import annotations

from pathlib import Path

import httpx

from ...a2a.wire.origins import Origins, origin_of
from ...errors import UnreadableInput
from ...settings.load import Settings, secrets_of, with_overrides
from .redaction import Redactor

_READING = frozenset({"protocol_version", "dialect", "answer_source", "extensions", "use_configured_url"})


def is_address(text: str) -> bool:
    """`text` is an address and no file's name."""
    return text.startswith(("http://", "https://"))


def check_there(*targets: str) -> None:
    """Raises UnreadableInput for what is neither an address nor the path of something."""
    for target in targets:
        if not is_address(target) and not Path(target).exists():
            raise UnreadableInput(
                f"{target}: no such file, and an agent's address begins with http:// or https://"
            )


def settings_for(url: str, settings: Settings) -> tuple[Settings, str | None]:
    """`settings` with the agent at `url`, and a sentence where credentials were left out.

    Raises UnreadableInput if `url` is not an http or https address.
    """
    if origin_of(url) is None or any(letter.isspace() for letter in url):
        raise UnreadableInput(f"{url} is not an address; write http://HOST:PORT or https://HOST/PATH")
    known = settings.agent.url
    if known is not None and Origins(known, settings.agent.allowed_hosts).admits(url):
        return with_overrides(settings, {"agent.url": url}), None
    left = {
        f"agent.{name}": field.get_default()
        for name, field in type(settings.agent).model_fields.items()
        if name not in _READING and not isinstance(field.get_default(), int | float)
    }
    had_any = any(
        getattr(settings.agent, name.removeprefix("agent.")) != default
        for name, default in left.items()
        if name != "agent.url"
    )
    note = (
        f"the credentials of the settings are not sent to {origin_of(url)}: they belong to"
        f" {origin_of(known) if known else 'no agent'}; set A2A_AGENT_URL to this address to use them"
    )
    return with_overrides(settings, {**left, "agent.url": url}), note if had_any else None


def masks_of(*settings: Settings) -> Redactor:
    """Masks for every secret of `settings`, and for the password in an agent's address, however short."""
    addresses = (httpx.URL(each.agent.url or "") for each in settings)
    passwords = (address.password for address in addresses if address.password)
    return Redactor((*(secret for each in settings for secret in secrets_of(each)), *passwords))
