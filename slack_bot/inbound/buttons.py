"""All controls that the bot posts, and the one way from a press to its handler.

What a press changes is stored before the press is acknowledged. Only if a modal has to be opened, the
acknowledgement comes first: Slack's trigger is valid for three seconds only (facts: Slack 10).
"""

import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.async_context import AsyncBoltContext

from ..errors import BotError
from ..text.words import NOT_FOR_OTHERS, PRESS_NOT_TAKEN
from ..threads.threads import Threads
from ..turn.buttons import TurnButton
from ..turn.record import ThreadKey
from .access import Access, HourlyQuestions
from .authorizer import identity_of
from .read import Press, read_press

_log = logging.getLogger(__name__)

_ANYTHING = re.compile(".*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Afterwards:
    """What to do after the press was acknowledged. If `run` returns True, the words of the reply are left
    out.

    `run` may raise BotError, which is logged with the words of `failure`.
    """

    run: Callable[[], Awaitable[bool]]
    failure: str


@dataclass(frozen=True, slots=True)
class PressReply:
    """What the person who pressed gets back.

    `words`: shown to that person only, where they pressed or at `place` (channel, thread); of a modal in the
    modal. `errors`: texts for a modal's inputs, by block_id; the modal stays open.
    """

    words: str | None = None
    errors: Mapping[str, str] | None = None
    place: tuple[str, str] | None = None
    afterwards: Afterwards | None = None


@dataclass(frozen=True, slots=True)
class Button:
    """A control or a modal, found by its `name` (see `Press`).

    - `handle`: may raise BotError, which is logged with the words of `failure`; the person gets `sorry`.
    - `opens_modal`: the press is acknowledged before it is handled.
    - `is_own`: it shows only what belongs to the person, so guests of other organisations may press it too.
    - `is_offer`: if the control is in a private message, the reply replaces that message, and without words
      the message is removed: what was done once is not offered again.
    - `channel_of`: the channel of a modal, whose settings count. Raises BotError.
    """

    name: str
    handle: Callable[[Press], Awaitable[PressReply]]
    failure: str
    sorry: str | None = None
    opens_modal: bool = False
    is_own: bool = False
    is_offer: bool = False
    channel_of: Callable[[Press], Awaitable[str]] | None = None


class ButtonRouter:
    """Receives all presses and modals, and replies to the person."""

    def __init__(self, access: Access, threads: Threads) -> None:
        self._buttons: dict[str, Button] = {}
        self._access, self._threads = access, threads

    def add(self, buttons: Iterable[Button]) -> None:
        self._buttons |= {button.name: button for button in buttons}

    def register(self, bolt: AsyncApp) -> None:
        bolt.action(_ANYTHING)(self.press)
        bolt.view(_ANYTHING)(self.submit)

    async def carry_out(self, press: Press) -> str | None:
        """Do what this press of a control orders, made otherwise. Returns the words for the person."""
        button = self._buttons.get(press.name)
        return None if button is None else (await self._handle(button, press)).words

    async def press(self, ack: AsyncAck, body: dict[str, Any], context: AsyncBoltContext) -> None:
        """Bolt's listener for controls of messages and of the Home tab."""
        press = read_press(body, identity_of(context.authorize_result))
        button = self._buttons.get(press.name) if press is not None else None
        if press is None or button is None:
            await ack()
            return
        if button.opens_modal:
            await ack()
        reply = await self._handle(button, press)
        await ack()
        leaves_out_words = reply.afterwards is not None and await _done(reply.afterwards, press)
        place = ThreadKey(press.workspace, *(reply.place or (press.channel, press.thread_ts)))
        words = None if leaves_out_words else reply.words
        offer = press.private_url if button.is_offer and press.turn else ""
        if words or offer:
            await self._threads.notices.reply(place, press.user, words, private_url=offer)

    async def submit(self, ack: AsyncAck, body: dict[str, Any], context: AsyncBoltContext) -> None:
        """Bolt's listener for modals: closes the modal, or shows what is wrong in it."""
        press = read_press(body, identity_of(context.authorize_result))
        button = self._buttons.get(press.name) if press is not None else None
        reply = PressReply()
        if press is not None and button is not None:
            reply = await self._handle(button, press)
        if reply.errors:
            await ack(response_action="errors", errors=dict(reply.errors))
        elif reply.words and reply.place is None:
            await ack(response_action="update", view=self._threads.notices.notice_view(reply.words))
        else:
            await ack()
            if reply.place is not None and press is not None:
                place = ThreadKey(press.workspace, *reply.place)
                await self._threads.notices.reply(place, press.user, reply.words)

    async def _handle(self, button: Button, press: Press) -> PressReply:
        try:
            channel = press.channel
            if button.channel_of is not None and not channel:
                channel = await button.channel_of(press)
            if not button.is_own and not await self._access.may_press(channel, press.by, press.bot.ours):
                return PressReply(NOT_FOR_OTHERS)
            return await button.handle(press)
        except BotError as error:
            _log_failure(button.failure, error, press)
            return PressReply(button.sorry)


async def _done(afterwards: Afterwards, press: Press) -> bool:
    try:
        return await afterwards.run()
    except BotError as error:
        _log_failure(afterwards.failure, error, press)
        return False


def _log_failure(failure: str, error: BotError, press: Press) -> None:
    _log.error(failure, error, extra={"turn": press.turn} if ":" in press.turn else None)


class TurnButtons:
    """The buttons about questions: ask again, stop, stop listening, drop.

    `hourly` limits how many are asked.
    """

    def __init__(self, threads: Threads, hourly: HourlyQuestions) -> None:
        self._threads, self._hourly = threads, hourly

    def buttons(self) -> Iterator[Button]:
        for name in (TurnButton.RETRY, TurnButton.STOP, TurnButton.STOP_LISTENING, TurnButton.DROP):
            yield Button(
                name,
                self.press,
                failure="a question was not asked again: %s",
                sorry=PRESS_NOT_TAKEN,
                is_offer=True,
            )

    async def press(self, press: Press) -> PressReply:
        """Handle one of these buttons. Raises BotError."""
        if not press.turn:
            _log.warning("ignored: a press without a turn of its channel")
            return PressReply()
        return PressReply(await self._pressed(press))

    async def _pressed(self, press: Press) -> str | None:
        registry = self._threads.registry
        if press.name == TurnButton.STOP:
            return await registry.stop_watch(press.turn, press.user)
        if press.name == TurnButton.STOP_LISTENING:
            return await registry.stop_listening(press.turn)
        if press.name == TurnButton.DROP:
            return await registry.drop(press.turn, press.user)

        async def refusal() -> str | None:
            limit = await self._hourly.refusal(
                press.user, press.channel, press.workspace, f"{press.turn} again"
            )
            return None if limit is None else limit.words

        return await self._threads.intake.ask_again(press.turn, press.user, refusal)
