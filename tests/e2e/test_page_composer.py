"""Where one writes on the playground's page: Send, and Stop in its place while an answer runs."""

from __future__ import annotations

from slack_bot.playground.server import Playground
from tests.playground import scenes

from .chromium import Page
from .visitor import outcome, text_of

_SHOWN = (
    "[...document.querySelectorAll('#say-reply :is([type=submit], .stop)')]"
    ".filter((one) => one.offsetWidth).map((one) => one.ariaLabel ?? one.innerText).join()"
)
_FOCUS = "document.activeElement"


async def test_stop_stands_in_the_place_of_send_until_something_is_typed(
    page: Page, playground: Playground
) -> None:
    await scenes.busy(page, playground)
    await page.until(f"{_SHOWN} === 'Stop'")
    await page.click("#say-reply textarea")
    await page.type("tell me a joke")
    await page.until(f"{_SHOWN} === 'Send'")
    await page.enter()  # a further question, which waits
    await page.until("document.querySelector('#thread .reactions li')")
    await page.until(f"{_SHOWN} === 'Stop'")
    # by keys: Tab leads from the field to Stop, and Enter presses it
    assert await page.value(f"{_FOCUS}.tagName") == "TEXTAREA"
    await page.press("Tab", 9)
    assert await page.value(f"{_FOCUS}.id") == "stop"
    await page.enter()
    await page.until("document.querySelector('#thread [data-action=drop]')")
    await page.click("#thread [data-action=drop]")
    await page.until(f"{_SHOWN} === 'Send'")
    assert await page.value(f"{_FOCUS}.closest('.pane')?.className") == "pane thread"


async def test_a_file_that_waits_to_be_sent_brings_send_back(page: Page, playground: Playground) -> None:
    await scenes.busy(page, playground)
    await page.until(f"{_SHOWN} === 'Stop'")
    await page.value(
        "(() => { const data = new DataTransfer(); data.items.add(new File(['x'], 'note.txt'));"
        " document.querySelector('#say-reply textarea').dispatchEvent("
        "new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true})); })()"
    )
    await page.until(f"{_SHOWN} === 'Send'")
    await page.click("#say-reply .attached button")
    await page.until(f"{_SHOWN} === 'Stop'")


async def test_another_person_whose_reply_begins_with_a_mention_can_stop_too(
    page: Page, playground: Playground
) -> None:
    await scenes.busy(page, playground)
    await scenes.be(page, "Jonas")
    await page.until("document.querySelector('#say-reply textarea').value.trim().startsWith('@')")
    await page.until(f"{_SHOWN} === 'Stop'")


async def test_a_focus_on_send_moves_to_the_field_when_stop_takes_its_place(
    page: Page, playground: Playground
) -> None:
    root = await scenes.say(playground, scenes.MAYA, f"{scenes.BOT} tell me a joke")
    await scenes.open_thread(page, root)
    await outcome(page, "answered")
    await page.until(f"{_SHOWN} === 'Send'")
    await page.value("document.querySelector('#say-reply [type=submit]').focus()")
    await scenes.say(playground, scenes.MAYA, f"{scenes.BOT} long 9000", root)
    await page.until(f"{_SHOWN} === 'Stop'")
    assert await page.value(f"{_FOCUS} === document.querySelector('#say-reply textarea')")
    assert "long 9000" in await text_of(page, "#thread")


async def test_a_reply_begins_with_the_mention_where_the_bot_needs_one(
    page: Page, playground: Playground
) -> None:
    root = await scenes.say(playground, scenes.MAYA, f"{scenes.BOT} tell me a joke")
    await scenes.open_thread(page, root)
    await page.until("document.querySelector('#say-reply textarea').value === ''")
    await scenes.be(page, "Jonas")
    await page.until("document.querySelector('#say-reply textarea').value === '@slack_bot '")
    await scenes.say(playground, scenes.JONAS, "I know it", root)
    await scenes.be(page, "Maya")  # a second person has written
    await page.until("document.querySelector('#say-reply textarea').value === '@slack_bot '")
