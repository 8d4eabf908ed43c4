"""`slack-bot explain FILE`: why each part of an answer went where it went, in the machine's own words."""

import argparse
import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path

from ...errors import StoreMissing, UnreadableInput
from ...observe.facts import TurnEnded, is_turn_name
from ...testing.slack.rendering import SeenMessage
from ...testing.tape.tape import Recording, Tape, end_in, gap_in, wait_in
from ...text.compare import contains
from ..files import kind_of, open_capture
from ..not_understood import UnreadEvent, exit_status, unread_events, unread_lines
from ..pace import most_taken_back
from ..store import CAUSE, CHOSEN, LIST_TURNS, turn_tape
from ..turn_log import NO_END
from .diff import CHANCE, matches
from .provenance import Cause, ExplainedNews, Piece, Provenance, Showing, TurnProvenance
from .replay import read_scenario_file, replayed, tell_assumed
from .result import Observation, holds_answer, words_in
from .scenario import Scenario


def main(args: argparse.Namespace) -> int:
    """The verb. `args`: file, scenario, key, strict. Returns the exit status.

    Raises UnreadableInput for what cannot be read.
    """
    around = read_scenario_file(args.scenario)
    path = Path(args.file)
    tape = _turn_named(args.file) if kind_of(path) is None else None
    capture = tape or open_capture(path, args.key, around)
    unread = unread_events(capture)
    sys.stdout.write(explain_capture(capture, around, args.file, unread))
    return exit_status(0, [unread], strict=args.strict)


def _turn_named(name: str) -> Tape | None:
    """The tape of a turn in the store; None: `name` can only be a file's."""
    if is_turn_name(name):
        try:
            return turn_tape(name)
        except StoreMissing as error:
            raise UnreadableInput(
                f"There is no file {name}. If it is a turn: {error} A turn of the playground is told of"
                " there, under Inside the bot."
            ) from error
    if Path(name).name != name or Path(name).suffix:
        return None
    raise UnreadableInput(
        f"{name}: no such file, and no turn is named so; a turn has a reference (such as 5f0c1a2b) and a key"
        f" (T...:C...:TS): {LIST_TURNS}"
    )


def explain_capture(
    capture: Tape | Recording,
    scenario: Scenario,
    name: str = "the capture",
    unread: Sequence[UnreadEvent] = (),
) -> str:
    """The explanation of one capture in one scenario. `unread`: what of it was not understood."""
    account = Provenance()
    seen = replayed(capture, scenario, log=account.log)
    tell_assumed(name, capture, seen.result(), tells_gap=False)  # the first line has it
    head = capture.head if isinstance(capture, Tape) else {}
    said = (
        *(("Asked by", head.get(CAUSE)), ("Agent", head.get(CHOSEN))),
        *(("Times", wait_in(capture)), ("End", end_in(capture))),
    )
    lines = [f"{f'{name}:':<9} {value}\n" for name, value in said if isinstance(value, str)]
    return "".join(lines) + explain(account, seen, unread, gap_in(capture))


_STATES = {"streaming": "a stream that is still open", "sealed": "streamed", "posted": "posted"}
_EXCERPT = 60  # characters of a part that are quoted
_MARGIN = " " * 14
_OWN_MARKUP = "markup that the bot closed and opened again, because a message ends here, or made harmless"
_OWN_WORDS = "the bot's own words"
_HIDDEN = "in which the agent says why it failed, hidden from readers (SLACK_BOT_AGENT__ERROR_TEXT=hide)"
_TOLD = 200  # characters of these words that are in a note which tells them
_WORD = re.compile(r"[^\W\d_]{2,}")
_FEW_WORDS = 3  # a table's head is repeated, a fence names its language
_SAME_TIME = 0.002  # seconds; both are rounded to milliseconds
_MOST_LOOKS = 40  # at a text of which something was taken away


@dataclass(frozen=True, slots=True)
class ExplainedPart:
    """A stretch of a message's text that one call showed. `causes` are in order; none: the bot added it."""

    text: str
    showing: Showing
    causes: tuple[Cause, ...]


