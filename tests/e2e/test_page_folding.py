"""Long messages and long code are folded on the playground's page, but never before a reader's eyes."""

from __future__ import annotations

from slack_bot.playground.server import Playground
from tests.playground import scenes

from .chromium import Browser, Page
from .visitor import ANSWER, SEALED, mention

_LONG = "\n\n".join(f"Line {number} of a long message." for number in range(60))
_CODE = "\n".join(f"line({number})" for number in range(60))
_FOCUS = "document.activeElement"
_TEXT = "document.querySelector('#roots .message .md')"


async def test_a_long_message_is_folded_and_opened_by_key(page: Page, playground: Playground) -> None:
    await scenes.say(playground, scenes.MAYA, _LONG)
    await scenes.say(playground, scenes.JONAS, "A short one.")
    await page.until(f"{_TEXT}?.classList.contains('folded')")
    button = "document.querySelector('#roots .fold')"
    assert await page.value(f"{_TEXT}.offsetHeight < {_TEXT}.scrollHeight / 2")
    assert await page.value("document.querySelectorAll('#roots .fold').length") == 1
    assert await page.value(f"[{button}.innerText, {button}.ariaExpanded]") == ["Show more", "false"]
    await page.value(f"{button}.focus()")
    await page.enter()
    assert await page.value(f"[{button}.innerText, {button}.ariaExpanded]") == ["Show less", "true"]
    assert await page.value(f"{_TEXT}.offsetHeight === {_TEXT}.scrollHeight")
    # The reader who opened it stays where they read, although something is said meanwhile.
    top = await page.value("document.querySelector('#roots').scrollTop")
    await scenes.say(playground, scenes.PRIYA, "And another one.")
    await page.until("document.querySelectorAll('#roots .message').length === 3")
    assert await page.value("document.querySelector('#roots').scrollTop") == top
    await page.value(f"{button}.focus()")
    await page.enter()
    assert await page.value(f"{_TEXT}.offsetHeight < {_TEXT}.scrollHeight / 2")
    assert await page.value(f"{_FOCUS} === {button}")
    box = await page.value(f"{button}.getBoundingClientRect().top")
    assert 0 < box < 800


async def test_a_link_in_the_folded_part_opens_it_when_it_gets_the_focus(
    page: Page, playground: Playground
) -> None:
    await scenes.say(playground, scenes.MAYA, f"{_LONG}\n\n<https://a.example/|the end>")
    await page.until(f"{_TEXT}?.classList.contains('folded')")
    await page.value("document.querySelector('#roots .md a').focus()")
    await page.until(f"!{_TEXT}.classList.contains('folded')")


async def test_long_code_is_folded_by_itself(page: Page, playground: Playground) -> None:
    await scenes.say(playground, scenes.MAYA, f"Look:\n\n```py\n{_CODE}\n```\nThat is all.")
    await page.until("document.querySelector('#roots pre.folded')")
    assert not await page.value(f"{_TEXT}.classList.contains('folded')")
    await page.click("#roots .code .fold")
    await page.until("!document.querySelector('#roots pre.folded')")


async def test_what_was_written_before_a_reader_s_eyes_is_not_folded(
    page: Page, playground: Playground, browser: Browser
) -> None:
    await mention(page, "long 3000")
    text = f"document.querySelector('{ANSWER} .md')"
    await page.until(f"{text}?.offsetHeight > 1200")
    assert not await page.value(f"{text}.classList.contains('folded')")
    await page.until(SEALED)
    assert not await page.value(f"{text}.classList.contains('folded')")
    # Also not when the thread is drawn anew; somebody who comes later finds it folded.
    await page.value("document.querySelector('#close-thread').click()")
    await page.click("#roots .replies")
    await page.until(f"{text}?.offsetHeight > 1200")
    assert not await page.value(f"{text}.classList.contains('folded')")
    later = await browser.open(playground.url)
    await later.until(f"{text}?.classList.contains('folded')")


async def test_a_message_that_is_changed_is_shown_whole(page: Page, playground: Playground) -> None:
    ts = await scenes.say(playground, scenes.MAYA, _LONG)
    await page.until(f"{_TEXT}?.classList.contains('folded')")
    order = {
        "type": "edit",
        "user": scenes.MAYA,
        "channel": scenes.CHANNEL,
        "ts": ts,
        "text": f"{_LONG} End.",
    }
    assert await playground.visitor.take(order) is None
    await page.until(f"!{_TEXT}.classList.contains('folded') && {_TEXT}.innerText.includes('End.')")
    assert await page.value("document.querySelectorAll('#roots .fold').length") == 0
