"""Getting a file from Slack: from where, and with which token."""

from __future__ import annotations

import pytest
from pydantic import SecretStr
from slack_sdk.errors import SlackApiError

from slack_bot.settings.models import SlackSettings
from slack_bot.slack.api import new_web_client
from slack_bot.slack.download import FOREIGN, TOO_LARGE, download, is_slacks
from slack_bot.slack.faults import CallFailed, CallOk, CallResult
from slack_bot.testing.slack.workspace import BOT_TOKEN, PersonFile
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.slack.scene import Scene
from tests.testing.slack.test_server import a_face

API = "https://slack.com/api/"


@pytest.mark.parametrize(
    ("url", "api"),
    [
        ("https://files.slack.com/files-pri/T1-F1/a", API),
        ("https://slack.com/a", API),
        ("https://acme.enterprise.slack.com/files/a", "http://127.0.0.1:8000/api/"),
        ("https://files.slack-gov.com/a", "https://slack-gov.com/api/"),
        ("http://127.0.0.1:8000/files-pri/T1-F1/a", "http://127.0.0.1:8000/api/"),
    ],
)
def test_addresses_of_slack(url: str, api: str) -> None:
    assert is_slacks(url, api)


@pytest.mark.parametrize(
    "url",
    [
        "http://files.slack.com/a", "https://files.slack.com:8443/a", "https://evil.example/files-pri/a",
        "https://evilslack.com/a", "https://slack.com.evil.example/a", "https://files.slack.com@evil.example/",
        "http://127.0.0.1:8001/a", "ftp://slack.com/a", "https://[slack.com/", "", "//files.slack.com/a",
    ],
)  # fmt: skip
def test_addresses_of_others(url: str) -> None:
    assert not is_slacks(url, "http://127.0.0.1:8000/api/")


def give(scene: Scene, *files: PersonFile) -> list[str]:
    """The addresses of files that somebody shares."""
    ts = scene.workspace.say("U1", "C1", "see", now=scene.clock.wall(), files=files)
    message = scene.workspace.state.find("C1", ts)
    assert message is not None
    return [str(each["url_private_download"]) for each in message.files]


async def fetched(file: PersonFile, most: int = 100) -> tuple[CallResult, list[tuple[str, str | None]]]:
    """What came of a download, and who was asked with which token."""
    scene = Scene()
    (url,) = give(scene, file)
    return await scene.api.transport.download(url, most), scene.workspace.downloads


@on_virtual_time
async def test_a_file_comes_with_the_token() -> None:
    result, asked = await fetched(PersonFile("a.txt", b"x" * 100))
    assert result == CallOk({"content": b"x" * 100, "content_type": "text/plain"})
    assert asked == [("F000001", BOT_TOKEN)]


async def test_a_file_comes_over_the_network() -> None:
    async with a_face() as (scene, face, http):
        client = new_web_client(SlackSettings(api_url=face.api_url, bot_token=SecretStr(BOT_TOKEN)), http)
        ts = scene.workspace.say(
            "U1", "C1", "see", now=scene.now, files=[PersonFile("a b.bin", bytes(200_000))]
        )
        message = scene.workspace.state.find("C1", ts)
        assert message is not None
        url = message.files[0]["url_private_download"]
        found = await download(client, url, 200_000)
        assert found == {"content": bytes(200_000), "content_type": "application/octet-stream"}
        with pytest.raises(SlackApiError, match=TOO_LARGE):
            await download(client, url, 199_999)
        with pytest.raises(SlackApiError):
            await download(client, url.replace("F0", "F9"), 10)


@on_virtual_time
async def test_no_more_is_read_than_it_may_have() -> None:
    result, _ = await fetched(PersonFile("a.txt", b"x" * 101))
    assert isinstance(result, CallFailed)
    assert result.error == TOO_LARGE


@on_virtual_time
async def test_the_token_goes_to_the_first_host_only() -> None:
    scene = Scene()
    (there,) = give(scene, PersonFile("a.txt", b"here"))
    same = there.partition("files.slack.com")[2]
    other = there.replace("files.slack.com", "acme.slack.com")
    near, far = give(scene, PersonFile("b", moved_to=same), PersonFile("c", moved_to=other))
    assert isinstance(await scene.api.transport.download(near, 10), CallOk)
    assert [token for _, token in scene.workspace.downloads] == [BOT_TOKEN, BOT_TOKEN]
    page = await scene.api.transport.download(far, 1000)
    assert isinstance(page, CallOk)
    assert page.data["content_type"] == "text/html"
    assert scene.workspace.downloads[-1] == ("F000001", None)


@on_virtual_time
@pytest.mark.parametrize("moved_to", ["https://evil.example/files-pri/T1-F9/a", "/files-pri/T1-F000001/a"])
async def test_what_leads_away_or_round_and_round_is_given_up(moved_to: str) -> None:
    result, asked = await fetched(PersonFile("a.txt", b"x", moved_to=moved_to))
    assert isinstance(result, CallFailed)
    assert result.error == FOREIGN
    assert {file for file, _ in asked} == {"F000001"}
