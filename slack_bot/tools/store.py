"""`slack-bot store`: what an operator does with the bot's store, also while the bot runs."""

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from ..agents.wire.frames import Frame, MessageReply, Snapshot, StatusUpdate, decode
from ..app import COLLECTIONS, store_options
from ..errors import AgentError, StoreError
from ..features.feedback.records import FEEDBACK
from ..features.feedback.targets import as_json
from ..features.sign_in.erasure import sign_out_everywhere
from ..observe.facts import reference_of
from ..settings.load import load
from ..settings.secret_values import secrets_of
from ..store.contracts import Count, ErasureResult, PersonRecords, StoreAdmin
from ..store.outbound import OUTBOUND
from ..store.personal import erase, records_of
from ..store.stores import open_admin
from ..testing.agent.playback import INTERNAL_ERROR
from ..testing.tape.items import RESULT_KEYS
from ..testing.tape.json_file import Json
from ..testing.tape.tape import ENDED, TAKEN_OVER, WAITED, Moment, Tape, write_tape
from ..text.redaction import Redactor, StreamRedactor
from ..turn.feedback import FeedbackRecord
from ..turn.json_values import read_json
from ..turn.outbound import OutboundRecord
from ..turn.progress import Stage, TurnRecord
from ..turn.record import Outcome
from .files import OutputFile, keep_what_is_there
from .tables import printable

_NOTHING = PersonRecords()
_JUST = 0.001  # seconds
_SHOW_NO_END = (None, Outcome.WATCHED)
"""How a turn stands whose agent sent no end: the tape has none, and needs no word on it."""
_EXCERPT = 50  # characters of a question
LIST_TURNS = "slack-bot store turns lists those that are kept"
"""How to find a turn's name."""
CHOSEN, CAUSE = "chosen", "cause"
"""In the head of a tape of the store: which of several agents was asked, and why."""


_GIVEN_AS = {"conversations": "waits"}
"""Collections of which a person is given a part, which has a name of its own."""
_COUNTED_AS = {
    **{kind.name: kind.label for kind in COLLECTIONS},
    "conversations": "conversations with an agent",
    "events": "what agents sent",
}
_STAGES = {
    Stage.ACCEPTED: "waiting",
    Stage.SENT: "with the agent",
    Stage.WATCHED: "the task goes on",
    Stage.ENDED: "ended",
}
"""What is still to do for a turn, in words."""
_OUTCOMES = {
    Outcome.NO_TEXT: "answered without a text",
    Outcome.ASKED: "the agent asks",
    Outcome.LOST: "its end was not learned",
    Outcome.WATCHED: _STAGES[Stage.WATCHED],
    Outcome.MERGED: "asked as a part of another question",
    Outcome.GONE: "its thread was deleted",
}
"""How a turn ended, where Outcome's own word does not say it."""
_IN_ALL = "in all"
_ONCE = "by another process, once"
_LATE = 1.0  # seconds; an agent that is asked later after the question is told
_MOST_SHOWN = 20
"""Messages of the bot's own that a summary names."""


@dataclass(frozen=True, slots=True)
class _Summary:
    """`outbound`: the newest messages of the bot's own, the oldest of them first."""

    place: str
    format: int
    bytes: int | None
    counts: tuple[Count, ...]
    unfinished: tuple[TurnRecord, ...]
    outbound: tuple[OutboundRecord, ...]


async def _summary(store: StoreAdmin) -> _Summary:
    known = await store.summary()
    said = [record async for _, record in store.records(OUTBOUND)]
    newest = tuple(sorted(said, key=lambda each: each.accepted_at)[-_MOST_SHOWN:])
    return _Summary(known.place, known.format, known.bytes, known.counts, known.unfinished, newest)


async def _feedback(store: StoreAdmin) -> list[FeedbackRecord]:
    """All of it, the oldest first."""
    said = [record async for _, record in store.records(FEEDBACK)]
    return sorted(said, key=lambda each: (each.at, each.turn, each.user))


def main(args: argparse.Namespace) -> int:
    """The verb. `args`: what, and the options of that. Returns 0.

    Raises StoreError, SettingsError, and UnreadableInput for a file that cannot be written.
    """
    if args.what != "export-tape" or args.output is None:
        sys.stdout.write(asyncio.run(_output(args)))
        return 0
    if not args.force:
        keep_what_is_there(Path(args.output))
    with OutputFile(args.output) as file:
        file.text(asyncio.run(_output(args)))
    sys.stderr.write(f"-> {args.output}\n")
    return 0


