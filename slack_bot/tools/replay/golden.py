"""`slack-bot replay --golden DIR`: compare threads with kept ones, which are text without times and ids."""

import argparse
import difflib
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ...errors import UnreadableInput
from ..files import kind_of, open_capture
from .replay import read_scenario_file, replayed
from .result import Observation, as_text

_DONE = {"new": "kept", "differs": "changed", "same": "same"}
_END = "-- "
_AROUND = 3  # lines of a difference that are the same
_LIVE = ((0.9, "shown while it was written"), (0.5, "more than half of it shown while it was written"))


@dataclass(frozen=True, slots=True)
class GoldenThread:
    """The thread of one capture, and the kept one (None: there is none)."""

    name: str
    kept: str | None
    now: str

    @property
    def verdict(self) -> Literal["same", "differs", "new"]:
        if self.kept is None:
            return "new"
        return "same" if self.kept == self.now else "differs"


def main(args: argparse.Namespace) -> int:
    """The verb. `args`: files, golden, update, scenario, key. Returns 1 where a thread differs or is new."""
    folder = folder_of(args.golden)
    if kind_of(folder) is None and not args.update:
        raise UnreadableInput(f"{folder}: no such folder; --update makes it and keeps the threads")
    files: dict[str, Path] = {}
    for path in map(Path, args.files):
        if (other := files.setdefault(name_of(path, args.key), path)) is not path:
            raise UnreadableInput(f"{other} and {path} have one name; give each its own folder of threads")
    scenario = read_scenario_file(args.scenario)
    captures = [(name, open_capture(path, args.key, scenario)) for name, path in files.items()]
    threads = []
    for name, capture in captures:
        threads.append(GoldenThread(name, kept(folder / name), golden(replayed(capture, scenario))))
    lines = _update(folder, threads) if args.update else report(threads)
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return int(not args.update and any(each.verdict != "same" for each in threads))


def folder_of(path: str) -> Path:
    """The folder of threads at `path`, which need not be there. Raises UnreadableInput if it is a file."""
    folder = Path(path)
    if kind_of(folder) not in (None, "folder"):
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
    return ".".join([path.name, *([re.sub(r"[^\w.-]", "_", key)] if key else []), "txt"])


def _update(folder: Path, threads: Sequence[GoldenThread]) -> Iterator[str]:
    for each in threads:
        path = folder / each.name
        if each.verdict != "same":
            try:
                folder.mkdir(parents=True, exist_ok=True)
                path.write_bytes(each.now.encode("utf-8", "surrogatepass"))
            except OSError as error:
                reason = error.strerror or "cannot be written"
                raise UnreadableInput(f"{path}: {reason}; give another folder with --golden") from error
        yield f"{_DONE[each.verdict]:8}{each.name}"


def golden(seen: Observation) -> str:
    """The file for one thread."""
    result = seen.result()
    share = result["live_share"]
    if share is None:
        live = "no answer text"
    else:
        late = "less than half of it shown while it was written" if share else "shown at the end only"
        live = next((said for least, said in _LIVE if share >= least), late)
    reason = f" ({result['reason']})" if result["reason"] else ""
    end = f"{result['outcome'] or 'not taken'}{reason}, {live}"
    return as_text(result, seen.asker, seen.questions[:1], [end])


def first_change(kept: str, now: str) -> tuple[str, Literal["more", "less"]] | None:
    """The first line that one of them has and the other has not: too much in `now`, or missing in it.

    The last line, which says how it ended, comes last; what is too much comes before what is missing, because
    it can be looked for in another thread. None where only blank lines or the order differ.
    """
    more, less = _only_in(now, kept), _only_in(kept, now)
    if text := [line for line in more if not line.startswith(_END)]:
        return text[0], "more"
    if lost := [line for line in less if not line.startswith(_END)]:
        return lost[0], "less"
    return (more[0], "more") if more else None


def _only_in(one: str, other: str) -> list[str]:
    known = set(other.split("\n"))
    return [line for line in one.split("\n") if line.strip() and line not in known]


def report(threads: Sequence[GoldenThread]) -> Iterator[str]:
    """What is printed: a line a thread, the differences below it, a count at the end."""
    for each in threads:
        hint = ": nothing to compare with, --update keeps it" if each.verdict == "new" else ""
        yield f"{each.verdict:8}{each.name}{hint}"
        names = f"{each.name} (kept)", f"{each.name} (now)"
        kept, now = (each.now if each.kept is None else each.kept).split("\n"), each.now.split("\n")
        for line in difflib.unified_diff(kept, now, *names, n=_AROUND, lineterm=""):
            yield f"    {line}"
    counts = [(what, sum(each.verdict == what for each in threads)) for what in ("same", "differs", "new")]
    yield ", ".join(f"{count} {what}" for what, count in counts if count)
