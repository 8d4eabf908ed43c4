"""Environment and files become one frozen tree of settings. The only reader of `os.environ`.

Weight, strongest first: environment (`SLACK_BOT_` prefix, nested by `__`), a `.env` file, files in
`/run/secrets`. A few names are also read as everybody knows them: `SLACK_BOT_TOKEN`, `SLACK_APP_TOKEN`,
`SLACK_SIGNING_SECRET`, `SLACK_API_URL`, `A2A_AGENT_URL`.

Every number that somebody measured and nobody documented is a setting here with that number as default,
never a literal in the code. Leaf names are unique in the whole tree, so a scenario can name them flat.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from .errors import SettingsError

PREFIX = "SLACK_BOT_"
_ALIASES = {
    "SLACK_BOT_TOKEN": ("slack", "bot_token"),
    "SLACK_APP_TOKEN": ("slack", "app_token"),
    "SLACK_SIGNING_SECRET": ("slack", "signing_secret"),
    "SLACK_API_URL": ("slack", "api_url"),
    "A2A_AGENT_URL": ("agent", "url"),
}


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class SlackSettings(_Section):
    """Slack's side."""

    bot_token: SecretStr | None = None
    """Bot token, `xoxb-...`. Also read as SLACK_BOT_TOKEN."""
    app_token: SecretStr | None = None
    """App-level token for Socket Mode, `xapp-...`. Also read as SLACK_APP_TOKEN."""
    signing_secret: SecretStr | None = None
    """Signing secret; needed in HTTP mode (`run --http`). Also read as SLACK_SIGNING_SECRET."""
    api_url: str = "https://slack.com/api/"
    """Web API base. Also read as SLACK_API_URL."""
    slack_timeout: float = Field(30.0, gt=0)
    """Seconds for one Web API call."""
    http_host: str = "0.0.0.0"
    """Address of the HTTP server in HTTP mode."""
    http_port: int = Field(3000, ge=0, le=65535)
    """Port of the HTTP server in HTTP mode."""


class AgentSettings(_Section):
    """The A2A agent."""

    url: str | None = None
    """Base URL or full agent card URL. Also read as A2A_AGENT_URL."""
    use_configured_url: bool = False
    """Send questions to `url` instead of the address in the card (cards behind proxies are often wrong)."""
    allowed_hosts: tuple[str, ...] = ()
    """Hosts (host or host:port) other than `url`'s that a card may send us, and our credentials, to."""
    wire: Literal["auto", "0.3", "1.0"] = "auto"
    """A2A wire version; auto reads the card and switches once if the agent does not know the method."""
    convention: Literal["auto", "generic", "caipe", "caipe-0.2"] = "auto"
    """How the agent marks narration and answer; auto recognises it from the events."""
    answer_from: Literal["auto", "artifact", "status", "message"] = "auto"
    """Where the answer stands."""
    extensions: tuple[str, ...] = ()
    """A2A extension URIs to activate."""
    bearer_token: SecretStr | None = None
    """Static bearer token for the agent."""
    header_name: str | None = None
    """Name of a header that carries a key for the agent."""
    header_value: SecretStr | None = None
    """Value of that header."""
    connect_timeout: float = Field(10.0, gt=0)
    """Seconds to connect to the agent."""
    write_timeout: float = Field(30.0, gt=0)
    """Seconds to send the request."""
    card_timeout: float = Field(10.0, gt=0)
    """Seconds to fetch the agent card."""
    call_timeout: float = Field(30.0, gt=0)
    """Seconds for a single call (read a task, cancel)."""
    idle_timeout: float = Field(120.0, gt=0)
    """Seconds without an event before the agent is asked what became of the task. Pings do not count."""
    turn_timeout: float = Field(1800.0, gt=0)
    """Seconds a whole turn may take."""
    max_event_bytes: int = Field(16 * 1024 * 1024, gt=0)
    """Bytes of one event; more is an error."""
    max_turn_chars: int = Field(4_000_000, gt=0)
    """Characters of text kept for one turn; more is an error."""
    terminal_grace: float = Field(1.5, ge=0)
    """Seconds to go on reading after a terminal state, for a trailing task snapshot."""
    asked_grace: float = Field(2.0, ge=0)
    """Seconds to go on reading after the agent asked, before the stream is closed from this side."""
    poll_for: float = Field(60.0, ge=0)
    """Seconds to ask for the task's end after its stream was lost."""
    card_ttl: float = Field(300.0, ge=0)
    """Seconds an agent card is believed."""


