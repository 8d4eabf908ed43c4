"""The thread of a twelve-minute answer, drawn by a real Chromium: it must read as one text."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from aiohttp import web

from slack_bot.playground.page_server import build_site
from slack_bot.playground.recorder import ReplayRouter
from slack_bot.playground.visitor import CHANNEL, Visitor
from slack_bot.testing import virtual_clock
from slack_bot.testing.harness import run_bot

from .chromium import Browser
from .long_answers import WORD, Writer, streamed, tape
from .visitor import ANSWER, picture

# Per message: its words, and what its fences, tables and quotes came to.
_READ = f"""[...document.querySelectorAll("#thread {ANSWER.removeprefix("#thread ")}")].map((message) => {{
  const all = (selector) => [...message.querySelectorAll(".md " + selector)].map((one) => one.innerText);
  const tables = [...message.querySelectorAll(".md table")];
  const outside = message.querySelector(".md")?.cloneNode(true);
  for (const code of outside?.querySelectorAll("pre") ?? []) code.remove();
  return {{
    state: message.dataset.state,
    text: message.querySelector(".md")?.innerText ?? "",
    outside: outside?.textContent ?? "",
    code: all("pre"),
    heads: tables.map((one) => [...one.rows[0].cells].map((cell) => cell.innerText).join(" ")),
    rows: [...message.querySelectorAll(".md table tr")].map((one) => one.cells.length),
    feedback: message.querySelectorAll(".feedback").length,
  }};
}})"""


async def answered(text: str, seconds: float, **overrides: Any) -> Visitor:
    """A visitor on which `text` was asked for and told, in so many virtual seconds."""
    async with run_bot(tape(streamed(text, seconds)), **overrides) as bot:
        nobody = httpx.MockTransport(lambda _: httpx.Response(503))
        visitor = Visitor(bot.workspace, ReplayRouter(nobody), bot.app.clock)
        await bot.say(f"<@{bot.workspace.bot.user_id}> Tell me everything.", user="U0MAYA", channel=CHANNEL)
        await bot.idle()
        assert bot.outcomes == ["answered"]
    return visitor


@pytest.fixture
def text() -> str:
    return Writer().report(40_000)


@pytest.fixture
def visitor(text: str) -> Visitor:
    """What twelve minutes left behind."""
    return virtual_clock.run(answered(text, 720))


@asynccontextmanager
async def shown(visitor: Visitor) -> AsyncIterator[str]:
    runner = web.AppRunner(build_site(visitor, ["127.0.0.1"]), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/"
    finally:
        await runner.cleanup()


async def test_a_long_answer_reads_as_one_text(visitor: Visitor, text: str, browser: Browser) -> None:
    async with shown(visitor) as url:
        page = await browser.open(url, 1280, 900)
        await page.until("document.body.dataset.ready")
        await page.click(f"[data-channel={CHANNEL}]")
        await page.until("!document.querySelector('.replies')?.hidden")
        await page.click(".replies")
        await page.until(f"document.querySelector('{ANSWER} .md')")
        messages = await page.value(_READ)
        await picture(page, "twelve-minutes")
        assert page.problems == []

    assert len(messages) >= 4
    assert {message["state"] for message in messages} == {"sealed"}
    read = [word for message in messages for word in WORD.findall(message["text"].lower())]
    assert read == WORD.findall(text.lower())
    assert [message["feedback"] > 0 for message in messages] == [False] * (len(messages) - 1) + [True]
    for message in messages:
        assert all("call(" in line for code in message["code"] for line in code.splitlines() if line.strip())
        assert "call(" not in message["outside"]
        assert "`" not in message["outside"]
        assert "**" not in message["outside"]
        assert "|" not in message["outside"]
        assert set(message["heads"]) <= {"Name What Where"}
        assert set(message["rows"]) <= {3}
    assert sum(len(message["code"]) for message in messages) >= text.count("```") / 2


async def test_an_answer_too_long_for_messages_can_be_opened_as_a_file(text: str, browser: Browser) -> None:
    whole = await asyncio.to_thread(virtual_clock.run, answered(text, 60, max_segments=2))
    async with shown(whole) as url:
        page = await browser.open(url, 1280, 900)
        await page.until("document.body.dataset.ready")
        await page.click(f"[data-channel={CHANNEL}]")
        await page.click(".replies")
        await page.until("document.querySelector('#thread .file a')")
        await picture(page, "all-of-it")
        link = "document.querySelector('#thread .file a')"
        assert await page.value(f"{link}.innerText") == "answer.md"
        read = await page.value(f"fetch({link}.href).then((answer) => answer.text())")
        assert page.problems == []
    assert read == text
