"""The playground's page without a mouse: every step is a key, from wherever the last one led."""

from __future__ import annotations

import pytest

from .chromium import Page
from .visitor import ANSWER, SEALED, mention, outcome, picture, text_of

FOCUS = "document.activeElement"
ROOT, REPLY = "#say-root textarea", "#say-reply textarea"
CODES = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Home": 36, "End": 35}
CODES |= {"F6": 117, "Escape": 27, "Tab": 9, "PageUp": 33}


async def keys(page: Page, *names: str) -> None:
    """Press keys, one after the other."""
    for name in names:
        if name == "Enter":
            await page.enter()
        elif name == "Space":
            await page.press(" ", 32, " ")
        else:
            key = name.removeprefix("Shift+")
            await page.press(key, CODES[key], shift=key != name)


async def is_on(page: Page, selector: str) -> None:
    """Wait until what has the focus fits."""
    await page.until(f"{FOCUS}.matches({selector!r})", 10)


async def begin(page: Page) -> None:
    """Before the first stop of the page."""
    await page.value(f"{FOCUS}.blur(); document.body.tabIndex = -1; document.body.focus(); 0")
    await page.value("document.body.removeAttribute('tabindex')")


async def test_the_first_stop_leads_to_the_message_field_and_the_second_to_the_thread(page: Page) -> None:
    await begin(page)
    await keys(page, "Tab")
    await is_on(page, "#skip-field")
    await picture(page, "skip")
    assert await page.value(f"{FOCUS}.checkVisibility() && {FOCUS}.offsetWidth > 50")
    await keys(page, "Enter")
    await is_on(page, ROOT)
    await page.type("tell me a joke")
    await keys(page, "Enter")
    await page.until(SEALED)
    await begin(page)
    await keys(page, "Tab", "Tab")
    await is_on(page, "#skip-thread")
    await keys(page, "Enter")
    await is_on(page, "#thread")
    await page.size(390, 844)
    await begin(page)
    await keys(page, "Tab", "Enter")
    await is_on(page, REPLY)


async def test_what_belongs_together_is_one_stop_and_arrows_lead_through_it(page: Page) -> None:
    await begin(page)
    await keys(page, "Tab", "Tab", "Tab")
    await is_on(page, "[data-channel=C0GENERAL]")
    await keys(page, "ArrowDown")
    await is_on(page, "[data-channel=C0INCIDENTS]")
    await keys(page, "End")
    await is_on(page, "[data-kind=im]")
    await keys(page, "Tab")
    await is_on(page, "#inside-open")
    await keys(page, "Tab", "Tab", "Tab", "Tab")
    await is_on(page, "[title='Be Maya']")
    await keys(page, "ArrowDown", "Enter")
    await page.until("document.querySelector('#people [aria-pressed=true]').title === 'Be Jonas'")
    await is_on(page, "[title='Be Jonas']")
    await keys(page, "Tab")
    await is_on(page, "#roots")
    await keys(page, "Tab")
    first = "document.querySelector('#chips button')"
    assert await page.value(f"{FOCUS} === {first}")
    await keys(page, "ArrowRight", "ArrowRight", "ArrowLeft")
    assert await page.value(f"{FOCUS} === {first}.nextSibling")
    await keys(page, "Tab")
    await is_on(page, ROOT)
    await keys(page, "Shift+Tab")
    assert await page.value(f"{FOCUS} === {first}.nextSibling"), "where one was"
    await keys(page, "Enter")
    await page.until("document.querySelector('#thread .message')")


async def test_what_is_typed_beside_the_fields_goes_into_that_of_the_pane(page: Page) -> None:
    await mention(page, "tell me a joke")
    await page.until(SEALED)
    for start, field in (("#thread .message", REPLY), ("#roots", ROOT)):
        await page.value(f"document.querySelector('{start}').focus()")
        await keys(page, "ArrowDown")
        await page.press("h", 72, "h")
        await is_on(page, field)
        assert (await page.value(f"{FOCUS}.value")).endswith("h")
    await begin(page)
    await page.press("i", 73, "i")
    await is_on(page, ROOT)
    await page.click("#faults")
    await page.until("document.querySelector('#fault-panel').open")
    await page.value("document.querySelector('#fault-panel h2').focus()")
    await page.press("x", 88, "x")
    assert (await page.value(f"document.querySelector('{ROOT}').value")).endswith("hi")


async def test_f6_goes_from_pane_to_pane(page: Page) -> None:
    await is_on(page, ROOT)
    await keys(page, "F6")
    await is_on(page, "#places [data-channel=C0GENERAL]")
    await keys(page, "Tab")
    await is_on(page, "#inside-open")
    await keys(page, "Enter", "F6")
    await is_on(page, ROOT)
    await mention(page, "tell me a joke")
    await page.until(SEALED)
    await is_on(page, REPLY)
    await keys(page, "F6", "Shift+F6", "Shift+F6")
    await is_on(page, "#story-tab")
    await keys(page, "ArrowRight")
    await is_on(page, "#raw-tab")
    await keys(page, "Shift+F6")
    await is_on(page, "#places button")


