"""`python -m tests.deploy.container`: builds the image's files, runs the bot in them as a container would.

Each step of the Dockerfile is carried out in a clean root (`dockerfile.py`). Then the root is made
read-only but for the volume, and its ENTRYPOINT runs as its USER, as process 1, with the image's environment
and what an operator gives; a start compiles no module. It is asked a question by an emulated workspace; its
HEALTHCHECK is run in the same root; while a second answer runs it gets its STOPSIGNAL. Prints figures as
JSON: seconds until it is built, ready, and ended after that signal, megabytes (10^6 bytes) of /opt/bot and
of memory once it answered.

Not shown without an engine: that the real base image has what the steps use, and its size. Exit status 3:
this machine does not let it (no root, or no mounts), and nothing was done.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from slack_bot.clock import system_clock
from slack_bot.testing.agent.scripted import ScriptedAgent, serve_scripted
from slack_bot.testing.harness import CHANNEL, free_port, wait_until
from slack_bot.testing.slack.server import SlackServer
from slack_bot.testing.slack.workspace import APP_TOKEN, BOT_TOKEN, Workspace
from slack_bot.testing.tape.builders import answer
from tests.deploy.dockerfile import Image, build, mount
from tests.processes import child

_PATIENCE = 60.0
NOT_POSSIBLE = 3


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.deploy.container",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--in-own-mounts", type=Path, help=argparse.SUPPRESS)
    folder, begun = parser.parse_args().in_own_mounts, time.monotonic()
    if folder is None:
        return _in_own_mounts()
    image = build(folder)
    figures = {"built_s": time.monotonic() - begun, "installed_mb": _megabytes(image.root / "opt" / "bot")}
    _close(image, folder)
    compiled = _compiled_at_a_start(image)
    assert compiled == [], f"the image has no bytecode of {len(compiled)} modules: {compiled[:3]}"
    figures |= asyncio.run(_live(image))
    sys.stdout.write(json.dumps({name: round(value, 2) for name, value in figures.items()}) + "\n")
    return 0


def _in_own_mounts() -> int:
    possible = subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "true"], check=False, capture_output=True
    )
    if os.geteuid() != 0 or possible.returncode != 0:
        sys.stderr.write("Not done: this needs root, and `unshare --mount --pid` to be allowed.\n")
        return NOT_POSSIBLE
    with tempfile.TemporaryDirectory(prefix="image-") as folder:  # its mounts end with the process
        words = [
            "unshare",
            "--mount",
            sys.executable,
            "-m",
            "tests.deploy.container",
            "--in-own-mounts",
            folder,
        ]
        return subprocess.run(words, check=False).returncode


def _megabytes(folder: Path) -> float:
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_size for path in files) / 1e6


def _close(image: Image, folder: Path) -> None:
    """Nothing can be written any more but the volumes, which begin as the image has them."""
    mount("--rbind", image.root, image.root)
    mount("-o", "remount,ro,bind", image.root)
    for number, volume in enumerate(image.volumes):
        inside, kept = image.root / volume.lstrip("/"), folder / f"volume{number}"
        subprocess.run(["cp", "-a", inside, kept], check=True)
        mount("--bind", kept, inside)


async def _live(image: Image) -> dict[str, float]:
    workspace = Workspace()
    workspace.add_channel(CHANNEL)
    agent = ScriptedAgent(answer("It runs.", seconds=0.2), answer("It ends in order.", seconds=1.5))
    port = free_port()
    async with serve_scripted(agent) as agent_url, SlackServer(workspace, system_clock()) as face:
        env = {
            **image.env,
            "SLACK_BOT_TOKEN": BOT_TOKEN,
            "SLACK_APP_TOKEN": APP_TOKEN,
            "SLACK_API_URL": face.api_url,
            "A2A_AGENT_URL": agent_url,
            "SLACK_BOT_HEALTH__PORT": str(port),
        }
        assert await _healthy(image, env) is False, "the HEALTHCHECK says yes where nothing runs"
        begun = time.monotonic()
        async with _running(image, env) as process:
            ready = asyncio.create_task(_until_ready(port))
            await asyncio.wait({ready, asyncio.create_task(process.wait())}, return_when="FIRST_COMPLETED")
            assert process.returncode is None, "it ended at its start"
            await ready
            figures = {"ready_s": time.monotonic() - begun}
            assert await _healthy(image, env) is True, "the HEALTHCHECK says no"
            assert await _answer(workspace, "Do you run?") == "It runs."
            figures["memory_mb"] = _memory(_process_1(process.pid))
            last = asyncio.create_task(_answer(workspace, "And how do you end?"))
            await wait_until(workspace.open_streams, workspace, _PATIENCE)
            begun = time.monotonic()
            os.kill(_process_1(process.pid), signal.Signals[image.stopsignal])
            assert await last == "It ends in order."
            assert await asyncio.wait_for(process.wait(), _PATIENCE) == 0, "the exit status is not 0"
            figures["ended_s"] = time.monotonic() - begun
    data = image.root / image.volumes[0].lstrip("/")
    assert (data / "slack_bot.sqlite").stat().st_uid == int(image.user.partition(":")[0])
    return figures


def _compiled_at_a_start(image: Image) -> list[str]:
    """The modules that a start compiles. Nothing keeps the result, so each start would do it again."""
    words = _inside(image, image.env, ["python", "-v", "-c", "import slack_bot.app, http.client"])
    ran = subprocess.run(words, check=True, capture_output=True, text=True)
    assert re.search(r"(?m)^# code object from '.+\.pyc'$", ran.stderr), "Python says it in other words now"
    return re.findall(r"(?m)^# code object from (\S+\.py)$", ran.stderr)


def _inside(image: Image, env: Mapping[str, str], words: list[str]) -> list[str]:
    """`words` in the image's root, as its user, who can never get more rights."""
    given = [f"--chdir={image.workdir}", *(f"{name}={value}" for name, value in env.items())]
    chroot = ["chroot", f"--userspec={image.user}", str(image.root)]
    return ["setpriv", "--no-new-privs", *chroot, "env", "-i", *given, *words]


