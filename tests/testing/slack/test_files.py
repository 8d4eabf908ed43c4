"""Files on their way in."""

from __future__ import annotations

from typing import Any

import pytest

from slack_bot.testing.slack.workspace import SeenFile

from .scene import Scene


def test_a_file_is_announced_sent_and_shown() -> None:
    scene = Scene()
    offer = scene.ok("files.getUploadURLExternal", filename="answer.md", length=5)
    files = [{"id": offer["file_id"], "title": "The answer"}]
    assert scene.error("files.completeUploadExternal", files=files) == "file_not_found"
    assert scene.workspace.receive_file(offer["file_id"], b"x" * 4).status == 400
    assert scene.error("files.completeUploadExternal", files=files) == "file_not_found"
    assert scene.workspace.receive_file(offer["file_id"], b"# All").status == 200
    assert scene.workspace.receive_file("F9", b"# All").status == 404
    where = {"channel_id": "C1", "thread_ts": scene.root, "initial_comment": "All of it:"}
    scene.ok("files.completeUploadExternal", files=files, **where)
    assert (scene.last().text, scene.last().files) == (
        "All of it:", (SeenFile("answer.md", "The answer", b"# All"),),
    )  # fmt: skip
    scene.ok("files.completeUploadExternal", files=files, channel_id="C1")
    assert len(scene.seen()) == 1
    assert scene.ok("files.completeUploadExternal", files=files)["files"][0]["title"] == "The answer"


@pytest.mark.parametrize(
    ("method", "args", "error"),
    [
        ("files.getUploadURLExternal", {"filename": "f", "length": 0}, "missing_argument"),
        ("files.completeUploadExternal", {"files": ["F1"]}, "file_not_found"),
        ("files.completeUploadExternal", {"files": [{"id": "F9"}]}, "file_not_found"),
    ],
)
def test_files_that_are_refused(method: str, args: dict[str, Any], error: str) -> None:
    assert Scene().error(method, **args) == error
