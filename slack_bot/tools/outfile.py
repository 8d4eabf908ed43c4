"""A file that a verb writes: tried before anything is asked, touched only when there is something to write.

A capture that could not be written after five minutes would be a pity, and so would be an old one lost for
nothing.
"""

from __future__ import annotations

from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from ..errors import UnreadableInput


class Out(Protocol):
    """Where a capture goes."""

    @property
    def path(self) -> Path | str:
        """What it is called."""

    @property
    def has_content(self) -> bool:
        """Something was written."""

    def text(self, text: str) -> None:
        """Write text as UTF-8; lone surrogates, which JSON may hold, are kept."""

    def write(self, data: bytes) -> None:
        """Write bytes."""


class InMemory:
    """Keeps what is written; `path` is only a name."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.data = b""

    @property
    def has_content(self) -> bool:
        """Something was written."""
        return bool(self.data)

    def text(self, text: str) -> None:
        """As a file would."""
        self.write(text.encode("utf-8", "surrogatepass"))

    def write(self, data: bytes) -> None:
        """Keep `data`."""
        self.data += data


class OutFile:
    """The file at `path`. Nothing is in it before the first `write`, and each write is in it at once."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        self._is_new = not self.path.exists()
        self._file: FileIO | None = None
        try:
            with self.path.open("ab"):
                pass
        except OSError as error:
            reason = error.strerror or "cannot be written"
            raise UnreadableInput(f"{path}: {reason}; give another file") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
        elif self._is_new:
            self.path.unlink(missing_ok=True)

    @property
    def has_content(self) -> bool:
        """Something was written."""
        return self._file is not None

    def text(self, text: str) -> None:
        """Write text as UTF-8; lone surrogates, which JSON may hold, are kept."""
        self.write(text.encode("utf-8", "surrogatepass"))

    def write(self, data: bytes) -> None:
        """Write, to the disk's cache at least: whoever kills this process finds what was written."""
        try:
            if self._file is None:
                self._file = self.path.open("wb", buffering=0)
            rest = memoryview(data)
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            reason = error.strerror or "the disk refused"
            raise UnreadableInput(f"{self.path}: {reason}; what was written before is kept") from error