def explain(
    account: Provenance, seen: Observation, unread: Sequence[UnreadEvent] = (), gap: str | None = None
) -> str:
    """Three lines that say it all, then each question, a section a message, and the rest of what happened.

    `gap`: why words of the answer may be missing in what was played.
    """
    sections = [list(_summary(account, seen, unread, gap))]
    places = [each.place for each in seen.questions[1:]]
    messages = list(_messages(account, seen.thread, places))
    ends = [*places, len(messages)]
    for number, ((start, text), end) in enumerate(zip(seen.questions, ends, strict=True)):
        sections += [[f"{seen.asker}: {text}"], *messages[start:end]]
        if number < min(len(places), len(account.turns) - 1):
            sections.append(["The end", *_end(account.turns[number])])
    sections[1].append(f"{account.events:,} events of the agent were heard.")
    for title, lines in (
        ("Not understood", unread_lines(unread)),
        ("Cards", _cards(each for turn in account.turns for each in turn.cards)),
        ("Beside the text", _cards(each for turn in account.turns for each in turn.beside)),
        ("Sent again, and shown once", _unshown(each for turn in account.turns for each in turn.repeated)),
        ("Not part of the answer's text", _unshown(_left_out(account))),
        (
            "Calls that failed",
            (f"{_time(each.at)}  {each.method}: {each.error or 'no answer'}" for each in account.failed),
        ),
        ("The end", _end(account.turns[-1])),
    ):
        if found := list(lines):
            sections.append([title, *found])
    return "\n\n".join("\n".join(lines) for lines in sections) + "\n"


def _summary(
    account: Provenance, seen: Observation, unread: Sequence[UnreadEvent], gap: str | None
) -> Iterator[str]:
    """Whether the answer is whole, from when on it could be read, and what was left out."""
    as_far = ", as far as it was understood" if unread else ""
    yield f"Whole:    {_whole(account, gap)}{as_far}"
    yield f"Live:     {_live(account, seen)}"
    unshown = list(_left_out(account))
    beside, told = ([each for each in unshown if each.in_status is is_told] for is_told in (False, True))
    in_steps, told_in_steps = _in_steps(seen, beside), _in_steps(seen, told)
    left_out = [
        *([f"{_counted(len(unread), 'event')} not understood"] if unread else []),
        *_not_answer(beside, in_steps),
        *([f"{_counted(len(account.failed), 'call')} to Slack failed"] if account.failed else []),
        *(f"{_counted(chars, 'character')} {_HIDDEN}" for chars in map(_hidden, account.turns) if chars),
    ]
    yield f"Left out: {'; '.join(left_out) or 'nothing'}"
    on_the_way = {
        "for which readers saw a typing status": sum(each.chars for each in told) - told_in_steps,
        "in the details of steps": in_steps + told_in_steps,
    }
    if any(on_the_way.values()):
        parts = (f"{_counted(chars, 'character')} {where}" for where, chars in on_the_way.items() if chars)
        yield f"On the way: {'; '.join(parts)}"
    if taken_back := max(map(_taken_back, account.turns), default=0):
        yield f"Taken back: {taken_back:,} characters were shown and did not stay"


def _in_steps(seen: Observation, said: Sequence[ExplainedNews]) -> int:
    """How many characters of the narration that was `said` are the details of a step."""
    details = "".join(f"{task.details}{task.output}" for each in seen.thread for task in each.tasks)
    words = "".join(each.text for each in said).strip()
    sizes = [same.size for same in matches(details, words, CHANCE)]
    return sum(sizes) if sizes and max(sizes) >= min(CHANCE, len(words)) else 0


def _not_answer(unshown: Sequence[ExplainedNews], in_steps: int) -> Iterator[str]:
    """How much was said that is not the answer, and how much of that was narration. `in_steps`: of this."""
    chars = sum(each.chars for each in unshown) - in_steps
    narrated = sum(each.chars for each in unshown if each.is_narration) - in_steps
    if chars <= 0:
        return
    what = "" if not narrated else " (narration)" if narrated == chars else f" ({narrated:,} of narration)"
    yield f"{chars:,} characters that are not the answer{what}"


def _hidden(turn: TurnProvenance) -> int:
    """The characters of what the agent said of its failure, if its reader did not get them."""
    said, note = ("", "") if turn.closing is None else (turn.closing[0].said, turn.closing[0].note)
    return 0 if said[:_TOLD] in note else len(said)


