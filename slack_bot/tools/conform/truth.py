"""`slack-bot conform --from-tape`: recordings of an agent, each with the text that it should have led to.

Each is played as the first question to an unknown agent, and once more when the bot has learned from it.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from rich.console import Console, Group
from rich.text import Text

from ...errors import UnreadableInput
from ...testing.tape.json_file import Json
from ...testing.tape.tape import Recording, Tape, turns_of
from ...text.masking import mask_secrets
from ..files import kind_of, open_capture, read_text, taped
from ..not_understood import tell_unread, unread_events
from ..pace import late_from, live_chars, live_share, most_taken_back
from ..replay.replay import replayed
from ..replay.scenario import Scenario
from ..sent import all_sayings, sent_curve, visible_chars
from ..tables import plain_table, printable, terminal_table
from ..terminal import LiveLine, told_if_interrupted
from ..turn_log import AgentOutput, LoggedTurn, TurnLog
from .checks import CHECKS
from .measures import Measures, measure

PACE = 0.035
"""Seconds between the events of a recording without times: a usual model's token."""
LEARNED = 2
"""Plays from which the bot learns before the last one."""
RIGHT = "right"
"""The one verdict that is no failure."""
_NOT_FOUND = "the truth has a text, and none of the agent was found; slack-bot explain shows what came"
_SUFFIX = ".truth.txt"
_BELOW = re.compile(r"^--- truth, exactly ---[ \t]*\r?\n", re.MULTILINE)
_CUT = "cut at"
_PARAGRAPH = 400  # characters that may be shown and taken back, once it is known that they were narration
_FIRST = 8  # characters from which the beginning of the answer is recognised
_HOLD = ("asked_once", "no_silence", "nothing_left_open")
_STYLES = {"right": "green", "WRONG": "bold red", "no text": "yellow"}


@dataclass(frozen=True, slots=True)
class TruePlay:
    """One play of a recording. `verdict` is "right", "WRONG", or "no text": none of the agent was found,
    though there should be one. Both are failures; the second is mostly a form that the bot does not read.

    `first_text`: seconds from the answer's first token on the wire until it could be read. `live_share`: that
    of `Measures`. `taken_back`: the most characters that were shown and did not stay.
    """

    recording: str
    play: str
    verdict: str
    why: str
    outcome: str
    first_text: float | None
    live_share: float | None
    calls: int
    refused: int
    taken_back: int


@dataclass(frozen=True, slots=True)
class TrueRecording:
    """A recording and the text that a reader should see in the end. `is_paced`: its times are ours."""

    name: str
    capture: Tape | Recording
    truth: str
    is_paced: bool


def main(args: argparse.Namespace) -> int:
    """The verb. `args`: from_tape, truth, after, cuts, key, json. Raises UnreadableInput."""
    paths = list(_found(args.from_tape, args.truth))
    names = _names(paths)
    recordings = [
        replace(opened(path, args.truth, args.key), name=name)
        for path, name in zip(paths, names, strict=True)
    ]
    earlier = [list(_earlier(path, args.after, args.key)) for path in paths]
    if missing := set(args.after) - {name for each in earlier for name, _ in each}:
        name = min(missing)
        raise UnreadableInput(
            f"--after {name}: there is no such file, and beside no recording NAME_CASE lies a NAME_{name};"
            " name a file, or call the recordings so"
        )
    for recording in recordings:
        tell_unread(recording.name, unread_events(recording.capture))
    plays, line = list[TruePlay](), LiveLine(sys.stderr)
    with told_if_interrupted(lambda: f"{len(plays)} plays were judged"):
        try:
            for recording, before in zip(recordings, earlier, strict=True):
                for play in chain(plays_of(recording, before), cuts_of(recording) if args.cuts else ()):
                    plays.append(play)
                    line.show(f"{play.recording}: {play.play}")
        except KeyboardInterrupt:
            line.wipe()
            _print(args, plays, recordings)
            raise
        finally:
            line.wipe()
    _print(args, plays, recordings)
    return int(any(play.verdict != RIGHT for play in plays))


def _print(args: argparse.Namespace, plays: list[TruePlay], recordings: list[TrueRecording]) -> None:
    if args.json:
        sys.stdout.write(json.dumps(as_json(plays, recordings)) + "\n")
        return
    notes = [*_notes(plays, recordings), _total(plays)]
    rows = [_row(play) for play in plays if not _is_cut(play) or play.verdict != RIGHT]
    if sys.stdout.isatty():
        Console().print(Group(terminal_table(_HEADS, rows, _STYLES), *map(Text, notes)))
    else:
        sys.stdout.write("\n".join([*plain_table(_HEADS, rows), *notes]) + "\n")


