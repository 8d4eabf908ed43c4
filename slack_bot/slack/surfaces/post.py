"""Posts, the forms of their text, and the one direct message where the bot may not write.

A post has no key that would make it safe to repeat. So each carries metadata that no other message has, by
which it is looked for before it is posted again. Below a post there is no surface, so one that must not be
lost is repeated with growing pauses.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from .. import blocks
from ..blocks import TextForm
from ..calls import CallFailed, CallOk, backoff, call_until_known
from ..faults import Fault
from ..readback import is_ignored
from ..turn_client import DROPPED, TurnClient
from .fallback import StreamingRefusalCache

_log = logging.getLogger(__name__)

Args = dict[str, Any]
Body = tuple[TextForm, Args]

NOT_SHOWN = "not_shown"
"""The error of a call that Slack said ok to and that changed nothing."""

_POST = "chat.postMessage"
_FIRST_PAUSE, _LONGEST_PAUSE = 2.0, 60.0  # seconds between attempts at what was refused

_FINAL = frozenset(
    {Fault.STOPPED, Fault.NO_WRITING, Fault.GONE, Fault.DEAD, Fault.NOT_HERE, Fault.NOT_THIS_ONE}
)
"""No time changes these: the turn is over, or the app is not set up for this."""


class TextForms:
    """The forms in which a text may go to Slack, best first, for one turn of someone of `team`.

    A form of the text alone that was refused, or taken and not shown, is left out for a while. One with
    blocks is tried each time: the fault may be one block of that message. `cache` is shared by all turns.
    """

    def __init__(
        self,
        cache: StreamingRefusalCache | None = None,
        team: str = "",
        now: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._cache, self._team, self._now = cache or StreamingRefusalCache(), team, now

    def of(
        self, method: str, text: str, above: Sequence[Args], under: Sequence[Args], *, says: str = ""
    ) -> list[Body]:
        """The arguments of a call of `method` that shows `text` between the blocks `above` and `under`, in
        every form worth an attempt, at least one. `says` as in `blocks.body`.
        """
        alone = blocks.alone(text or says) if text or says else []
        taken = [form for form in alone if not self._refuses(method, form[0])] or alone
        if taken and not (above or under):
            return taken
        return [(TextForm.WHOLE, blocks.body(text, above, under, says=says)), *taken]

    async def send(
        self,
        method: str,
        bodies: Sequence[Body],
        before: str,
        call: Callable[[Args], Awaitable[CallOk | CallFailed]],
    ) -> CallOk | CallFailed:
        """Call with each body in turn until Slack shows it. `before` is what the message read until now.

        An attempt in another form that had no answer before it was refused leaves the outcome in doubt.
        """
        refused: list[TextForm] = []
        in_doubt = False
        result: CallOk | CallFailed = CallFailed(Fault.WRONG_CALL, "refused")
        for form, body in bodies:
            result = await call(body)
            if isinstance(result, CallOk) and form is TextForm.MARKDOWN_TEXT:
                result = shown_or_failed(result, body["markdown_text"], before)
            if isinstance(result, CallOk):
                for each in refused:
                    self.refused(method, each)
                return replace(result, is_fallback=bool(refused))
            in_doubt = in_doubt or result.in_doubt
            result = replace(result, in_doubt=in_doubt)
            if result.fault is not Fault.WRONG_CALL:
                break
            refused.append(form)
        return result

    def _refuses(self, method: str, form: TextForm) -> bool:
        return self._cache.refuses_form(self._team, method, form, self._now())

    def refused(self, method: str, form: TextForm) -> None:
        """`form` was refused in calls of `method`, or taken and not shown, and another one was not."""
        if form is not TextForm.WHOLE:
            self._cache.remember_form(self._team, method, form, self._now())


def shown_or_failed(done: CallOk, sent: str, before: str) -> CallOk | CallFailed:
    """`done`, unless it shows the message without the text `sent`: as it read `before`, or empty."""
    return CallFailed(Fault.WRONG_CALL, NOT_SHOWN) if is_ignored(done.data, sent, before) else done


class Posts:
    """Posts of one turn. `retry_timeout`: the most seconds of pauses for one that must not be lost."""

    def __init__(
        self, client: TurnClient, retry_timeout: float = 0.0, forms: TextForms | None = None
    ) -> None:
        self._client, self.retry_timeout = client, retry_timeout
        self._forms = forms or TextForms()
        self._count = 0

    async def post(
        self,
        text: str,
        above: Sequence[Args],
        under: Sequence[Args],
        kind: str,
        *,
        says: str = "",
        persist: bool = False,
    ) -> CallOk | CallFailed:
        """Post Markdown `text` between the blocks `above` and `under`. Ok: it is there, and has that `ts`.

        `kind` is "answer", "question" or "note"; `says` is what a notification reads where there is no text.
        `persist`: there is no other way to show it. Such an answer ends with `DROPPED` where the human stops
        the turn meanwhile.
        """
        self._count += 1
        place = self._client.place
        base: Args = {
            "channel": place.channel,
            "thread_ts": place.thread_ts,
            "metadata": blocks.metadata(place.turn, kind, self._count),
            "unfurl_links": False,
            "unfurl_media": False,
        }
        forms = self._forms.of(_POST, text, above, under, says=says)
        bodies = [(form, {**base, **body}) for form, body in forms]
        result = await self._send(bodies)
        for pause in backoff(_FIRST_PAUSE, _LONGEST_PAUSE, self.retry_timeout) if persist else ():
            if isinstance(result, CallOk) or result.fault in _FINAL:
                break
            self._client.on_wait()
            await self._client.sleep(pause)
            if kind == "answer" and self._client.is_cancelled:
                return CallFailed(Fault.LATER, DROPPED)
            result = await self._send_again(bodies, result)
        return result

    async def _send(self, bodies: Sequence[Body]) -> CallOk | CallFailed:
        """Post in the first form that is shown. A post that came out empty is filled, or else deleted."""
        empty = ""

        async def call(args: Args) -> CallOk | CallFailed:
            nonlocal empty
            result = await (self._fill(empty, args) if empty else self._post(args))
            empty = result.ts if isinstance(result, CallOk) else empty
            return result

        result = await self._forms.send(_POST, bodies, "", call)
        if empty and isinstance(result, CallFailed):
            address = {"channel": self._client.place.channel, "ts": empty}
            await self._client.call_until_known("chat.delete", address)
        return result

    async def _fill(self, ts: str, args: Args) -> CallOk | CallFailed:
        """Make the message `ts` show what would be posted with `args`."""
        shown = {name: value for name, value in args.items() if name in ("metadata", "text", "blocks")}
        address = {"channel": self._client.place.channel, "ts": ts}
        result = await self._client.call_until_known("chat.update", {**address, **shown})
        return CallOk({**result.data, "ts": ts}) if isinstance(result, CallOk) else result

    async def _send_again(self, bodies: Sequence[Body], before: CallFailed) -> CallOk | CallFailed:
        """Post again, unless the thread shows an attempt that had no answer."""
        in_doubt = before.in_doubt or before.fault is Fault.UNKNOWN
        if in_doubt and (found := await self._find(bodies[0][1]["metadata"])) is not None:
            return replace(found, is_fallback=True)  # perhaps: nobody knows which form it was
        result = await self._send(bodies)
        return replace(result, in_doubt=True) if isinstance(result, CallFailed) and in_doubt else result

    async def _post(self, args: Args) -> CallOk | CallFailed:
        return await call_until_known(
            lambda: self._client.call(_POST, args), lambda: self._find(args["metadata"])
        )

    async def _find(self, metadata: Args) -> CallOk | None:
        """The message with this metadata, if the thread shows it. None also where it cannot be read."""
        messages = await self._client.read_thread()
        for message in () if isinstance(messages, CallFailed) else messages:
            if blocks.is_ours(message.get("metadata"), metadata):
                return CallOk({"ts": str(message["ts"])})
        return None

    async def tell_asker(self) -> None:
        """Say in a direct message that the thread cannot be written to. Tried once, never fails."""
        client, place = self._client, self._client.place
        opened = await client.call("conversations.open", {"users": place.user}, patience=0)
        if isinstance(opened, CallFailed):
            return
        channel = opened.data.get("channel") or {}
        text = f"I may not write in <#{place.channel}>, so I cannot answer you there."
        await client.call(_POST, {"channel": channel.get("id"), "text": text}, patience=0)
        _log.info("thread not writable: the asker was told directly", extra=place.log_fields)
