"""The forms in which a text may go to Slack, best first, without those refused here lately.

Not every workspace, and no emulator of one, takes every form. One that is refused costs a call, and one that
is taken and not shown costs the text. So a form of the text alone that did not work is not tried again for a
while. A form with blocks around the text is tried each time: it may have been one block of that message.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from . import blocks
from .api import CallFailed, CallOk
from .blocks import Block, TextForm
from .faults import Fault
from .readback import is_ignored
from .surfaces.fallback import StreamingRefusalCache

NOT_SHOWN = "not_shown"
"""The error of a call that Slack said ok to and that changed nothing."""

Body = tuple[TextForm, Block]


class TextForms:
    """The forms for one turn of someone of `team`. `memory` is shared by all turns, `now` in seconds."""

    def __init__(
        self,
        memory: StreamingRefusalCache | None = None,
        team: str = "",
        now: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._memory, self._team, self._now = memory or StreamingRefusalCache(), team, now

    def of(
        self, method: str, text: str, above: Sequence[Block], under: Sequence[Block], *, says: str = ""
    ) -> list[Body]:
        """The arguments of a call of `method` that shows `text` between the blocks `above` and `under`, in
        every form worth an attempt; never none. `says` as in `blocks.body`.
        """
        alone = blocks.alone(text or says) if text or says else []
        if above or under:
            return [(TextForm.WHOLE, blocks.body(text, above, under, says=says)), *self._taken(method, alone)]
        return self._taken(method, alone) or [(TextForm.WHOLE, blocks.body(text, above, under, says=says))]

    def _taken(self, method: str, bodies: list[Body]) -> list[Body]:
        taken = [
            body for body in bodies if not self._memory.refuses_form(self._team, method, body[0], self._now())
        ]
        return taken or bodies

    def refused(self, method: str, form: TextForm) -> None:
        """`form` was refused in calls of `method`, or taken and not shown, and another one was not."""
        if form is not TextForm.WHOLE:
            self._memory.remember_form(self._team, method, form, self._now())


def shown_or_failed(done: CallOk, sent: str, before: str) -> CallOk | CallFailed:
    """`done`, unless it shows the message without the text `sent`: as it read `before`, or empty."""
    return CallFailed(Fault.WRONG_CALL, NOT_SHOWN) if is_ignored(done.data, sent, before) else done
