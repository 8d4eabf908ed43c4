"""PURE. Which bots may ask, and how often.

Two bots that mention each other in each message go on for ever. So a bot may ask only where the operator
allows it, and only a few times in a thread until a person writes there. A refused bot gets no reply: that
would continue the loop.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection

from ..turn.record import Question, ThreadKey

_MOST = 10_000  # threads, and questions; beyond it the oldest is dropped


class BotAccess:
    """`allowed`: ids of bots (`U...`, `B...`, `A...`), and of channels in which every bot may ask.

    `max_turns`: questions that bots may ask in one thread until a person writes there or the bot restarts.
    """

    def __init__(self, allowed: Collection[str], max_turns: int) -> None:
        self._allowed = frozenset(allowed)
        self._max_turns = max_turns
        self._turns: OrderedDict[ThreadKey, int] = OrderedDict()
        self._judged: OrderedDict[str, str | None] = OrderedDict()

    def person_wrote(self, thread: ThreadKey) -> None:
        """Bots may ask in `thread` again."""
        self._turns.pop(thread, None)

    def knows(self, question: Question) -> bool:
        """`question` was judged before: Slack sends a mention as two events, and retries."""
        return question.key in self._judged

    def refusal(self, question: Question, asker_ids: Collection[str]) -> str | None:
        """Why a bot's `question` is not answered; None: it is, and counts once.

        `asker_ids`: all ids that Slack gives for the asker.
        """
        if not self.knows(question):
            self._judged[question.key] = self._judge(question, asker_ids)
            if len(self._judged) > _MOST:
                self._judged.popitem(last=False)
        return self._judged[question.key]

    def _judge(self, question: Question, asker_ids: Collection[str]) -> str | None:
        if self._allowed.isdisjoint({*asker_ids, question.thread.channel}):
            ids = ", ".join(sorted(asker_ids))
            return (
                f"a bot ({ids}) mentioned the bot in {question.thread.channel}; to let it ask, add one of"
                " these ids to SLACK_BOT_SLACK__ALLOWED_BOTS"
            )
        turns = self._turns.pop(question.thread, 0)
        self._turns[question.thread] = min(turns + 1, self._max_turns)
        if len(self._turns) > _MOST:
            self._turns.popitem(last=False)
        if turns < self._max_turns:
            return None
        return (
            f"bots have asked {self._max_turns} times in this thread since a person wrote there"
            " (SLACK_BOT_TURNS__MAX_BOT_TURNS)"
        )
