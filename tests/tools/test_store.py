"""`slack-bot store` on a store that a bot has open."""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from slack_bot.app import COLLECTIONS
from slack_bot.cli import main
from slack_bot.observe.facts import reference_of
from slack_bot.observe.outage import Outage
from slack_bot.store.collection import Ages
from slack_bot.store.contracts import Store
from slack_bot.store.redis import open_redis
from slack_bot.store.stores import open_admin, open_store
from slack_bot.testing.harness import CHANNEL, bot_on_network
from slack_bot.testing.tape.builders import answer, failure, status
from slack_bot.testing.tape.tape import Moment, Tape, write_tape
from slack_bot.turn.feedback import FeedbackRecord
from slack_bot.turn.outbound import OutboundMessage, OutboundRecord
from slack_bot.turn.progress import Stage
from slack_bot.turn.record import Outcome
from tests.redis_server import RedisServer
from tests.store import subjects
from tests.store.contract import message, pressed, turn


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith(("SLACK_", "A2A_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("SLACK_BOT_STORE__URL", "sqlite:///bot.sqlite")
    return tmp_path / "bot.sqlite"


@pytest.fixture(params=["sqlite", "redis"])
def url(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where the store is."""
    is_redis = request.param == "redis"
    url = request.getfixturevalue("redis_server").url if is_redis else "sqlite:///bot.sqlite"
    monkeypatch.setenv("SLACK_BOT_STORE__URL", url)
    return str(url)


@contextmanager
def bot_running(url: str = "sqlite:///bot.sqlite") -> Iterator[None]:
    """A bot with an answer, an answer that runs, messages of its own, and the lock."""

    async def fill() -> Store:
        is_redis = url.startswith("redis")
        store = (
            await open_redis(url, Ages()) if is_redis else await open_store(subjects.options(url), Outage())
        )
        for number in (1, 2):
            assert await store.accept(turn(f"{number}.0", float(number), text=f"question {number}"))
        shown = (message("5.0", "An answer."),)
        await store.save((replace(turn("1.0", 1.0), stage=Stage.ENDED, ended_at=3.0, messages=shown), 0))
        await store.save((replace(turn("2.0", 2.0), stage=Stage.SENT, sent_at=4.0, task_id="task"), 0))
        said = OutboundRecord("hello", OutboundMessage("Hello.", user="U5"), 5.0)
        await subjects.accept_outbound(store, said)
        await subjects.save_outbound(
            store, replace(said, link="https://w.slack.com/archives/D1/p1", ended_at=6.0)
        )
        refused = OutboundRecord("news", OutboundMessage("News.", channel="C9"), 7.0)
        await subjects.accept_outbound(store, refused)
        await subjects.save_outbound(store, replace(refused, error="Slack does not take this.", ended_at=8.0))
        await subjects.accept_outbound(
            store, OutboundRecord("soon", OutboundMessage("Soon.", channel="C9"), 9.0)
        )
        return store

    with asyncio.Runner() as runner:
        store = runner.run(fill())
        try:
            yield
        finally:
            runner.run(store.close())


def test_each_collection_and_state_has_words_of_its_own() -> None:
    """An operator who reads what is kept need not know the program."""
    labels = [kind.label for kind in COLLECTIONS]
    assert len(set(labels)) == len(labels)
    assert not [label for label in labels if not label or "_" in label]


def test_show_counts_and_names_what_has_not_ended(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    with bot_running(url):
        assert main(["store", "show"]) == 0
        said = capsys.readouterr().out.splitlines()
        assert said[0].startswith(f"{url.removeprefix('sqlite:///').removesuffix('/0')}: format ")
        counts, others = said[1:-4], said[-4:]
        assert [re.split(r"  +", line) for line in counts] == [
            ["turns: ended", "1", "1970-01-01 00:00:01Z to 1970-01-01 00:00:01Z"],
            ["turns: with the agent", "1", "1970-01-01 00:00:02Z to 1970-01-01 00:00:02Z"],
            ["messages of the bot's own: failed", "1", "1970-01-01 00:00:07Z to 1970-01-01 00:00:07Z"],
            ["messages of the bot's own: sent", "1", "1970-01-01 00:00:05Z to 1970-01-01 00:00:05Z"],
            ["messages of the bot's own: waiting", "1", "1970-01-01 00:00:09Z to 1970-01-01 00:00:09Z"],
            ["in all", "5"],
        ]
        assert others == [
            "unfinished  T1:C1:2.0  with the agent since 1970-01-01 00:00:04Z  task task",
            "own message hello  sent 1970-01-01 00:00:06Z  https://w.slack.com/archives/D1/p1",
            "own message news  failed 1970-01-01 00:00:08Z  Slack does not take this.",
            "own message soon  waiting 1970-01-01 00:00:09Z  C9",
        ]
        assert main(["store", "show", "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert [each["question"]["ts"] for each in found["unfinished"]] == ["2.0"]
        assert found["counts"][0] == {"kind": "turns: ended", "number": 1, "oldest": 1.0, "newest": 1.0}


async def test_feedback_is_printed_as_json_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SLACK_BOT_STORE__URL", f"sqlite:///{tmp_path}/rated.sqlite")
    store = await open_store(subjects.options(f"sqlite:///{tmp_path}/rated.sqlite"), Outage())
    why = FeedbackRecord("turn", "U1", "negative", 1.0, ("Wrong",), "no\n😀", trace_id="trace")
    await subjects.change_feedback(store, "turn", "U1", lambda _: why)
    await pressed(store, "turn", "U2", "positive", 2.0)
    assert await asyncio.to_thread(main, ["store", "feedback"]) == 0
    await store.close()
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["reasons"], first["words"], first["trace_id"]) == (["Wrong"], "no\n😀", "trace")
    assert (second["user"], second["value"], second["words"]) == ("U2", "positive", "")


def test_a_person_is_exported_and_erased_while_the_bot_runs(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with bot_running(url):
        assert main(["store", "export", "--user", "U1", "--team", "T1"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert [each["messages"][0]["body"] for each in found["turns"] if each["messages"]] == ["An answer."]
        assert len(found["turns"]) == 2
        assert main(["store", "erase", "--user", "U1"]) == 0
        assert capsys.readouterr().out == (
            "Erased of U1: turns 1, in all 1."
            " Left because it has not ended: T1:C1:2.0; erase again when it has.\n"
        )
        assert main(["store", "export", "--user", "U1"]) == 0
        assert [each["question"]["ts"] for each in json.loads(capsys.readouterr().out)["turns"]] == ["2.0"]
        assert main(["store", "erase", "--user", "U404", "--team", "T1"]) == 0
        assert capsys.readouterr().out == "The store holds nothing of U404 in the workspace T1.\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--user", "U7"], "The store holds nothing of U7."),
        (["--user", "U1", "--team", "T9"], "The store holds nothing of U1 in the workspace T9."),
    ],
)
def test_of_whom_nothing_is_kept_is_one_sentence(
    url: str, words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with bot_running(url):
        assert main(["store", "export", *words]) == 1
    assert capsys.readouterr() == ("", f"slack-bot store: {told}\n")


def test_what_was_said_to_a_person_is_all_that_is_kept_of_them(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with bot_running(url):
        assert main(["store", "export", "--user", "U5"]) == 0
        assert [each["key"] for each in json.loads(capsys.readouterr().out)["outbound"]] == ["hello"]


def test_redis_is_copied_by_its_own_means(
    redis_server: RedisServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("SLACK_BOT_STORE__URL", redis_server.url)
    with bot_running(redis_server.url):
        assert main(["store", "backup", "copy"]) == 1
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert "Redis' own means" in said.err
    assert not (tmp_path / "copy").exists()


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


async def answer_one(reading: str, url: str) -> str:
    """The key of a question that a bot has answered, with the agent's events."""
    return await asked(answer(reading, seconds=0.3), url, event_bytes=100_000)


async def asked(tape: Tape, url: str, **given: Any) -> str:
    options = {"store.url": url, **given}
    async with bot_on_network(tape, http=True, **options) as (workspace, face, app):
        workspace.say("U1", CHANNEL, f"<@{workspace.bot.user_id}> how?", now=time.time())
        await face.settle()
        await app.threads.idle()
    async with open_admin(subjects.options(url)) as store:
        (key,) = await store.keys()
        return key


def test_a_turn_becomes_a_tape_and_is_explained(
    url: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    key = asyncio.run(answer_one("These words came from the agent.", url))
    for name in (key, reference_of(key)):
        assert main(["store", "export-tape", name]) == 0
        (tmp_path / "turn.jsonl").write_text(exported := capsys.readouterr().out)
        assert "U1" not in exported
        assert main(["replay", "turn.jsonl", "--json"]) == 0
        replayed = json.loads(capsys.readouterr().out)
        assert "These words came from the agent." in json.dumps(replayed)
        assert replayed["outcome"] == "answered"
        assert main(["explain", name]) == 0
        explained = capsys.readouterr().out
        assert "U1: how?" in explained
        assert "These words came from the agent." in explained


def broken_off(count: int = 4, **error: Any) -> Tape:
    """An answer of which `count` events come, and then an error."""
    whole = answer("These words came from the agent, and then no more.", seconds=0.3)
    moments = whole.moments[:count]
    at = moments[-1].t if moments else 0.1
    return Tape(whole.head, (*moments, Moment(at, error=error), Moment(at, end="closed")))


@pytest.mark.parametrize("count", [0, 4])
def test_a_turn_that_ended_with_an_error_of_the_agent_is_explained_as_its_capture_is(
    count: int, url: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    tape = broken_off(count, code=-32001, message="out of memory, token=xoxb-1234567890-abcdefghij")
    (tmp_path / "capture.jsonl").write_text(write_tape(tape))
    key = asyncio.run(asked(tape, url, event_bytes=100_000))
    assert main(["store", "export-tape", key]) == 0
    (tmp_path / "turn.jsonl").write_text(exported := capsys.readouterr().out)
    assert '"code": -32001' in exported and "out of memory" in exported and "xoxb-" not in exported
    seen = []
    for name in ("capture.jsonl", "turn.jsonl"):
        assert main(["replay", name, "--json"]) == 0
        replayed = json.loads(capsys.readouterr().out)
        assert main(["explain", name]) == 0
        whole = re.search("Whole: .*", capsys.readouterr().out)
        seen.append([*(replayed[what] for what in ("outcome", "reason", "visible")), whole and whole[0]])
    assert seen[0] == seen[1]
    assert seen[0][:2] == ["failed", "the agent answered with error -32001"]


def test_an_end_that_is_not_among_the_events_of_a_turn_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """As of events that an older version kept, or of more than the store had room for."""
    url = "sqlite:///bot.sqlite"
    key = asyncio.run(asked(answer("These words came from the agent.", seconds=0.3), url, event_bytes=900))

    async def end_as(outcome: Outcome, reason: str, said: str) -> None:
        store = await open_store(subjects.options(url), Outage())
        kept = await store.turn(key)
        assert kept is not None
        await store.save((replace(kept, outcome=outcome, reason=reason, said=said), 0))
        await store.close()

    told = "the last event of the tape is not its end: the bot's record says"
    for outcome, words, is_told in (
        (Outcome.ANSWERED, "", True),
        (Outcome.FAILED, "the agent failed", True),
        (Outcome.STOPPED, "stopped", False),
        (Outcome.LOST, "its deadline has passed", True),
    ):
        asyncio.run(end_as(outcome, words, "no room"))
        assert main(["store", "export-tape", key]) == 0
        (tmp_path / "turn.jsonl").write_text(capsys.readouterr().out)
        assert main(["replay", "turn.jsonl", "--json"]) == 0
        seen = capsys.readouterr()
        assert (f"{told} {outcome}" in seen.err) == is_told
        if outcome in (Outcome.FAILED, Outcome.STOPPED):
            assert json.loads(seen.out)["outcome"] == outcome
        assert main(["explain", key]) == 0
        assert (f"{told} {outcome}" in capsys.readouterr().out) == is_told


def test_a_turn_that_a_person_stopped_plays_as_stopped_and_so_does_its_scrubbed_tape(
    capsys: pytest.CaptureFixture[str],
) -> None:
    url, whole = "sqlite:///bot.sqlite", answer("These words came from the agent.", seconds=0.3)
    canceled = Moment(0.4, event=status("canceled"))
    key = asyncio.run(
        asked(
            Tape(whole.head, (*whole.moments[:4], canceled, Moment(0.4, end="closed"))), url, event_bytes=9000
        )
    )

    async def stop() -> None:
        store = await open_store(subjects.options(url), Outage())
        kept = await store.turn(key)
        assert kept is not None
        await store.save((replace(kept, outcome=Outcome.STOPPED, reason="stopped"), 0))
        await store.close()

    asyncio.run(stop())
    assert main(["store", "export-tape", key, "-o", "turn.jsonl"]) == 0
    assert main(["scrub", "turn.jsonl", "-o", "scrubbed.jsonl"]) == 0
    for name in ("turn.jsonl", "scrubbed.jsonl"):
        capsys.readouterr()
        assert main(["replay", name, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["outcome"] == "stopped"


def test_which_of_several_agents_was_asked_and_why_is_shown_and_explained(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (file := tmp_path / "slack_bot.toml").write_text('[agents.ops]\nurl = "http://ops.invalid/"\n')
    url = "sqlite:///bot.sqlite"
    key = asyncio.run(asked(answer("Well.", seconds=0.3), url, event_bytes=100_000, config=str(file)))
    assert main(["store", "show", key]) == 0
    assert "agent       default: nothing else was said\n" in capsys.readouterr().out
    assert main(["explain", key]) == 0
    assert capsys.readouterr().out.startswith("Agent:    default: nothing else was said\nWhole:    yes")


def test_a_failed_turn_is_shown_with_what_the_agent_said_of_it(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    key = asyncio.run(asked(failure("KeyError: 'customer'\nin lookup"), url))
    for name in (key, reference_of(key)):
        assert main(["store", "show", name]) == 0
        rows = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
        assert rows["turn"] == f"{reference_of(key)}  {key}"
        assert rows["state"].startswith("failed ") and rows["state"].endswith("Z  task failed")
        assert rows["agent"] == "says  KeyError: 'customer' in lookup"
        assert rows["events"].startswith("none were kept; SLACK_BOT_STORE__EVENT_BYTES=1000000 ")
    assert main(["store", "show", key, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["ref"], shown["turn"], shown["outcome"]) == (reference_of(key), key, "failed")
    assert (shown["reason"], shown["said"]) == ("task failed", "KeyError: 'customer' in lookup")
    assert main(["store", "show", "0123abcd"]) == 1
    assert "There is no turn 0123abcd in the store; slack-bot store turns" in capsys.readouterr().err


def test_a_turn_with_events_is_shown_with_the_command_that_explains_it(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    key = asyncio.run(answer_one("These words came from the agent.", url))
    assert main(["store", "show", key]) == 0
    assert f"; slack-bot explain {reference_of(key)} says " in capsys.readouterr().out


def test_times_that_do_not_count_from_the_question_are_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """As of a question whose first process died before it asked."""
    url = "sqlite:///bot.sqlite"
    key = asyncio.run(answer_one("These words came from the agent.", url))

    async def delay() -> None:
        store = await open_store(subjects.options(url), Outage())
        kept = await store.turn(key)
        assert kept is not None
        await store.save((replace(kept, accepted_at=kept.accepted_at - 12.5, takeovers=1), 0))
        await store.close()

    asyncio.run(delay())
    assert main(["store", "show", key]) == 0
    rows = dict(line.split("  ", 1) for line in capsys.readouterr().out.splitlines())
    assert re.search(r"Z  12\.[5-9]\d* s after the question$", rows["sent"])
    assert rows["taken over"].strip() == "by another process, once"
    words = r"the agent was asked 12\.\d+ s after the question; all times count from when it was asked"
    assert main(["explain", key]) == 0
    assert re.match(f"Times:    {words}\n", capsys.readouterr().out)
    assert main(["store", "export-tape", key, "-o", "turn.jsonl"]) == 0
    assert main(["scrub", "turn.jsonl", "-o", "scrubbed.jsonl"]) == 0
    for name in ("turn.jsonl", "scrubbed.jsonl"):
        capsys.readouterr()
        assert main(["replay", name]) == 0
        assert re.search(f"note: {name}: {words}\n", capsys.readouterr().err)


def test_a_turn_becomes_a_file_that_is_not_written_over(
    url: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    key = asyncio.run(answer_one("These words came from the agent.", url))
    words = ["store", "export-tape", reference_of(key), "-o", "turn.jsonl"]
    assert main(words) == 0
    assert capsys.readouterr() == ("", "-> turn.jsonl\n")
    assert main(["trace", "turn.jsonl"]) == 0
    assert "characters sent  answer 32" in capsys.readouterr().out
    kept = (tmp_path / "turn.jsonl").read_bytes()
    assert main(words) == 2
    assert "turn.jsonl is there already" in capsys.readouterr().err
    assert main([*words[:2], "0123abcd", "-o", "other.jsonl"]) == 1
    assert not (tmp_path / "other.jsonl").exists()
    assert main([*words, "--force"]) == 0
    assert (tmp_path / "turn.jsonl").read_bytes() == kept


def test_the_last_turns_are_listed_by_their_names(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    with bot_running(url):
        assert main(["store", "turns"]) == 0
        listed = capsys.readouterr().out.splitlines()
        assert listed == [
            f"{reference_of('T1:C1:1.0')}  T1:C1:1.0  1970-01-01 00:00:01Z  ended  hi",
            f"{reference_of('T1:C1:2.0')}  T1:C1:2.0  1970-01-01 00:00:02Z  with the agent  hi",
        ]
        assert main(["store", "turns", "--last", "1"]) == 0
        assert capsys.readouterr().out.splitlines() == listed[1:]
        assert main(["store", "turns", "--json"]) == 0
        first, second = map(json.loads, capsys.readouterr().out.splitlines())
        assert (first["turn"], first["stage"]) == ("T1:C1:1.0", "ended")
        assert (second["ref"], second["task_id"]) == (reference_of("T1:C1:2.0"), "task")
        with pytest.raises(SystemExit):
            main(["store", "turns", "--last", "0"])
        assert "'0' is no number of turns; give 1 or more" in capsys.readouterr().err


def test_a_word_that_names_no_turn_and_no_file_is_told_where_turns_are_listed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["explain", "T123"]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert "T123: no such file, and no turn is named so" in said.err
    assert "slack-bot store turns" in said.err


def test_a_turns_name_without_a_store_is_no_file_either(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "5f0c1a2b"]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert "There is no file 5f0c1a2b. If it is a turn: There is no store at bot.sqlite" in said.err


@pytest.mark.parametrize("name", ["5f0c1a2b", "T1:C1:1.0"])
@pytest.mark.parametrize("verb", ["trace", "replay", "compare", "scrub"])
def test_a_tool_that_reads_files_says_how_a_turn_becomes_one(
    verb: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    more = {"compare": ["other.jsonl"], "scrub": ["-o", "out.jsonl"]}.get(verb, [])
    assert main([verb, name, *more]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert f"slack-bot store export-tape {name} -o " in said.err


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("T1:C1:1.0", "No events of the agent were kept of turn T1:C1:1.0: set SLACK_BOT_STORE__EVENT_BYTES"),
        (
            "0123abcd",
            "There is no turn 0123abcd in the store, and no file of that name; slack-bot store turns",
        ),
    ],
)
def test_a_turn_that_cannot_be_a_tape_is_one_sentence(
    url: str, name: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with bot_running(url):
        for words in (["store", "export-tape", name], ["explain", name]):
            assert main(words) == 1
            said = capsys.readouterr()
            assert (said.out, said.err.count("\n")) == ("", 1)
            assert told in said.err


@pytest.mark.parametrize(("address", "status"), [("sqlite:///bot.sqlite", 1), ("memory://", 2)])
def test_no_store_is_one_sentence(
    address: str, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], file: Path
) -> None:
    monkeypatch.setenv("SLACK_BOT_STORE__URL", address)
    assert main(["store", "show"]) == status
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert "SLACK_BOT_STORE__URL" in said.err
    assert not file.exists()
