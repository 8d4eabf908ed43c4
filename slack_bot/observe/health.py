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
    WORKSPACES = "workspaces"  # of several tokens each one works; with one that does the bot is ready


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
        self._of_workspaces: dict[str, str] = {}  # problems, by the id of the workspace or the token
        self._workspaces: set[str] | None = None  # those whose token was taken, where there are several

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

    def workspace_passed(self, team: str) -> None:
        """Slack takes the token of this workspace, one of several."""
        self._workspaces = {*(self._workspaces or ()), team}
        if self._of_workspaces.pop(team, None) is not None or len(self._workspaces) == 1:
            self._sum_up_workspaces()

    def workspace_failed(self, name: str, problem: str) -> None:
        """Slack does not take a token. `name`: its workspace, or which one it is if that is not known."""
        self._workspaces = {*(self._workspaces or ())} - {name}
        self._of_workspaces[name] = problem
        self._sum_up_workspaces()

    def workspace_forgotten(self, name: str) -> None:
        """What was said of a token whose workspace was not known does not count any more."""
        self._of_workspaces.pop(name, None)
        self._sum_up_workspaces()

    def _sum_up_workspaces(self) -> None:
        """The bot is ready as long as one token works."""
        problems = " ".join(f"{name}: {each}" for name, each in self._of_workspaces.items())
        if problems:
            self.failed(HealthCheck.WORKSPACES, problems)
        else:
            self.passed(HealthCheck.WORKSPACES)
        if self._workspaces:
            self.passed(HealthCheck.TOKEN)
        else:
            self.failed(HealthCheck.TOKEN, "Slack takes the token of no workspace.")

    @property
    def checks(self) -> list[HealthCheck]:
        """The checks that there are: workspaces only where there are several."""
        are_several = self._workspaces is not None
        return [each for each in HealthCheck if are_several or each is not HealthCheck.WORKSPACES]

    def is_ok(self, check: HealthCheck) -> bool:
        return check not in self._problems

    @property
    def is_ready(self) -> bool:
        return self._problems.keys() <= {HealthCheck.AGENT, HealthCheck.WORKSPACES}

    def body(self) -> Mapping[str, object]:
        """The JSON for a probe: `{"ready": bool, "checks": {name: "ok" or one sentence}}`."""
        checks = {str(check): self._problems.get(check, "ok") for check in self.checks}
        return {"ready": self.is_ready, "checks": checks}


class TokenHealth:
    """Reports whether Slack takes a token. `team`: its workspace; "": there is one token only."""

    def __init__(self, health: Health, team: str = "") -> None:
        self._health, self.team = health, team

    def passed(self) -> None:
        if self.team:
            self._health.workspace_passed(self.team)
        else:
            self._health.passed(HealthCheck.TOKEN)

    def failed(self, problem: str) -> None:
        if self.team:
            self._health.workspace_failed(self.team, problem)
        else:
            self._health.failed(HealthCheck.TOKEN, problem)