async def _healthy(image: Image, env: Mapping[str, str]) -> bool:
    words = _inside(image, env, image.health)
    process = await asyncio.create_subprocess_exec(*words, stderr=asyncio.subprocess.DEVNULL)
    return await process.wait() == 0


@asynccontextmanager
async def _running(image: Image, env: Mapping[str, str]) -> AsyncIterator[asyncio.subprocess.Process]:
    words = _inside(image, env, [*image.entrypoint, *image.cmd])
    proc = ["sh", "-c", 'mount -t proc proc "$0" && exec "$@"', str(image.root / "proc")]
    unshare = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
    async with child(*unshare, *proc, *words) as process:
        yield process


def _process_1(unshare: int) -> int:
    """What `unshare` started: process 1 of the container, by its number outside."""
    return int(Path(f"/proc/{unshare}/task/{unshare}/children").read_text("ascii").split()[0])


def _memory(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text("ascii")
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) * 1024 / 1e6


async def _until_ready(port: int) -> None:
    request = b"GET /readyz HTTP/1.1\r\nHost: bot\r\nConnection: close\r\n\r\n"
    async with asyncio.timeout(_PATIENCE):
        while True:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(request)
                status = await reader.readline()
                writer.close()
            except OSError:
                status = b""
            if b" 200 " in status:
                return
            await asyncio.sleep(0.01)


async def _answer(workspace: Workspace, question: str) -> str:
    text = f"<@{workspace.bot.user_id}> {question}"
    root = workspace.say("U1", CHANNEL, text, now=system_clock().wall())
    await wait_until(partial(_is_answered, workspace, root), workspace, _PATIENCE)
    return "".join(message.text for message in workspace.thread(CHANNEL, root) if message.state == "sealed")


def _is_answered(workspace: Workspace, root: str) -> bool:
    return any(message.state == "sealed" for message in workspace.thread(CHANNEL, root))


if __name__ == "__main__":
    sys.exit(main())
