"""`slack-bot compare`."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import Any

import pytest

from slack_bot.errors import BotError, UnreadableInput
from slack_bot.tools.compare import main
from tests.live_agent import live_agent

ROOT = Path(__file__).parents[2]
GRADUAL, BURST = (str(ROOT / "docs" / "tapes" / f"caipe-{each}-simple.jsonl") for each in ("0.2.41", "0.3.0"))
RAW = str(ROOT / "tests" / "captures" / "a2asdk130_chunks.txt")


def options(one: str, two: str, **more: Any) -> argparse.Namespace:
    return argparse.Namespace(one=one, two=two, **{"text": None, "output": None, "key": None, **more})


def test_the_published_releases_differ_as_published(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(options(GRADUAL, BURST)) == 0
    told = capsys.readouterr().out
    assert "- A could be read 15.8 s sooner." in told
    assert "- B was shown in a burst: 100% of its text within half a second, after 17.8 s of waiting." in told
    assert "| is\\_final\\_answer = true        | –   | 290 |" in told


def test_a_tape_and_itself_are_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "same.md"
    assert main(options(RAW, RAW, output=str(out))) == 0
    assert "The reader reads the same text in the end" in out.read_text("utf-8")
    assert capsys.readouterr().out == ""


async def test_two_live_agents(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    async with live_agent(("1.0",)) as one, live_agent(("0.3",)) as two:
        assert await asyncio.to_thread(main, options(one.url, two.url, text="unicode")) == 0
    told = capsys.readouterr().out
    assert "The reader reads the same text in the end" in told
    assert "| wire           | 1.0" in told


@pytest.mark.parametrize(
    "one,two,more,why",
    [
        (GRADUAL, "http://a/", {}, "want a question"),
        ("http://a/", "http://b/", {"text": " "}, "want a question"),
        (GRADUAL, BURST, {"text": "q"}, "a question is for live agents"),
        (GRADUAL, "/missing", {}, "/missing: no such file"),
        ("localhost:8000", BURST, {"text": "q"}, "localhost:8000: .* begins with http:// or https://"),
        (GRADUAL, BURST, {"output": "/missing/x"}, "give another file"),
        (GRADUAL, BURST, {"key": "x"}, "has no key"),
    ],
)
def test_what_cannot_be_done_is_said(one: str, two: str, more: dict[str, Any], why: str) -> None:
    with pytest.raises(UnreadableInput, match=why):
        main(options(one, two, **more))


def test_an_agent_that_is_not_there() -> None:
    with pytest.raises(BotError, match="is the agent running"):
        main(options("http://127.0.0.1:1/", RAW, text="q"))
