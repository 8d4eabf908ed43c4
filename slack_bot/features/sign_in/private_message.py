"""The press of the button in the private message of a sign-in, which opens the link in a browser."""

from collections.abc import Iterator

from ...inbound.buttons import Button, PressReply
from ...inbound.read import Press
from ...turn.buttons import TurnButton
from .gate import SignInGate
from .rules import SignInStage


class PrivateMessage:
    """Learns from the press where Slack changes the message, so that it says later that it was used."""

    def __init__(self, gate: SignInGate) -> None:
        self._gate = gate

    def buttons(self) -> Iterator[Button]:
        yield Button(
            TurnButton.SIGN_IN, self.press, failure="the message of a sign-in is not known: %s", is_own=True
        )

    async def press(self, press: Press) -> PressReply:
        """Note the message, or close it where the sign-in is over. Raises BotError."""
        name, url = press.value.partition("|")[0], press.private_url
        sign_in = await self._gate.desk.note_message(name, press.user, url) if url else None
        if sign_in is not None and sign_in.is_over:
            await self._gate.close_message(sign_in, url, is_done=sign_in.stage is SignInStage.DONE)
        return PressReply()