async def test_an_answer_is_asked_stopped_replied_to_and_rated_by_keys(page: Page) -> None:
    await is_on(page, ROOT)
    await page.type("long 9000")
    await keys(page, "Enter")
    await page.until(f"document.querySelector('{ANSWER} .md')?.textContent.length > 100")
    await keys(page, "F6")
    await is_on(page, REPLY)
    await keys(page, "Tab")
    await is_on(page, "#stop")
    await keys(page, "Enter")
    await outcome(page, "stopped")
    await is_on(page, REPLY)
    await page.type("tell me a joke")
    await keys(page, "Enter")
    await outcome(page, "answered")
    await is_on(page, REPLY)
    await keys(page, "Shift+Tab")
    await is_on(page, "#thread [data-action=another_agent]")
    await keys(page, "Shift+Tab")
    await is_on(page, "#thread .feedback[data-value^=negative]")
    await keys(page, "Enter")
    await page.until("document.querySelector('#modal').open")
    await picture(page, "keys-modal")
    await is_on(page, "#modal form *")
    await keys(page, "Escape")
    await page.until("!document.querySelector('#modal').open")
    await is_on(page, "#thread .feedback[data-value^=negative]")
    await keys(page, "Shift+Tab", "Enter")
    await page.until("document.querySelector('#thread .feedback[data-value^=positive][aria-pressed=true]')")
    await is_on(page, "#thread .feedback[data-value^=positive]")


async def test_a_form_is_opened_filled_in_and_sent_by_keys(page: Page) -> None:
    await page.type("plan a release")
    await keys(page, "Enter")
    await outcome(page, "asked")
    await keys(page, "F6", "Shift+Tab")
    await is_on(page, "#thread .actions button")
    await keys(page, "Enter")
    await page.until("document.querySelector('#modal').open")
    await is_on(page, "#modal [data-block=field-0] input")
    await keys(page, "Escape")
    await page.until("!document.querySelector('#modal').open")
    await is_on(page, "#thread .actions button")
    await keys(page, "Enter")
    await is_on(page, "#modal [data-block=field-0] input")
    await page.type("1.4.0")
    await keys(page, "Tab")
    await is_on(page, "#modal [data-block=field-1] select")
    await keys(page, "ArrowDown")
    await page.until(f"{FOCUS}.value")
    for _ in range(40):
        await keys(page, "Tab")
        if await page.value(f"{FOCUS}.matches('#modal [type=submit]')"):
            break
    await keys(page, "Enter")
    await page.until("!document.querySelector('#modal').open")
    await outcome(page, "answered")
    await page.until(f"{FOCUS}.closest('.pane.thread')")


async def test_a_question_is_taken_from_the_menu_by_keys(page: Page) -> None:
    await mention(page, "tell me a joke")
    await page.until(SEALED)
    await keys(page, "Shift+Tab")
    await is_on(page, "#chips .menu > button")
    await keys(page, "Enter")
    await is_on(page, "[role=menuitem]")
    await keys(page, "ArrowDown", "ArrowDown")
    asked = await page.value(f"{FOCUS}.innerText")
    await keys(page, "Enter")
    await page.until(f"document.querySelector('#thread').innerText.includes({asked!r})")


async def test_faults_and_colours_are_chosen_by_keys(page: Page) -> None:
    await keys(page, "F6", "Shift+Tab")
    await is_on(page, "#theme")
    await keys(page, "Enter")
    await page.until("document.documentElement.dataset.theme")
    await is_on(page, "#theme")
    await keys(page, "Tab", "Tab", "Tab")
    await is_on(page, "#faults")
    await keys(page, "Enter")
    await page.until("document.querySelector('#fault-panel').open")
    await keys(page, "Tab")
    await is_on(page, "#agent-away")
    await keys(page, "Space")
    assert await page.value(f"{FOCUS}.checked")
    await keys(page, "Tab")
    await is_on(page, "#cut-after")
    await keys(page, "Enter")
    await page.until("!document.querySelector('#fault-panel').open")
    assert "are on" in await text_of(page, "#faults")
    await is_on(page, "#faults")


@pytest.mark.parametrize("width", [390, pytest.param(1440, marks=pytest.mark.slow)])
async def test_a_long_answer_is_scrolled_by_keys(page: Page, width: int) -> None:
    await page.size(width, 844)
    await mention(page, "long 900" if width < 1000 else "long 1800")
    await outcome(page, "answered")
    await begin(page)
    await keys(page, "Tab", "Tab", "Enter")
    await is_on(page, "#thread")
    top = "document.querySelector('#thread').scrollTop"
    before = await page.value(top)
    await keys(page, "PageUp")
    await page.until(f"{top} < {before}")
