"""What `/readyz` learns of an agent from what it answers."""

from functools import partial

from ..errors import AgentError, AgentRefused, AgentUnreachable
from ..observe.health import Health


class Reachability:
    """What `health` learns of the agent: whether it is reached, and whether it lets the bot in.

    `is_locked_out`: it refused the bot's login, and has taken no question since. `is_for_people`: it gets
    tokens of people, and that it refuses one of them says nothing of the others.
    """

    def __init__(self, health: Health, name: str, *, is_for_people: bool = False) -> None:
        self.name = name
        self.passed = partial(health.agent_passed, name)
        self.failed = partial(health.agent_failed, name)
        self.is_locked_out, self._is_for_people = False, is_for_people

    def question_was_taken(self) -> None:
        self.is_locked_out = False
        self.passed()

    def question_failed(self, error: AgentError) -> None:
        """What an agent refuses for a question's own sake says nothing of the agent."""
        if isinstance(error, AgentRefused) and error.is_lasting:
            if self._is_for_people:
                error.blame_asker()
            else:
                self.is_locked_out = True
        if isinstance(error, AgentUnreachable) or error.is_lasting:
            self.failed(error.problem)
