"""Where one writes on the playground's page: Send, and Stop in its place while an answer runs."""

from __future__ import annotations

from slack_bot.playground.server import Playground
from slack_bot.playground.visitor import CHANNEL
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


_ROOT, _REPLY = (
    "document.querySelector('#say-root textarea')",
    "document.querySelector('#say-reply textarea')",
)
_REWRITTEN = "document.querySelector('.rewrite textarea')"


async def test_the_upward_arrow_changes_the_last_message_and_leads_back(
    page: Page, playground: Playground
) -> None:
    for text in ("first", "second"):
        await scenes.say(playground, scenes.MAYA, text)
    await scenes.say(playground, scenes.JONAS, "mine")
    await page.until("document.querySelectorAll('#roots .message').length === 3")
    await page.click("#say-root textarea")
    await page.type("x")
    await page.press("ArrowUp", 38)
    assert await page.value(f"{_REWRITTEN} === null"), "there are words in the field"
    await page.press("End", 35)
    await page.press("Backspace", 8)
    await page.press("ArrowUp", 38)
    await page.until(f"{_REWRITTEN} === {_FOCUS}")
    assert await page.value(f"{_REWRITTEN}.value") == "second"
    await page.press("Escape", 27)
    assert await page.value(f"{_FOCUS} === {_ROOT}")
    await page.press("ArrowUp", 38)
    await page.type(" :tad")
    await page.press("Tab", 9)
    assert await page.value(f"{_REWRITTEN}.value") == "second :tada: ", "names are completed here too"
    await page.enter()
    await page.until(f"{_REWRITTEN} === null && {_FOCUS} === {_ROOT}")
    assert [each.text for each in playground.workspace.history(CHANNEL)][1] == "second :tada:"


async def test_a_draft_is_there_after_a_reload_and_in_its_own_place(
    page: Page, playground: Playground
) -> None:
    root = await scenes.say(playground, scenes.MAYA, "lunch?")
    await scenes.say(playground, scenes.JONAS, "yes", root)
    await scenes.open_thread(page, root)
    await page.click("#say-reply textarea")
    await page.type("half a thought")
    await page.click("#say-root textarea")
    await page.type("a question")
    await page.reload()
    await page.until(f"document.body?.dataset.ready && {_REPLY}.value")
    assert await page.value(f"{_REPLY}.value") == "@slack_bot half a thought"
    assert await page.value(f"{_ROOT}.value") == "@slack_bot a question"
    await page.click("#places [data-channel=C0INCIDENTS]")
    assert await page.value(f"[{_ROOT}.value, {_ROOT}.placeholder]") == ["@slack_bot ", "Message #incidents"]
    await page.click("#places [data-channel=C0GENERAL]")
    assert await page.value(f"{_ROOT}.value") == "@slack_bot a question"


async def test_keys_mark_what_is_selected_and_a_new_line_is_told_of(page: Page) -> None:
    seen = "document.querySelector('#say-root .tip').checkVisibility({visibilityProperty: true})"
    await page.click("#say-root textarea")
    assert not await page.value(seen)
    await page.type("very big")
    assert await page.value(seen)
    await page.value(f"{_ROOT}.setSelectionRange(16, 19)")
    await page.press("b", 66, control=True)
    assert await page.value(f"{_ROOT}.value") == "@slack_bot very *big*"
    await page.press("i", 73, control=True)
    assert await page.value(f"{_ROOT}.value") == "@slack_bot very *_big_*"


async def test_a_thread_in_which_the_bot_listens_no_longer_says_so_until_it_is_mentioned(
    page: Page, playground: Playground
) -> None:
    note = "document.querySelector('#status').innerText"
    root = await scenes.say(playground, scenes.MAYA, f"{scenes.BOT} tell me a joke")
    await scenes.turns(playground, "answered")
    await scenes.open_thread(page, root)
    await page.until(f"document.querySelector('#thread .message:nth-of-type(2)') && {_REPLY}.value === ''")
    await scenes.say(playground, scenes.MAYA, "stop listening", root)
    await page.until(
        f"{note} === 'slack_bot does not read along in this thread. Mention it, and it does again.'"
    )
    assert await page.value(f"{_REPLY}.value") == "@slack_bot "
    await page.reload()
    await page.until(f"document.body?.dataset.ready && {note}.includes('does not read along')")
    assert await page.value(f"{_REPLY}.value") == "@slack_bot "
    await page.click("#say-reply textarea")
    await page.type("tell me a joke")
    await page.enter()
    await page.until(f"{note} === '' && {_REPLY}.value === ''")
