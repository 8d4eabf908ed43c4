"""A line a turn, written once, and what is never in it."""

from __future__ import annotations

import asyncio
import json
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from slack_bot.errors import SettingsError, StoreError
from slack_bot.features.audit.audit_log import AuditLog
from slack_bot.observe.facts import Fact, TurnRecorded
from slack_bot.settings.observe import AuditSettings
from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.slack.workspace import PersonFile
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.tape.tape import Tape
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.record import ThreadKey
from tests.e2e.test_takeover import names_of_points, work
from tests.examples import at_each_fifth
from tests.form_tapes import approval, press

SECRETS = ("agntcy", "Line one", "prod")


@asynccontextmanager
async def audited(
    folder: Path, *tapes: Tape, has_text: bool = False, **given: Any
) -> AsyncIterator[BotHarness]:
    audit = AuditLog(AuditSettings(path=str(folder), text=has_text))
    async with run_bot(*tapes, observer=audit, **given) as bot:
        yield bot
    audit.close()


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for path in sorted(folder.glob("*")) for line in path.read_text().splitlines()]


def files(folder: Path) -> dict[str, int]:
    """Their names and modes."""
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.glob("*")}


@on_virtual_time
async def test_who_asked_which_agent_and_what_came_of_it(tmp_path: Path) -> None:
    async with audited(tmp_path, answer("Line one.\n", seconds=4.0)) as bot:
        root = await bot.ask("what is agntcy", PersonFile("a.txt", b"x"))
        await bot.idle()
    (line,) = lines(tmp_path)
    assert line["turn"].endswith(root) and len(line["ref"]) == 8
    assert (line["team"], line["channel"], line["thread"], line["user"]) == ("T1", "C1", root, "U1")
    assert (line["agent"], line["outcome"], line["task"]) == ("http://agent.invalid", "answered", "task-1")
    assert line["accepted_at"].endswith("Z") and line["seconds"] > 4
    assert (line["files_in"], line["messages"]) == (1, 1)
    assert "takeovers" not in line and "form" not in line and "tokens" not in line
    assert files(tmp_path) == {"audit-2023-11-14.jsonl": 0o600}
    assert not [secret for secret in SECRETS if secret in str(line)]


@on_virtual_time
async def test_the_words_only_where_they_are_wanted(tmp_path: Path) -> None:
    async with audited(tmp_path, answer("Line one.\n"), has_text=True) as bot:
        await bot.ask("what is agntcy")
        await bot.idle()
    (line,) = lines(tmp_path)
    assert (line["question"], line["answer"].strip()) == ("what is agntcy", "Line one.")


@on_virtual_time
async def test_who_approved_what(tmp_path: Path) -> None:
    async with audited(tmp_path, approval(), answer("Deployed.")) as bot:
        root = await bot.ask("deploy")
        await bot.idle()
        await press(bot, root, "form_approve")
        await bot.idle()
    asked, answered = lines(tmp_path)
    assert asked["outcome"] == "asked" and "form" not in asked
    assert answered["form"] == {"kind": "approval", "by": "U1", "verdict": "approve", "calls": ["deploy"]}
    assert not [secret for secret in SECRETS if secret in str([asked, answered])]


@on_virtual_time
async def test_what_was_not_asked_by_itself_has_a_line_too(tmp_path: Path) -> None:
    tapes = answer("Slow.\n", seconds=30.0), answer("Both.", ids="2")
    async with audited(tmp_path, *tapes, busy="collect", max_waiting=2) as bot:
        root = await bot.ask("first")
        await asyncio.sleep(5)
        for text in ("second", "third", "fourth"):
            await bot.ask(text, thread_ts=root)
        await asyncio.sleep(1)
        await bot.app.threads.registry.stop(ThreadKey("T1", "C1", root), "U1")
        await bot.idle()
    found = lines(tmp_path)
    assert sorted(each["outcome"] for each in found) == ["answered", "merged", "refused", "stopped"]
    assert len({each["turn"] for each in found}) == 4
    assert [each["stopped_by"] for each in found if each["outcome"] == "stopped"] == ["U1"]
    assert [len(each["merged"]) for each in found if "merged" in each] == [1]


