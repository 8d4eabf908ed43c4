"""Emoji on the playground's page: names that are completed, a panel to choose from, reactions; with a font
for them and without one.
"""

from __future__ import annotations

import pytest

from slack_bot.playground.server import Playground
from slack_bot.playground.visitor import CHANNEL
from tests.playground import scenes

from .chromium import Page
from .visitor import picture, text_of

FIELD = "document.querySelector('#say-root textarea')"
NAMES = "[...document.querySelectorAll('#say-root .names:not([hidden]) li')].map((one) => one.innerText)"
FOCUS = "document.activeElement"
REACTIONS = "[...document.querySelectorAll('#roots .reactions button')].map((one) => [one.parentElement.dataset.emoji, one.innerText.trim(), one.ariaPressed])"  # noqa: E501
# What decides whether there is a font: a sign that is drawn in colour.
_WITHOUT_FONT = "CanvasRenderingContext2D.prototype.getImageData = () => ({data: new Uint8ClampedArray(4)})"
_WITH_FONT = _WITHOUT_FONT.replace("new Uint8ClampedArray(4)", "new Uint8ClampedArray([9, 0, 0, 255])")


async def alone(page: Page) -> None:
    """An empty field of the channel."""
    await page.click("#say-root textarea")
    await page.value(f"{FIELD}.value = ''")


async def shown(page: Page, text: str) -> str:
    """The markup of a message with this text."""
    ts = await page.value("document.querySelector('#roots .message:last-of-type')?.dataset.ts ?? ''")
    last = "document.querySelector('#roots .message:last-of-type')"
    await alone(page)
    await page.type(text)
    await page.enter()
    await page.until(f"{last} && {last}.dataset.ts !== '{ts}' && {FIELD}.value === '@slack_bot '")
    return str(await page.value(f"{last}.querySelector('.md').innerHTML"))


async def test_a_name_after_a_colon_is_completed_by_keys(page: Page, playground: Playground) -> None:
    await alone(page)
    await page.type("fine :t")
    assert await page.value(NAMES) == [], "from two letters on"
    await page.type("hu")
    assert (await page.value(NAMES))[:2] == [":thumbsup:", ":thumbsdown:"]
    await picture(page, "emoji-names")
    await page.press("ArrowDown", 40)
    chosen = "document.querySelector('#say-root .names [aria-selected=true]').innerText"
    assert await page.value(chosen) == ":thumbsdown:"
    assert await page.value(
        f"document.getElementById({FIELD}.getAttribute('aria-activedescendant')).innerText"
    )
    await page.press("ArrowUp", 38)
    await page.enter()
    assert await page.value(f"{FIELD}.value") == "fine :thumbsup: "
    assert not playground.workspace.history(CHANNEL), "Enter chose, and did not send"
    await page.type(":tad")
    await page.press("Tab", 9)
    assert await page.value(f"{FIELD}.value") == "fine :thumbsup: :tada: "
    await page.type("at 10:30 or :ta")
    assert len(await page.value(NAMES)) > 1
    await page.press("Escape", 27)
    assert await page.value(NAMES) == []
    await page.enter()
    await page.until("document.querySelector('#roots .message')")
    (message,) = playground.workspace.history(CHANNEL)
    assert message.text == "fine :thumbsup: :tada: at 10:30 or :ta"
    labels = "[...document.querySelectorAll('#roots .md [role=img]')].map((one) => one.ariaLabel)"
    assert await page.value(labels) == ["thumbsup", "tada"]


async def test_only_names_of_emoji_outside_of_code_are_emoji(page: Page) -> None:
    said = await shown(
        page, "a :tada:, (:x:) `:tada:` :nosuch: 1:100:2 a:tada:b http://a.b/:tada:/c :tada::x:"
    )
    assert said.count("<svg") == 4, said
    assert "<code>:tada:</code>" in said and ":nosuch: 1:100:2 a:tada:b" in said


