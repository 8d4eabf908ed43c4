"""PURE. How messages are written: streamed, or as a whole, posted once at the end or edited while the answer
grows.

An edit may be repeated, and the next one makes good one that failed. A post has no key that would make that
safe: each carries metadata of its own, by which it is looked for before it is posted again.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..text.tables import most_tables
from ..text.words import CARD_CONTINUES, CARD_STOPPED, NOT_WRITABLE, TRYING_AGAIN
from ..turn.actions import TaskCard
from . import blocks
from .blocks import Args, TextForm
from .cards import CardClosing
from .faults import AFTER_WRITE, FINAL_FAULTS, CallFailed, CallOk, CallResult, Fault, Remedy, SurfaceKind
from .features import WorkspaceFeature
from .model import Batch, SlackMessage
from .orders import REPEAT_PAUSES, CallSlack, Log, Sleep, Step, StoreRoot, backoff, call_until_known
from .readback import draws_tables, is_ignored
from .tables import markdown_table
from .turn_calls import DROPPED, TurnCalls

Body = tuple[TextForm, Args]

_MOST_BLOCKS = 50  # Slack drops what is beyond them in the chunks of a message (facts: Slack 1)

NOT_SHOWN = "not_shown"
"""The error of a call that Slack said ok to and that changed nothing."""

_ROOT = "root"
"""The kind of the first message of a thread that begins with an answer."""
_POST, _UPDATE = "chat.postMessage", "chat.update"
_FILLED = frozenset({"metadata", "text", "blocks"})  # what an edit takes of a post
_FIRST_PAUSE, _LONGEST_PAUSE = 2.0, 60.0  # seconds between attempts at what was refused

_FINAL = FINAL_FAULTS | {Fault.STOPPED, Fault.NOT_HERE, Fault.NOT_THIS_ONE}
"""No time changes these: the turn is over, or the app is not set up for this."""


def _title_after(title: str, cards: Iterable[TaskCard]) -> str:
    """The plan's title above `cards` as they read now: it may name one that goes on in the next message.

    A plan without a title takes that of a card that did not end: Slack would call the plan done.
    """
    if not title:
        return next((card.title for card in cards if card.title.endswith((CARD_CONTINUES, CARD_STOPPED))), "")
    is_said = CARD_CONTINUES.strip(" ()") in title.casefold()
    goes_on = any(card.title.endswith(CARD_CONTINUES) for card in cards)
    return f"{title}{CARD_CONTINUES}" if goes_on and not is_said else title


class PostSurface:
    """Whole messages of one turn. One writer: calls must not overlap.

    `retry_timeout`: the most seconds of pauses for a post that must not be lost. `count`: how many posts the
    turn has already. None is older than `since` (wall-clock seconds). `has_status`: a reader waits, so a
    typing status says that a post is tried again; the end of the answer takes it away.
    """

    def __init__(
        self, calls: TurnCalls, count: int = 0, since: float = 0.0, *, has_status: bool = False
    ) -> None:
        self._calls, self._settings, self._has_status = calls, calls.settings, has_status
        self.retry_timeout = calls.settings.post_retry_timeout
        self._count, self._since = count, since

    def stop_retrying(self) -> None:
        """Something broke: posts are not repeated for long any more."""
        self.retry_timeout = 0.0

    # -- an answer's messages --------------------------------------------------------------------------------

    def write(
        self,
        message: SlackMessage,
        write: Batch,
        footer: Sequence[Args] = (),
        close: CardClosing | None = None,
    ) -> Step[CallFailed | None]:
        """Show `write` behind the message's text, with all its cards: posted if it is not there yet, else
        edited.

        None: it does; `is_signed` says whether `footer` is there. `close`: how cards that still run read;
        None: they run on.
        """
        text, cards = message.text + write.text, message.cards.whole(close)
        title = _title_after(write.plan_title or message.title, cards)
        above = self._card_blocks(cards, title)
        if message.ts is None:
            result = yield from self.post(
                text, above, footer, "answer", persist=message.surface is SurfaceKind.POST
            )
            message.name(result.ts if isinstance(result, CallOk) else None)
        else:
            result = yield from self._edit(message, blocks.forms(text, above, footer))
        if isinstance(result, CallFailed):
            return result
        message.confirm_whole(text, title, is_signed=bool(footer) and not result.is_fallback)
        message.cards.confirm(message.cards.unsent())
        if close is CardClosing.CONTINUES and not (result.is_fallback and text):  # it gets nothing more
            message.cards.confirm_closed(close)
        return None

    def rewrite(
        self, message: SlackMessage, text: str, footer: Sequence[Args], close: CardClosing
    ) -> Step[CallFailed | None]:
        """Make a stopped message read `text`, with the cards it shows above and `footer` under it.

        None: it does, perhaps in its plainest form.
        """
        cards = message.cards.closed(close)
        above = self._card_blocks(cards, _title_after(message.title, cards))
        forms = blocks.forms(text, above, footer)
        if cards and not text:
            forms.append((TextForm.WHOLE, {"blocks": above}))
        result = yield from self._edit(message, forms)
        if isinstance(result, CallFailed):
            return result
        message.close_stream()
        is_signed = bool(footer) and result.form == 0  # no other form has it
        message.confirm_whole(text, message.title, is_signed=is_signed)
        if cards and not (result.is_fallback and text):
            message.cards.confirm_closed(close)
        return None

    def delete(self, message: SlackMessage) -> Step[bool]:
        """Stopped first where its stream is open. False: it is still there."""
        calls, args = self._calls, self._calls.address(message.ts)
        for pause in (*REPEAT_PAUSES, None):
            result = yield from calls.call_until_known("chat.delete", args, applied_as=Fault.GONE)
            if pause is None or isinstance(result, CallOk) or result.fault is not Fault.STILL_OPEN:
                break
            yield from calls.call_until_known("chat.stopStream", args)
            yield from Sleep(pause)
        return isinstance(result, CallOk) or result.fault is Fault.GONE

    def _edit(self, message: SlackMessage, forms: Sequence[Body]) -> Step[CallResult]:
        address = self._calls.address(message.ts)
        metadata = blocks.metadata(self._calls.turn, "answer")

        def call(body: Args) -> Step[CallResult]:
            args = {**address, "metadata": metadata, **body}
            result = yield from self._calls.call_until_known(_UPDATE, args)
            if isinstance(result, CallFailed) and result.fault is Fault.STILL_OPEN:
                yield from self._calls.call_until_known("chat.stopStream", address)
                result = yield from self._calls.call_until_known(_UPDATE, args)
            return result

        return (yield from self._send(_UPDATE, forms, message.text, call))

    def _send(
        self,
        method: str,
        bodies: Sequence[Body],
        before: str,
        call: Callable[[Args], Step[CallResult]],
    ) -> Step[CallResult]:
        """Call with each body in turn until Slack shows it. `before` is what the message read until now.

        A form of the text alone that was refused, or taken and not shown, is left out for a while. One with
        blocks is tried each time: the fault may be one block of that message.
        """
        calls, refused, in_doubt = self._calls, list[TextForm](), False
        memory, team = calls.refusals, calls.question.user_team
        result: CallResult = CallFailed(Fault.WRONG_CALL, "refused")
        for number, (form, body) in enumerate(bodies):
            if memory.refuses(team, method, form, calls.now):
                continue
            result = yield from call(body)
            sent = body.get("markdown_text")
            if sent and isinstance(result, CallOk) and is_ignored(result.data, sent, before):
                result = CallFailed(Fault.WRONG_CALL, NOT_SHOWN)
            if isinstance(result, CallOk):
                for each in refused:
                    if each is not TextForm.WHOLE:
                        memory.remember(team, method, each, calls.now)
                return replace(result, is_fallback=bool(refused) and form is not TextForm.WHOLE, form=number)
            in_doubt = in_doubt or result.in_doubt
            result = replace(result, in_doubt=in_doubt)
            if result.fault is not Fault.WRONG_CALL:
                break
            refused.append(form)
        return result

    def _card_blocks(self, cards: Sequence[TaskCard], title: str) -> list[Args]:
        return blocks.cards(cards, title, self._settings.task_display_mode, self._settings.card_chars)

    # -- posts -----------------------------------------------------------------------------------------------

    def go_on_behind(self, messages: Iterable[Mapping[str, Any]]) -> None:
        """`messages` of the thread may have posts of this turn that another process numbered."""
        own = (message.get("metadata") for message in messages)
        parts = [blocks.part_of(each) for each in own if blocks.turn_of(each) == self._calls.turn]
        self._count = max((self._count, *parts))

    def post(
        self,
        text: str,
        above: Sequence[Args],
        under: Sequence[Args],
        kind: str,
        *,
        says: str = "",
        persist: bool = False,
        is_again: bool = False,
    ) -> Step[CallResult]:
        """Post Markdown `text` between blocks. Ok: it is there, and has that `ts`.

        `kind` is "answer", "question", "extra" or "note"; `says` is what a notification reads where there is
        no text. `persist`: there is no other way to show it, so it is posted again, an answer and its extras
        unless the human stops the turn (`DROPPED`). `is_again`: another process may have posted it.
        """
        forms = blocks.forms(text, above, under, says=says)
        return (yield from self.post_forms(forms, kind, persist=persist, is_again=is_again))

    def post_forms(
        self, forms: Sequence[Body], kind: str, *, persist: bool = False, is_again: bool = False
    ) -> Step[CallResult]:
        """Post one thing in the first of its forms that Slack takes; otherwise as `post`."""
        self._count += 1
        if (failed := (yield from self.begin_thread())) is not None:
            return failed
        return (yield from self._post_forms(forms, kind, persist=persist, is_again=is_again))

    def begin_thread(self) -> Step[CallFailed | None]:
        """Post the first message of a thread that does not exist yet, once over all processes. None: it is
        there.
        """
        calls = self._calls
        if not calls.lacks_thread or (yield from self.find_thread()):
            return None
        head = blocks.forms(calls.question.headline, (), ())
        result = yield from self._post_forms(head, _ROOT, persist=True, is_again=False)
        if isinstance(result, CallFailed):
            return result
        yield from self._begin_in(result.ts)
        return None

    def find_thread(self) -> Step[bool]:
        """Look whether another process has posted the first message of the thread."""
        root = yield from self._find(blocks.metadata(self._calls.turn, _ROOT, 0))
        if root is not None:
            yield from self._begin_in(root.ts)
        return root is not None

    def _begin_in(self, root: str) -> Step[None]:
        self._calls.begin_thread(root)
        yield from StoreRoot(root)

    def _post_forms(
        self, forms: Sequence[Body], kind: str, *, persist: bool, is_again: bool
    ) -> Step[CallResult]:
        calls = self._calls
        number = 0 if kind == _ROOT else self._count
        base: Args = {
            "channel": calls.channel,
            **({"thread_ts": calls.thread_ts} if calls.thread_ts else {}),
            "metadata": blocks.metadata(calls.turn, kind, number),
            "unfurl_links": False,
            "unfurl_media": False,
        }
        bodies = [(form, {**base, **body}) for form, body in forms]
        if is_again and (found := (yield from self._find(base["metadata"]))) is not None:
            return found
        result = yield from self._post(bodies)
        for pause in backoff(_FIRST_PAUSE, _LONGEST_PAUSE, self.retry_timeout) if persist else ():
            if isinstance(result, CallOk) or result.fault in _FINAL:
                break
            if self._has_status:
                yield from calls.show_status_again(TRYING_AGAIN)
            yield from Sleep(pause, until_given_up=True)
            if kind in ("answer", "extra") and calls.are_writes_given_up:
                return CallFailed(Fault.LATER, DROPPED)
            result = yield from self._post_again(bodies, result)
        return result

    def _post(self, bodies: Sequence[Body]) -> Step[CallResult]:
        """A post that came out empty is filled, or else deleted."""
        calls, empty = self._calls, ""

        def call(args: Args) -> Step[CallResult]:
            nonlocal empty
            if empty:
                shown = {name: value for name, value in args.items() if name in _FILLED}
                result = yield from calls.call_until_known(_UPDATE, {**calls.address(empty), **shown})
                return CallOk({**result.data, "ts": empty}) if isinstance(result, CallOk) else result
            result = yield from call_until_known(
                lambda: iter(CallSlack(_POST, args)), lambda: self._find(args["metadata"])
            )
            empty = result.ts if isinstance(result, CallOk) else ""
            return result

        result = yield from self._send(_POST, bodies, "", call)
        if empty and isinstance(result, CallFailed):
            yield from calls.call_until_known("chat.delete", calls.address(empty))
        return result

    def _post_again(self, bodies: Sequence[Body], before: CallFailed) -> Step[CallResult]:
        in_doubt = before.in_doubt or before.fault is Fault.UNKNOWN
        if in_doubt and (found := (yield from self._find(bodies[0][1]["metadata"]))) is not None:
            # perhaps: it is not known which form it was
            return replace(found, is_fallback=True, form=len(bodies) - 1)
        result = yield from self._post(bodies)
        return replace(result, in_doubt=True) if isinstance(result, CallFailed) and in_doubt else result

    def _find(self, metadata: Args) -> Step[CallOk | None]:
        messages = yield from self._calls.read_thread(self._since)
        for message in () if isinstance(messages, CallFailed) else messages:
            if blocks.is_ours(message.get("metadata"), metadata):
                return CallOk({"ts": str(message["ts"])})
        return None

    def tell_asker(self, text: str = NOT_WRITABLE) -> Step[None]:
        """Write to the asker in a direct message; tried once."""
        calls = self._calls
        if not calls.question.user:
            return
        opened = yield from CallSlack("conversations.open", {"users": calls.question.user}, patience=0)
        if isinstance(opened, CallFailed):
            return
        channel = opened.data.get("channel") or {}
        said = text.format(channel=f"<#{calls.channel}>")
        yield from CallSlack(_POST, {"channel": channel.get("id"), "text": said}, patience=0)
        yield from Log("info", "the asker was told in a direct message")


class StreamSurface:
    """The streamed messages of one turn. One writer: calls must not overlap.

    `is_plain`: Slack refused a form, so streams take text only from now on. Whether the workspace draws
    Markdown tables in them is learned from the answer to a stop.
    """

    def __init__(self, calls: TurnCalls, posts: PostSurface) -> None:
        self._calls, self._settings, self._posts = calls, calls.settings, posts
        self.is_plain = False
        self._takes_tables = True  # as blocks

    def write(self, message: SlackMessage, write: Batch) -> Step[CallFailed | None]:
        """Begin the message with `write`, or show that behind its text. None: it does."""
        chunks = blocks.all_chunks(write.text, write.cards, write.plan_title or "", self._settings.card_chars)
        table = self._table(message, write.text) if write.is_table else None
        if table is not None:
            chunks[-1] = {"type": "blocks", "blocks": [table]}
        before = message.doubt
        message.put_in_doubt(write.text)  # a call that is cancelled stays in doubt
        if message.ts is None:
            result = yield from self._start(message, chunks)
        else:
            args = {**self._calls.address(message.ts), "chunks": chunks}
            result = yield from CallSlack("chat.appendStream", args, is_write=True)
        if isinstance(result, CallFailed):
            is_doubt = AFTER_WRITE[result.fault] is Remedy.SETTLE
            message.put_in_doubt(write.text if is_doubt else before)
            self._note_end(message, result)
            if is_doubt:
                message.cards.confirm(write.cards, unsure=True)
            if table is not None and result.fault is Fault.WRONG_CALL:
                self._takes_tables = False
                return (yield from self.write(message, write))
            return result
        self._calls.session = "processing"
        message.open_stream(message.ts or result.ts)
        message.put_in_doubt(None)
        message.confirm(write.text, write.plan_title or "")
        message.cards.confirm(write.cards)
        return None

    def _table(self, message: SlackMessage, text: str) -> blocks.Block | None:
        """The table `text` as a block of `message`. None: Slack would not take it, or drop it in silence."""
        has_room = most_tables(message.text) < _MOST_BLOCKS
        takes_tables = self._takes_tables and not self.is_plain
        return markdown_table(text) if takes_tables and has_room else None

    def _start(self, message: SlackMessage, chunks: Sequence[Args]) -> Step[CallResult]:
        calls, asked, starts = self._calls, self._calls.question, self._calls.stream_starts
        start = starts.expect(calls.channel, calls.thread_ts, asked.ts)
        message.ask_for_stream(start, calls.wall)
        args: Args = {
            "channel": calls.channel,
            "thread_ts": calls.thread_ts,
            "recipient_user_id": asked.user,
            "recipient_team_id": asked.user_team,
        }
        if not self.is_plain:
            args["task_display_mode"] = self._settings.task_display_mode
        args["chunks"] = chunks
        result: CallResult = CallFailed(Fault.UNKNOWN, "cancelled")
        try:
            result = yield from CallSlack(
                "chat.startStream",
                args,
                is_write=True,
                start=start,
                answer_wait=self._settings.start_answer_wait,
            )
            if isinstance(result, CallOk) and not result.ts:
                result = CallFailed(Fault.UNKNOWN, "unreadable")
        finally:
            if isinstance(result, CallOk):
                starts.settle(start, result.ts)
            else:
                starts.settle(start, in_doubt=result.fault is Fault.UNKNOWN)
        return result

    def _note_end(self, message: SlackMessage, failed: CallFailed) -> None:
        """When Slack seals it, the session rests; after the human's stop it does not (facts: Slack 1.9)."""
        if failed.fault in (Fault.SEALED, Fault.STOPPED):
            message.close_stream()
            if failed.fault is Fault.SEALED and not self._calls.are_writes_given_up:
                self._calls.session = "active"

    def end(self, message: SlackMessage) -> Step[CallResult]:
        stopped: CallResult = CallFailed(Fault.SEALED, "not open")
        if message.is_open:
            stopped = yield from self.stop(message, CardClosing.CONTINUES, session="processing")
        if isinstance(stopped, CallOk) or stopped.fault in FINAL_FAULTS:
            return stopped
        if not message.is_open and message.cards.closing(CardClosing.CONTINUES):
            yield from self._posts.rewrite(message, message.text, (), CardClosing.CONTINUES)
        return stopped

    def stop(
        self,
        message: SlackMessage,
        close: CardClosing,
        footer: Sequence[Args] = (),
        *,
        session: str = "",
        text: str = "",
        title: str = "",
    ) -> Step[CallResult]:
        """Close the cards and stop the stream, with `text` behind its own and `footer` under it. Ok: Slack
        shows all that. `title`: the plan's, where it changes.

        Where Slack refuses text, cards or blocks, it is stopped without them, and the refusal is returned.
        """
        limit = self._settings.card_chars
        cards_left = message.cards.closing(close)
        after = _title_after(title or message.title, cards_left)
        title = after if after != message.title else title
        chunks = blocks.all_chunks(text, cards_left, title, limit)
        address = self._calls.address(message.ts)
        cards: Args = {**address, **({"chunks": chunks} if chunks else {})}
        full: Args = {**cards, "metadata": blocks.metadata(self._calls.turn, "answer")}
        if footer:
            full["blocks"] = list(footer)
        if session and not self._calls.workspace.lacks(WorkspaceFeature.SESSIONS):
            full["session_status"] = session
        refused: CallFailed | None = None
        for args in (full, cards, address) if chunks else (full, address):
            # sealed when asked again: by our own call, or by Slack with the cards open and nothing under it
            applied_as = None if args.get("chunks") or args.get("blocks") else Fault.SEALED
            result = yield from self._calls.call_until_known("chat.stopStream", args, applied_as=applied_as)
            if isinstance(result, CallOk):
                message.close_stream()
                self._calls.session = session or "active"
                if args.get("chunks") or not chunks:
                    message.confirm(text, title)
                    message.cards.confirm_closed(close)
                self._learn(result, message.text)
                return refused or result
            refused = refused or result
            if result.fault not in (Fault.WRONG_CALL, Fault.FULL):
                self._note_end(message, result)
                return result
        return refused or CallFailed(Fault.WRONG_CALL, "refused")

    def _learn(self, stopped: CallOk, text: str) -> None:
        """Of tables that went as text."""
        drawn = draws_tables(stopped.data.get("message"), text)
        if drawn is not None and not (self._calls.tables_apart and self._takes_tables):
            self._calls.workspace.learn(WorkspaceFeature.TABLES, works=drawn)

    def rest_session(self, session: str) -> Step[None]:
        """Make the agent session read `session`, "" for at rest, if it does not."""
        wanted = session or "active"
        if (
            self._calls.session not in ("", wanted)
            and not (yield from self.set_session(wanted))
            and not session
        ):
            # the older method sets the session too (facts: Slack 4)
            yield from self._calls.set_status("")

    def set_session(self, session: str) -> Step[bool]:
        """Tried once; False: this app or workspace has no agent sessions."""
        if self._calls.workspace.lacks(WorkspaceFeature.SESSIONS):
            return False
        self._calls.session = session
        result = yield from self._calls.set_status(session, "agents.sessions.setStatus")
        return isinstance(result, CallOk)