@on_virtual_time
async def test_tokens_where_the_agent_says_so(tmp_path: Path) -> None:
    plain = answer("Hello.", seconds=1.0)
    metadata = {
        "adk_event_id": "e1",
        "adk_usage_metadata": {"promptTokenCount": 9, "candidatesTokenCount": 4},
    }
    told = [
        replace(each, event={**each.event, "metadata": metadata}) if each.event else each
        for each in plain.moments
    ]
    async with audited(tmp_path, replace(plain, moments=tuple(told))) as bot:
        await bot.ask("hi")
        await bot.idle()
    assert lines(tmp_path)[0]["tokens"] == {"input": 9, "output": 4, "total": 13}


async def asked_and_killed(folder: Path, points: int, tape: Tape) -> None:
    """The process is killed after so many points, and the next one goes on."""
    async with audited(folder, tape, store=MemoryStore(is_durable=True)) as bot:
        bot.life.end_after(points)
        bot.workspace.say("U1", CHANNEL, f"<@{bot.workspace.bot.user_id}> hi", now=bot.now)
        events = bot.workspace.take()
        working = [asyncio.create_task(each) for each in (work(bot, events), bot.life.over.wait())]
        await asyncio.wait(working, return_when=asyncio.FIRST_COMPLETED)
        for each in working:
            each.cancel()
        async with audited(folder, after=bot) as next_bot:
            await next_bot.deliver(events, retry=1)
            await next_bot.idle()


@at_each_fifth
@on_virtual_time
async def test_killed_at_any_point_a_turn_has_one_line(step: int, tmp_path: Path) -> None:
    """Only right behind the call that stores the end there is none: nobody goes on with what has ended."""
    tape = answer("Line one.\nLine two.\n", seconds=4.0)
    names = await names_of_points(tape)
    stored = len(names) - 1 - names[::-1].index("after save")
    for points, name in list(enumerate(names))[::step]:
        (folder := tmp_path / str(points)).mkdir()
        await asked_and_killed(folder, points, tape)
        assert len(lines(folder)) == (points != stored), (points, name)


class Failing(MemoryStore):
    """Cannot store how a turn ended."""

    async def save(self, *changes: Any) -> None:
        if any(turn.ended_at for turn, _ in changes):
            raise StoreError("The disk is full.")
        await super().save(*changes)


@on_virtual_time
async def test_a_turn_whose_end_is_not_stored_has_no_line_yet(tmp_path: Path) -> None:
    async with audited(tmp_path, answer("One."), store=Failing()) as bot:
        await bot.ask("hi")
        await bot.idle()
        assert bot.outcomes == ["answered"]
    assert lines(tmp_path) == []


async def recorded() -> TurnRecorded:
    async with run_bot() as bot:
        await bot.ask("hi")
        await bot.idle()
        return next(fact for fact in bot.facts if isinstance(fact, TurnRecorded))


def later(fact: TurnRecorded, days: float) -> Fact:
    return replace(fact, record=replace(fact.record, ended_at=(fact.record.ended_at or 0) + 86_400 * days))


@on_virtual_time
async def test_a_file_a_day_and_old_ones_are_removed(tmp_path: Path) -> None:
    (tmp_path / "audit-of-ours.jsonl").write_text("")
    audit, fact = AuditLog(AuditSettings(path=str(tmp_path), days=2)), await recorded()
    for days in (0, 0.1, 1, 2, 4):
        audit(later(fact, days))
    audit.close()
    assert files(tmp_path).keys() == {
        "audit-2023-11-16.jsonl",
        "audit-2023-11-18.jsonl",
        "audit-of-ours.jsonl",
    }


@on_virtual_time
async def test_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    AuditLog(AuditSettings(path="-"))(await recorded())
    assert json.loads(capsys.readouterr().out)["outcome"] == "answered"


@on_virtual_time
async def test_what_cannot_be_written_is_said_once_and_goes_on_later(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "audit"
    folder.mkdir()
    audit, fact = AuditLog(AuditSettings(path=str(folder))), await recorded()
    folder.rmdir()
    for _ in range(3):
        audit(fact)
    assert [record.message[:24] for record in caplog.records] == ["the audit is not written"]
    folder.mkdir()
    audit(fact)
    audit.close()
    assert len(lines(folder)) == 1


@pytest.mark.parametrize("name", ["missing", "file"])
def test_a_folder_that_cannot_be_used_is_said_at_the_start(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match=r"SLACK_BOT_AUDIT__PATH is .*, which is no folder"):
        AuditLog(AuditSettings(path=str(tmp_path / name)))
