"""What delivery asks of a surface, whichever it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ..calls import CallFailed, CallOk
from ..cards import CardClosing
from ..message import MessageWrite, SlackMessage

Args = dict[str, Any]


class Surface(Protocol):
    """One way to write an answer's messages. One writer: calls must not overlap."""

    begin_method: str
    write_method: str

    def pause(self, now: float) -> float:
        """Seconds until the surface takes more."""

    async def write(
        self,
        message: SlackMessage,
        write: MessageWrite,
        footer: Sequence[Args] = (),
        close: CardClosing | None = None,
    ) -> CallFailed | None:
        """Show `write` in `message`, which is begun where it has no `ts`. None: Slack shows it.

        `close` set: the message gets nothing more. A surface that ends messages by a call of its own leaves
        that and `footer` to `end` and `attach_footer`.
        """

    async def end(self, message: SlackMessage) -> CallOk | CallFailed: ...

    async def attach_footer(
        self, message: SlackMessage, footer: Sequence[Args], close: CardClosing
    ) -> CallFailed | None:
        """Write the whole message again with `footer` under it; `message.is_signed` says whether it is."""
