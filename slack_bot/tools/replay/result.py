"""PURE. What `replay` prints: plain data with --json, else the thread as a person reads it.

All is measured on the thread, not on what the bot believes it sent. Times are seconds from the question,
rounded to milliseconds.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...observe.facts import SlackCalled
from ...testing.slack.rendering import SeenMessage
from ...testing.tape.json_file import Json
from ...text.words import NO_ANSWER
from ...turn.open_form import FormAction
from ...turn.progress import MessageRecord
from ..asked import as_json, in_words
from ..pace import (
    BURST_WITHIN,
    DIGITS,
    burst_share,
    growths,
    is_burst,
    live_chars,
    live_share,
    longest,
    longest_gap,
    spans,
)
from ..turn_log import NO_END, LoggedTurn, TurnLog, failed_calls

_NOT_TAKEN = "the bot did not take the question"
STATES = {"streaming": "still open", "sealed": "streamed", "posted": "posted"}
"""How a message came to be, in words."""
_OF_TASKS = ("id", "title", "status", "details", "output")
_MARKS = {"complete": "[x]", "error": "[!]", "in_progress": "[ ]", "pending": "[ ]"}
_FORM_ACTIONS = frozenset(FormAction) - {FormAction.OPENED}  # the button of a sign-in's link has no handle
_LONG = 2.0  # seconds
assert BURST_WITHIN == 0.5, "a summary line names it"


class ThreadQuestion(NamedTuple):
    """A question in the thread. `place`: how many of the bot's messages are above it."""

    place: int
    text: str


@dataclass(frozen=True, slots=True)
class Observation:
    """What was seen of one or more turns. `asked_at` is in monotonic seconds.

    `sent` is how many questions reached the agent, `said` what the last one held, None: not known. `files`:
    the bytes that were shared, by name. `is_interrupted`: Ctrl-C ended it.
    """

    log: TurnLog
    thread: tuple[SeenMessage, ...]
    asked_at: float
    asker: str
    questions: tuple[ThreadQuestion, ...]
    sent: int | None = None
    said: Mapping[str, Any] | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    is_interrupted: bool = False

    def result(self) -> Json:
        """The object of `replay --json`."""
        return make_result(self.log, self.thread, self.asked_at)


def holds_answer(message: SeenMessage) -> bool:
    """It is answer text, not a note, a question or an error, nor the notice that there is no answer."""
    kind = ((message.metadata or {}).get("event_payload") or {}).get("kind")
    return (message.state != "posted" or kind == "answer") and message.text.strip() != NO_ANSWER


def visible(messages: Iterable[SeenMessage]) -> str:
    """The text of all answer messages, in order: a split answer keeps its white space at the cut."""
    return "".join(message.text for message in messages if holds_answer(message))


def readable_beside(messages: Iterable[SeenMessage]) -> tuple[object, ...]:
    """What can be read in the thread beside the text of answers, as a value to compare."""
    return tuple(
        (
            each.ts,
            "" if holds_answer(each) else each.text,
            each.plan_title,
            tuple((task.title, task.status, task.details, task.output) for task in each.tasks),
            words_in(each.blocks),
        )
        for each in messages
    )


