"""Files that people share, as the app gets them."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from slack_bot.clock import Clock
from slack_bot.testing.slack.files import LOGIN_PAGE, file_of_path
from slack_bot.testing.slack.rules import SHIPPED
from slack_bot.testing.slack.workspace import BOT_TOKEN, PersonFile

from .scene import Scene
from .test_in_process import with_client
from .test_server import a_face

CONTENT = b"one\x00two"


def shared(scene: Scene, file: PersonFile) -> dict[str, Any]:
    """The file, as the event has it."""
    ts = scene.workspace.say("U1", scene.direct, "see", now=scene.now, files=[file])
    message = scene.workspace.state.find(scene.direct, ts)
    assert message is not None
    return message.files[0]


def test_a_shared_file_says_what_it_is() -> None:
    scene = Scene()
    file = shared(scene, PersonFile("a b.log", CONTENT))
    known = {name: file[name] for name in ("name", "mimetype", "filetype", "size", "mode", "file_access")}
    assert known == {
        "name": "a b.log", "mimetype": "text/plain", "filetype": "log", "size": 7, "mode": "hosted",
        "file_access": "visible",
    }  # fmt: skip
    assert file["url_private_download"] == "https://files.slack.com/files-pri/T1-F000001/download/a%20b.log"
    assert file_of_path("/files-pri/T1-F000001/download/a%20b.log") == "F000001"
    assert file_of_path("/api/files.info") is None
    assert scene.ok("files.info", file=file["id"])["file"] == file


def test_the_app_deletes_a_file_and_the_message_stays_without_it() -> None:
    scene = Scene()
    file = shared(scene, PersonFile("a.txt", CONTENT))
    (message,) = [seen for seen in scene.workspace.history(scene.direct) if seen.files]
    scene.ok("files.delete", file=file["id"])
    assert scene.error("files.delete", file=file["id"]) == "file_not_found"
    assert scene.error("files.info", file=file["id"]) == "file_not_found"
    assert [seen.files for seen in scene.workspace.history(scene.direct) if seen.ts == message.ts] == [()]


def test_a_stub_says_nothing_until_it_is_asked_for() -> None:
    scene = Scene()
    stub = shared(scene, PersonFile("theirs.txt", CONTENT, is_stub=True))
    assert (stub["file_access"], "name" in stub) == ("check_file_info", False)
    assert scene.ok("files.info", file=stub["id"])["file"]["name"] == "theirs.txt"


def test_of_a_deleted_file_a_tombstone_is_left() -> None:
    scene = Scene()
    gone = shared(scene, PersonFile("old.txt", CONTENT, is_deleted=True))
    assert gone == {"id": gone["id"], "mode": "tombstone"}
    assert scene.error("files.info", file=gone["id"]) == "file_deleted"
    assert scene.error("files.info", file="F9") == "file_not_found"


def test_of_an_external_file_slack_has_the_address() -> None:
    file = shared(Scene(), PersonFile("plan.doc", link="https://drive.example/plan"))
    assert (file["is_external"], file["mode"], file["url_private"]) == (
        True, "external", "https://drive.example/plan",
    )  # fmt: skip


@pytest.mark.parametrize("token", [None, "xoxb-other"])
def test_without_its_token_there_is_the_login_page(token: str | None) -> None:
    scene = Scene()
    file = shared(scene, PersonFile("a.txt", CONTENT))
    answer = scene.workspace.download(file["id"], token=token)
    assert (answer.status, answer.content, answer.content_type) == (200, LOGIN_PAGE, "text/html")
    assert scene.workspace.downloads == [(file["id"], token)]


def test_without_the_scope_there_is_the_login_page() -> None:
    lacking = dataclasses.replace(SHIPPED, scopes=SHIPPED.scopes - {"files:read"})
    scene = Scene(manifest=lacking)
    file = shared(scene, PersonFile("a.txt", CONTENT))
    assert scene.workspace.download(file["id"], token=BOT_TOKEN).content == LOGIN_PAGE
    assert scene.error("files.info", file=file["id"]) == "missing_scope"


def test_a_file_comes_in_memory() -> None:
    async def story(scene: Scene, client: AsyncWebClient, _: Clock) -> None:
        file = shared(scene, PersonFile("a.bin", CONTENT))
        assert client.session is not None
        headers = {"Authorization": f"Bearer {BOT_TOKEN}"}
        async with client.session.get(file["url_private_download"], headers=headers) as response:
            assert (response.status, response.content_type) == (200, "application/octet-stream")
            assert [each async for each in response.content.iter_chunked(4)] == [CONTENT[:4], CONTENT[4:]]

    with_client(story)


async def test_a_file_comes_over_the_network() -> None:
    faults = {"download": ["http:503", None]}
    async with a_face(faults=faults) as (scene, _, http):
        file = shared(scene, PersonFile("a.bin", CONTENT))
        moved = shared(scene, PersonFile("b.bin", CONTENT, moved_to="https://elsewhere.example/b"))
        headers = {"Authorization": f"Bearer {BOT_TOKEN}"}

        async def fetched(url: str, headers: dict[str, str]) -> tuple[int, bytes]:
            async with http.get(url, headers=headers, allow_redirects=False) as response:
                return response.status, await response.read()

        assert (await fetched(file["url_private_download"], headers))[0] == 503
        assert await fetched(file["url_private_download"], headers) == (200, CONTENT)
        assert await fetched(file["url_private"], headers) == (200, CONTENT)
        assert await fetched(file["url_private"], {}) == (200, LOGIN_PAGE)
        assert (await fetched(moved["url_private"], headers))[0] == 302
