"""How a message looks on the playground's page, beside the real Slack."""

from __future__ import annotations

import json

import pytest

from slack_bot.playground.server import Playground
from slack_bot.playground.visitor import CHANNEL
from tests.playground import scenes

from .chromium import Page
from .visitor import text_of


async def _edit(playground: Playground, ts: str, text: str) -> None:
    order = {"type": "edit", "user": scenes.MAYA, "channel": CHANNEL, "ts": ts, "text": text}
    assert await playground.visitor.take(order) is None


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("lunch at noon?", "lunch at noon? (edited)"),
        ("- bread\n- butter", "bread\nbutter (edited)"),
        ("- bread\n  - brown", "bread\nbrown (edited)"),
        ("> she said", "she said (edited)"),
    ],
)
async def test_edited_stands_behind_the_last_word(
    page: Page, playground: Playground, text: str, shown: str
) -> None:
    await scenes.say(playground, scenes.MAYA, "who comes along?")
    ts = await scenes.say(playground, scenes.MAYA, "lunch?")
    await _edit(playground, ts, text)
    message = f'#roots [data-ts="{ts}"]'
    await page.until(f"document.querySelector({json.dumps(message)})?.innerText.includes('(edited)')")
    assert (await text_of(page, f"{message} .md")).strip() == shown
    # On the same line, although this message has no line with a name of its own.
    assert await page.value(
        f"getComputedStyle(document.querySelector({json.dumps(f'{message} header')})).display === 'none'"
    )
    await _edit(playground, ts, f"{text} please")
    await page.until(f"document.querySelector({json.dumps(message)}).innerText.includes('please (edited)')")
    assert (await text_of(page, message)).count("(edited)") == 1


async def test_edited_stands_below_a_text_that_ends_with_code(page: Page, playground: Playground) -> None:
    ts = await scenes.say(playground, scenes.MAYA, "lunch?")
    await _edit(playground, ts, "```\nlunch()\n```")
    await page.until("document.querySelector('#roots .md')?.innerText.includes('(edited)')")
    assert await text_of(page, "#roots pre") == "lunch()"


async def test_a_task_is_one_line_with_its_box_before_it(page: Page, playground: Playground) -> None:
    await scenes.say(playground, scenes.MAYA, "- [ ] write\n- [x] test\n- [x] ship it, **soon**")
    await page.until("document.querySelectorAll('#roots .todo').length === 3")
    lines = "[...document.querySelectorAll('#roots .todo')].map((one) => [one.querySelector('[role=img]').ariaLabel, one.innerText, one.offsetHeight])"  # noqa: E501
    tasks = await page.value(lines)
    assert [task[:2] for task in tasks] == [["to do", "write"], ["done", "test"], ["done", "ship it, soon"]]
    plain = await page.value(
        "parseFloat(getComputedStyle(document.querySelector('#roots .todo')).lineHeight)"
    )
    assert all(height < plain * 1.5 for *_, height in tasks), (tasks, plain)


async def test_a_message_with_replies_says_whose_how_many_and_when(
    page: Page, playground: Playground
) -> None:
    root = await scenes.discussed(playground)
    line = "document.querySelector('#roots .replies')"
    await page.until(f"{line} && !{line}.hidden")
    await page.until(f"{line}.querySelector('.count')?.innerText === '4 replies'")
    await scenes.turns(playground, "answered")
    await page.until(f"/^Last reply today at \\d/.test({line}.querySelector('.last').innerText)")
    faces = await page.value(f"[...{line}.querySelectorAll('.face')].map((one) => one.className)")
    assert len(faces) == len(set(faces)) == 4, faces  # Priya, River, Maya and the bot, each once
    # by keys: the line can be reached, says what Enter does, and Enter does it
    await page.value(f"{line}.focus()")
    await page.press("Shift", 16)  # a key was used, so the focus is seen
    assert "View thread" in await text_of(page, "#roots .replies")
    assert "Last reply" not in await text_of(page, "#roots .replies")
    await page.enter()
    await page.until(f"document.querySelector('#thread [data-ts=\"{root}\"] + .reply-count')")
    assert await text_of(page, "#thread .reply-count") == "4 replies"


async def test_while_an_answer_is_written_the_message_says_so(page: Page, playground: Playground) -> None:
    await scenes.busy(page, playground)
    assert "answering…" in await text_of(page, "#roots .replies")
    await page.value("document.querySelector('#stop').click()")
    await page.until("document.querySelector('#roots .replies .last').innerText.startsWith('Last reply')")