def _masks() -> Redactor:
    """What was kept by an older version may hold secrets, and what people wrote."""
    return Redactor(secrets_of(load()))


@asynccontextmanager
async def _opened() -> AsyncIterator[StoreAdmin]:
    kept = load().store
    async with open_admin(store_options(kept)) as store:
        yield store


async def _output(args: argparse.Namespace) -> str:
    async with _opened() as store:
        match args.what:
            case "show":
                return await (_of_all(store, args) if args.turn is None else _of_turn(store, args))
            case "turns":
                return await _of_last(store, args)
            case "feedback":
                rows, masks = await _feedback(store), _masks()
                if not rows:
                    sys.stderr.write("nobody has rated an answer yet\n")
                return "".join(json.dumps(masks.value(as_json(each))) + "\n" for each in rows)
            case "export-tape":
                return write_tape(await _tape_of(store, args.turn))
            case "export" | "erase":
                return await _of_person(store, args)
            case _:
                await store.backup(Path(args.file), overwrite=args.force)
                return f"Copied to {args.file}.\n"


def turn_tape(name: str) -> Tape:
    """The tape of a turn in the store. Raises StoreError and SettingsError."""
    return asyncio.run(_found_tape(name))


async def _found_tape(name: str) -> Tape:
    async with _opened() as store:
        tape, turn = await _tape_of(store, name), await _named(store, name)
    user = "" if turn is None else turn.question.user  # who asked stays out of what is exported
    around = {**tape.head.get("scenario", {}), "user": user}
    return replace(tape, head={**tape.head, "scenario": around}) if user else tape


async def _of_all(store: StoreAdmin, args: argparse.Namespace) -> str:
    summary = await _summary(store)
    return _as_json(_Summary, summary) if args.json else "\n".join(_shown(summary)) + "\n"


async def _of_last(store: StoreAdmin, args: argparse.Namespace) -> str:
    """The last turns, the newest in the end."""
    keys, masks = (await store.keys())[-args.last :], _masks()
    found = [turn for key in keys if (turn := await store.turn(key)) is not None]
    line = _as_line if args.json else _listed
    return "".join(f"{line(each, masks)}\n" for each in sorted(found, key=lambda turn: turn.accepted_at))


def _listed(turn: TurnRecord, masks: Redactor) -> str:
    words = _flat(turn.question.text, masks)
    words = words if len(words) <= _EXCERPT else f"{words[: _EXCERPT - 3]}..."
    return f"{reference_of(turn.key)}  {turn.key}  {_day(turn.accepted_at)}  {_state(turn)}  {words}"


def _as_line(turn: TurnRecord, masks: Redactor) -> str:
    return json.dumps(masks.value(_with_reference(turn)), ensure_ascii=False)


def _with_reference(turn: TurnRecord) -> dict[str, Any]:
    return {
        "ref": reference_of(turn.key),
        "turn": turn.key,
        **TypeAdapter(TurnRecord).dump_python(turn, mode="json"),
    }


def _flat(text: str, masks: Redactor) -> str:
    return printable(" ".join(masks.text(text).split()))


async def _of_turn(store: StoreAdmin, args: argparse.Namespace) -> str:
    if (turn := await _named(store, args.turn)) is None:
        raise StoreError(f"There is no turn {args.turn} in the store; {LIST_TURNS}.")
    events, masks = len(await store.events(turn.key)), _masks()
    if args.json:
        shown = masks.value({**_with_reference(turn), "events": events})
        return json.dumps(shown, indent=2, ensure_ascii=False) + "\n"
    return "".join(f"{name:<12}{value}\n" for name, value in _turn_rows(turn, events, masks) if value)


