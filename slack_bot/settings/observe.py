"""Settings of traces and of the audit: what is written of each turn for others than its readers."""

from pydantic import Field

from .section import HttpUrl, SettingsSection


class TraceSettings(SettingsSection):
    """A trace of each turn, sent to an OpenTelemetry receiver."""

    enabled: bool = False
    """Send them; needs the extra `otel`. Sampler, service name, headers and the like: the environment's own
    OTEL_* variables, as OpenTelemetry's SDK defines them."""
    endpoint: HttpUrl | None = None
    """Address that takes traces by OTLP over HTTP, such as http://collector:4318/v1/traces. Unset: as
    OTEL_EXPORTER_OTLP_ENDPOINT says, else http://localhost:4318/v1/traces."""


class AuditSettings(SettingsSection):
    """A line of JSON for each turn: who asked which agent, what came of it, who approved what."""

    path: str | None = None
    """Folder that gets a file a day (UTC), `audit-YYYY-MM-DD.jsonl`, which only the bot's user may read; `-`
    is standard output. Unset: there are no lines."""
    days: float = Field(default=90.0, gt=0)
    """Days for which these files are kept."""
    text: bool = False
    """The lines have the question and the answer too."""
