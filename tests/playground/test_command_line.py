"""The verbs of the playground: their options and their errors."""

from __future__ import annotations

import socket
import sys

import pytest

from slack_bot.cli import command_line, main


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    said = capsys.readouterr()
    assert said.out == ""
    return said.err.splitlines()


def test_what_the_verbs_are_given() -> None:
    parser = command_line()
    played = parser.parse_args(["play"])
    assert (played.host, played.port, played.pace) == ("127.0.0.1", 8765, None)
    served = parser.parse_args(["agent", "--mode", "marker", "--pace", "0"])
    assert (served.host, served.port, served.pace, served.mode) == ("127.0.0.1", 8001, 0.0, "marker")


def test_play_on_a_port_that_is_taken_is_one_sentence_and_exit_1(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert main(["play", "--port", str(taken.getsockname()[1])]) == 1
    (told,) = lines(capsys)
    assert told.startswith("slack-bot play: Port ")
    assert "--port" in told


def test_play_without_its_extra_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.startswith("slack_bot.playground.server")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("slack_bot.playground.server", raising=False)

    class Missing:
        def find_spec(self, name: str, path: object = None, target: object = None) -> None:
            if name == "slack_bot.playground.server":
                raise ModuleNotFoundError("No module named 'a2a'", name="a2a.server")

    monkeypatch.setattr(sys, "meta_path", [Missing(), *sys.meta_path])
    assert main(["play"]) == 1
    (told,) = lines(capsys)
    assert "pip install --require-hashes -r deploy/play.txt" in told
