"""`slack-bot store` on a file that a bot has open."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from slack_bot.cli import main
from slack_bot.observe.facts import reference_of
from slack_bot.store.admin import open_admin
from slack_bot.store.contracts import Ages, Store
from slack_bot.store.sqlite import open_store
from slack_bot.testing.harness import CHANNEL, bot_on_network
from slack_bot.testing.tape.builders import answer
from slack_bot.turn.progress import Stage
from tests.store.contract import message, turn


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith(("SLACK_", "A2A_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("SLACK_BOT_STORE__URL", "sqlite:///bot.sqlite")
    return tmp_path / "bot.sqlite"


@contextmanager
def bot_running() -> Iterator[None]:
    """A bot with an answer, an answer that runs, and the lock."""

    async def fill() -> Store:
        store = await open_store("sqlite:///bot.sqlite", Ages(), 0.0)
        for number in (1, 2):
            assert await store.accept(turn(f"{number}.0", float(number), text=f"question {number}"))
        shown = (message("5.0", "An answer."),)
        await store.save((replace(turn("1.0", 1.0), stage=Stage.ENDED, ended_at=3.0, messages=shown), 0))
        await store.save((replace(turn("2.0", 2.0), stage=Stage.SENT, sent_at=4.0, task_id="task"), 0))
        return store

    with asyncio.Runner() as runner:
        store = runner.run(fill())
        yield
        runner.run(store.close())


def test_show_counts_and_names_what_has_not_ended(capsys: pytest.CaptureFixture[str]) -> None:
    with bot_running():
        assert main(["store", "show"]) == 0
        said = capsys.readouterr().out.splitlines()
        assert said[0].startswith("bot.sqlite: format ")
        assert said[1] == "turns: ended               1  1970-01-01 00:00:01Z to 1970-01-01 00:00:01Z"
        assert said[-1] == "unfinished  T1:C1:2.0  sent since 1970-01-01 00:00:04Z  task task"
        assert main(["store", "show", "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert [each["question"]["ts"] for each in found["unfinished"]] == ["2.0"]
        assert found["counts"][0] == {"kind": "turns: ended", "number": 1, "oldest": 1.0, "newest": 1.0}


def test_a_person_is_exported_and_erased_while_the_bot_runs(capsys: pytest.CaptureFixture[str]) -> None:
    with bot_running():
        assert main(["store", "export", "--user", "U1", "--team", "T1"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert [each["messages"][0]["body"] for each in found["turns"] if each["messages"]] == ["An answer."]
        assert len(found["turns"]) == 2
        assert main(["store", "erase", "--user", "U1"]) == 0
        assert capsys.readouterr().out == (
            "Erased of U1: turns 1, feedback 0, open questions of an agent 0."
            " Left because a turn runs: T1:C1:2.0; erase again when it has ended.\n"
        )
        assert main(["store", "export", "--user", "U1"]) == 0
        assert [each["question"]["ts"] for each in json.loads(capsys.readouterr().out)["turns"]] == ["2.0"]


def test_a_copy_is_made_while_the_bot_runs_and_never_overwritten_by_chance(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with bot_running():
        assert main(["store", "backup", "copy.sqlite"]) == 0
        assert main(["store", "backup", "copy.sqlite"]) == 1
        said = capsys.readouterr()
        assert said.out == "Copied to copy.sqlite.\n"
        assert said.err == "slack-bot store: The file copy.sqlite exists; give another file, or --force.\n"
        assert main(["store", "backup", "copy.sqlite", "--force"]) == 0
    assert (tmp_path / "copy.sqlite").stat().st_mode & 0o777 == 0o600


async def answer_one(reading: str) -> str:
    """The key of a question that a bot has answered, with the agent's events."""
    tape = answer(reading, seconds=0.3)
    options = {"store.url": "sqlite:///bot.sqlite", "event_bytes": 100_000}
    async with bot_on_network(tape, http=True, **options) as (workspace, face, app):
        workspace.say("U1", CHANNEL, f"<@{workspace.bot.user_id}> how?", now=time.time())
        await face.settle()
        await app.dispatcher.idle()
    async with open_admin("sqlite:///bot.sqlite") as store:
        (key,) = await store.keys()
        return key


def test_a_turn_becomes_a_tape_and_is_explained(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    key = asyncio.run(answer_one("These words came from the agent."))
    for name in (key, reference_of(key)):
        assert main(["store", "export-tape", name]) == 0
        (tmp_path / "turn.jsonl").write_text(capsys.readouterr().out)
        assert main(["replay", "turn.jsonl", "--json"]) == 0
        replayed = json.loads(capsys.readouterr().out)
        assert "These words came from the agent." in json.dumps(replayed)
        assert replayed["outcome"] == "answered"
        assert main(["explain", name]) == 0
        explained = capsys.readouterr().out
        assert "how?" in explained
        assert "These words came from the agent." in explained


@pytest.mark.parametrize(
    ("name", "told"),
    [("T1:C1:1.0", "No events of the agent were kept"), ("0123abcd", "The store has no turn 0123abcd")],
)
def test_a_turn_that_cannot_be_a_tape_is_one_sentence(
    name: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with bot_running():
        for words in (["store", "export-tape", name], ["explain", name]):
            assert main(words) == 1
            said = capsys.readouterr()
            assert (said.out, said.err.count("\n")) == ("", 1)
            assert told in said.err


@pytest.mark.parametrize(("url", "status"), [("sqlite:///bot.sqlite", 1), ("memory://", 2)])
def test_no_store_is_one_sentence(
    url: str, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], file: Path
) -> None:
    monkeypatch.setenv("SLACK_BOT_STORE__URL", url)
    assert main(["store", "show"]) == status
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert "SLACK_BOT_STORE__URL" in said.err
    assert not file.exists()
