"""The port of the HTTP API."""

from pydantic import Field

from .section import SettingsSection


class ApiSettings(SettingsSection):
    """The port of the HTTP API, opened where the file of SLACK_BOT_CONFIG has keys or webhooks."""

    host: str = "0.0.0.0"
    """Address that the server listens on. HTTP mode takes the requests on Slack's port instead."""
    port: int = Field(default=3003, ge=0, le=65535)
    """Port of that server."""
    body_timeout: float = Field(default=10.0, gt=0)
    """Seconds for the whole body of a request to come."""
    max_body_bytes: int = Field(default=256 * 1024, gt=0, le=8 * 1024 * 1024)
    """Bytes of the body of a request; more is refused."""