def _left_out(account: Provenance) -> Iterator[ExplainedNews]:
    """What was said and did not become the answer in the end either."""
    for turn in account.turns:
        brought = {by.number for _, by in turn.produced}
        found = (each for each in turn.unshown if not each.is_narration or each.text.strip())
        yield from (each for each in found if each.cause.number not in brought)


def _taken_back(turn: TurnProvenance) -> int:
    """The most characters that a reader saw and that are not there in the end."""
    looks, changes = [text for _, text in turn.turn.texts()], turn.turn.changes[1:]
    shrunk = (look for look, change in zip(looks, changes, strict=False) if change.kept < len(look))
    return most_taken_back(islice(shrunk, _MOST_LOOKS), looks[-1] if looks else "")


def _whole(account: Provenance, gap: str | None) -> str:
    turn = account.turns[-1].turn
    if (ended := turn.ended) is None:
        said = "no, the bot did not take the question"
    else:
        said = _of_ended(ended, account.text, turn.reason, is_known=gap is None)
    return "; ".join([said, *([NO_END] if turn.lacks_end else []), *([gap] if gap else [])])


def _of_ended(ended: TurnEnded, text: str, reason: str, *, is_known: bool) -> str:
    """`is_known`: all that the agent said was played."""
    end = f"{ended.outcome}: {reason}" if reason else ended.outcome
    if ended.is_whole:
        size = f"{len(text):,} characters ({end})"
        return f"yes, {size}" if is_known else f"not known: the tape alone gives {size}"
    if ended.is_whole is False:
        return f"no ({end})"
    if text.strip():
        return f"the answer was not finished; {len(text):,} characters stand ({end})"
    return f"there was no answer to be had ({end})"


def _live(account: Provenance, seen: Observation) -> str:
    result = seen.result()
    sign, first, share = (result[name] for name in ("first_sign", "first_visible", "live_share"))
    before = f" (first sign of life after {sign:g} s)" if sign is not None and sign != first else ""
    if first is None:
        return f"no, no text of an answer was shown{before}"
    stays = min((account.showings[number].at for number in account.shown_by), default=first)
    if stays - first >= _SAME_TIME:  # what is quoted below begins then
        before += f" (text that did not stay: from {first:g} s on)"
    return f"from {stays:g} s on, {share or 0:.0%} of it before the agent's end{before}"


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def parts_of(account: Provenance) -> list[ExplainedPart]:
    """The answer's text in the parts in which it was shown."""
    starts = [len(turn.turn.before) for turn in account.turns]
    sources = [
        _causes_in(turn, account.text[start:end])
        for turn, start, end in zip(account.turns, starts, [*starts[1:], None], strict=True)
    ]
    found, start = [], 0
    for showing, group in groupby(account.shown_by):
        shown, end = account.showings[showing], start + len(list(group))
        number = max(bisect_right(starts, start) - 1, 0)
        causes = sources[number](start - starts[number], end - starts[number], shown.at)
        found.append(ExplainedPart(account.text[start:end], shown, causes))
        start = end
    return found


def _causes_in(turn: TurnProvenance, text: str) -> Callable[[int, int, float], tuple[Cause, ...]]:
    """What brought the characters of `text`, the turn's, from one to another, which were shown at a time."""
    sides = [(pieces, _origins(text, pieces)) for pieces in (turn.produced, turn.rewritten)]

    def causes(start: int, end: int, at: float) -> tuple[Cause, ...]:
        for pieces, origins in reversed(sides) if at < turn.rewritten_at else sides:
            if numbers := sorted({number for number in origins[start:end] if number >= 0}):
                return tuple(pieces[number][1] for number in numbers)
        return ()

    return causes


def _origins(shown: str, pieces: Sequence[Piece]) -> list[int]:
    """For each character of `shown` the number of its piece; -1: the bot added it."""
    numbers = [number for number, (text, _) in enumerate(pieces) for _ in text]
    found = [-1] * len(shown)
    for same in matches(shown, "".join(text for text, _ in pieces)):
        found[same.one : same.one + same.size] = numbers[same.other : same.other + same.size]
    return found


# -- messages ------------------------------------------------------------------------------------------------


