"""PURE. What the parts of the bot last reported about themselves. A probe only reads it."""

from collections.abc import Callable, Mapping
from enum import StrEnum

ENDING = "The bot is ending: it takes no new questions."
STORE_FAILED = "The store failed: new questions are not taken; see the log."


class HealthCheck(StrEnum):
    """The checks that a probe reports."""

    SLACK = "slack"  # Socket Mode: a connection is alive; HTTP mode: the port is open
    TOKEN = "token"  # Slack takes the bot's token
    STORE = "store"  # what is accepted can be stored
    RUNNING = "running"  # the bot is not ending
    AGENT = "agent"  # the agent can be reached; without it the bot is ready all the same


class Health:
    """The health of a process.

    A problem is one sentence without any secret, because everybody may read it.
    """

    def __init__(self) -> None:
        self.connections: Callable[[], int] = lambda: 0  # to Slack that are alive, in Socket Mode
        self._problems = {
            HealthCheck.SLACK: "Not connected to Slack yet.",
            HealthCheck.TOKEN: "The bot's token was not checked yet.",
            HealthCheck.STORE: "The store is not open yet.",
        }

    def passed(self, check: HealthCheck) -> None:
        self._problems.pop(check, None)

    def failed(self, check: HealthCheck, problem: str) -> None:
        self._problems[check] = problem

    def is_ok(self, check: HealthCheck) -> bool:
        return check not in self._problems

    @property
    def is_ready(self) -> bool:
        return self._problems.keys() <= {HealthCheck.AGENT}

    def body(self) -> Mapping[str, object]:
        """The JSON for a probe: `{"ready": bool, "checks": {name: "ok" or one sentence}}`."""
        checks = {str(check): self._problems.get(check, "ok") for check in HealthCheck}
        return {"ready": self.is_ready, "checks": checks}