def _turn_rows(turn: TurnRecord, events: int, masks: Redactor) -> Iterator[tuple[str, str]]:
    asked, reference = turn.question, reference_of(turn.key)
    yield "turn", f"{reference}  {turn.key}"
    where = f"by {asked.user or '-'} in {asked.thread.channel}, thread {asked.thread.ts}"
    yield "asked", f"{_day(turn.accepted_at)}  {where}"
    if turn.sent_at is not None and (waited := _waited(turn)):
        yield "sent", f"{_day(turn.sent_at)}  {waited:g} s after the question"
    if turn.takeovers:
        yield "taken over", f"by another process, {turn.takeovers:,} times" if turn.takeovers > 1 else _ONCE
    yield "question", _flat(asked.text, masks)
    yield "asked by", asked.cause
    if turn.agent_reason:
        yield "agent", f"{turn.agent}: {turn.agent_reason}"
    state = f"{_state(turn)}  {_day(turn.ended_at or _since(turn))}"
    yield "state", f"{state}  {turn.reason}".rstrip()
    yield "task", printable(turn.task_id or "")
    yield "context", printable(turn.context_id or "")
    yield "agent trace", printable(turn.trace_id or "")
    yield "agent says", _flat(turn.said, masks)
    yield "answer", f"{len(turn.text):,} characters, messages: {len(turn.messages)}"
    if events:
        yield "events", f"{events:,}; slack-bot explain {reference} says what became of each"
    else:
        yield "events", "none were kept; SLACK_BOT_STORE__EVENT_BYTES=1000000 keeps those of later questions"


def _waited(turn: TurnRecord) -> float:
    """Seconds from the question until the agent was asked; 0: it was asked at once, or not yet."""
    waited = 0.0 if turn.sent_at is None else turn.sent_at - turn.accepted_at
    return round(waited, 3) if waited >= _LATE else 0.0


async def _named(store: StoreAdmin, name: str) -> TurnRecord | None:
    """The turn with this key or reference."""
    return await store.turn(
        next((key for key in await store.keys() if name in (key, reference_of(key))), name)
    )


async def _tape_of(store: StoreAdmin, name: str) -> Tape:
    if (turn := await _named(store, name)) is None:
        raise StoreError(f"There is no turn {name} in the store, and no file of that name; {LIST_TURNS}.")
    if not (events := await store.events(turn.key)):
        raise StoreError(
            f"No events of the agent were kept of turn {name}: set SLACK_BOT_STORE__EVENT_BYTES for the bot,"
            " to 1000000 for example, start it again, and ask again."
        )
    begun = turn.sent_at or events[0].at
    masks = _masks()
    rows = StreamRedactor[Moment](masks)
    moments: list[Moment] = []
    for each in events:
        moment = _moment(round(max(each.at - begun, 0.0), 3), read_json(each.data))
        moments += rows.push(moment, moment.event or moment.error)
    masked = [
        replace(each, event=masks.value(each.event), error=masks.value(each.error))
        for each in (*moments, *rows.end())
    ]
    head: Json = {"question": masks.text(turn.question.text)}
    if cause := turn.question.cause:
        head[CAUSE] = cause
    if turn.agent_reason:
        head[CHOSEN] = f"{turn.agent}: {turn.agent_reason}"
    if turn.takeovers:
        head[TAKEN_OVER] = True
    if waited := _waited(turn):
        head[WAITED] = waited
    masked += _end(turn, masked, masks, head)
    return Tape(head, tuple(masked))


def _moment(t: float, kept: Any) -> Moment:
    error = kept.get("error") if isinstance(kept, dict) and not RESULT_KEYS & kept.keys() else None
    return Moment(t, error=error) if isinstance(error, dict) else Moment(t, event=kept)


def _end(turn: TurnRecord, moments: list[Moment], masks: Redactor, head: Json) -> Iterator[Moment]:
    """How the tape ends, so that it plays as the turn ended. `head` gets what the events do not show."""
    last, over = moments[-1], [each.t for each in moments if _is_over(each)]
    if turn.outcome is Outcome.STOPPED:
        head["scenario"] = {"stop_at": round(max(0.0, over[0] - _JUST) if over else last.t + _JUST, 3)}
    elif turn.outcome in _SHOW_NO_END or over or last.error is not None or _waits(last):
        pass
    else:
        head[ENDED] = " ".join(filter(None, (turn.outcome, f"({turn.reason})" if turn.reason else "")))
        if turn.outcome is Outcome.FAILED:
            yield Moment(last.t, error={"code": INTERNAL_ERROR, "message": masks.text(turn.said)})
    yield Moment(last.t, end="cut" if turn.outcome is Outcome.LOST else "closed")


def _is_over(moment: Moment) -> bool:
    """No more comes of the task, or it has none."""
    frame = _frame(moment)
    if isinstance(frame, StatusUpdate | Snapshot):
        return frame.state.is_terminal
    return isinstance(frame, MessageReply)