def _messages(
    account: Provenance, thread: Sequence[SeenMessage], places: Sequence[int]
) -> Iterator[list[str]]:
    parts, start = parts_of(account), 0
    for number, message in enumerate(thread):
        head = f"Message {number + 1}, {_STATES.get(message.state, message.state)}"
        if not holds_answer(message):
            turn = account.turns[min(bisect_right(places, number), len(account.turns) - 1)]
            yield [f"{head}: not part of the answer", *_note(account, turn, message)]
            continue
        end = start + len(message.text)
        lines = [line for part in _between(parts, start, end) for line in _part(part)]
        yield [f"{head}: {len(message.text):,} characters of the answer", *lines]
        start = end


def _between(parts: Iterable[ExplainedPart], start: int, end: int) -> Iterator[ExplainedPart]:
    at = 0
    for part in parts:
        first, last = max(start - at, 0), min(end - at, len(part.text))
        if first < last:
            yield ExplainedPart(part.text[first:last], part.showing, part.causes)
        at += len(part.text)


def _part(part: ExplainedPart) -> Iterator[str]:
    call = part.showing.method or "a call that never returned"
    failed = f" (answered with {part.showing.error})" if part.showing.error else ""
    size = f"{len(part.text):,} characters"
    yield f"{_time(part.showing.at)}  {call}{failed} shows {size}: {_quoted(part.text)}"
    if part.causes:
        yield from _because(part.causes)
    else:
        yield f"{_MARGIN}{_OWN_WORDS if len(_WORD.findall(part.text)) > _FEW_WORDS else _OWN_MARKUP}"


def _because(causes: Sequence[Cause]) -> Iterator[str]:
    for (name, reason), group in groupby(causes, key=lambda cause: (cause.name, cause.reason)):
        yield f"{_MARGIN}{_who(name, list(group))}: {reason or 'no reason given'}"


def _who(name: str, causes: Sequence[Cause]) -> str:
    first, last = causes[0], causes[-1]
    if first.number is None:
        return f"the bot, on {name}, at {first.at:g} s"
    if len(causes) == 1:
        return f"event {first.number} ({name}), at {first.at:g} s"
    return f"events {first.number} to {last.number} ({name}), {first.at:g} to {last.at:g} s"


def _note(account: Provenance, turn: TurnProvenance, message: SeenMessage) -> Iterator[str]:
    text = message.text or words_in(message.blocks)
    yield f"{_MARGIN}{_quoted(text)}"
    questions = (each for any_turn in account.turns for each in any_turn.questions)
    if (cause := next((cause for asked, cause in questions if contains(text, asked)), None)) is not None:
        yield from _because([cause])
    elif turn.closing is not None:
        close, cause = turn.closing
        yield f"{_MARGIN}{_who(cause.name, [cause])}: the turn ended as {close.outcome} ({close.reason})"


# -- the rest ------------------------------------------------------------------------------------------------


def _cards(news: Iterable[ExplainedNews]) -> Iterator[str]:
    for each in news:
        yield f"{_time(each.cause.at)}  {each.what}"
        yield from _because([each.cause])


def _unshown(news: Iterable[ExplainedNews]) -> Iterator[str]:
    for _, group in groupby(news, key=lambda each: (each.what, each.cause.name, each.cause.reason)):
        found = list(group)
        chars = sum(each.chars for each in found)
        yield f"{_time(found[0].cause.at)}  {found[0].what}: {chars:,} characters"
        yield from _because([each.cause for each in found])


def _end(turn: TurnProvenance) -> Iterator[str]:
    if (ended := turn.turn.ended) is None:
        yield f"{_MARGIN}the bot did not take the question"
        return
    reason = turn.turn.reason
    yield f"{_MARGIN}{ended.outcome}" + (f": {reason}" if reason else "")
    if turn.closing is not None:
        yield from _because([turn.closing[1]])
    if ended.masked:
        kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(ended.masked.items()))
        yield f"{_MARGIN}secrets were masked in the answer's text: {kinds}"
    if latched := [name for name, is_set in ended.latches.items() if is_set]:
        yield f"{_MARGIN}latched: {', '.join(latched)}"


def _time(at: float) -> str:
    return f"{at:10.3f} s"


def _quoted(text: str) -> str:
    flat = " ".join(text.split())
    flat = flat if len(flat) <= _EXCERPT else f"{flat[: _EXCERPT - 20]} ... {flat[-15:]}"
    return f'"{flat}"'
