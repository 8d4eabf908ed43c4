"""Messages that are written as a whole: posted once at the end, or at once and edited while the answer grows.

An edit may be repeated, and the next one makes good one that failed. A post has no key that would make that
safe: each carries metadata of its own, by which it is looked for before it is posted again.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from ..turn.actions import TaskCard
from ..turn.buffer import TIMER_TOLERANCE
from . import blocks
from .api import DROPPED, TurnClient
from .blocks import TextForm
from .calls import REPEAT_PAUSES, CallFailed, CallOk, CallResult, backoff, call_until_known
from .cards import CardClosing
from .faults import FINAL_FAULTS, Fault, StreamingRefusalCache, SurfaceKind
from .model import Batch, SlackMessage
from .readback import is_ignored

_log = logging.getLogger(__name__)

Args = dict[str, Any]
Body = tuple[TextForm, Args]

NOT_SHOWN = "not_shown"
"""The error of a call that Slack said ok to and that changed nothing."""

_POST, _UPDATE = "chat.postMessage", "chat.update"
_FILLED = frozenset({"metadata", "text", "blocks"})  # what an edit takes of a post
_FIRST_PAUSE, _LONGEST_PAUSE = 2.0, 60.0  # seconds between attempts at what was refused

_FINAL = FINAL_FAULTS | {Fault.STOPPED, Fault.NOT_HERE, Fault.NOT_THIS_ONE}
"""No time changes these: the turn is over, or the app is not set up for this."""


class TextForms:
    """The forms in which a text may go to Slack, best first, for someone of `team`.

    A form of the text alone that was refused, or taken and not shown, is left out for a while. One with
    blocks is tried each time: the fault may be one block of that message.
    """

    def __init__(self, cache: StreamingRefusalCache, team: str, now: Callable[[], float]) -> None:
        self._cache, self._team, self._now = cache, team, now

    def of(
        self, method: str, text: str, above: Sequence[Args], under: Sequence[Args], *, says: str = ""
    ) -> list[Body]:
        alone, now = blocks.alone(text or says) if text or says else [], self._now()
        taken = [each for each in alone if not self._cache.refuses(self._team, method, each[0], now)] or alone
        if taken and not (above or under):
            return taken
        return [(TextForm.WHOLE, blocks.body(text, above, under, says=says)), *taken]

    async def send(
        self,
        method: str,
        bodies: Sequence[Body],
        before: str,
        call: Callable[[Args], Awaitable[CallResult]],
    ) -> CallResult:
        """Call with each body in turn until Slack shows it. `before` is what the message read until now."""
        refused: list[TextForm] = []
        in_doubt = False
        result: CallResult = CallFailed(Fault.WRONG_CALL, "refused")
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

    def refused(self, method: str, form: TextForm) -> None:
        if form is not TextForm.WHOLE:
            self._cache.remember(self._team, method, form, self._now())


def shown_or_failed(done: CallOk, sent: str, before: str) -> CallResult:
    """`done`, unless it shows the message without the text `sent`: as it read `before`, or empty."""
    return CallFailed(Fault.WRONG_CALL, NOT_SHOWN) if is_ignored(done.data, sent, before) else done


class PostSurface:
    """Whole messages of one turn. One writer: calls must not overlap.

    `retry_timeout`: the most seconds of pauses for a post that must not be lost.
    """

    def __init__(self, client: TurnClient) -> None:
        self._client, self._settings, self._clock = client, client.settings, client.clock
        self._forms = TextForms(client.refusals, client.question.user_team, client.clock.monotonic)
        self.retry_timeout = client.settings.post_retry_timeout
        self._count = 0
        self._written_at = -math.inf

    def pause(self, now: float) -> float:
        left = self._written_at + self._settings.edit_interval - now
        return left if left > TIMER_TOLERANCE else 0.0

    # -- an answer's messages --------------------------------------------------------------------------------

    async def write(
        self,
        message: SlackMessage,
        write: Batch,
        footer: Sequence[Args] = (),
        close: CardClosing | None = None,
    ) -> CallFailed | None:
        """Show `write` in `message`, which is begun where it has no `ts`. None: Slack shows it."""
        text, title = message.text + write.text, write.plan_title or message.title
        failed = await self.show(message, text, title, footer=footer, close=close)
        self._written_at = self._clock.monotonic()
        return failed

    async def end(self, message: SlackMessage) -> CallOk:
        if message.cards.closing(CardClosing.CONTINUES):
            await self.show(message, message.text, message.title, close=CardClosing.CONTINUES)
        return CallOk({})

    async def show(
        self,
        message: SlackMessage,
        text: str,
        title: str,
        *,
        footer: Sequence[Args] = (),
        close: CardClosing | None = None,
    ) -> CallFailed | None:
        """Make the message read `text`, with all its cards: posted if it is not there yet, else edited.

        None: it does; `is_signed` says whether `footer` is there. `close`: how cards that still run read;
        None: they run on.
        """
        above = self._card_blocks(message.cards.whole(close), title)
        if message.ts is None:
            result = await self.post(
                text, above, footer, "answer", persist=message.surface is SurfaceKind.POST
            )
            message.ts = result.ts if isinstance(result, CallOk) else None
        else:
            result = await self._edit(message, self._forms.of(_UPDATE, text, above, footer))
        if isinstance(result, CallFailed):
            return result
        message.text, message.title = text, title
        message.is_signed = bool(footer) and not result.is_fallback
        message.cards.confirm(message.cards.unsent())
        if close is CardClosing.CONTINUES and not (result.is_fallback and text):  # it gets nothing more
            message.cards.confirm_closed(close)
        return None

    async def rewrite(
        self, message: SlackMessage, text: str, footer: Sequence[Args], close: CardClosing
    ) -> CallFailed | None:
        """Make a stopped message read `text`, with the cards it shows above and `footer` under it.

        None: it does, perhaps in its plainest form.
        """
        cards = message.cards.closed(close)
        above = self._card_blocks(cards, message.title)
        forms = self._forms.of(_UPDATE, text, above, footer)
        if cards and not text:
            forms.append((TextForm.WHOLE, blocks.body("", above, ())))
        result = await self._edit(message, forms)
        if isinstance(result, CallFailed):
            return result
        message.text, message.doubt, message.is_open = text, None, False
        message.is_signed = bool(footer) and not result.is_fallback
        if cards and not (result.is_fallback and text):
            message.cards.confirm_closed(close)
        return None

    async def delete(self, message: SlackMessage) -> bool:
        """Stopped first where its stream is open. False: it is still there."""
        client, args = self._client, self._address(message.ts)
        for pause in (*REPEAT_PAUSES, None):
            result = await client.call_until_known("chat.delete", args, applied_as=Fault.GONE)
            if pause is None or isinstance(result, CallOk) or result.fault is not Fault.STILL_OPEN:
                break
            await client.call_until_known("chat.stopStream", args)
            await asyncio.sleep(pause)
        return isinstance(result, CallOk) or result.fault is Fault.GONE

    async def _edit(self, message: SlackMessage, forms: Sequence[Body]) -> CallResult:
        address = self._address(message.ts)
        metadata = blocks.metadata(self._client.question.key, "answer")

        async def call(body: Args) -> CallResult:
            args = {**address, "metadata": metadata, **body}
            result = await self._client.call_until_known(_UPDATE, args)
            if isinstance(result, CallFailed) and result.fault is Fault.STILL_OPEN:
                await self._client.call_until_known("chat.stopStream", address)
                result = await self._client.call_until_known(_UPDATE, args)
            return result

        return await self._forms.send(_UPDATE, forms, message.text, call)

    def _address(self, ts: str | None) -> Args:
        return {"channel": self._client.question.thread.channel, "ts": ts}

    def _card_blocks(self, cards: Sequence[TaskCard], title: str) -> list[Args]:
        return blocks.cards(cards, title, self._settings.task_display_mode, self._settings.card_chars)

    # -- posts -----------------------------------------------------------------------------------------------

    async def post(
        self,
        text: str,
        above: Sequence[Args],
        under: Sequence[Args],
        kind: str,
        *,
        says: str = "",
        persist: bool = False,
    ) -> CallResult:
        """Post Markdown `text` between blocks. Ok: it is there, and has that `ts`.

        `kind` is "answer", "question" or "note"; `says` is what a notification reads where there is no text.
        `persist`: there is no other way to show it, so it is posted again, an answer unless the human stops
        the turn (`DROPPED`).
        """
        self._count += 1
        question = self._client.question
        base: Args = {
            "channel": question.thread.channel,
            "thread_ts": question.thread.ts,
            "metadata": blocks.metadata(question.key, kind, self._count),
            "unfurl_links": False,
            "unfurl_media": False,
        }
        forms = self._forms.of(_POST, text, above, under, says=says)
        bodies = [(form, {**base, **body}) for form, body in forms]
        result = await self._post(bodies)
        for pause in backoff(_FIRST_PAUSE, _LONGEST_PAUSE, self.retry_timeout) if persist else ():
            if isinstance(result, CallOk) or result.fault in _FINAL:
                break
            self._client.on_wait()
            await self._client.sleep(pause)
            if kind == "answer" and self._client.is_cancelled:
                return CallFailed(Fault.LATER, DROPPED)
            result = await self._post_again(bodies, result)
        return result

    async def _post(self, bodies: Sequence[Body]) -> CallResult:
        """A post that came out empty is filled, or else deleted."""
        client, empty = self._client, ""

        async def call(args: Args) -> CallResult:
            nonlocal empty
            if empty:
                shown = {name: value for name, value in args.items() if name in _FILLED}
                result = await client.call_until_known(_UPDATE, {**self._address(empty), **shown})
                return CallOk({**result.data, "ts": empty}) if isinstance(result, CallOk) else result
            result = await call_until_known(
                lambda: client.api.call(_POST, args), lambda: self._find(args["metadata"])
            )
            empty = result.ts if isinstance(result, CallOk) else ""
            return result

        result = await self._forms.send(_POST, bodies, "", call)
        if empty and isinstance(result, CallFailed):
            await client.call_until_known("chat.delete", self._address(empty))
        return result

    async def _post_again(self, bodies: Sequence[Body], before: CallFailed) -> CallResult:
        in_doubt = before.in_doubt or before.fault is Fault.UNKNOWN
        if in_doubt and (found := await self._find(bodies[0][1]["metadata"])) is not None:
            return replace(found, is_fallback=True)  # perhaps: it is not known which form it was
        result = await self._post(bodies)
        return replace(result, in_doubt=True) if isinstance(result, CallFailed) and in_doubt else result

    async def _find(self, metadata: Args) -> CallOk | None:
        messages = await self._client.read_thread()
        for message in () if isinstance(messages, CallFailed) else messages:
            if blocks.is_ours(message.get("metadata"), metadata):
                return CallOk({"ts": str(message["ts"])})
        return None

    async def tell_asker(self) -> None:
        api, question = self._client.api, self._client.question
        opened = await api.call("conversations.open", {"users": question.user}, patience=0)
        if isinstance(opened, CallFailed):
            return
        channel = opened.data.get("channel") or {}
        text = f"I may not write in <#{question.thread.channel}>, so I cannot answer you there."
        await api.call(_POST, {"channel": channel.get("id"), "text": text}, patience=0)
        _log.info("thread not writable: the asker was told directly", extra=api.log_fields)
