"""Messages that are no questions, or are not taken: why is said once, also where Slack sends them twice."""

from collections import deque

from ..clock import Clock
from ..observe.facts import MessageIgnored, Observer
from ..turn.record import Question
from .background import TaskSet
from .notices import Notices

_MOST = 1000  # messages


class Refusals:
    """What this process has lately not taken."""

    def __init__(self, notices: Notices, clock: Clock, observer: Observer, background: TaskSet) -> None:
        self._notices, self._background = notices, background
        self._clock, self._observer = clock, observer
        self._refused: deque[str] = deque(maxlen=_MOST)
        self._ignored: deque[str] = deque(maxlen=_MOST)

    def refuse(self, question: Question, words: str = "") -> None:
        """Say, once, that `question` is not taken; `words` are for its asker only."""
        if question.key not in self._refused:
            self._refused.append(question.key)
            self._background.spawn(self._notices.refuse(question, words), question.key)

    def hint(self, question: Question, words: str) -> None:
        """Say something to the asker of a question that is taken."""
        self._background.spawn(self._notices.refuse(question, words), question.key)

    def was_ignored(self, message: Question) -> bool:
        """Slack sends a mention as two events."""
        return message.key in self._ignored

    def ignored(self, message: Question, reason: str) -> None:
        """Say why, once."""
        if self.was_ignored(message):
            return
        self._ignored.append(message.key)
        thread, now = message.thread, self._clock.monotonic()
        self._observer(
            MessageIgnored(now, message.user, thread.channel, thread.ts, message.ts, message.text, reason)
        )
