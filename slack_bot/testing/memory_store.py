"""PURE. A store in memory that needs neither thread nor file, so that a virtual clock may run it."""

from dataclasses import replace

from ..store.contracts import (
    Ages,
    ChangeFeedback,
    ChangeThread,
    Conversation,
    Erased,
    KeptEvent,
    KeptWait,
    PersonalData,
    PersonRecords,
    Store,
)
from ..store.sole import SoleProcess
from ..turn.feedback import FeedbackRecord
from ..turn.open_form import OpenForm
from ..turn.outbound import OutboundRecord, accepted
from ..turn.progress import Stage, TurnRecord
from ..turn.quotes import ThreadMessage
from ..turn.record import ThreadKey
from ..turn.thread_state import ThreadState


class MemoryStore(SoleProcess, Store, PersonalData):
    """Is lost with the process: for tests, `replay` and the playground.

    `is_durable` True: it is handed on to another bot, as a file would be.
    """

    def __init__(self, ages: Ages | None = None, *, is_durable: bool = False) -> None:
        self._ages = ages or Ages()
        self.is_durable = is_durable
        self._turns: dict[str, TurnRecord] = {}
        self._erased: dict[str, float] = {}  # keys of turns, and when they were accepted
        self._conversations: dict[tuple[str, ThreadKey], tuple[Conversation, float]] = {}
        self._threads: dict[ThreadKey, tuple[ThreadState, float]] = {}
        self._feedback: dict[tuple[str, str], FeedbackRecord] = {}
        self._profiles: dict[str, dict[str, str]] = {}
        self._outbound: dict[str, OutboundRecord] = {}
        self._events: dict[str, list[KeptEvent]] = {}
        self._overheard: dict[ThreadKey, dict[str, ThreadMessage]] = {}
        self._forms: dict[str, OpenForm] = {}

    def handed_on(self) -> None:
        """Another process has it now, and asks what was left."""
        self._has_asked = False

    async def accept(self, turn: TurnRecord) -> bool:
        known = self._turns.get(turn.key)
        at = known.accepted_at if known is not None else self._erased.get(turn.key)
        if at is not None and at > self._ages.begin(turn.accepted_at).accepted:
            return False
        self._erased.pop(turn.key, None)
        self._turns.pop(turn.key, None)  # the order is that of acceptance
        self._turns[turn.key] = turn
        return True

    async def withdraw(self, key: str) -> None:
        self._turns.pop(key, None)

    async def save(self, *changes: tuple[TurnRecord, int]) -> None:
        for turn, unchanged in changes:
            if (known := self._turns.get(turn.key)) is not None:
                messages = known.messages[:unchanged] + turn.messages[unchanged:]
                self._turns[turn.key] = replace(turn, messages=messages)

    async def turn(self, key: str) -> TurnRecord | None:
        return self._turns.get(key)

    async def unfinished(self) -> list[TurnRecord]:
        return [turn for turn in self._turns.values() if turn.stage is not Stage.ENDED]

    async def watched(self, push_id: str) -> TurnRecord | None:
        return next((turn for turn in await self.unfinished() if turn.push_id == push_id), None)

    async def messages_in(self, thread: ThreadKey) -> frozenset[str]:
        turns = [turn for turn in self._turns.values() if turn.question.thread == thread]
        return frozenset(message.ts for turn in turns for message in turn.messages)

    async def active_threads(self, since: float) -> list[tuple[ThreadKey, str]]:
        last: dict[ThreadKey, str] = {}
        for turn in sorted(self._turns.values(), key=lambda turn: turn.accepted_at):
            if turn.accepted_at >= since:
                last.pop(turn.question.thread, None)
                last[turn.question.thread] = turn.question.ts
        return list(last.items())[::-1]

    async def accepted_since(self, since: float) -> list[TurnRecord]:
        return [turn for turn in self._turns.values() if turn.accepted_at >= since]

    async def remove_old(self, now: float) -> None:
        oldest, used = self._ages.begin(now), set[ThreadKey]()
        for key, turn in tuple(self._turns.items()):
            is_old = turn.ended_at is not None and turn.ended_at <= oldest.turns
            if is_old and turn.accepted_at <= oldest.accepted:
                del self._turns[key]
                self._events.pop(key, None)
                self._used(turn.question.thread, oldest.turns)
            else:
                used.add(turn.question.thread)
        for (agent, thread), (_, at) in tuple(self._conversations.items()):
            if at <= oldest.conversations and thread not in used:
                del self._conversations[agent, thread]
        self._threads = {key: kept for key, kept in self._threads.items() if kept[1] > oldest.conversations}
        self._feedback = {key: said for key, said in self._feedback.items() if said.at > oldest.feedback}

        for thread, said_there in self._overheard.items():
            new = {ts: each for ts, each in said_there.items() if float(ts) > oldest.overheard}
            self._overheard[thread] = new
        self._forms = {key: form for key, form in self._forms.items() if form.opened_at > oldest.forms}
        for key, said in tuple(self._outbound.items()):
            if said.ended_at is not None and said.ended_at <= oldest.turns:
                del self._outbound[key]

    def _used(self, thread: ThreadKey, until: float) -> None:
        """A thread that is in use has the same context all the time."""
        for key, (known, at) in self._conversations.items():
            if key[1] == thread:
                self._conversations[key] = known, max(at, until)

    async def conversation(self, agent: str, thread: ThreadKey) -> Conversation:
        return self._conversations.get((agent, thread), (Conversation(), 0.0))[0]

    async def save_conversation(
        self, agent: str, thread: ThreadKey, conversation: Conversation, now: float
    ) -> None:
        self._conversations[agent, thread] = conversation, now

    async def overhear(
        self, thread: ThreadKey, message: ThreadMessage, most: int, now: float, *, is_change: bool = False
    ) -> None:
        before, told = self._overheard.get(thread, {}), {message.ts: message}
        known = before | told if is_change else told | before
        self._overheard[thread] = {ts: known[ts] for ts in sorted(known, key=float)[-most:]}

    async def overheard(self, thread: ThreadKey) -> list[ThreadMessage]:
        return list(self._overheard.get(thread, {}).values())

    async def thread_state(self, thread: ThreadKey) -> ThreadState | None:
        return self._threads[thread][0] if thread in self._threads else None

    async def change_thread_state(
        self, thread: ThreadKey, change: ChangeThread, now: float
    ) -> ThreadState | None:
        before = await self.thread_state(thread)
        after = change(before)
        if after is not None and after != before:
            self._threads[thread] = after, now
        return before

    async def change_feedback(self, turn: str, user: str, change: ChangeFeedback) -> FeedbackRecord | None:
        before = self._feedback.get((turn, user))
        if (after := change(before)) is not None:
            self._feedback[turn, user] = after
        return before

    async def due_feedback(self, now: float, most: int) -> list[FeedbackRecord]:
        found = [(each.due, each) for each in self._feedback.values() if each.due is not None]
        return [each for due, each in sorted(found, key=lambda each: each[0]) if due <= now][:most]

    async def profile(self, agent: str) -> dict[str, str]:
        return dict(self._profiles.get(agent, {}))

    async def save_fact(self, agent: str, name: str, value: str, now: float) -> None:
        self._profiles.setdefault(agent, {})[name] = value

    async def person(self, user: str, team: str | None) -> PersonRecords:
        feedback = [each for each in self._feedback.values() if each.user == user and _is_in(each.turn, team)]
        return PersonRecords(
            tuple(each for each in self._turns.values() if _is_of(each, user, team)),
            tuple(sorted(feedback, key=lambda each: each.at)),
            tuple(
                KeptWait(agent, thread, known.waits[user])
                for (agent, thread), (known, _) in self._conversations.items()
                if user in known.waits and team in (None, thread.team)
            ),
            tuple(
                event
                for turn in self._turns.values()
                if _is_of(turn, user, team)
                for event in self._events.get(turn.key, ())
            ),
            tuple(each for each in self._outbound.values() if each.message.user == user),
            tuple(
                state
                for thread, (state, _) in self._threads.items()
                if state.asker == user and team in (None, thread.team)
            ),
            overheard=tuple(
                said
                for thread, kept in self._overheard.items()
                for said in kept.values()
                if said.author == user and team in (None, thread.team)
            ),
            forms=tuple(
                form
                for form in self._forms.values()
                if user in (form.user, form.ended_by) and team in (None, form.thread.team)
            ),
        )

    async def erase(self, user: str, team: str | None) -> Erased:
        found, busy = (
            await self.person(user, team),
            {turn.question.thread for turn in await self.unfinished()},
        )
        waiting = {each.thread for each in found.waits}
        running = [
            turn.key
            for turn in await self.unfinished()
            if _is_of(turn, user, team) or turn.question.thread in waiting
        ]
        ended = [turn for turn in found.turns if turn.key not in running]
        for turn in ended:
            del self._turns[turn.key]
            self._events.pop(turn.key, None)
            self._erased[turn.key] = turn.accepted_at
        delivered = [each.key for each in found.outbound if each.ended_at is not None]
        for key in delivered:
            del self._outbound[key]
        running += [each.key for each in found.outbound if each.ended_at is None]
        for thread, (state, _) in tuple(self._threads.items()):
            if state.asker == user and team in (None, thread.team):
                del self._threads[thread]
        for said in found.feedback:
            del self._feedback[said.turn, user]
        answered = [each for each in found.waits if each.thread not in busy]
        for each in answered:
            known, at = self._conversations[each.agent, each.thread]
            self._conversations[each.agent, each.thread] = known.answered(user), at
        for thread, kept in self._overheard.items():
            if team in (None, thread.team):
                self._overheard[thread] = {ts: each for ts, each in kept.items() if each.author != user}
        for form in found.forms:
            del self._forms[form.handle]
        counts = len(ended), len(found.feedback), len(answered), len(delivered)
        return Erased(*counts, tuple(running), len(found.overheard), len(found.forms))

    async def open_form(self, form: OpenForm) -> None:
        self._forms[form.handle] = self._forms.get(form.handle, form).put(form)

    async def form(self, handle: str) -> OpenForm | None:
        return self._forms.get(handle)

    async def forms_in(self, thread: ThreadKey) -> list[OpenForm]:
        found = (form for form in self._forms.values() if form.thread == thread)
        return sorted(found, key=lambda form: (form.opened_at, form.handle))

    async def open_forms_of(self, user: str, team: str) -> list[OpenForm]:
        theirs = (form for form in self._forms.values() if (form.user, form.thread.team) == (user, team))
        return sorted(
            (form for form in theirs if form.is_open), key=lambda form: (form.opened_at, form.handle)
        )

    async def take_form(self, handle: str, by: str, user: str, at: float) -> OpenForm | None:
        if (form := self._forms.get(handle)) is not None:
            form = self._forms[handle] = form.taken(by, user, at)
        return form

    async def accept_outbound(self, new: OutboundRecord) -> OutboundRecord:
        stored = self._outbound[new.key] = accepted(self._outbound.get(new.key), new)
        return stored

    async def save_outbound(self, record: OutboundRecord) -> None:
        self._outbound[record.key] = record

    async def outbound(self, key: str) -> OutboundRecord | None:
        return self._outbound.get(key)

    async def unfinished_outbound(self) -> list[OutboundRecord]:
        return [said for said in self._outbound.values() if said.ended_at is None]

    async def save_events(self, *events: KeptEvent) -> None:
        for event in events:
            if event.turn in self._turns:
                self._events.setdefault(event.turn, []).append(event)

    async def events(self, turn: str) -> list[KeptEvent]:
        return list(self._events.get(turn, ()))

    async def close(self) -> None:
        pass


def _is_of(turn: TurnRecord, user: str, team: str | None) -> bool:
    return turn.question.user == user and team in (None, turn.question.thread.team)


def _is_in(key: str, team: str | None) -> bool:
    return team is None or key.startswith(f"{team}:")
