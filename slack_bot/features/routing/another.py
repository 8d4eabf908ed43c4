"""The button below an answer that asks another agent, and its modal."""

import uuid
from collections.abc import Iterator
from functools import partial

from ...inbound.access import HourlyQuestions
from ...inbound.buttons import Afterwards, Button, PressReply
from ...inbound.read import Press
from ...store.contracts import TurnStore
from ...text.words import (
    ANOTHER_IS_NONE,
    ANOTHER_WANTS_WORDS,
    FORM_NOT_OPENED,
    PRESS_NOT_TAKEN,
    QUESTION_FORGOTTEN,
)
from ...threads.notices import Notices
from ...turn.buttons import AGENT, ANOTHER_MODAL, WORDS, TurnButton
from ...turn.json_values import object_of, text_in
from ...turn.progress import TurnRecord
from .another_view import another_view, explained_for
from .handovers import Handovers
from .router import Router


class AnotherAgent:
    """Handles the button and the modal. `hourly` limits how many questions are asked."""

    def __init__(
        self,
        router: Router,
        handovers: Handovers,
        store: TurnStore,
        notices: Notices,
        hourly: HourlyQuestions,
    ) -> None:
        self._router, self._handovers = router, handovers
        self._store, self._notices = store, notices
        self._hourly = hourly

    def buttons(self) -> Iterator[Button]:
        for name, handle in ((TurnButton.ANOTHER_AGENT, self.press), (ANOTHER_MODAL, self.submit)):
            yield Button(
                name,
                handle,
                failure="another agent was not asked: %s",
                sorry=PRESS_NOT_TAKEN,
                opens_modal=name == TurnButton.ANOTHER_AGENT,
                channel_of=self._channel_of,
            )

    async def _channel_of(self, press: Press) -> str:
        turn = await self._turn_of(press)
        return "" if turn is None else turn.question.thread.channel

    async def _turn_of(self, press: Press) -> TurnRecord | None:
        return await self._store.turn(press.turn) if press.turn else None

    async def press(self, press: Press) -> PressReply:
        """Open the modal. Raises BotError."""
        if (turn := await self._turn_of(press)) is None:
            return PressReply(QUESTION_FORGOTTEN)
        others = await self._router.others(turn, press.user)
        if not others:
            return PressReply(ANOTHER_IS_NONE)
        explained = explained_for(turn.text, self._handovers.quote_of(turn, press.user))
        view = another_view(f"{uuid.uuid4().hex}|{turn.key}", turn.question.text, others, explained)
        opening = partial(self._notices.open_view, turn.question.thread.team, turn.key, press.trigger, view)
        return PressReply(
            FORM_NOT_OPENED, afterwards=Afterwards(opening, failure="nobody was asked which agent: %s")
        )

    async def submit(self, press: Press) -> PressReply:
        """Ask the chosen agent. Raises BotError."""
        if (turn := await self._turn_of(press)) is None:
            return PressReply(QUESTION_FORGOTTEN)
        agent = text_in(object_of(_given(press, AGENT).get("selected_option")), "value")
        text = text_in(_given(press, WORDS), "value").strip()
        if not text:
            return PressReply(errors={WORDS: ANOTHER_WANTS_WORDS})
        if agent not in await self._router.others(turn, press.user):
            return PressReply(ANOTHER_IS_NONE)
        handle = press.value.partition("|")[0]
        channel = turn.question.thread.channel
        limit = await self._hourly.refusal(press.user, channel, press.workspace, f"{handle} another agent")
        if limit is not None:
            return PressReply(limit.words)
        workspace = press.bot.url or "https://slack.com/"
        await self._handovers.give(
            turn, (press.user, press.team), agent, text, workspace=workspace, handle=handle
        )
        return PressReply()


def _given(press: Press, name: str) -> dict[str, object]:
    return dict(object_of(object_of(press.state.get(name)).get(name)))
