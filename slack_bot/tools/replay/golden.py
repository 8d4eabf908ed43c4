"""`slack-bot replay --golden DIR`: compare threads with kept ones.

Each FILE has one thread in DIR, as text: what a person reads, and how the turn ended, without times and ids.
Two runs of the same bot over the same tape give the same file, byte for byte. Of the timing only one word is
kept: whether the answer was shown while it was written. A thread that is not kept yet does not pass; --update
keeps it.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from ...errors import UnreadableInput
from ...testing.tape.json_file import Json
from ...testing.tape.tape import Recording, Tape
from ..open_capture import open_capture
from .plain_text import as_thread
from .replay import accept_any_script, read_scenario_file, replay
from .scenario import Scenario, as_captured

_DONE = {"new": "kept", "differs": "changed", "same": "same"}


def main(args: argparse.Namespace) -> int:
    """The verb. `args`: files, golden, update, scenario, key. Returns 1 where a thread differs or is new.

    Raises UnreadableInput for what cannot be read or written.
    """
    folder = folder_of(args.golden)
    if not folder.is_dir() and not args.update:
        raise UnreadableInput(f"{folder}: no such folder; --update makes it and keeps the threads")
    files = _named(args.files, args.key)
    scenario = read_scenario_file(args.scenario)
    captures = [(name, open_capture(path, args.key, scenario)) for name, path in files.items()]
    accept_any_script()
    compared = [compare(folder, name, capture, scenario) for name, capture in captures]
    if args.update:
        sys.stdout.writelines(f"{line}\n" for line in _update(folder, compared))
        return 0
    sys.stdout.writelines(f"{line}\n" for line in report(compared))
    return int(any(each.verdict != "same" for each in compared))


def compare(folder: Path, name: str, capture: Tape | Recording, scenario: Scenario) -> Compared:
    """The thread of one capture, with the kept one in `folder`. Raises UnreadableInput."""
    around = as_captured(scenario, capture)
    now = golden(replay(capture, around), asker=around.user, question=around.text)
    return Compared(name, kept(folder / name), now)


def folder_of(path: str) -> Path:
    """The folder of threads at `path`, which need not be there. Raises UnreadableInput if it is a file."""
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise UnreadableInput(f"{path}: this is a file; --golden wants a folder of threads")
    return folder


def kept(path: Path) -> str | None:
    """The thread in the file at `path`, None if there is no file. Raises UnreadableInput."""
    try:
        return path.read_bytes().decode("utf-8", "surrogatepass")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableInput(
            f"{path}: not a thread that was kept here; delete it or choose another folder"
        ) from error


def name_of(path: Path, key: str | None) -> str:
    """The name of the thread's file for the capture at `path`."""
    return f"{path.name}.{_safe(key)}.txt" if key else f"{path.name}.txt"


def _safe(key: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in key)


def _named(files: list[str], key: str | None) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in map(Path, files):
        name = name_of(path, key)
        if name in found:
            raise UnreadableInput(
                f"{found[name]} and {path} have one name; give each its own folder of threads"
            )
        found[name] = path
    return found


def _update(folder: Path, compared: list[Compared]) -> Iterator[str]:
    for each in compared:
        path = folder / each.name
        if each.verdict != "same":
            try:
                folder.mkdir(parents=True, exist_ok=True)
                path.write_bytes(each.now.encode("utf-8", "surrogatepass"))
            except OSError as error:
                reason = error.strerror or "cannot be written"
                raise UnreadableInput(f"{path}: {reason}; give another folder with --golden") from error
        yield f"{_DONE[each.verdict]:8}{each.name}"


Verdict: TypeAlias = Literal["same", "differs", "new"]

_END = "-- "
_AROUND = 3  # lines of a difference that are the same
_LIVE = ((0.9, "shown while it was written"), (0.5, "more than half of it shown while it was written"))


@dataclass(frozen=True, slots=True)
class Compared:
    """One thread and the kept one, if there is one."""

    name: str
    kept: str | None
    now: str

    @property
    def verdict(self) -> Verdict:
        """The result."""
        if self.kept is None:
            return "new"
        return "same" if self.kept == self.now else "differs"


def golden(result: Json, *, asker: str, question: str) -> str:
    """The file for one thread. `result` is the object of `replay --json`."""
    outcome = str(result["outcome"] or "not taken")
    reason = f" ({result['reason']})" if result["reason"] else ""
    return f"{as_thread(result, asker=asker, question=question)}\n\n{_END}{outcome}{reason}{_live(result)}\n"


def _live(result: Json) -> str:
    share = result["live_share"]
    if share is None:
        return ", no answer text"
    said = next((said for least, said in _LIVE if share >= least), None)
    if said is None:
        said = "less than half of it shown while it was written" if share else "shown at the end only"
    return f", {said}"


def difference(compared: Compared) -> Iterator[str]:
    """The lines of a unified diff, from the kept thread to this one; each without its line end."""
    names = f"{compared.name} (kept)", f"{compared.name} (now)"
    kept, now = (compared.kept or "").split("\n"), compared.now.split("\n")
    yield from difflib.unified_diff(kept, now, *names, n=_AROUND, lineterm="")


def first_change(kept: str, now: str) -> tuple[str, Literal["more", "less"]] | None:
    """The first line that one of them has and the other has not: too much in `now`, or missing in it.

    Text comes before the last line, which says how it ended; what is too much before what is missing, because
    it can be looked for in another thread. None where the threads differ in blank lines or order alone.
    """
    more, less = _only_in(now, kept), _only_in(kept, now)
    text = [line for line in more if not line.startswith(_END)]
    lost = [line for line in less if not line.startswith(_END)]
    if text:
        return text[0], "more"
    if lost:
        return lost[0], "less"
    return (more[0], "more") if more else None


def _only_in(one: str, other: str) -> list[str]:
    known = set(other.split("\n"))
    return [line for line in one.split("\n") if line.strip() and line not in known]


def report(compared: Sequence[Compared]) -> Iterator[str]:
    """What is printed: a line a thread, the differences below it, a count at the end."""
    for each in compared:
        hint = ": nothing to compare with, --update keeps it" if each.verdict == "new" else ""
        yield f"{each.verdict:8}{each.name}{hint}"
        if each.verdict == "differs":
            yield from (f"    {line}" for line in difference(each))
    counts = [(what, sum(each.verdict == what for each in compared)) for what in ("same", "differs", "new")]
    yield ", ".join(f"{count} {what}" for what, count in counts if count)
