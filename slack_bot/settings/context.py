"""Settings of what was said in a thread before a question."""

from typing import Literal

from pydantic import Field

from .section import SettingsSection


class ContextSettings(SettingsSection):
    """What was said in a thread before a question. Whose words, and who is named: settings of channels."""

    format: Literal["auto", "data", "text", "metadata", "none"] = "auto"
    """How the agent gets it: auto is data where its card takes `application/json`, else text behind the
    question; metadata of the message; or not at all."""
    messages: int = Field(default=30, ge=1)
    """Messages, the newest."""
    message_chars: int = Field(default=800, ge=1)
    """Characters of one message."""
    chars: int = Field(default=12_000, ge=1)
    """Characters in all."""
    pages: int = Field(default=5, ge=1)
    """Pages that are read of a thread, of 200 messages each."""
    read_timeout: float = Field(default=3.0, gt=0)
    """Seconds that a question waits for it at most."""
    limited_after: float = Field(default=30.0, gt=0)
    """Seconds that Slack asks to wait before the next read, from which on no thread is read any more until
    the next start: unlisted apps that are sold may read one a minute, internal ones fifty."""
    overheard: int = Field(default=50, ge=0)
    """Messages of a thread with the bot that are kept in the store as they are said, where no thread is read;
    0: none, so that the agent is told nothing."""