def _found(tapes: Sequence[str], truth: str | None) -> Iterator[Path]:
    """The recordings; of a folder all that have a text."""
    for given in map(Path, tapes):
        if kind_of(given) != "folder":
            yield given
            continue
        files = (path for path in sorted(given.iterdir()) if not path.name.endswith(_SUFFIX))
        found = [path for path in files if kind_of(truth_of(path, truth)) == "file"]
        if not found:
            where = "beside it" if truth is None else f"in {truth}"
            raise UnreadableInput(
                f"{given}: no file in this folder has a {_SUFFIX} {where}; write the exact text there"
            )
        yield from found


def _names(paths: Sequence[Path]) -> list[str]:
    """Without their endings, or their folders, where that tells them apart."""
    stems, names = [path.stem for path in paths], [path.name for path in paths]
    short = stems if len(set(stems)) == len(stems) else names
    return short if len(set(short)) == len(short) else list(map(str, paths))


def truth_of(tape: Path, truth: str | None = None) -> Path:
    """The file with the text of `tape`: `truth`, or in that folder, or beside it, `NAME.truth.txt`."""
    if truth is not None and kind_of(Path(truth)) != "folder":
        return Path(truth)
    folder = tape.parent if truth is None else Path(truth)
    return folder / f"{tape.stem}{_SUFFIX}"


def _earlier(path: Path, after: Sequence[str], key: str | None) -> Iterator[tuple[str, Tape | Recording]]:
    """The recordings that are played before the one at `path`, by name.

    Each is a file, or the CASE of the recording `NAME_CASE` that lies beside `NAME_OTHER`.
    """
    for given in after:
        beside = path.with_stem(f"{path.stem.rpartition('_')[0]}_{given}")
        tape = Path(given) if kind_of(Path(given)) == "file" else beside
        if kind_of(tape) == "file":
            yield given, _paced(open_capture(tape, key))[0]


def opened(path: Path, truth: str | None = None, key: str | None = None) -> TrueRecording:
    """The recording at `path` and its text (`truth_of`). Raises UnreadableInput."""
    capture, is_paced = _paced(open_capture(path, key))
    text = truth_of(path, truth)
    if kind_of(text) is None:
        raise UnreadableInput(f"{text}: no such file; name the text that {path} should lead to: --truth")
    return TrueRecording(path.stem, capture, read_truth(text), is_paced)


def read_truth(path: Path) -> str:
    """The text in `path`: all of it, or what follows the line `--- truth, exactly ---`. UnreadableInput."""
    whole = read_text(path, str(path))
    text = _BELOW.split(whole, 1)[-1]
    if not text.strip():
        raise UnreadableInput(f"{path}: there is no text in it")
    return text


def _paced(capture: Tape | Recording) -> tuple[Tape | Recording, bool]:
    if isinstance(capture, Tape) or capture.is_timed:
        return capture, False
    chunks = tuple((round(n * PACE, 6), data) for n, (_, data) in enumerate(capture.chunks))
    return replace(capture, chunks=chunks, ended=chunks[-1][0] if chunks else 0.0), True


# -- plays


def plays_of(
    recording: TrueRecording, earlier: Sequence[tuple[str, Tape | Recording]] = ()
) -> Iterator[TruePlay]:
    """The first turn, the turn of an agent that is known, and that behind `earlier` answers, if any."""
    profile = dict[str, str]()
    yield played(recording, "first turn", profile)
    for _ in range(LEARNED - 1):
        replayed(recording.capture, profiles=profile)
    yield played(recording, "learned", profile)
    if earlier:
        profile.clear()
        for _, capture in earlier:
            replayed(capture, profiles=profile)
        yield played(recording, f"after {', '.join(name for name, _ in earlier)}", profile)


