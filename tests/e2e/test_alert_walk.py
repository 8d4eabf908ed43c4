"""*Try it* of `docs/speak.md` as it is written, but for its ports: an alert from curl is answered."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from pathlib import Path

import aiohttp
import pytest

from slack_bot.testing.harness import free_port
from tests.e2e.test_first_hour import said, set_up, started
from tests.loaded_program import loaded_program

GUIDE = (Path(__file__).parents[2] / "docs" / "speak.md").read_text("utf-8").partition("### Try it")[2]
FILE, (EXPORTS, RUN), CURL = (
    re.findall(r"```toml\n(.*?)```", GUIDE, re.DOTALL)[0],
    re.findall(r"```sh\nexport (.*?)\nslack-bot (\w+)\n```", GUIDE)[0],
    re.findall(r"```sh\n(curl .*?)\n```", GUIDE, re.DOTALL)[0],
)
CHANNEL = "C0INCIDENTS"


async def curl(command: str) -> dict[str, str]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        "sh", "-c", f"{command} -s", stdout=pipe, env={"PATH": "/usr/bin:/bin"}
    )
    out, _ = await process.communicate()
    answered = json.loads(out)
    assert isinstance(answered, dict)
    return answered


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl")
async def test_an_alert_is_answered_in_the_thread_once(tmp_path: Path) -> None:
    (tmp_path / "alerts.toml").write_text(FILE, "utf-8")
    port = free_port()
    command = CURL.replace("3003", str(port))
    more = dict(each.split("=", 1) for each in EXPORTS.split())
    async with set_up(tmp_path) as (env, _):
        env = {**env, **more, "SLACK_BOT_API__PORT": str(port)}
        async with (
            started(RUN, tmp_path, env, program=loaded_program()) as bot,
            aiohttp.ClientSession() as http,
        ):
            await said(bot, "connected to Slack")
            first, again = await curl(command), await curl(command)
            assert first["state"] == "waiting" and first["id"] == again["id"]
            await said(bot, "turn ends: answered")

            async def read(method: str, **place: str) -> list[dict[str, str]]:
                url, token = f"{env['SLACK_API_URL']}{method}", env["SLACK_BOT_TOKEN"]
                data = {"channel": CHANNEL, **place}
                async with http.post(
                    url, data=data, headers={"Authorization": f"Bearer {token}"}
                ) as response:
                    return list((await response.json())["messages"])

            roots = [
                each for each in await read("conversations.history") if "DiskFull (firing)" in each["text"]
            ]
            assert len(roots) == 1
            _, *answers = await read("conversations.replies", ts=roots[0]["ts"])
            assert "new questions are not acknowledged" in str(answers)
