"""Settings of what people say of answers, and where that is sent."""

from typing import Annotated

from pydantic import AfterValidator, Field, SecretStr

from .section import HttpUrl, SettingsSection, Texts

_REASONS = ("Wrong", "Incomplete", "Too long", "Hard to understand", "Out of date")
_MOST_REASONS, _REASON_CHARS = 10, 75  # Slack: options of checkboxes, and their characters


def _reasons(reasons: tuple[str, ...]) -> tuple[str, ...]:
    if len(reasons) > _MOST_REASONS or not all(1 <= len(each) <= _REASON_CHARS for each in reasons):
        raise ValueError(f"should be at most {_MOST_REASONS} reasons, {_REASON_CHARS} characters each")
    return reasons


class FeedbackSettings(SettingsSection):
    """What people say of answers. It is kept in the store, and sent on where an address is given."""

    reasons: Annotated[Texts, AfterValidator(_reasons)] = _REASONS
    """What somebody may tick who calls an answer not helpful. Empty: there are only words."""
    webhook_url: HttpUrl | None = None
    """Address that gets each feedback as a POST of JSON, signed as Slack signs its own requests."""
    webhook_secret: SecretStr | None = None
    """Secret of that signature."""
    langfuse_url: HttpUrl = "https://cloud.langfuse.com"
    """Langfuse, which gets each feedback as a score of the trace that the agent names, if it has keys."""
    langfuse_public_key: str | None = None
    """Public key of the Langfuse project, `pk-lf-...`."""
    langfuse_secret_key: SecretStr | None = None
    """Its secret key, `sk-lf-...`."""
    langfuse_score: str = "user-feedback"
    """Name of the score: 1 for helpful, 0 for not."""
    send_interval: float = Field(default=5.0, gt=0)
    """Seconds between two looks for feedback that is to be sent."""
    send_timeout: float = Field(default=10.0, gt=0)
    """Seconds for one request."""
    retry_first: float = Field(default=30.0, gt=0)
    """Seconds after which a request that failed is made again; each time twice as many."""
    retry_longest: float = Field(default=3600.0, gt=0)
    """The most seconds between two of them."""
    send_for: float = Field(default=86_400.0, gt=0)
    """Seconds after which feedback that nobody took is not sent any more; it stays in the store."""
