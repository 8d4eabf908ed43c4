"""The file is read whole, or the wrong line is named but not shown."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from slack_bot.errors import SettingsError
from slack_bot.settings.env_file import read


def test_values_with_quotes_comments_and_export(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("# mine\nexport A='one'\n\nB=\"two\" # note\nC=\nD\n")
    assert read(file) == ({"A": "one", "B": "two", "C": "", "D": None}, [])


def test_no_file_is_an_empty_one(tmp_path: Path) -> None:
    assert read(tmp_path / ".env") == ({}, [])


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("= hunter2\n", [1]),
        ("A=1\n\n\n'hunter2\nB=2\n", [4]),
        ("A='hunter2\n", [1]),
        ("A=1\n: hunter2 =\nB=2\n=3\n", [2, 4]),
    ],
)
def test_each_line_that_cannot_be_read_is_named_once_by_us_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str, lines: list[int]
) -> None:
    file = tmp_path / ".env"
    file.write_text(text)
    with caplog.at_level(logging.DEBUG):
        values, problems = read(file)
    assert problems == [
        f"{file}, line {line} cannot be read: write NAME=value, and close every quote" for line in lines
    ]
    assert (values, caplog.records) == ({}, [])


def test_a_directory_is_an_error_unless_it_is_a_virtual_environment(tmp_path: Path) -> None:
    """Docker makes a directory of a file to be mounted that is not there."""
    with pytest.raises(SettingsError, match="is a directory, not a file: remove it"):
        read(tmp_path)
    (tmp_path / "pyvenv.cfg").touch()
    assert read(tmp_path) == ({}, [])


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"A=\xff\n")
    with pytest.raises(SettingsError, match="cannot be read as text"):
        read(tmp_path / ".env")
