"""PURE. A question that was not addressed to the bot: its agent may have nothing to say.

Then nothing of the turn is seen at all. So before there is an answer, what the agent does is held back. A
failure is shown, and a person who addressed the bot always gets an answer.
"""

from .actions import Action, EndTurn, NoOp, SetPlanTitle, ShowStatus, UpdateCard
from .events import TaskEnded
from .record import Outcome


class Silence:
    """Whether a turn may end without a word, and what is held back until it has some.

    `may_be_silent`: the question was not addressed to the bot. `is_begun`: another process showed some
    of the answer.
    """

    def __init__(self, *, may_be_silent: bool, is_begun: bool) -> None:
        self._may_be_silent = may_be_silent
        self.is_hiding = may_be_silent and not is_begun
        self._cards: dict[str, UpdateCard] = {}
        self._title: SetPlanTitle | None = None
        self.is_declined = False  # the agent wants nothing shown

    def hear_end(self, event: TaskEnded, *, is_begun: bool) -> None:
        """The task ended. `is_begun`: there is text of an answer, which stays."""
        self.is_declined = self._may_be_silent and event.no_reply and not is_begun

    def filter_actions(self, actions: list[Action], *, is_begun: bool) -> list[Action]:
        """Hold back what shows work. With the first text, what was held back goes before it."""
        if not is_begun:
            return [self._hold_back(action) for action in actions]
        self.is_hiding = False
        title: list[Action] = [] if self._title is None else [self._title]
        return [*title, *self._cards.values(), *actions]

    def _hold_back(self, action: Action) -> Action:
        match action:
            case ShowStatus():
                return NoOp(f"not addressed to the bot: {action.reason}")
            case SetPlanTitle():
                self._title = action
            case UpdateCard(card=card):
                earlier = self._cards.get(card.id)
                self._cards[card.id] = UpdateCard(earlier.card.then(card) if earlier else card, action.reason)
            case _:
                return action
        return NoOp(f"held back until there is an answer: {action.reason}")

    def end_without_text(self) -> EndTurn:
        """How a turn ends whose agent completed its task and wrote nothing."""
        if not self._may_be_silent:
            return EndTurn(Outcome.NO_TEXT, offer_retry=True, reason="the agent wrote nothing")
        why = "the agent wants nothing shown" if self.is_declined else "the agent wrote nothing"
        return EndTurn(Outcome.SILENT, reason=why)
