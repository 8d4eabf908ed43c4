"""No secret is in what the bot shows, logs, keeps or writes, though the agent sends it in pieces."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from slack_bot.cli import main
from slack_bot.observe.logs import LogLines
from slack_bot.settings.load import load
from slack_bot.testing.agent.scripted import ScriptedAgent, serve_scripted
from slack_bot.testing.harness import CHANNEL, bot_on_network, run_bot
from slack_bot.testing.tape.builders import chunk, failure, status, task
from slack_bot.testing.tape.tape import Moment, Tape, write_tape
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.text.masking import MASK
from slack_bot.tools.capture.capture import CaptureProgress, CaptureRequest, capture
from slack_bot.tools.files import OutputFile, open_capture, taped
from slack_bot.tools.replay.explain import explain_capture
from slack_bot.tools.replay.replay import replayed
from slack_bot.tools.replay.scenario import Scenario

from .fake_secrets import FAKES, FakeSecret
from .form_tapes import asking

BEARER = "the-bearer-of-" + "this-bot"
OWN = FakeSecret("the bot's own bearer", BEARER, BEARER)
ALL = (*FAKES, OWN)
TEXT = "".join(f"{number}. {fake.text}\n\n" for number, fake in enumerate(ALL)) + "That is all."


def streamed(text: str, size: int) -> Tape:
    """`text` in pieces of `size`."""
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    moments = [Moment(0.1, event=task())]
    moments += [Moment(0.2 + 0.0005 * number, event=chunk(piece)) for number, piece in enumerate(pieces)]
    end = moments[-1].t + 0.1
    return Tape(
        {"wire": "0.3"}, (*moments, Moment(end, event=status("completed")), Moment(end, end="closed"))
    )


def leaks(text: str) -> list[str]:
    """The kinds of which `text` holds a secret."""
    return [fake.kind for fake in ALL if fake.secret in text]


def text_in(value: Any) -> Iterator[str]:
    """The texts of an event, one behind the other: what a reader of it puts together."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from [each] if name == "text" and isinstance(each, str) else text_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from text_in(each)


def test_they_are_secrets_in_the_first_place() -> None:
    assert leaks(TEXT) == [fake.kind for fake in ALL]


@pytest.mark.parametrize("size", [3, 11])
async def test_slack_the_log_kept_events_tapes_and_exports_hold_none(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = io.StringIO()
    handler = logging.StreamHandler(lines)
    handler.setFormatter(LogLines("text", (BEARER,)))
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [*root.handlers, handler])
    monkeypatch.setattr(root, "level", logging.DEBUG)
    url = f"sqlite:///{tmp_path}/bot.sqlite"
    settings: dict[str, Any] = {"store.url": url, "event_bytes": 10_000_000, "bearer_token": BEARER}
    async with bot_on_network(streamed(TEXT, size), http=True, **settings) as (workspace, face, app):
        root_ts = workspace.say("U1", CHANNEL, f"<@{workspace.bot.user_id}> hi", now=time.time())
        await face.settle()
        await app.threads.idle()
        logging.getLogger("test").debug("%s", TEXT)
        shown = "".join(each.text for each in workspace.thread(CHANNEL, root_ts) if each.is_bot)
        turns = [await app.store.turn(turn) for turn in [f"T1:{CHANNEL}:{root_ts}"]]
    assert shown.endswith("That is all.")
    assert shown.count(MASK) == len(ALL)
    assert leaks(str([call.args for call in workspace.calls])) == []
    assert leaks(str([turn.text for turn in turns if turn is not None])) == []
    assert leaks(lines.getvalue()) == []

    monkeypatch.setenv("SLACK_BOT_STORE__URL", url)
    monkeypatch.setenv("SLACK_BOT_AGENT__BEARER_TOKEN", BEARER)
    assert b"streaming_result" in (kept := (tmp_path / "bot.sqlite").read_bytes())
    assert leaks(kept.decode("latin-1")) == []
    assert await asyncio.to_thread(main, ["store", "export", "--user", "U1"]) == 0
    exported = json.loads(capsys.readouterr().out)
    assert leaks(json.dumps(exported)) == []
    events = [json.loads(each["data"]) for each in exported["events"]]
    assert leaks("".join(text_in(events))) == []
    assert await asyncio.to_thread(main, ["store", "export-tape", f"T1:{CHANNEL}:{root_ts}"]) == 0
    tape = capsys.readouterr().out
    assert leaks(tape) == []
    assert leaks("".join(text_in([json.loads(line) for line in tape.splitlines()]))) == []
    (tmp_path / "turn.jsonl").write_text(tape)
    assert len(taped(open_capture(tmp_path / "turn.jsonl")).moments) > 100


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("size", [3, 4_000])
async def test_a_capture_holds_none_and_can_be_replayed(size: int, raw: bool, tmp_path: Path) -> None:
    path, settings = tmp_path / "capture", {"SLACK_BOT_AGENT__BEARER_TOKEN": BEARER}
    said = io.StringIO()
    async with serve_scripted(ScriptedAgent(streamed(TEXT, size))) as url:
        found = load({"A2A_AGENT_URL": url, **settings}, env_file=None, secrets_dir=None)
        with OutputFile(str(path)) as file:
            request = CaptureRequest((TEXT[:300],), raw=raw)
            assert await capture(request, found, file, CaptureProgress(said)) == 0
    written = path.read_text()
    assert leaks(written) == []
    assert leaks(said.getvalue()) == []
    tape = taped(open_capture(path))
    events = [moment.event for moment in tape.moments if moment.event is not None]
    answered = "".join(text_in(events))
    assert leaks(answered) == []
    assert answered.endswith("That is all.")
    assert len(answered) == len(TEXT)  # asterisks, so that the cuts are as they were
    assert len(events) >= len(TEXT) // size


