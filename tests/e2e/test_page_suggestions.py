"""What can be asked with one click: chips on an empty page, then one menu."""

from __future__ import annotations

import pytest

from slack_bot.playground.server import Playground
from tests.playground import scenes

from .chromium import Page
from .visitor import SEALED, mention, picture, text_of

_FOCUS = "document.activeElement"
_OPEN = "!document.querySelector('#chips [role=menu]').hidden"


async def test_suggestions_become_one_menu_with_the_first_message(page: Page, playground: Playground) -> None:
    await page.until("document.querySelectorAll('#chips > button').length === 7")
    assert "one of the questions below" in await text_of(page, ".welcome")
    labels = await page.value("[...document.querySelectorAll('#chips [title]')].map((one) => one.title)")
    assert len(labels) > 7
    await page.value("document.querySelector('#chips button[title=\"What is this bot?\"]').focus()")
    await page.enter()
    await page.until("document.querySelector('#chips').innerText.trim() === 'Try…'")
    assert "a question from “Try…”" in await text_of(page, ".welcome")
    await page.until(SEALED)
    # The chip that had the focus is gone: its place has it, not the whole page.
    assert await page.value(f"{_FOCUS}.innerText") == "Try…"
    await page.click("#chips [aria-haspopup=menu]")
    assert (await text_of(page, "#chips [role=menu]")).split("\n") == labels
    row = "document.querySelector('#chips')"
    assert await page.value(f"{row}.scrollWidth <= {row}.clientWidth")


async def test_the_menu_is_used_by_keys_alone(page: Page, playground: Playground) -> None:
    await scenes.say(playground, scenes.MAYA, "lunch?")
    await page.until("document.querySelector('#chips').innerText === 'Try…'")
    await page.value("document.querySelector('#chips [aria-haspopup=menu]').focus()")
    await page.enter()
    items = "[...document.querySelectorAll('#chips [role=menuitem]')]"
    assert await page.value(_OPEN)
    assert await page.value("document.querySelector('#chips [aria-haspopup]').ariaExpanded") == "true"
    assert await page.value(f"{items}.indexOf({_FOCUS})") == 0
    last = await page.value(f"{items}.length - 1")
    codes = {"ArrowDown": 40, "ArrowUp": 38, "End": 35}
    steps = [("ArrowDown", 1), ("ArrowUp", 0), ("ArrowUp", last), ("ArrowDown", 0), ("End", last)]
    for key, at in steps:
        await page.press(key, codes[key])
        assert await page.value(f"{items}.indexOf({_FOCUS})") == at, key
    await page.press("Escape", 27)
    assert not await page.value(_OPEN)
    assert await page.value(f"{_FOCUS}.ariaExpanded") == "false"
    await page.press("ArrowUp", 38)
    assert await page.value(f"{items}.indexOf({_FOCUS})") == last
    await page.press("Tab", 9)
    assert not await page.value(_OPEN)
    await page.value("document.querySelector('#chips [aria-haspopup=menu]').focus()")
    await page.press("ArrowDown", 40)
    asked = await page.value(f"{_FOCUS}.title")
    await page.enter()
    await page.until(SEALED)
    assert asked in await text_of(page, "#thread .message")
    assert not await page.value(_OPEN)


async def test_a_press_elsewhere_closes_the_menu(page: Page) -> None:
    await mention(page, "tell me a joke")
    await page.until(SEALED)
    await page.click("#chips [aria-haspopup=menu]")
    assert await page.value(_OPEN)
    await page.click("#say-root textarea")
    assert not await page.value(_OPEN)


async def test_where_one_pane_is_seen_the_focus_follows_a_suggestion_into_its_thread(page: Page) -> None:
    await page.size(420, 800)
    await page.value("document.querySelector('#chips button[title=\"What is this bot?\"]').focus()")
    await page.enter()
    await page.until(SEALED)
    assert await page.value(f"{_FOCUS} === document.querySelector('#say-reply textarea')")


@pytest.mark.parametrize("width", [390, 1440, pytest.param(800, marks=pytest.mark.slow)])
async def test_the_questions_that_are_not_shown_at_once_are_behind_more(page: Page, width: int) -> None:
    await page.size(width, 844)
    assert (await text_of(page, "#chips")).split("\n")[-1] == "More…"
    await page.click("#chips [aria-haspopup=menu]")
    await picture(page, f"more-{width}")
    box = "document.querySelector('#chips [role=menu]').getBoundingClientRect()"
    assert await page.value(f"{box}.left >= 0 && {box}.right <= innerWidth && {box}.top >= 0")
    await page.click("#chips [role=menuitem][title='Tell me a joke']")
    await page.until(SEALED)
    assert "Tell me a joke" in await text_of(page, "#thread .message")