def make_result(log: TurnLog, thread: Sequence[SeenMessage], asked_at: float) -> Json:
    """The object of `replay --json`, of all questions asked from `asked_at` on, in monotonic seconds.

    `live_share` is the part of the final text, without white space, that was visible `AT_THE_END` (`pace`)
    before an event said that no more of it will come, and stayed. `first_sign` is when anything could be
    read: text, a card, a form or a note; the typing status does not count. `outcome` is null if the bot did
    not take the question.
    """
    grown, added = list(map(growths, log.turns)), log.markup()
    ended = next((turn.ended for turn in reversed(log.turns) if turn.ended is not None), None)
    forms = [form for turn in log.turns for form in turn.forms]
    return {
        "outcome": ended.outcome if ended else None,
        "reason": ended.reason if ended else _NOT_TAKEN,
        **{name: getattr(ended, name, None) for name in ("context_id", "task_id", "trace_id")},
        "calls": [_call(call, asked_at) for turn in log.turns for call in turn.calls],
        "thread": [_message(message, added.get(message.ts)) for message in thread],
        **({"forms": list(map(as_json, forms))} if forms else {}),
        "visible": visible(thread),
        "first_answer_event": _first((turn.first_answer for turn in log.turns), asked_at),
        "first_sign": _first((at for turn in log.turns for at in turn.news), asked_at),
        "first_visible": _first((at for each in grown for at, _ in each), asked_at),
        "longest_gap": max((longest_gap(each) for each in grown if each), default=None),
        "live_share": live_share(list(map(live_chars, log.turns))),
        "events": dict(sorted((+log.events).items())),
        "dropped": {"late": ended.late if ended else 0},
        "latches": dict(ended.latches) if ended else {},
        "masked": dict(ended.masked) if ended else {},
    }


def as_line(result: Json) -> str:
    """`result` on one line. ASCII only: what is printed must not depend on the terminal's encoding. What
    stands for a form in its buttons is random, so it is numbered here.
    """
    numbers = {handle: f"form-{number}" for number, handle in enumerate(dict.fromkeys(_handles(result)), 1)}
    return json.dumps(_numbered(result, numbers), ensure_ascii=True, separators=(", ", ": "))


def _numbered(value: Any, numbers: Mapping[str, str]) -> Any:
    """`value` with each handle, alone or before the number of a choice, replaced. Keys and words stay."""
    if isinstance(value, str):
        handle, bar, rest = value.partition("|")
        return f"{numbers[handle]}{bar}{rest}" if handle in numbers else value
    if isinstance(value, Mapping):
        return {name: _numbered(each, numbers) for name, each in value.items()}
    return [_numbered(each, numbers) for each in value] if isinstance(value, list | tuple) else value


def _handles(value: Any) -> Iterator[str]:
    """Of all forms whose buttons are in `value`, in their order."""
    if isinstance(value, Mapping):
        name = str(value.get("action_id")).partition("-")[0]  # a choice has its number behind it
        if name in _FORM_ACTIONS and isinstance(given := value.get("value"), str):
            yield given.partition("|")[0]
        value = value.values()
    elif not isinstance(value, list | tuple):
        return
    for each in value:
        yield from _handles(each)


def _first(times: Iterable[float | None], start: float) -> float | None:
    return next((_since(at, start) for at in times if at is not None), None)


