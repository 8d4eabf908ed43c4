"""The playground's three agents on its page, in a real Chromium: who answers, a choice by buttons, a sign-in
at the bundled authorization server, also as the wrong person, and the Home tab.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from slack_bot.playground.server import Playground

from .chromium import Browser, Page
from .visitor import mention, picture, text_of

AUTHORS = "[...document.querySelectorAll('#thread .message')].map((one) => one.dataset.by)"
SIGN_IN = "#roots .message.private [data-action]"


async def settled(page: Page, author: str) -> None:
    """Wait until the last answer in the thread is this one's, and whole."""
    last = "document.querySelector('#thread .message:last-child')"
    await page.until(
        f"{last}?.dataset.by === '{author}' && ['sealed', 'posted'].includes({last}.dataset.state)"
    )


async def say_alone(page: Page, playground: Playground, text: str) -> None:
    """Ask in Maya's direct message."""
    await page.click(f"#places [data-channel={playground.workspace.direct('U0MAYA')}]")
    await page.click("#say-root textarea")
    await page.type(text)
    await page.enter()


@asynccontextmanager
async def login_page(browser: Browser, page: Page) -> AsyncIterator[Page]:
    """Press the link in the private message, and go to where it leads: in Slack that is another tab."""
    await page.until(f"document.querySelector('{SIGN_IN}')")
    await page.value("window.open = (url) => { window.asked = url; }")
    await page.click(SIGN_IN)
    opened = await browser.open(await page.until("window.asked"), 1440, 900)
    await opened.until("document.querySelector('[name=decision]')")
    yield opened
    await page.send("Page.bringToFront")


async def decide(login: Page, account: str | None = None, decision: str = "allow") -> str:
    """Choose an account (None: the offered one) and a button. Returns what the page says in the end."""
    if account is not None:
        await login.click(f"[name=account][value={account}]")
    await login.follow(f"[name=decision][value={decision}]")
    return await text_of(login, "body")


async def test_two_agents_answer_in_one_channel_under_their_own_names(page: Page) -> None:
    await mention(page, "what is agntcy")
    await settled(page, "slack_bot")
    assert await page.value("document.querySelector('#thread .message:last-child .face .emoji')") is None
    await mention(page, "travel: Berlin in spring")
    await page.until("document.querySelector('#thread [data-action=form_fill]')")
    await settled(page, "Travel")
    assert await page.value("document.querySelector('#thread .message:last-child .face .emoji') !== null")
    await picture(page, "two-agents")


async def test_a_question_for_two_agents_is_decided_by_a_button(page: Page, playground: Playground) -> None:
    await mention(page, "Tickets for Lisbon")
    await page.until("document.querySelectorAll('#thread [data-action^=choose_agent]').length === 2")
    await picture(page, "choice")
    await page.click("#thread [data-action^=choose_agent]")
    await settled(page, "Travel")
    await page.until("document.querySelector('#thread [data-action=form_fill]')")
    assert await page.value(AUTHORS) == ["Maya", "slack_bot", "Travel"]


async def test_a_person_signs_in_and_the_question_goes_on(
    browser: Browser, page: Page, playground: Playground
) -> None:
    await say_alone(page, playground, "show my tickets")
    async with login_page(browser, page) as login:
        await picture(page, "asked-to-sign-in")
        await picture(login, "sign-in")
        assert "signed in" in await decide(login)
        await picture(login, "signed-in")
    await settled(page, "Tickets")
    await page.until("document.querySelector('#roots').innerText.includes('You are signed in at')")
    assert not await page.value(f"document.querySelector('{SIGN_IN}')")
    await picture(page, "tickets")
    shown = await text_of(page, "#thread .message:last-child")
    assert "Laptop for the Lisbon office" in shown
    assert "room 3.14" not in shown


