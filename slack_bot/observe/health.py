"""PURE. What the parts of the bot last reported about themselves. A probe only reads it."""

from collections.abc import Callable, Mapping
from enum import StrEnum

from ..turn.progress import DEFAULT_AGENT

ENDING = "The bot is ending: it takes no new questions."
STORE_FAILOVER = "The store is getting another primary: new questions are taken as soon as it has one."
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
        self._of_agents: dict[str, str] = {}  # problems, by the name of the agent

    def passed(self, check: HealthCheck) -> None:
        self._problems.pop(check, None)

    def failed(self, check: HealthCheck, problem: str) -> None:
        self._problems[check] = problem

    def agent_passed(self, name: str) -> None:
        if self._of_agents.pop(name, None) is not None:
            self._sum_up_agents()

    def agent_failed(self, name: str, problem: str) -> None:
        self._of_agents[name] = problem
        self._sum_up_agents()

    def is_agent_ok(self, name: str) -> bool:
        """Nothing was found to be wrong with the agent when it was last asked."""
        return name not in self._of_agents

    def _sum_up_agents(self) -> None:
        """`AGENT` is ok if all agents are. Problems of all but the default one begin with a name."""
        named = (f"{name}: {each}" for name, each in self._of_agents.items() if name != DEFAULT_AGENT)
        problems = [self._of_agents[DEFAULT_AGENT]] if DEFAULT_AGENT in self._of_agents else []
        if self._of_agents:
            self.failed(HealthCheck.AGENT, " ".join([*problems, *named]))
        else:
            self.passed(HealthCheck.AGENT)

    def is_ok(self, check: HealthCheck) -> bool:
        return check not in self._problems

    @property
    def is_ready(self) -> bool:
        return self._problems.keys() <= {HealthCheck.AGENT}

    def body(self) -> Mapping[str, object]:
        """The JSON for a probe: `{"ready": bool, "checks": {name: "ok" or one sentence}}`."""
        checks = {str(check): self._problems.get(check, "ok") for check in HealthCheck}
        return {"ready": self.is_ready, "checks": checks}