def _waits(moment: Moment) -> bool:
    frame = _frame(moment)
    return isinstance(frame, StatusUpdate | Snapshot) and frame.state.is_asking


def _frame(moment: Moment) -> Frame | None:
    with suppress(AgentError):
        return decode(moment.event)
    return None


async def _of_person(store: StoreAdmin, args: argparse.Namespace) -> str:
    found = await records_of(store, args.user, args.team)
    if args.what == "export":
        return _exported(args, found)
    hosts = await sign_out_everywhere(store, load(), args.user, args.team)
    erased = await erase(store, args.user, args.team)
    if found == _NOTHING:
        return f"{_nothing_of(args)}\n"
    kept = "".join(f"{host} did not say that it revoked its tokens: revoke them there.\n" for host in hosts)
    return f"{_said(args.user, erased)}{kept}"


def _exported(args: argparse.Namespace, found: PersonRecords) -> str:
    if found == _NOTHING:
        raise StoreError(_nothing_of(args))
    names = [kind.name for kind in COLLECTIONS if kind.people is not None]
    kept = {_GIVEN_AS.get(name, name): found.records.get(name, ()) for name in names}
    whole = read_json(_as_json(dict[str, Any], {"turns": found.turns, "events": found.events, **kept}))
    return json.dumps(_masks().value(whole), indent=2, ensure_ascii=False) + "\n"


def _nothing_of(args: argparse.Namespace) -> str:
    place = f" in the workspace {args.team}" if args.team else ""
    return f"The store holds nothing of {args.user}{place}."


def _as_json(kind: Any, value: object) -> str:
    """Times are seconds since 1970 (UTC)."""
    return TypeAdapter(kind).dump_json(value, indent=2).decode() + "\n"


def _shown(summary: _Summary) -> Iterator[str]:
    size = "" if summary.bytes is None else f", {summary.bytes:,} bytes"
    yield f"{summary.place}: format {summary.format}{size}"
    counts = [each for each in summary.counts if each.number]
    rows = [(_name_of(each.kind), each.number, _ages(each)) for each in counts]
    rows.append((_IN_ALL, sum(each.number for each in counts), ""))
    width = max(len(name) for name, _, _ in rows)
    yield from (f"{name:<{width}}{number:>8,}{ages}" for name, number, ages in rows)
    for turn in summary.unfinished:
        state = f"{_STAGES[turn.stage]} since {_day(_since(turn))}"
        yield f"unfinished  {turn.key}  {state}  task {turn.task_id or '-'}"
    for said in summary.outbound:
        state = f"{said.state} {_day(said.ended_at or said.accepted_at)}"
        yield f"own message {said.key}  {state}  {_where(said)}"


def _ages(count: Count) -> str:
    return "" if count.oldest is None else f"  {_day(count.oldest)} to {_day(count.newest)}"


def _name_of(kind: str) -> str:
    """A kind of records in words, with the state of those that are counted by it."""
    name, colon, state = kind.partition(": ")
    state = _STAGES[Stage(state)] if name == "turns" and state in set(Stage) else state
    return f"{_COUNTED_AS.get(name, name)}{colon}{state}"


def _state(turn: TurnRecord) -> str:
    if turn.outcome is None:
        return _STAGES[turn.stage]
    return _OUTCOMES.get(turn.outcome, str(turn.outcome))


def _where(said: OutboundRecord) -> str:
    """Or why it is nowhere."""
    return said.error or said.link or said.message.thread_ts or said.message.channel or said.message.user


def _since(turn: TurnRecord) -> float:
    """When it came to its stage."""
    return turn.watched_at or turn.sent_at or turn.accepted_at


def _day(at: float | None) -> str:
    return datetime.fromtimestamp(at or 0.0, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def _said(user: str, erased: ErasureResult) -> str:
    counts = {"turns": erased.turns, **{kind.label: erased.records.get(kind.name, 0) for kind in COLLECTIONS}}
    found = [f"{label} {number:,}" for label, number in counts.items() if number]
    said = f"Erased of {user}: {', '.join([*found, f'{_IN_ALL} {sum(counts.values()):,}'])}."
    if erased.running:
        said += f" Left because it has not ended: {', '.join(erased.running)}; erase again when it has."
    return f"{said}\n"