def cuts_of(recording: TrueRecording, most: int | None = None) -> Iterator[TruePlay]:
    """First turns whose stream is cut behind each event, or at `most` places or a few more.

    The task goes on without its listener, and is asked.
    """
    events = sum(1 for _ in _events(recording.capture))
    for after in range(1, events + 1, 1 if most is None else max(1, events // most)):
        yield played(recording, f"{_CUT} {after}", {}, Scenario(cut_after=after))


def played(
    recording: TrueRecording, play: str, profile: dict[str, str], around: Scenario | None = None
) -> TruePlay:
    """Play `recording` with what `profile` knows of the agent, and judge the thread."""
    log = TurnLog(keeps_events=True)
    m = measure(replayed(recording.capture, around, log=log, profiles=profile))
    turn, truth = log.turns[-1], recording.truth
    outputs = [entry for entry in turn.entries if isinstance(entry, AgentOutput)]
    sent = sent_curve(outputs, truth)
    live = live_share([live_chars(turn, late_from(turn, sent))])
    taken_back = most_taken_back(m.looks, m.text)
    verdict, why = _judged(m, truth, taken_back, list(all_sayings(_events(recording.capture))))
    return TruePlay(
        recording.name,
        play,
        verdict,
        why,
        m.outcomes[-1] if m.outcomes else "not taken",
        _first_text(turn, truth, sent[0][0]) if sent else None,
        live if sent and m.outcomes[-1:] != ("asked",) else None,
        len(m.result["calls"]),
        sum(not call["ok"] for call in m.result["calls"]),
        taken_back,
    )


def _events(capture: Tape | Recording) -> Iterator[Json]:
    """What the agent says in the last answer of `capture`."""
    moments = taped(turns_of(capture)[-1][1]).moments
    return (moment.event for moment in moments if moment.event is not None)


def _first_text(turn: LoggedTurn, truth: str, sent: float) -> float | None:
    begins = visible_chars(truth)[:_FIRST]
    seen = (change.at for change, text in turn.texts() if begins in visible_chars(text[len(turn.before) :]))
    return next((round(max(0.0, at - sent), 3) for at in seen), None)


def _judged(m: Measures, truth: str, taken_back: int, sayings: Sequence[str]) -> tuple[str, str]:
    """The verdict and the reason."""
    # a secret in the true text is masked when it is shown: that is no difference
    have, wanted = visible_chars("".join(m.texts)), visible_chars(mask_secrets(truth))
    failed = ((name, CHECKS[name].judge(m)) for name in _HOLD)
    if why := next((f"{name}: {found.detail}" for name, found in failed if found.ok is False), ""):
        return "WRONG", why
    if taken_back > _PARAGRAPH:
        return "WRONG", f"{taken_back} characters were shown and taken back"
    is_form = m.outcomes[-1:] == ("asked",) and have.count(wanted) == 1  # with more words around it
    if have == wanted or is_form:
        return "right", ""
    return _differs(m, truth, sayings) if any(sayings) else ("no text", _NOT_FOUND)


def _differs(m: Measures, truth: str, sayings: Sequence[str]) -> tuple[str, str]:
    shown, wanted = "".join(m.texts), visible_chars(truth)
    have = visible_chars(shown)
    if (often := have.count(wanted)) > 1:
        return "WRONG", f"it stands there {often} times"
    if have.endswith(wanted) and any(said.endswith(have) for said in sayings):
        # the agent's own final text begins with its narration
        if _ends_a_paragraph(shown, have.removesuffix(wanted)):
            return "right", "its narration stands above, as in its own final text"
        return "WRONG", "its narration is glued to the answer"
    return "WRONG", CHECKS["text_is"].look(m, truth)[1]


def _ends_a_paragraph(shown: str, narration: str) -> bool:
    """Behind `narration`, given without white space, `shown` has a blank line."""
    at = 0
    for letter in narration:
        at = shown.index(letter, at) + 1
    rest = shown[at:]
    return rest[: len(rest) - len(rest.lstrip())].count("\n") > 1


# -- what is printed


def as_json(plays: Iterable[TruePlay], recordings: Iterable[TrueRecording]) -> Json:
    """The object of `conform --from-tape --json`."""
    paced = {each.name for each in recordings if each.is_paced}
    rows = [
        {name: getattr(play, name) for name in TruePlay.__slots__} | {"is_paced": play.recording in paced}
        for play in plays
    ]
    is_right = all(row["verdict"] == RIGHT for row in rows)
    return {"verdict": "PASS" if is_right else "FAIL", "plays": rows}


_HEADS = ("", "recording", "play", "ended", "first text", "live", "taken back", "calls", "what is wrong")


def _row(play: TruePlay) -> tuple[str, ...]:
    first = "-" if play.first_text is None else f"{play.first_text:.2f} s"
    live = "-" if play.live_share is None else f"{play.live_share:.0%}"
    calls = f"{play.calls}, {play.refused} refused" if play.refused else f"{play.calls}"
    back = f"{play.taken_back}" if play.taken_back else ""
    figures = (first, live, back, calls)
    return play.verdict, play.recording, play.play, play.outcome, *figures, printable(play.why)


def _is_cut(play: TruePlay) -> bool:
    return play.play.startswith(_CUT)


def _notes(plays: Sequence[TruePlay], recordings: Iterable[TrueRecording]) -> Iterator[str]:
    for each in recordings:
        cuts = [play.verdict for play in plays if _is_cut(play) and play.recording == each.name]
        if cuts:
            yield f"{each.name} cut behind each of {len(cuts)} events: {cuts.count(RIGHT)} right"
        if each.is_paced:
            yield f"{each.name} says nothing of time: {PACE * 1000:.0f} ms are taken between two events"


def _total(plays: Sequence[TruePlay]) -> str:
    verdicts = [play.verdict for play in plays]
    wrong, silent = verdicts.count("WRONG"), verdicts.count("no text")
    apart = f", no text of the agent found in {silent}" if silent else ""
    verdict = "FAIL" if wrong or silent else "PASS"
    return f"{len(plays) - wrong - silent} of {len(plays)} plays right{apart}: {verdict}"
