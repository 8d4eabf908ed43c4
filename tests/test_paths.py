"""What is at a path: nothing is not the same as not to be let in."""

from __future__ import annotations

from pathlib import Path

import pytest

from slack_bot.paths import kind_of

from .closed_folder import closed_folder


def test_what_is_there_and_what_is_not(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path)
    assert [kind_of(tmp_path / name) for name in ("file", "link", "none", "file/in it", "no\0name")] == [
        "file",
        "folder",
        *(None, None, None),
    ]
    assert kind_of(Path("/dev/null")) == "other"


def test_where_one_may_not_look_is_not_nothing() -> None:
    with closed_folder() as closed:
        assert kind_of(closed) == "folder"
        for name in ("file", "none"):
            with pytest.raises(PermissionError):
                kind_of(closed / name)
