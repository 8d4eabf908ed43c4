"""A form of an agent that stands in a thread, until it is answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from .form import Form
from .progress import MessageRecord
from .record import ThreadKey


class FormAction(StrEnum):
    """The action_ids of its buttons; that of a choice has its number behind it. Modals have them, too."""

    CHOOSE = "form_choose"
    SEND = "form_send"
    FILL = "form_fill"
    APPROVE = "form_approve"
    EDIT = "form_edit"
    REJECT = "form_reject"
    LINK = "form_link"
    OPENED = "form_opened"

    @property
    def opens_modal(self) -> bool:
        return self in (FormAction.FILL, FormAction.EDIT, FormAction.REJECT)


@dataclass(frozen=True, slots=True)
class FormPress:
    """A button of a form, or a modal that was sent (`is_submission`): that knows no place.

    `choice`: the number of one. `state`: what was filled in, as Slack gives it (`state.values`).
    """

    action: FormAction
    handle: str
    user: str
    user_team: str = ""
    channel: str = ""
    thread_ts: str = ""
    message_ts: str = ""
    trigger_id: str = ""
    choice: str = ""
    state: Mapping[str, Any] = field(default_factory=dict, hash=False)
    is_submission: bool = False


@dataclass(frozen=True, slots=True)
class OpenForm:
    """A form that was shown, and who may answer it. Times are seconds since 1970 (UTC).

    `handle` names it in buttons; nobody can guess it. `turn`: the key of the turn that asked, for `user`.
    `message`: the one below which it stands. `taken_by`: the key of the question that answers it, or why
    nothing does; `ended_by`: whose answer that is.
    """

    handle: str
    turn: str
    thread: ThreadKey
    user: str
    user_team: str
    task_id: str
    form: Form
    opened_at: float
    context_id: str | None = None
    message: MessageRecord | None = None
    taken_by: str = ""
    ended_by: str = ""
    ended_at: float | None = None

    @property
    def is_open(self) -> bool:
        return not self.taken_by

    def taken(self, by: str, user: str, at: float) -> OpenForm:
        """The same, answered: by the first who comes."""
        return replace(self, taken_by=by, ended_by=user, ended_at=at) if self.is_open else self

    def put(self, newer: OpenForm) -> OpenForm:
        """What is to be stored where this one is."""
        return newer if self.is_open else self
