"""PURE. Several emulated workspaces with one app, as Slack has them behind one address.

A call goes to the workspace of its token, so what it names of another one is not found there. What Slack gave
out (addresses of files and answers) leads to the workspace that gave it out.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .state import Bot
from .workspace import CallAnswer, Workspace, WorkspaceRules


class EmulatedTeams:
    """The workspaces. What is for no single one, such as a new connection, is for the first."""

    def __init__(self, workspaces: Sequence[Workspace]) -> None:
        self._workspaces = tuple(workspaces)

    def __iter__(self) -> Iterator[Workspace]:
        return iter(self._workspaces)

    def of(self, token: str | None) -> Workspace:
        """The workspace of a bot token."""
        return next((each for each in self if each.knows(token)), self._workspaces[0])

    def call(
        self, method: str, args: Mapping[str, Any], *, now: float, token: str | None, is_json: bool = False
    ) -> CallAnswer:
        """As `Workspace.call`."""
        return self.of(token).call(method, args, now=now, token=token, is_json=is_json)

    def with_file(self, file_id: str) -> Workspace:
        """Where a file is, or is to come."""
        return next((each for each in self if file_id in each.state.uploads), self._workspaces[0])

    def with_response(self, key: str) -> Workspace:
        """Where a response_url leads."""
        return next((each for each in self if key in each.state.responses), self._workspaces[0])


def new_team(
    number: int, rules: WorkspaceRules | None = None, faults: Mapping[str, Sequence[str | None]] | None = None
) -> Workspace:
    """The `number`th workspace of an app, with ids, a bot and a token of its own."""
    team = f"T{number}"
    bot = Bot(user_id=f"U0BOT{number}", bot_id=f"B0BOT{number}")
    workspace = Workspace(
        team=team, domain=f"team-{number}", bot=bot, rules=rules, faults=faults, token=token_of(number)
    )
    workspace.state.mark = f"{team}X"
    return workspace


def token_of(number: int) -> str:
    """The bot token of the `number`th workspace."""
    return f"xoxb-emulated-team-{number}"
