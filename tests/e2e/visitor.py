"""What a visitor of the playground's page does and waits for, in the tests of the page."""

from __future__ import annotations

import json
import os
from pathlib import Path

from .chromium import Page

PICTURES = os.environ.get("PLAYGROUND_PICTURES")  # a folder, for somebody who wants to look
QUESTION = "explain how agntcy agents communicate with each other"
ANSWER = "#thread .message[data-author=U0BOT]"
SEALED = f"document.querySelector('{ANSWER}')?.dataset.state === 'sealed'"


async def picture(page: Page, name: str) -> None:
    """Keep what is seen, if somebody wants to look."""
    if PICTURES:
        await page.picture(Path(PICTURES) / f"{name}.png")


async def mention(page: Page, text: str) -> None:
    """Ask in the channel; the mention stands in the field already."""
    await page.click("#say-root textarea")
    await page.type(text)
    await page.enter()


async def text_of(page: Page, selector: str) -> str:
    """What a reader sees of an element; "" if it is not there."""
    return str(await page.value(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''"))


async def outcome(page: Page, wanted: str) -> None:
    """Wait until the turn that is shown has ended so."""
    await page.until(f"document.querySelector('#figures [data-outcome={wanted}]')")


async def look_inside(page: Page) -> None:
    """Open Inside, if it is closed."""
    if await page.value("document.querySelector('#inside').hidden"):
        await page.value("document.querySelector('#inside-open').click()")


async def look_at_raw(page: Page) -> None:
    """Open the tab of Inside with the agent's events and the calls of Slack."""
    await look_inside(page)
    await page.click("#raw-tab")


async def choose_turn(page: Page, turn: str) -> None:
    """Choose in the list of turns: `follow`, `all`, or the key of one."""
    await look_inside(page)
    await page.click("#past summary")
    await page.click(f"#turns [data-turn={json.dumps(turn)}]")
