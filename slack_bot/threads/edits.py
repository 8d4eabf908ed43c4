"""PURE. What an edit of its message means for a question that waits, is answered, or was."""

from __future__ import annotations

from dataclasses import replace

from ..text.words import ASK_AGAIN
from ..turn.buttons import TurnButton
from ..turn.progress import TurnRecord
from ..turn.record import Question
from .commands import Edit, Offer


def edited(turn: TurnRecord, edit: Edit) -> TurnRecord | None:
    """As its message reads now. None: nothing of it is left. What is only quoted stays as it was."""
    if edit.text is not None and turn.question.quoted:
        return turn
    if edit.text is None or not (edit.text or turn.question.files):
        return None
    return replace(turn, question=replace(turn.question, text=edit.text))


def message_key(question: Question) -> str:
    """The key of the first question that was made of its message: it may be asked again."""
    return replace(question, attempt=0).key


def begins_thread(question: Question) -> bool:
    """It is the first message of the thread, and is asked for the first time."""
    return question.ts == question.thread.ts and not question.attempt


def may_ask_again(question: Question) -> bool:
    """Whether its asker, who edits its message, may want the new words answered. To what was not addressed to
    the bot no answer is expected.
    """
    return question.is_addressed and not (question.merged or question.handle or question.quoted)


def is_reworded(question: Question, reworded: str, edit: Edit) -> bool:
    """It is the edit of the message of `question`, which may be asked again, with other words than before.

    `reworded`: what an earlier edit made of them.
    """
    is_other = edit.text != (reworded or question.text)
    return may_ask_again(question) and message_key(question) == edit.key and is_other


def offer_to_ask_again(question: Question, why: str) -> Offer:
    """To its asker alone."""
    return Offer(question, question.user, why, {TurnButton.RETRY: ASK_AGAIN})
