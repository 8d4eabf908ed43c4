"""`slack-bot replay --golden DIR`: are the threads still what they were?

Each FILE has one thread in DIR, a text file that a person can read and a reviewer can see change. A thread
that is not there yet has been compared with nothing, so the check has not passed: it is told, and kept with
`--update`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from ...errors import UnreadableInput
from ...testing.tape.tape import Recording, Tape
from ..open_capture import open_capture
from .golden import Compared, golden, report
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
    """The thread of one capture beside the one in `folder`. Raises UnreadableInput."""
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
    """The thread in the file at `path`, None where there is none. Raises UnreadableInput."""
    try:
        return path.read_bytes().decode("utf-8", "surrogatepass")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableInput(
            f"{path}: not a thread that was kept here; delete it or choose another folder"
        ) from error


def name_of(path: Path, key: str | None) -> str:
    """How the thread of the capture at `path` is called in the folder."""
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
