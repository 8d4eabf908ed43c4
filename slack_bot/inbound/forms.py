"""The buttons below forms, and the modals that they open."""

import logging
from collections.abc import Iterator

from ..text.words import FORM_ANSWER_NOT_STORED
from ..threads.threads import Threads
from ..turn.open_form import FormAction, FormPress
from .buttons import Button, PressReply
from .read import Press

_log = logging.getLogger(__name__)

_OPEN_MODALS = [action for action in FormAction if action.opens_modal]


class FormButtons:
    """Every button of a form, and every modal that one opens, by the same names."""

    def __init__(self, threads: Threads) -> None:
        self._forms = threads.form_presses

    def buttons(self) -> Iterator[Button]:
        for action in FormAction:
            yield Button(
                action,
                self.press,
                failure="an answer to a form was not stored: %s",
                sorry=FORM_ANSWER_NOT_STORED,
                opens_modal=action in _OPEN_MODALS,
                channel_of=self._channel_of,
            )

    async def press(self, press: Press) -> PressReply:
        """A button, or a modal that was sent. Raises BotError."""
        pressed = form_press_of(press)
        if pressed is None:
            _log.warning("ignored: a form's button or modal without a handle")
            return PressReply()
        if pressed.action is FormAction.OPENED:
            return PressReply()
        reply = await self._forms.press(pressed)
        return PressReply(reply.words, reply.errors)

    async def _channel_of(self, press: Press) -> str:
        return await self._forms.channel_of(press.value.partition("|")[0])


def form_press_of(press: Press) -> FormPress | None:
    """`press` as one of a form; None: it names none."""
    handle, _, choice = press.value.partition("|")
    if press.name not in set(FormAction) or not handle:
        return None
    return FormPress(
        action=FormAction(press.name),
        handle=handle,
        user=press.user,
        user_team=press.team,
        channel=press.channel,
        thread_ts=press.thread_ts,
        message_ts=press.message_ts,
        trigger_id=press.trigger,
        choice=choice,
        state=press.state,
        is_submission=press.is_modal,
    )
