"""The tokens of a Slack app, as a process needs them: what each is called, and where Slack shows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

QUOTED = "has quotes around it: write it without them (docker --env-file takes them as part of the value)"


@dataclass(frozen=True, slots=True)
class SlackToken:
    """A token in the settings: its variable, its field, and how its values begin. `page`: of the app's
    settings, where it is shown. `other`: how values of the token begin with which it is easily swapped.
    """

    variable: str
    field: str
    page: str
    kind: str = ""
    prefix: str = ""
    other: str = ""

    def problem(self, value: str) -> str | None:
        """Why `value` cannot be this token; None: it has the form of one. The sentence names no value."""
        if not value:
            example = f" ({self.prefix}...)" if self.prefix else ""
            return f"{self.variable} is not set: copy it from your Slack app's {self.page}{example}"
        if has_quotes(value):
            return f"{self.variable} {QUOTED}"
        if value.startswith(self.prefix):
            return None
        swapped = f", and begins with {self.other}; swap the two" if value.startswith(self.other) else ""
        where = f"it must begin with {self.prefix} (your Slack app's {self.page})"
        return f"{self.variable} is not {self.kind}: {where}{swapped}"


BOT_TOKEN = SlackToken(
    "SLACK_BOT_TOKEN", "bot_token", "page OAuth & Permissions", "a bot token", prefix="xoxb-", other="xapp-"
)
APP_TOKEN = SlackToken(
    "SLACK_APP_TOKEN",
    "app_token",
    "page Basic Information > App-Level Tokens",
    "an app-level token",
    prefix="xapp-",
    other="xoxb-",
)
SIGNING_SECRET = SlackToken("SLACK_SIGNING_SECRET", "signing_secret", "Basic Information page")


def needed(*, http: bool, has_several: bool) -> Iterator[SlackToken]:
    """The tokens without which nothing runs. `has_several`: the bot tokens of several workspaces are set."""
    if not has_several:
        yield BOT_TOKEN
    yield SIGNING_SECRET if http else APP_TOKEN


def has_quotes(value: str) -> bool:
    """Whether a value has quotes around it, as in files that keep them."""
    return len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
