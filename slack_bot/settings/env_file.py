"""The `.env` file: its names and values, or which of its lines are wrong. No line is ever shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ..errors import SettingsError


def read(file: Path) -> tuple[Mapping[str, str | None], list[str]]:
    """The values of `file`, and one sentence for each line that cannot be read. A missing file is empty.

    Raises SettingsError if nothing of it can be read. A virtual environment called `.env` is ignored.
    """
    if file.is_dir() and not (file / "pyvenv.cfg").exists():
        raise SettingsError(
            f"{file} is a directory, not a file: remove it, or put a file of NAME=value lines in its place"
        )
    if not file.is_file():
        return {}, []
    from pydantic_settings import BaseSettings, DotEnvSettingsSource

    try:
        if problems := list(_unreadable_lines(file)):
            return {}, problems
        return DotEnvSettingsSource(BaseSettings, env_file=file, case_sensitive=True).env_vars, []
    except (OSError, UnicodeDecodeError):
        raise SettingsError(f"{file} cannot be read as text; check its owner, mode and encoding") from None


def _unreadable_lines(file: Path) -> Iterator[str]:
    """pydantic-settings would ignore them, and python-dotenv would log them."""
    from dotenv.parser import parse_stream

    with file.open(encoding="utf-8") as stream:
        for binding in parse_stream(stream):
            if binding.error:
                text = binding.original.string
                line = binding.original.line + text[: len(text) - len(text.lstrip())].count("\n")
                yield f"{file}, line {line} cannot be read: write NAME=value, and close every quote"
