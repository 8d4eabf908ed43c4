"""The files of the verbs: those that they write, tried first and touched late, and captures of any kind."""

import sys
from collections.abc import Iterable
from importlib.resources.abc import Traversable
from io import FileIO
from itertools import accumulate
from mmap import ACCESS_READ, mmap
from pathlib import Path
from types import TracebackType
from typing import Self, cast

from .. import paths
from ..agents.wire.sse import SseReader
from ..errors import UnreadableInput
from ..observe.facts import is_turn_name
from ..settings.names import nearest
from ..testing.tape.items import INTERRUPTED, Moment
from ..testing.tape.tape import LONG, Recording, Tape, read_tape
from .capture.tape_writer import moment_of_body, moments_of
from .replay.scenario import Scenario
from .terminal import LiveLine


class Output:
    """Keeps what is written in memory; `path` is only a name."""

    def __init__(self, path: str | Path) -> None:
        self.path, self.data, self.has_content = path, b"", False

    def text(self, text: str) -> None:
        """UTF-8; lone surrogates, which JSON may hold, are kept."""
        self.write(text.encode("utf-8", "surrogatepass"))

    def write(self, data: bytes) -> None:
        self.data += data
        self.has_content = True

    def discard(self) -> None:
        """Nothing was worth keeping."""
        self.data, self.has_content = b"", False


