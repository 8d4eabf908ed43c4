"""Files come byte for byte, once, or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from slack_bot.slack.faults import CallOk
from slack_bot.slack.uploads import FileUpload, upload
from slack_bot.testing import virtual_clock
from tests.slack.scene import Scene, run

SEND = "upload"
GET_URL, SHOW = "files.getUploadURLExternal", "files.completeUploadExternal"
CONTENT = "Grüße,\r\n漢字 🎉\x00\n".encode() * 3


def uploaded(faults: Any = None) -> tuple[bool, Scene]:
    async def go() -> tuple[bool, Scene]:
        scene = Scene(faults)
        return isinstance(
            await run(upload(scene.new_calls(), FileUpload("answer.md", CONTENT))), CallOk
        ), scene

    return virtual_clock.run(go())


def contents(scene: Scene) -> list[bytes]:
    return [file.content for message in scene.thread() for file in message.files]


def test_the_thread_has_the_bytes() -> None:
    stands, scene = uploaded()
    assert stands
    assert contents(scene) == [CONTENT]
    assert scene.only().files[0].name == "answer.md"
    assert [call.method for call in scene.told()] == [GET_URL, SEND, SHOW]


@pytest.mark.parametrize("entry", ["timeout", "timeout!", "http:502", "http:502!", "cut", "cut!"])
@pytest.mark.parametrize("method", [GET_URL, SEND, SHOW])
def test_without_an_answer_it_stands_there_once(method: str, entry: str) -> None:
    stands, scene = uploaded({method: [entry, None]})
    assert stands
    assert contents(scene) == [CONTENT]


@pytest.mark.parametrize("method", [GET_URL, SEND, SHOW])
def test_refused_it_does_not_stand(method: str) -> None:
    error = "http:400" if method == SEND else "missing_scope"
    stands, scene = uploaded({method: [error]})
    assert not stands
    assert contents(scene) == []
    assert len([call for call in scene.told() if call.method == method]) == 1


def test_it_is_not_tried_for_ever() -> None:
    faults = {SHOW: ["internal_error"], "conversations.replies": ["internal_error"]}
    stands, scene = uploaded(faults)
    assert not stands
    assert len([call for call in scene.told() if call.method == SHOW]) == 4
