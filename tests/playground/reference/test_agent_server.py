import argparse
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from slack_bot.cli import main
from slack_bot.errors import BotError
from slack_bot.playground.reference.agent_server import chosen_agent
from slack_bot.testing.harness import free_port

ROOT = Path(__file__).parents[3]


@pytest.fixture
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    for name in ("PACE", "RESPONSE_MODE"):
        monkeypatch.delenv(f"SLACK_BOT_REFERENCE__{name}", raising=False)
    yield


def args(**given: object) -> argparse.Namespace:
    return argparse.Namespace(**{"port": 0, "pace": None, "mode": None, **given})


def test_the_command_line_counts_more_than_the_settings(
    nothing_set: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLACK_BOT_REFERENCE__RESPONSE_MODE", "marker")
    assert (chosen_agent(args()).response_mode, chosen_agent(args()).pace) == ("marker", 30.0)
    chosen = chosen_agent(args(mode="structured", pace=0.0))
    assert (chosen.response_mode, chosen.pace) == ("structured", 0.0)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"port": 70_000}, "There is no port 70000: give --port a number up to 65535"),
        ({"pace": -3.0}, "A pace of -3 tokens a second cannot be kept"),
        ({"pace": float("nan")}, "A pace of nan tokens a second cannot be kept"),
    ],
)
def test_what_makes_no_sense_is_refused(nothing_set: None, given: dict[str, object], told: str) -> None:
    with pytest.raises(BotError, match=told):
        chosen_agent(args(**given))


def test_it_serves_its_mode_until_it_is_ended(tmp_path: Path) -> None:
    port = free_port()
    words = [
        sys.executable,
        "-m",
        "slack_bot",
        "agent",
        "--mode",
        "marker",
        "--pace",
        "0",
        "--port",
        str(port),
    ]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout is not None
            assert (
                running.stdout.readline()
                == f"The agent is at http://127.0.0.1:{port}/ (marker, the local model).\n"
            )
            card = httpx.get(f"http://127.0.0.1:{port}/.well-known/agent-card.json").json()
            assert card["capabilities"]["streaming"] is True
        finally:
            running.terminate()
        assert running.wait(10) == 0


@pytest.mark.parametrize(
    ("host", "told"),
    [("127.0.0.1", "is taken: choose another one"), ("203.0.113.1", "an address of this machine")],
)
def test_an_address_that_cannot_be_had_is_one_sentence(
    nothing_set: None, host: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main(["agent", "--host", host, "--port", str(taken.getsockname()[1])]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("slack-bot agent: ")
    assert told in line


def test_an_unknown_mode_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["agent", "--mode", "loud"])
    assert ended.value.code == 2
    assert "'hybrid', 'marker', 'structured'" in capsys.readouterr().err