def _call(fact: SlackCalled, asked_at: float) -> Json:
    """One call; `t` is when it was made, not when it was answered."""
    return {
        "t": _since(fact.at - fact.took, asked_at),
        "method": fact.method,
        "args": _plain(fact.args),
        "ok": fact.ok,
        "error": fact.error,
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _message(message: SeenMessage, added: MessageRecord | None) -> Json:
    """`opening` and `closing` are parts of `text` that are not the answer's. `files`: where it has any."""
    files = [{"name": file.name, "bytes": len(file.content)} for file in message.files]
    markup = {} if added is None else {"opening": added.opening, "closing": added.closing}
    return {
        "ts": message.ts,
        "text": message.text,
        "blocks": _plain(message.blocks),
        "tasks": [{name: getattr(task, name) for name in _OF_TASKS} for task in message.tasks],
        "state": message.state,
        "status_line": message.status_line,
        **({"files": files} if files else {}),
        **markup,
    }


def _since(at: float, start: float) -> float:
    return round(at - start, DIGITS) + 0.0  # adding zero turns a rounded -0.0 into 0.0


# -- as text -------------------------------------------------------------------------------------------------


def as_text(
    result: Json, asker: str, questions: Sequence[ThreadQuestion], summaries: Sequence[str] = ()
) -> str:
    """The thread, and a summary line for each question."""
    parts = list[str]()
    ends = [*(each.place for each in questions[1:]), len(result["thread"])]
    for number, ((start, text), end) in enumerate(zip(questions, ends, strict=True)):
        parts += [f"{asker}: {text}", *map(_message_text, result["thread"][start:end])]
        parts += [f"-- {said}" for said in summaries[number : number + 1]]
    return "\n\n".join(parts) + "\n"


def _message_text(message: Json) -> str:
    lines = [f"bot ({STATES.get(message['state'], message['state'])}):"]
    for task in message["tasks"]:
        status = task.get("status")
        lines.append(f"  {_MARKS.get(str(status), '[?]')} {task.get('title', '')} - {status}")
        more = [str(task.get(name) or "").strip() for name in ("details", "output")]
        lines += [f"      {line}" for text in more if text for line in text.split("\n")]
    if message["text"]:
        lines.append(message["text"].rstrip("\n"))
    lines += [f"  | {text}" for text in beside_text(message)]
    lines += [f"  [file] {file['name']}, {file['bytes']} bytes" for file in message.get("files", ())]
    if message["status_line"]:
        lines.append(f"  ({message['status_line']})")
    return "\n".join(lines)


def beside_text(message: Json) -> list[str]:
    """The words and buttons of a message's blocks that are not in its text, as a post's words are too."""
    words = [text for block in message.get("blocks", ()) for text in _block(block)]
    return [text for text in words if text not in message["text"]]


def words_in(blocks: Iterable[Mapping[str, Any]]) -> str:
    """What can be read in blocks, on one line."""
    return " ".join(text for block in blocks for text in _block(block))


def _block(block: Mapping[str, Any]) -> list[str]:
    """The words and buttons of a block; one we do not know is named."""
    return [text for text in _texts(block) if text] or [f"<{block.get('type', 'block')}>"]


def _texts(value: Any) -> list[str]:
    if isinstance(value, list):
        return [text for part in value for text in _texts(part)]
    if not isinstance(value, dict):
        return []
    text, is_button = value.get("text"), value.get("type") == "button"
    own = [f"[{text}]" if is_button else text] if isinstance(text, str) else []
    if is_button:
        return [f"[{label}]" for label in _texts(text)] or own
    inner = [part for name, part in value.items() if name != "text" or isinstance(part, dict | list)]
    return [*own, *_texts(inner)]


def pace_of(turn: LoggedTurn) -> str:
    """How a turn went, on one line without its end. Times count from the question."""
    ended, calls, failed = turn.ended, turn.calls, len(failed_calls(turn))
    reason = turn.reason if ended else _NOT_TAKEN
    words = [
        (ended.outcome if ended else "not taken") + (f" ({reason})" if reason else ""),
        *([NO_END] if turn.lacks_end else []),
        *(asked for form in turn.forms if (asked := in_words(form))),
        *_visible_text(turn),
        f"{len(calls)} Slack calls",
        *([f"{failed} of them failed"] if failed else []),
    ]
    return ", ".join(words)


def _visible_text(turn: LoggedTurn) -> Iterator[str]:
    grown = growths(turn)
    asked, ended = ([each.at] if each else [] for each in (turn.started, turn.ended))
    first = round(grown[0][0] - asked[0], DIGITS) if grown and asked else None
    sign = round(turn.news[0] - asked[0], DIGITS) if turn.news and asked else None
    if sign is not None and sign != first:
        yield f"first sign of life after {sign:g} s"
    if first is not None:
        yield f"first visible text after {first:g} s"
    burst = burst_share(grown)
    if burst is not None and is_burst(burst, sum(size for _, size in grown)):
        yield f"{burst:.0%} of it within half a second"
    waited = longest(spans([*asked, *turn.news, *ended]))
    if waited >= _LONG and waited not in (first, sign):
        yield f"{waited:g} s without anything new"
    if (live := live_share([live_chars(turn)])) is not None:
        yield f"{live:.0%} live"
    if gap := longest_gap(grown):
        yield f"longest gap {gap:g} s"