PARTS: dict[str, Any] = {
    "table": {"type": "table", "title": "T {}", "columns": ["c {}", "d"], "rows": [["v {}", 1], ["w", 2]]},
    "chart": {
        "type": "chart",
        "chart": "bar",
        "title": "t {}",
        "categories": ["l {}", "m"],
        "series": [{"name": "s {}", "data": [1, 2]}],
    },
    "sources": {"type": "citations", "citations": [{"url": "https://x.example/{}", "title": "see {}"}]},
    "a source's title": {
        "type": "citations",
        "citations": [{"url": "https://x.example/", "title": "see {}"}],
    },
    "tool": {"type": "tool_call", "id": "c1", "name": "run {}", "args": {"x": "{}"}},
}


def filled(value: Any, secret: str) -> Any:
    """`value` with `secret` for each pair of braces."""
    if isinstance(value, str):
        return value.replace("{}", secret)
    if isinstance(value, list):
        return [filled(each, secret) for each in value]
    return {name: filled(each, secret) for name, each in value.items()} if isinstance(value, dict) else value


def holding(*parts: Any) -> Tape:
    """An answer that has `parts` beside its text."""
    event = chunk("Here it is.")
    event["artifact"]["parts"] += parts
    moments = [Moment(0.1, event=task()), Moment(0.2, event=event), Moment(0.5, event=status("completed"))]
    return Tape({"wire": "0.3"}, (*moments, Moment(0.6, end="closed")))


@pytest.mark.parametrize("kind", ["GitHub", "password=", "Stripe live", "the bot's own bearer"])
@on_virtual_time
async def test_no_way_of_an_agents_text_into_slack_shows_one(kind: str) -> None:
    text = next(fake.text for fake in ALL if fake.kind == kind)
    file = {"kind": "file", "file": {"name": f"{text}.txt", "bytes": "aGVsbG8=", "mimeType": "text/plain"}}
    name = {"title": f"a {text}", "description": f"help {text}", "type": "string", "default": f"is {text}"}
    schema = {
        "type": "object",
        "title": f"form {text}",
        "properties": {
            "a": name,
            "b": {"title": "b", "enum": [f"one {text}", "two"]},
        },
    }
    tapes = [holding({"kind": "data", "data": filled(part, text)}) for part in PARTS.values()]
    tapes += [holding(file), asking(schema, f"Which {text}?"), failure(f"It broke: {text}")]
    tapes += [_ended("rejected", f"No: {text}"), _ended("auth-required", f"Sign in: {text}")]
    async with run_bot(*tapes, bearer_token=BEARER, error_text="show") as bot:
        for number in range(len(tapes)):
            await bot.ask(f"question {number}")
            await bot.idle()
        assert len(bot.outcomes) == len(tapes)
        calls = str([call.args for call in bot.workspace.calls])
        assert "Here it is." in calls
        assert leaks(calls) == []
        assert calls.count(MASK) >= len(tapes)


def _ended(state: str, text: str) -> Tape:
    moments = Moment(0.1, event=task()), Moment(0.5, event=status(state, text)), Moment(0.6, end="closed")
    return Tape({"wire": "0.3"}, moments)


async def test_what_was_masked_is_counted_and_told(tmp_path: Path) -> None:
    path = tmp_path / "answer.jsonl"
    text = "".join(f"{fake.text}\n\n" for fake in FAKES if fake.kind in ("GitHub", "npm", "password="))
    path.write_text(write_tape(streamed(f"{text}Done.", 5)))
    seen = await asyncio.to_thread(result_of, path)
    assert seen["masked"] == {"GitHub token": 1, "npm token": 1, "password": 1}
    told = await asyncio.to_thread(explain_capture, open_capture(path), Scenario())
    assert "secrets were masked in the answer's text: 1 GitHub token, 1 npm token, 1 password" in told


def result_of(path: Path) -> Any:
    return replayed(open_capture(path)).result()