async def test_the_person_who_pressed_is_offered_first(
    browser: Browser, page: Page, playground: Playground
) -> None:
    await page.value("document.querySelector('#people [title=\"Be Priya\"]').click()")
    await page.click(f"#places [data-channel={playground.workspace.direct('U0PRIYA')}]")
    await page.click("#say-root textarea")
    await page.type("show my tickets")
    await page.enter()
    async with login_page(browser, page) as login:
        chosen = "[...document.querySelectorAll('[name=account]:checked')].map((one) => one.value).join()"
        assert await login.value(chosen) == "priya"
        assert "signed in" in await decide(login)
    await settled(page, "Tickets")
    await page.until("document.querySelector('#roots').innerText.includes('You are signed in at')")
    assert await page.value("document.querySelector('#roots .private .button')") is None


async def test_another_person_s_account_is_refused_and_both_read_why(
    browser: Browser, page: Page, playground: Playground
) -> None:
    await say_alone(page, playground, "show my tickets")
    async with login_page(browser, page) as login:
        told = await decide(login, "jonas")
        await picture(login, "wrong-account")
    assert "You are not the person who asked in Slack" in told
    told = "[...document.querySelectorAll('#roots .message.private')].map((one) => one.innerText).join()"
    await page.until(f"{told}.includes('is not yours')")
    await page.until(
        "document.querySelectorAll('#roots .message.private').length === 1"
    )  # the old one is gone
    shown = await text_of(page, "#roots")
    assert "is not yours" in shown and "T-98" not in shown and "T-104" not in shown
    await picture(page, "wrong-account-told")


async def test_home_lists_the_agents_and_who_is_signed_in(
    browser: Browser, page: Page, playground: Playground
) -> None:
    await say_alone(page, playground, "show my tickets")
    async with login_page(browser, page) as login:
        await decide(login, "maya")
    await settled(page, "Tickets")
    await page.click("[data-tab=home]")
    await page.until("document.querySelector('#home select')")
    await picture(page, "home")
    shown = await text_of(page, "#home")
    for words in ("Travel: Finds", "Ask with “tickets: your question”", "acts with your rights"):
        assert words in shown


async def test_the_words_for_the_bot_and_another_agent_for_the_same_question(
    page: Page, playground: Playground
) -> None:
    for words, told in (("agents", "Shows the open tickets"), ("use travel", "travel answers you here")):
        await say_alone(page, playground, words)
        await page.until(f"document.querySelector('#roots').innerText.includes('{told}')")
    await say_alone(page, playground, "Rome, please")
    await settled(page, "Travel")
    await page.click("#places [data-kind=channel]")
    await mention(page, "tell me a joke")
    await settled(page, "slack_bot")
    await page.click("#thread [data-action=another_agent]")
    await page.until("document.querySelector('#modal').open")
    await page.value("document.querySelector('#modal select').value = 'Travel'")
    await page.value("document.querySelector('#modal select').dispatchEvent(new Event('change'))")
    await picture(page, "another")
    await page.click("#modal [type=submit]")
    await page.until("document.querySelectorAll('#roots .replies:not([hidden])').length === 2")


async def test_what_a_person_reads_before_another_agent_is_asked(page: Page) -> None:
    await mention(page, "tikets: what is agntcy")
    await page.until("document.querySelector('#roots .message.private')")
    assert "Did you mean tickets?" in await text_of(page, "#roots .message.private")
    await picture(page, "name-written-wrong")
    await settled(page, "slack_bot")
    await page.click("#thread [data-action=another_agent]")
    await page.until("document.querySelector('#modal').open")
    await picture(page, "another-agent")
    assert "This begins a new thread here" in await text_of(page, "#modal")


async def test_home_says_that_a_question_waits_for_a_sign_in(page: Page, playground: Playground) -> None:
    await say_alone(page, playground, "show my tickets")
    await page.until(f"document.querySelector('{SIGN_IN}')")
    await page.click("[data-tab=home]")
    await page.until("document.querySelector('#home [data-action=stop_in_home]')")
    shown = await text_of(page, "#home")
    assert "Waits until you sign in at" in shown and "Being answered" not in shown
    await page.value("document.querySelector('#home [data-action=stop_in_home]').scrollIntoView()")
    await picture(page, "home-waits")
