"""Settings of what answers use: limits by tokens and money."""

from pydantic import Field

from .section import SettingsSection


class UsageSettings(SettingsSection):
    """What answers may use in a day (UTC), as far as agents report it. Replicas count together."""

    person_tokens: int = Field(default=0, ge=0)
    """Tokens that the questions of one person may use in a day; 0: any number."""
    channel_tokens: int = Field(default=0, ge=0)
    """Tokens that the questions of one channel may use in a day; 0: any number."""
    total_tokens: int = Field(default=0, ge=0)
    """Tokens that all questions may use in a day; 0: any number."""
    person_cost: float = Field(default=0.0, ge=0)
    """Money that the questions of one person may cost in a day; 0: any amount. An agent reports its cost, or
    has prices (`SLACK_BOT_AGENT__INPUT_PRICE`)."""
    channel_cost: float = Field(default=0.0, ge=0)
    """Money that the questions of one channel may cost in a day; 0: any amount."""
    total_cost: float = Field(default=0.0, ge=0)
    """Money that all questions may cost in a day; 0: any amount."""
    warn_at: float = Field(default=0.8, gt=0, le=1)
    """The part of a limit after which the asker is warned, once a day."""
    currency: str = Field(default="USD", min_length=1, max_length=8)
    """What costs are counted in, as it is shown."""

    @property
    def has_limits(self) -> bool:
        """There is a limit."""
        return bool(self.has_token_limits or self.person_cost or self.channel_cost or self.total_cost)

    @property
    def has_token_limits(self) -> bool:
        """There is a limit in tokens."""
        return bool(self.person_tokens or self.channel_tokens or self.total_tokens)
