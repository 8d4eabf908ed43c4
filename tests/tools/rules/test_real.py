"""The rules on a workspace that is not ours: over HTTP, by a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import stat
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from io import StringIO
from pathlib import Path

import pytest

from slack_bot.cli import main
from slack_bot.clock import system_clock
from slack_bot.settings.measured_rules import read_measured
from slack_bot.testing.harness import free_port, wait_until
from slack_bot.testing.slack.rules import EVERYTHING
from slack_bot.testing.slack.server import SlackServer
from slack_bot.testing.slack.workspace import APP_TOKEN, BOT_TOKEN, SeenMessage, Workspace, WorkspaceRules
from slack_bot.tools.rules.kept import KEPT
from slack_bot.tools.rules.rules import QUICK, probes_of
from slack_bot.tools.rules.trial import measure_trial, trial_of_emulator
from tests.loaded_program import loaded_program
from tests.processes import child, end_by

CHANNEL, USER = "C0ROOM", "U0ADA"
WHERE = ("--channel", CHANNEL, "--user", USER)
PATIENCE = 120.0


@asynccontextmanager
async def served(
    rules: WorkspaceRules | None = None, *, bot_url: str | None = None
) -> AsyncIterator[SlackServer]:
    """A workspace with one person, on the network."""
    workspace = Workspace(rules=rules or WorkspaceRules.real(), manifest=EVERYTHING)
    workspace.add_channel(CHANNEL).members.add(workspace.add_user(USER).id)
    async with SlackServer(workspace, system_clock(), bot_url=bot_url) as server:
        yield server


@asynccontextmanager
async def trying(
    server: SlackServer, folder: Path, *words: str, program: tuple[str, ...] = (), **env: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    env = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(Path(__file__).parents[3]),
        "SLACK_API_URL": server.api_url,
        "SLACK_BOT_TOKEN": BOT_TOKEN,
        "SLACK_APP_TOKEN": APP_TOKEN,
        **env,
    }
    command = (*(program or loaded_program()), "rules", *words)
    pipe = asyncio.subprocess.PIPE
    async with child(*command, env=env, cwd=folder, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        yield process


async def tried(
    server: SlackServer, folder: Path, *words: str, program: tuple[str, ...] = (), **env: str
) -> tuple[int | None, str, str]:
    """Exit status, output and what else was said."""
    async with trying(server, folder, *words, program=program, **env) as process:
        out, err = await process.communicate()
        return process.returncode, out.decode(), err.decode()


def left(workspace: Workspace) -> list[SeenMessage]:
    """What the app left in the channel and in the direct message."""
    return [
        message
        for channel in (CHANNEL, workspace.direct(USER))
        for root in workspace.history(channel)
        for message in workspace.thread(channel, root.ts)
        if message.is_bot and message.ephemeral_for is None
    ]


async def test_what_takes_less_than_a_minute_is_tried_kept_and_taken_away(tmp_path: Path) -> None:
    async with served(WorkspaceRules.real().as_measured({"read.heading": "bold"})) as server:
        words = ("--real", "--quick", "--yes", "--json", *WHERE)
        started = (sys.executable, "-m", "slack_bot")
        status, out, err = await tried(server, tmp_path, *words, program=started)
        found = {each["rule"]: each for each in json.loads(out)["rules"]}
        assert found.keys() == QUICK
        differing = [(name, each["seen"]) for name, each in found.items() if each["verdict"] != "as expected"]
        assert (status, differing) == (1, [("read.heading", "bold")]), err
        assert (left(server.workspace), server.workspace.open_streams()) == ([], [])
    kept = tmp_path / KEPT
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    text = kept.read_text()
    names = (CHANNEL, USER, "U0BOT", r"T1\b", "xox", "xapp")  # a time of day may be T10:00
    assert not [name for name in names if re.search(name, text)]
    as_there = WorkspaceRules.real().as_measured(read_measured(kept).values)
    (heading,) = await asyncio.to_thread(trial_of_emulator, probes_of(["read.heading"]), as_there)
    assert heading.value == "bold"


def test_what_is_called_quick_takes_less_than_a_minute() -> None:
    """A call of Slack takes about a quarter of a second."""
    probes = [each for each in probes_of([]) if each.rule in QUICK]
    calls, seconds = measure_trial(probes)
    assert len(probes) == len(QUICK)
    assert seconds + calls / 4 < 60


async def test_while_the_bot_is_connected_nothing_is_written(tmp_path: Path) -> None:
    async with (
        served() as server,
        trying(server, tmp_path, "--real", "--hand", "--only", "event.twins", "--yes", *WHERE) as first,
    ):
        await asyncio.wait_for(server.sockets.connected(), PATIENCE)
        made = len(server.workspace.calls)
        status, _, err = await tried(server, tmp_path, "--real", "--quick", "--yes", *WHERE)
        assert (status, "1 other connections of this app are open" in err) == (1, True), err
        new = {call.method for call in server.workspace.calls[made:]}
        assert "chat.startStream" not in new
        first.kill()


async def test_an_interrupt_leaves_nothing_behind(tmp_path: Path) -> None:
    async with (
        served() as server,
        trying(server, tmp_path, "--real", "--only", "stream", "--yes", *WHERE) as process,
    ):
        await wait_until(lambda: len(left(server.workspace)) > 4, server.workspace, PATIENCE)
        end_by(process, signal.SIGINT)
        await asyncio.wait_for(process.communicate(), PATIENCE)
        assert process.returncode == 130
        assert (left(server.workspace), server.workspace.open_streams()) == ([], [])
        assert not (tmp_path / KEPT).exists()


async def test_a_person_does_what_is_asked(tmp_path: Path) -> None:
    words = ("--only", "event.twins", "--only", "press.responses", "--only", "status.gone_by_reply")
    async with (
        served() as server,
        trying(server, tmp_path, "--real", "--hand", "--yes", *words, *WHERE) as process,
    ):
        workspace, clock = server.workspace, system_clock()
        assert process.stderr is not None
        assert process.stdin is not None
        done, heard = list[str](), ""
        while len(done) < 3 and (piece := await asyncio.wait_for(process.stderr.read(1_000), PATIENCE)):
            heard += piece.decode()
            thread = workspace.history(CHANNEL)[0].ts
            if "Mention the bot" in heard and "mention" not in done:
                workspace.say(USER, CHANNEL, "<@U0BOT> hello", now=clock.wall(), thread_ts=thread)
                done.append("mention")
            if "Press the last button" in heard and "press" not in done:
                pressed = workspace.thread(CHANNEL, thread)[-1].ts
                workspace.press(USER, CHANNEL, pressed, "measured", now=clock.wall())
                done.append("press")
            if "at its end now?" in heard and "look" not in done:
                process.stdin.write(b"n\n")
                done.append("look")
        out, err = await process.communicate()
        assert (process.returncode, "3 rules: 3 as expected" in out.decode()) == (0, True), (out, err)
        assert left(workspace) == []


async def test_without_a_token_for_events_all_about_them_cannot_be_told(tmp_path: Path) -> None:
    async with served() as server:
        words = ("--only", "event", "--only", "file.empty", "--only", "rate.chat.update", "--json")
        status, out, err = await tried(
            server, tmp_path, "--real", "--yes", *words, *WHERE, SLACK_APP_TOKEN=""
        )
        rows = {each["rule"]: each.get("reason", each["seen"]) for each in json.loads(out)["rules"]}
        assert (status, rows["file.empty"]) == (0, "missing_argument")
        assert rows["event.own_post"] == "no event can be heard without SLACK_APP_TOKEN"
        assert rows["event.twins"].endswith("only with --hand")
        assert rows["rate.chat.update"].startswith("only with --sandbox")
        assert "whether the bot runs cannot be told" in err


async def test_another_emulator_is_tried_without_a_question(tmp_path: Path) -> None:
    async with served() as server:
        words = ("--url", server.api_url, "--only", "file.empty", "-o", "theirs.json")
        no_tokens = {"SLACK_BOT_TOKEN": "", "SLACK_APP_TOKEN": ""}
        status, out, _ = await tried(server, tmp_path, *words, *WHERE, **no_tokens)
        assert (status, "1 rules: 1 as expected" in out) == (0, True)
        assert read_measured(tmp_path / "theirs.json").values == {"file.empty": "missing_argument"}


async def test_a_place_that_is_none_is_one_sentence(tmp_path: Path) -> None:
    async with served() as server:
        for channel, user, told in (
            ("C404", USER, "channel_not_found"),
            (CHANNEL, "U404", "nobody there is U404"),
        ):
            where = ("--channel", channel, "--user", user)
            status, _, err = await tried(server, tmp_path, "--real", "--quick", "--yes", *where)
            assert (status, told in err, err.count("\n")) == (1, True, 1), err


async def test_an_address_without_a_web_api_is_one_sentence_with_the_one_to_give(tmp_path: Path) -> None:
    async with served() as server:
        url = server.api_url.removesuffix("/api/")
        gone = "http://127.0.0.1:1/api/"
        for words, told in (
            (
                ("--url", url),
                f"refused (http_404); --url is the address of a Web API, which ends in /api/: try {url}/api/",
            ),
            (("--url", f"{url}/"), f"which ends in /api/: try {url}/api/"),
            (("--url", gone), "auth.test had no answer (ClientConnectorError); check --url and the network"),
        ):
            status, out, err = await tried(server, tmp_path, *words, "--only", "file.empty", *WHERE)
            assert (status, out, err.count("\n"), told in err) == (1, "", 1, True), err
        status, out, err = await tried(
            server, tmp_path, "--url", f"{url}/api", "--only", "file.empty", *WHERE
        )
        assert status == 0, err
        status, _, err = await tried(
            server, tmp_path, "--real", "--yes", "--quick", *WHERE, SLACK_BOT_TOKEN="xoxb-of-another-app"
        )
        assert (status, err.count("\n")) == (1, 1), err
        assert "auth.test is refused (invalid_auth); check the token in SLACK_BOT_TOKEN" in err


@pytest.mark.slow
async def test_each_rate_is_tried_to_its_first_refusal_over_http(tmp_path: Path) -> None:
    """The part of `--sandbox` that needs no minutes of silence: those are tried on virtual time."""
    async with served() as server:
        words = ("--real", "--sandbox", "--yes", "--only", "rate", "--only", "burst", "-o", "rates.json")
        status, out, err = await tried(server, tmp_path, *words, *WHERE)
        assert (status, "29 rules: 29 as expected" in out) == (0, True), (out, err)
        assert (left(server.workspace), server.workspace.open_streams()) == ([], [])
    measured = read_measured(tmp_path / "rates.json").values
    assert measured.keys() == {each.rule for each in probes_of(["rate", "burst"])}


async def test_an_app_in_http_mode_hears_its_events_at_a_port(tmp_path: Path) -> None:
    port = free_port()
    async with served(bot_url=f"http://127.0.0.1:{port}/slack/events") as server:
        words = ("--real", "--sandbox", "--yes", "--http", str(port), "--json")
        rules = ("--only", "http.no_retry", "--only", "event.own_post", "--only", "socket.count")
        status, out, err = await tried(server, tmp_path, *words, *rules, *WHERE)
        rows = {each["rule"]: each.get("reason", each["verdict"]) for each in json.loads(out)["rules"]}
        assert (status, rows) == (
            0,
            {
                "event.own_post": "as expected",
                "socket.count": "events come by HTTP",
                "http.no_retry": "as expected",
            },
        ), err


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Nothing of the environment counts; somebody sits at the terminal and says a word."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(("SLACK", "A2A"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("SLACK_BOT_TOKEN", BOT_TOKEN)
    return lambda said: monkeypatch.setattr(sys, "stdin", Terminal(said))


def test_who_is_asked_learns_how_long_it_takes_and_may_say_no(
    elsewhere: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere("n\n")
    assert main(["rules", "--real", "--sandbox", "--only", "rate.chat.update", *WHERE]) == 1
    said = capsys.readouterr().err
    assert "1 rules are tried by about" in said
    assert "its limits are used up" in said
    assert said.endswith("slack-bot rules: nothing was tried\n")
