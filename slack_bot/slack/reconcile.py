"""PURE. A call about a message had no answer: what does the message show?

The stream is stopped first, so that it can no longer change; then it is read back; and what cannot be read is
rewritten as a whole, which may be repeated (delivery contract, section 5).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..observe.facts import DoubtSettled
from .cards import CardClosing
from .faults import FINAL_FAULTS, CallFailed, CallOk, CallResult, Fault, SurfaceKind
from .model import Batch, SlackMessage
from .orders import REPEAT_PAUSES, JoinSeen, LetOthersRun, Log, Messages, Report, Sleep, Step, WhenSeen
from .readback import Readback, ShownRest, compare_shown, has_open_card, own_stream
from .stream_starts import StreamStart
from .surfaces import PostSurface, StreamSurface
from .turn_calls import TurnCalls

_SWEEP_PAUSES = (0.0, 2.0, 8.0, 30.0)
"""Seconds before each attempt at what is left open. The reader has the answer, so there is time."""

SKEW = 60.0  # seconds our clock may differ from Slack's when a message is looked for by its time
_LOOKS = 2  # looks that found nothing: Slack has had time to show it

_Ending = tuple[SlackMessage, CardClosing]


class Reconciler:
    """Settles the doubts of one turn, and remembers what could not be stopped or closed yet.

    `messages` are those of the turn, kept by `Delivery`.
    """

    def __init__(
        self,
        calls: TurnCalls,
        streams: StreamSurface,
        posts: PostSurface,
        messages: Sequence[SlackMessage],
    ) -> None:
        self._calls, self._streams, self._posts, self._messages = calls, streams, posts, messages
        self._unfound: list[SlackMessage] = []  # starts without an answer whose stream may appear yet
        self._open: list[SlackMessage] = []  # streams not stopped, or stopped with a card open
        self._left = 0  # late streams that could not be stopped

    def reconcile(self, message: SlackMessage) -> Step[tuple[bool, CallFailed | None]]:
        """End the doubt about `message`, and its stream.

        Returns whether the text in doubt is shown, and what failed where nothing can be written any more.
        """
        calls = self._calls
        began = calls.now
        is_shown, failed = yield from self._reconcile(message)
        yield from Report(DoubtSettled(calls.now, calls.turn, calls.now - began, is_shown))
        return is_shown, failed

    def _reconcile(self, message: SlackMessage) -> Step[tuple[bool, CallFailed | None]]:
        if message.ts is None and not (yield from self.find(message)):
            yield from Log("warning", "start without an answer cannot be looked for")
        if message.ts is None:
            unfound = replace(message)  # with its doubt, by which it would be known
            self._unfound.append(unfound)
            yield from self._watch(unfound)
            message.put_in_doubt(None)
            return False, None
        sent = message.doubt or ""
        stopped = yield from self.end(message)
        if isinstance(stopped, CallFailed) and stopped.fault in FINAL_FAULTS:
            return False, stopped
        if sent and message.doubt is None:
            return False, None  # its cards had to be closed, so it was rewritten as it was confirmed
        message.put_in_doubt(None)
        is_shown = not sent or (yield from self._is_applied(message, sent, stopped))
        return is_shown, None

    def end(self, message: SlackMessage) -> Step[CallResult]:
        """The answer goes on below. What is still open then is tried again when the turn ends."""
        ended: CallResult = CallOk({})
        if message.surface is SurfaceKind.STREAM:
            ended = yield from self._streams.end(message)
        elif message.doubt or message.cards.closing(CardClosing.CONTINUES):
            # what an edit without an answer may show besides the confirmed text goes into the next message
            yield from self._posts.write(message, Batch(), close=CardClosing.CONTINUES)
        is_final = isinstance(ended, CallFailed) and ended.fault in FINAL_FAULTS
        if not is_final and (message.is_open or message.cards.closing(CardClosing.CONTINUES)):
            self._open.append(message)
        return ended

    def restore(
        self, message: SlackMessage, found: Mapping[str, Any] | None, *, is_last: bool
    ) -> Step[CallFailed | ShownRest | None]:
        """Stop an open message of another process, so that it reads as it was recorded. `found`: as it was
        in the thread.

        What the last one shows beyond that is returned: the answer will tell what it is.
        """
        shown: Mapping[str, Any] | None = None
        if found is not None and found.get("streaming_state") == "completed":
            message.close_stream()  # Slack takes few stops a minute
            shown = found
        else:
            stopped = yield from self.end(message)
            if isinstance(stopped, CallFailed) and stopped.fault in FINAL_FAULTS:
                return stopped
            answered = stopped.data.get("message") if isinstance(stopped, CallOk) else None
            shown = answered if isinstance(answered, dict) else (yield from self._read(message))
        is_read = shown is not None and compare_shown(shown, "", message.text) is Readback.ALL
        if shown is not None and is_read and not has_open_card(shown.get("blocks")):
            return None
        if is_last and not is_read and message.segment is not None:
            return ShownRest.of(shown, message.text, message.segment.state)
        return (yield from self._posts.rewrite(message, message.text, (), CardClosing.CONTINUES))

    def is_shown(self, message: SlackMessage, sent: str) -> Step[bool]:
        """Whether an edited message shows `sent` behind its text. False also if unreadable."""
        shown = yield from self._read(message)
        if shown is None or compare_shown(shown, message.text, sent) is not Readback.ALL:
            return False
        message.put_in_doubt(None)
        message.confirm(sent)
        return True

    def _is_applied(self, message: SlackMessage, sent: str, stopped: CallResult) -> Step[bool]:
        """Where it cannot be read whether `sent` is shown, it is written there."""
        shown = stopped.data.get("message") if isinstance(stopped, CallOk) else None
        if not isinstance(shown, dict):
            shown = yield from self._read(message)
        verdict = Readback.UNREADABLE if shown is None else compare_shown(shown, message.text, sent)
        if verdict is Readback.ALL:
            message.confirm(sent)
        if verdict is not Readback.UNREADABLE:
            return verdict is Readback.ALL
        failed = yield from self._posts.rewrite(message, message.text + sent, (), CardClosing.CONTINUES)
        if failed is not None:
            yield from Log("error", "text in doubt is sent again")
        return failed is None

    def find(self, message: SlackMessage, *, looks: int = _LOOKS) -> Step[bool]:
        """Look for the stream that a start without an answer may have opened; sets `ts` if it is there.

        Slack's event or the thread itself names it. False: no event came and the thread cannot be read.
        """
        start = message.start
        if start is None:
            return True  # no stream was asked for
        yield from LetOthersRun()  # an event that is here already makes the look unnecessary
        is_certain = yield from self._look(message, start, looks)
        if message.ts is None and start.ts is not None:
            message.open_stream(start.ts)
        return message.ts is not None or is_certain

    def _look(self, message: SlackMessage, start: StreamStart, looks: int) -> Step[bool]:
        looked, since, sent = 0, message.begun_at - SKEW, message.doubt or ""
        starts, known = self._calls.stream_starts, {each.ts for each in self._messages if each.ts}
        messages: Messages | CallFailed | None = None
        for pause in (*REPEAT_PAUSES, 0.0):
            if start.ts is not None:
                return True
            if not (isinstance(messages, CallFailed) and messages.is_final):
                messages = yield from self._calls.read_thread_once(since, until_seen=start)
            if messages is None:  # Slack's event came
                return True
            if not isinstance(messages, CallFailed):
                others, after = known | {*starts.known(*start.thread)}, max(since, start.after)
                found = own_stream(messages, since=after, sent=sent, known=others)
                if found is not None:
                    message.open_stream(str(found["ts"]))
                    starts.settle(start, message.ts)
                    return True
                looked += 1
                if looked >= looks:
                    return True
            yield from Sleep(pause, until_seen=start)
        return looked > 0

    def _read(self, message: SlackMessage) -> Step[Mapping[str, Any] | None]:
        messages = yield from self._calls.read_thread(float(message.ts or 0) - SKEW)
        if isinstance(messages, CallFailed):
            return None
        return next((each for each in messages if each.get("ts") == message.ts), None)

    def _watch(self, message: SlackMessage) -> Step[None]:
        start = message.start
        if start is not None:
            yield from WhenSeen(start, lambda: self._when_appeared(message, start))

    def _when_appeared(self, message: SlackMessage, start: StreamStart) -> Step[None]:
        message.name(start.ts)  # at once: nobody looks for it any more
        return self._delete_appeared(message)

    def _delete_appeared(self, message: SlackMessage) -> Step[None]:
        yield from Log("info", "late stream is deleted")
        yield from self._delete_late(message)

    def _delete_late(self, message: SlackMessage) -> Step[None]:
        message.open_stream(message.ts or "")
        yield from self._streams.stop(message, CardClosing.DONE, session=self._calls.session)
        if message.is_open or not (yield from self._posts.delete(message)):
            self._left += 1

    def close_open(self, how: CardClosing = CardClosing.DONE) -> Step[None]:
        """Stop what is open, close the cards, delete late streams. `how`: those of the last message."""
        last = self._messages[-1:]
        endings = [(message, CardClosing.CONTINUES) for message in self._open if message not in last]
        endings += [(message, how) for message in last]
        yield from self._sweep([each for each in endings if each[0].is_open], self._stop)
        left = sum(message.is_open for message, _ in endings)
        for message, _ in (yield from self._sweep(endings, self._close_cards)):
            if message.text.strip() or not (yield from self._posts.delete(message)):
                yield from Log("error", "message keeps an open card")
        for message in self._unfound:
            if message.ts is None:
                yield from self.find(message, looks=1)
                if message.ts is None:
                    yield from self._watch(message)
                else:
                    yield from self._delete_late(message)
        yield from JoinSeen()
        if left := left + self._left:
            yield from Log("error", "streams not stopped: %d", (left,))
        self._open, self._unfound, self._left = [], [], 0

    def _sweep(
        self, endings: Sequence[_Ending], attempt: Callable[[SlackMessage, CardClosing], Step[bool]]
    ) -> Step[Sequence[_Ending]]:
        for pause in _SWEEP_PAUSES:
            if not endings:
                break
            yield from Sleep(pause)
            left: list[_Ending] = []
            for message, how in endings:
                if not (yield from attempt(message, how)):
                    left.append((message, how))
            endings = left
        return endings

    def _stop(self, message: SlackMessage, how: CardClosing) -> Step[bool]:
        """False: it is open, and Slack may stop it another time."""
        stopped = yield from self._streams.stop(message, how)
        if isinstance(stopped, CallFailed) and stopped.fault is Fault.GONE:
            message.close_stream()  # a deleted message is no open stream either
        return not message.is_open or isinstance(stopped, CallOk) or stopped.fault in FINAL_FAULTS

    def _close_cards(self, message: SlackMessage, how: CardClosing) -> Step[bool]:
        if message.ts is None or message.is_open or message.is_signed or not message.cards.closing(how):
            return True
        failed = yield from self._posts.rewrite(message, message.text, (), how)
        return failed is None or failed.fault in FINAL_FAULTS
