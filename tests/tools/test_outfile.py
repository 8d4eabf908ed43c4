"""A file that a verb writes: tried first, touched only when there is something to write."""

from __future__ import annotations

from pathlib import Path

import pytest

from slack_bot.errors import UnreadableInput
from slack_bot.tools.outfile import InMemory, OutFile


def test_nothing_written_leaves_things_as_they_were(tmp_path: Path) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    old.write_text("kept")
    for path in (new, old):
        with OutFile(str(path)) as file:
            assert not file.has_content
    assert not new.exists()
    assert old.read_text() == "kept"


def test_each_write_is_there_at_once_and_replaces_what_was(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("older and longer than what comes")
    with OutFile(str(path)) as file:
        file.text("a\ud800")
        assert path.read_bytes() == b"a\xed\xa0\x80"
        file.write(b"b")
        assert path.read_bytes() == b"a\xed\xa0\x80b"
        assert file.has_content


@pytest.mark.parametrize("name", ["", "missing/f"])
def test_what_cannot_be_written_is_found_out_first(name: str, tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match="give another file"):
        OutFile(str(tmp_path / name))


def test_a_full_disk_is_one_sentence() -> None:
    with OutFile("/dev/full") as file, pytest.raises(UnreadableInput, match="No space left"):
        file.write(b"x")


def test_memory_does_as_a_file_would() -> None:
    memory = InMemory("http://a/")
    assert (memory.path, memory.has_content) == ("http://a/", False)
    memory.text("a\ud800")
    memory.write(b"b")
    assert memory.data == b"a\xed\xa0\x80b"
    assert memory.has_content
