"""The `.env` file: its names and values, or what is wrong with it and where. No line of it is ever shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ..errors import SettingsError


def read(file: Path) -> tuple[Mapping[str, str | None], list[str]]:
    """The values of `file`, and one sentence for each line that cannot be read. No file is an empty one.

    Raises SettingsError where nothing of it can be read. A virtual environment called `.env` is left alone.
    """
    if file.is_dir() and not (file / "pyvenv.cfg").exists():
        raise SettingsError(
            f"{file} is a directory, not a file: remove it, or put a file of NAME=value lines in its place"
        )
    if not file.is_file():
        return {}, []
    try:
        if problems := list(_unreadable(file)):
            return {}, problems
        return _values(file), []
    except (OSError, UnicodeDecodeError):
        raise SettingsError(f"{file} cannot be read as text; check its owner, mode and encoding") from None


def _unreadable(file: Path) -> Iterator[str]:
    from dotenv.parser import parse_stream

    with file.open(encoding="utf-8") as stream:
        for binding in parse_stream(stream):
            if binding.error:
                text = binding.original.string
                line = binding.original.line + text[: len(text) - len(text.lstrip())].count("\n")
                yield f"{file}, line {line} cannot be read: write NAME=value, and close every quote"


def _values(file: Path) -> Mapping[str, str | None]:
    from pydantic_settings import BaseSettings, DotEnvSettingsSource

    return DotEnvSettingsSource(BaseSettings, env_file=file, case_sensitive=True).env_vars