class OutputFile(Output):
    """The file at `path`. It is not there before the first `write`.

    `inputs` are the files that are read, None and addresses among them. Raises UnreadableInput if `path` is
    one of these or cannot be written.
    """

    def __init__(self, path: str, inputs: Iterable[str | None] = ()) -> None:
        self._path = Path(path)
        super().__init__(self._path)
        self._file: FileIO | None = None
        if any(each is not None and _is_one_file(self._path, Path(each)) for each in inputs):
            raise UnreadableInput(f"{path}: this file is read, so it is not written; give another file")
        try:
            is_new = paths.kind_of(self._path) is None
            with self._path.open("ab"):
                pass
            if is_new:
                self._path.unlink()  # at once: nothing is left if the process is killed
        except OSError as error:
            reason = f"{error.strerror or 'cannot be written'}; give another file"
            if isinstance(error, FileNotFoundError):
                reason = f"there is no folder {self._path.parent}; create it, or give another file"
            raise UnreadableInput(f"{path}: {reason}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def discard(self) -> None:
        super().discard()
        if self._file is not None:
            self._file.close()
            self._file = None
            self._path.unlink(missing_ok=True)

    def write(self, data: bytes) -> None:
        """Write at once: what was written is there if this process is killed."""
        try:
            if self._file is None:
                self._file = self._path.open("wb", buffering=0)
                self.has_content = True
            rest = memoryview(data)
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            reason = error.strerror or "the disk refused"
            raise UnreadableInput(f"{self.path}: {reason}; what was written before is kept") from error


def check_distinct(*paths: str | None) -> None:
    """Raises UnreadableInput where two of `paths` are one file."""
    wanted = [Path(each) for each in paths if each is not None]
    for number, path in enumerate(wanted):
        if any(_will_be_one_file(path, other) for other in wanted[:number]):
            raise UnreadableInput(f"{path}: two outputs would be written to this file; give each its own")


def _will_be_one_file(one: Path, other: Path) -> bool:
    """As `_is_one_file`, also where neither is there yet."""
    try:
        return _is_one_file(one, other) or (one.resolve() == other.resolve() and not one.exists())
    except (OSError, ValueError):
        return False


def _is_one_file(one: Path, other: Path) -> bool:
    """False where either is not there, and for a terminal, which may be both."""
    try:
        return one.is_file() and one.samefile(other)
    except (OSError, ValueError):
        return False


# -- captures ------------------------------------------------------------------------------------------------

_NO_LIMIT = 1 << 40


def open_capture(path: Path, key: str | None = None, around: Scenario | None = None) -> Tape | Recording:
    """The capture at `path`, to be replayed in `around`. Raises UnreadableInput.

    It may be without events where the agent fails in that scenario.
    """
    try:
        _refuse_device(path)
        with path.open("rb") as file:
            is_long = path.stat().st_size >= LONG
            # a mapped file looks like its bytes
            data = cast(bytes, mmap(file.fileno(), 0, access=ACCESS_READ)) if is_long else file.read()
    except OSError as error:
        raise _cannot_read(str(path), error) from error
    fails = around is not None and around.agent_error is not None
    line = LiveLine(sys.stderr)
    try:
        return read_tape(
            data,
            str(path),
            key,
            may_be_empty=fails,
            progress=lambda part: line.show(f"{path}: {part:.0%} is read"),
        )
    finally:
        line.wipe()


def check_readable(name: str) -> None:
    """Raises UnreadableInput where the file `name` is none, or may not be read."""
    try:
        with Path(name).open("rb"):
            pass
    except OSError as error:
        raise _cannot_read(name, error) from error


def _refuse_device(path: Path) -> None:
    """One such as /dev/zero has no end. Pipes are read."""
    if path.is_char_device() or path.is_block_device():
        raise UnreadableInput(f"{path} is a device, which may never end; name a file")


def kind_of(path: Path) -> paths.Kind | None:
    """What is at `path`; None: nothing. Raises UnreadableInput where this user may not look."""
    try:
        return paths.kind_of(path)
    except OSError as error:
        raise _cannot_read(str(path), error) from error


def read_bytes(path: Traversable, name: str) -> bytes:
    """All of a file, which is called `name` in the sentence of UnreadableInput."""
    try:
        if isinstance(path, Path):
            _refuse_device(path)
        return path.read_bytes()
    except OSError as error:
        raise _cannot_read(name, error) from error


def read_text(path: Traversable, name: str) -> str:
    """As `read_bytes`, of UTF-8 with or without a mark at its beginning."""
    try:
        return read_bytes(path, name).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableInput(f"{name}: not UTF-8 text") from error


def taped(capture: Tape | Recording) -> Tape:
    """A recording as the tape of the same stream."""
    if isinstance(capture, Tape):
        return capture
    ends = [Moment(capture.ended, end="cut" if capture.cut else "closed")]
    ends += [Moment(capture.ended, comment=INTERRUPTED)] if capture.interrupted else []
    kind, pause = capture.headers.get("content-type", ""), capture.headers.get("retry-after", "")
    if "event-stream" not in kind or not 200 <= capture.status < 300:
        seconds = int(pause) if pause.isascii() and pause.isdigit() else None
        said = moment_of_body(capture.ended, capture.status, capture.body, kind, seconds)
        return Tape({}, (said, *ends))
    splitter, moments = SseReader(_NO_LIMIT), list[Moment]()
    times = accumulate((t for t, _ in capture.chunks), max)
    for t, (_, data) in zip(times, capture.chunks, strict=True):
        moments += (moment for piece in splitter.feed(data) for moment in moments_of(t, piece))
    moments += (moment for piece in splitter.end() for moment in moments_of(capture.ended, piece))
    return Tape({}, (*moments, *ends))


def keep_what_is_there(path: Path) -> None:
    """Ask before a file that has something in it is written over. Raises UnreadableInput without a yes."""
    if not (kind_of(path) == "file" and path.stat().st_size):
        return
    if sys.stdin is not None and sys.stdin.isatty():
        sys.stderr.write(f"{path} is there already. Write over it? [y/N] ")
        sys.stderr.flush()
        if sys.stdin.readline().strip().lower() in ("y", "yes"):
            return
    raise UnreadableInput(f"{path} is there already: give another file, or --force to write over it")


def make_tape(name: str) -> str:
    """What to do where a tool reads files only, and `name` is a turn's (`is_turn_name`)."""
    return (
        "if it is a turn of the store, this makes a file of it:"
        f" slack-bot store export-tape {name} -o {name.replace(':', '-')}.jsonl"
    )


def _cannot_read(name: str, error: OSError) -> UnreadableInput:
    match error:
        case IsADirectoryError():
            return UnreadableInput(f"{name} is a directory; name a file in it")
        case FileNotFoundError():
            if is_turn_name(name):
                return UnreadableInput(f"{name}: no such file; {make_tape(name)}")
            path = Path(name)
            beside = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
            meant = nearest(path.name, beside)
            guess = f"did you mean {path.with_name(meant)}?" if meant else "check the path"
            return UnreadableInput(f"{name}: no such file; {guess}")
        case PermissionError():
            return UnreadableInput(f"{name}: this user may not read it; check its owner and mode")
    return UnreadableInput(f"{name}: {error.strerror or 'cannot be read'}; give another file")
