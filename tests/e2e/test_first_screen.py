"""What somebody sees who opens the playground for the first time."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from slack_bot.playground.server import Playground, open_playground
from slack_bot.settings.models import ReferenceSettings

from .chromium import Browser, Page
from .visitor import picture, text_of

READY = "document.body.dataset.ready"
FOCUS = "document.activeElement"
DAYS = "[...document.querySelectorAll('%s .day')].map((one) => one.innerText)"


@pytest.fixture
async def playground() -> AsyncIterator[Playground]:
    """As the command opens it: something was asked the day before."""
    async with open_playground(chosen=ReferenceSettings(pace=120), has_past=True) as opened:
        yield opened


async def test_the_answer_of_yesterday_stands_beside_the_channel_and_what_to_do_is_seen(
    browser: Browser, playground: Playground
) -> None:
    page = await browser.open(playground.url, 1440, 900)
    await page.until(READY)
    await picture(page, "first-screen")
    assert await page.value(DAYS % "#roots") == await page.value(DAYS % "#thread") == ["Yesterday"]
    assert await page.value("document.querySelectorAll('#thread .md :is(h4, li, td)').length") > 6
    for seen in (".welcome h2", "#roots .message", "#chips button", "#say-root textarea"):
        assert await page.value(f"document.querySelector('{seen}').checkVisibility()")
        box = f"document.querySelector('{seen}').getBoundingClientRect()"
        assert await page.value(f"{box}.top >= 0 && {box}.bottom <= innerHeight"), seen
    assert await page.value(f"{FOCUS} === document.querySelector('#say-root textarea')")
    assert await page.value("document.querySelectorAll('#places .unread').length") == 0
    assert await page.value("document.querySelectorAll('.inside .row').length") == 0


async def test_where_a_thread_covers_the_channel_the_channel_is_seen_first(
    browser: Browser, playground: Playground
) -> None:
    page = await browser.open(playground.url, 390, 844)
    await page.until(READY)
    assert await page.value("document.body.dataset.view") == "room"
    await page.click("#roots .replies")
    await page.until("document.querySelectorAll('#thread .message').length === 2")


async def test_what_is_asked_stands_under_today(page: Page) -> None:
    await page.click("#say-root textarea")
    await page.type("tell me a joke")
    await page.enter()
    await page.until("document.querySelectorAll('#roots .message').length === 2")
    assert await page.value(DAYS % "#roots") == ["Yesterday", "Today"]
    await page.until("document.querySelector('#thread [data-author=U0BOT]')?.dataset.state === 'sealed'")
    assert await page.value(DAYS % "#thread") == ["Today"]
    assert "Ask the bot something" in await text_of(page, "#roots")


async def test_a_reply_there_begins_with_a_mention_because_the_bot_follows_it_no_more(page: Page) -> None:
    await page.click("#roots .replies")
    reply = "document.querySelector('#say-reply textarea')"
    await page.until(f"{FOCUS} === {reply}")
    assert await page.value(f"{reply}.value") == "@slack_bot "
    await page.type("tell me a joke")
    await page.enter()
    await page.until(
        "document.querySelectorAll('#thread [data-author=U0BOT][data-state=sealed]').length === 2"
    )
    assert await page.value(DAYS % "#thread") == ["Yesterday", "Today"]
    await page.click("#close-thread")
    await page.click("#roots .replies:not([hidden])")
    assert await page.value(f"{reply}.value") == "@slack_bot ", "two people write there"


async def test_a_playground_that_is_started_again_shows_its_own_yesterday_and_loses_no_words(
    browser: Browser,
) -> None:
    field = "document.querySelector('#say-root textarea')"
    async with open_playground(has_past=True) as first:
        page = await browser.open(first.url, 1440, 900)
        await page.until(READY)
        assert await page.value("document.body.dataset.view") == "thread"
        await page.type("half a thought")
        before = await page.value("document.querySelector('#roots .message').dataset.ts")
        port = int(first.url.rstrip("/").rsplit(":", 1)[1])
    await page.until("!document.querySelector('#link').hidden")
    async with open_playground(port=port, has_past=True):
        await page.until("document.querySelector('#link').hidden")
        shown = "[...document.querySelectorAll('#roots .message')].map((one) => one.dataset.ts)"
        await page.until(f"{shown}.length === 1 && {shown}[0] !== '{before}'")
        assert await page.value(f"{field}.value") == "@slack_bot half a thought"


async def test_a_page_whose_playground_has_ended_says_how_to_start_it_again(browser: Browser) -> None:
    told = "document.querySelector('#link').innerText"
    async with open_playground() as first:
        page = await browser.open(first.url, 1440, 900)
        await page.until(READY)
        port = int(first.url.rstrip("/").rsplit(":", 1)[1])
    await page.until(f"{told}.includes('reconnecting')")
    await page.until(f"{told}.includes('slack-bot play')", 15)
    await picture(page, "ended")
    async with open_playground(port=port):
        await page.until("document.querySelector('#link').hidden")