class StreamSettings(_Section):
    """How text gets into the thread."""

    first_flush: float = Field(0.4, ge=0)
    """Seconds from the first token of an answer to its first flush, where no line ended before."""
    flush_interval: float = Field(1.0, gt=0)
    """Seconds without a line end after which text is flushed up to the last safe cut."""
    max_call_chars: int = Field(12_000, gt=0)
    """Characters of text in one call. Slack: 12,000."""
    card_chars: int = Field(256, gt=0)
    """Characters of a card's title, details or output in one call. Slack: 256."""
    status_chars: int = Field(50, gt=0)
    """Characters of a typing status [obs]."""
    status_interval: float = Field(1.0, ge=0)
    """Seconds between two typing statuses at least."""
    status_refresh: float = Field(90.0, gt=0)
    """Seconds after which the status is sent again. Slack drops it after 120."""
    retry_later: float = Field(60.0, ge=0)
    """Seconds one write may wait, in all, for a limit or an outage of Slack's to pass."""
    rotate_after: float = Field(240.0, gt=0)
    """Seconds of age at which a message is continued in a new one [obs: Slack ends a stream at about 300]."""
    rotate_bytes: int = Field(9_000, gt=0)
    """Weighted UTF-8 bytes at which a message is continued in a new one [obs: Slack refuses about 11,000]."""
    max_segments: int = Field(20, gt=0)
    """Messages one answer may take."""
    task_display_mode: Literal["plan", "timeline"] = "plan"
    """How Slack groups task cards."""


class StoreSettings(_Section):
    """What outlives the process."""

    store_url: str = "sqlite:///slack_bot.sqlite"
    """`sqlite:///relative/path`, `sqlite:////absolute/path`, or `memory://`."""
    dedupe_hours: float = Field(24.0, gt=0)
    """Hours for which a message that was taken is not taken again."""


class LogSettings(_Section):
    """Logging."""

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Least severe level that is logged. Message text is logged at debug only; tokens never."""
    log_format: Literal["text", "json"] = "text"
    """One line of text or one JSON object an entry."""


class Settings(BaseSettings):
    """All settings. Frozen; `load()` builds it."""

    model_config = SettingsConfigDict(
        frozen=True,
        extra="ignore",
        env_prefix=PREFIX,
        env_nested_delimiter="__",
        env_file=".env",
        secrets_dir=None,
        use_attribute_docstrings=True,
    )

    slack: SlackSettings = SlackSettings()
    agent: AgentSettings = AgentSettings()
    stream: StreamSettings = StreamSettings()
    store: StoreSettings = StoreSettings()
    log: LogSettings = LogSettings()

    @classmethod

    @model_validator(mode="after")
    def _contradictions(self) -> Self:
        if (self.agent.header_name is None) != (self.agent.header_value is None):
            raise ValueError("agent.header_name and agent.header_value belong together: set both or neither")
        inner = self.agent.idle_timeout + self.agent.poll_for
        if self.agent.turn_timeout <= inner:
            raise ValueError(
                f"agent.turn_timeout ({self.agent.turn_timeout:g} s) must exceed idle_timeout + poll_for"
                f" ({inner:g} s)"
            )
        if self.agent.connect_timeout >= self.agent.idle_timeout:
            raise ValueError("agent.connect_timeout must be smaller than agent.idle_timeout")
        return self
