"""Settings of the files that people give with a question."""

from pydantic import Field

from .section import SettingsSection

_MIB = 1024 * 1024


class FileSettings(SettingsSection):
    """Files of a question, which the agent gets with it. What it does not get is named in the thread."""

    max_bytes: int = Field(default=10 * _MIB, ge=0)
    """Bytes of one file; 0: the agent gets none."""
    max_total_bytes: int = Field(default=20 * _MIB, ge=0)
    """Bytes of all files of a question. On the wire they are a third more, in one request."""
    timeout: float = Field(default=30.0, gt=0)
    """Seconds to fetch them from Slack; the question waits for it."""