@pytest.mark.parametrize(
    ("has_font", "read"),
    [
        (False, [":clap:", ":clap:"]),  # the others are drawings
        (True, ["\N{CLAPPING HANDS SIGN}", "\N{PARTY POPPER}"] * 2),
    ],
)
async def test_where_there_is_no_font_an_emoji_is_drawn_or_is_its_name(
    page: Page, has_font: bool, read: list[str]
) -> None:
    source = _WITH_FONT if has_font else _WITHOUT_FONT
    script = await page.send("Page.addScriptToEvaluateOnNewDocument", source=source)
    await page.reload()
    await page.until("document.body?.dataset.ready")
    await page.send("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])
    await shown(page, "well done :clap: :tada: \N{CLAPPING HANDS SIGN} \N{PARTY POPPER}")
    text = await text_of(page, "#roots .message .md")
    assert text.split() == ["well", "done", *read]
    drawings = await page.value("document.querySelectorAll('#roots .message .md svg').length")
    assert drawings == (0 if has_font else 2)
    await page.value("document.querySelector('#say-root [data-emoji]').click()")
    offered = await page.value("document.querySelectorAll('.picker [role=option]').length")
    names = (
        "[...document.querySelectorAll('.picker [role=option]')].filter((one) => one.innerText.includes(':'))"
    )
    assert (offered > 200) is has_font and offered > 90
    assert await page.value(f"{names}.length") == 0, "what cannot be shown is not offered"


async def test_an_emoji_is_found_and_chosen_by_keys(page: Page) -> None:
    await page.click("#say-root textarea")
    await page.type("good  work")
    await page.value(f"{FIELD}.setSelectionRange(16, 16)")  # behind "@slack_bot good "
    await page.value("document.querySelector('#say-root [data-emoji]').focus()")
    await page.enter()
    await page.until("document.querySelector('.picker')?.matches(':popover-open')")
    await picture(page, "emoji-picker")
    assert await page.value(f"{FOCUS}.ariaLabel") == "Search emoji"
    marked = "document.querySelector('.picker [aria-selected=true]')"
    first = await page.value(f"{marked}.dataset.name")
    for key, code in (("ArrowDown", 40), ("ArrowRight", 39), ("ArrowLeft", 37), ("ArrowUp", 38)):
        await page.press(key, code)
    assert await page.value(f"{marked}.dataset.name") == first
    await page.type("roc")
    await page.until(f"{marked}?.dataset.name === 'rocket'")
    assert await page.value(
        f"document.getElementById({FOCUS}.getAttribute('aria-activedescendant')) === {marked}"
    )
    await page.value(f"{FOCUS}.select()")
    await page.type("heart")  # a whole name goes before those that only begin so
    await page.until(f"{marked}?.dataset.name === 'heart'")
    await page.value(f"{FOCUS}.select()")
    await page.type("roc")
    await page.until(f"{marked}?.dataset.name === 'rocket'")
    await page.enter()
    assert await page.value(f"{FIELD}.value") == "@slack_bot good :rocket:  work"
    assert await page.value(f"{FOCUS} === {FIELD}")
    await page.until("!document.querySelector('.picker')")
    await page.value("document.querySelector('#say-root [data-emoji]').click()")
    await page.type("qqq")
    assert "No emoji here is called “qqq”" in await text_of(page, ".picker")
    await page.press("Escape", 27)
    await page.until("!document.querySelector('.picker')")
    assert await page.value(f"{FOCUS}.matches('#say-root [data-emoji]')")
    assert await page.value(f"{FIELD}.value") == "@slack_bot good :rocket:  work"


async def test_the_button_of_the_panel_closes_it_too(page: Page) -> None:
    for is_open in (True, False, True):
        await page.click("#say-root [data-emoji]")
        await page.until(
            f"Boolean(document.querySelector('.picker:popover-open')) === {str(is_open).lower()}"
        )
    await page.click("#place-title")
    await page.until("!document.querySelector('.picker')")


async def test_a_reaction_is_added_by_the_panel_and_goes_by_a_click(
    page: Page, playground: Playground
) -> None:
    ts = await scenes.say(playground, scenes.JONAS, "lunch?")
    playground.workspace.react(scenes.PRIYA, CHANNEL, ts, "eyes", now=float(ts) + 1)
    await page.until(f"{REACTIONS}.length === 1")
    await page.value("document.querySelector('#roots [data-deed=react]').focus()")
    await page.enter()
    await page.type("tada")
    await page.enter()
    await page.until(f"{REACTIONS}.length === 2")
    assert await page.value(REACTIONS) == [["eyes", "1", "false"], ["tada", "1", "true"]]
    await page.click("#roots [data-emoji=eyes] button")
    await page.until(f"{REACTIONS}[0][1] === '2'")
    title = "document.querySelector('#roots [data-emoji=eyes] button').title"
    assert await page.value(title) == "You and Priya reacted with :eyes:"
    await page.click("#roots [data-emoji=tada] button")
    await page.until(f"{REACTIONS}.length === 1")
    message = playground.workspace.history(CHANNEL)[0]
    assert message.reactions == {"eyes": (scenes.PRIYA, scenes.MAYA)}
    await picture(page, "reactions")


async def test_a_message_of_a_few_emoji_is_large(page: Page) -> None:
    for text, is_large in ((":tada: :rocket:", True), (":tada: yes", False), (":nosuch:", False)):
        await shown(page, text)
        last = "document.querySelector('#roots .message:last-of-type .md')"
        assert await page.value(f"{last}.classList.contains('large')") is is_large, text
