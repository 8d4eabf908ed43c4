"""Faults, cuts and tapes in a real Chromium: what goes wrong is chosen in the page, what came of it kept."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from slack_bot.playground.feed import plain
from slack_bot.playground.replays import PlannedReplay
from slack_bot.playground.server import Playground
from slack_bot.playground.visitor import CHANNEL
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.tape.tape import Tape, read_tape, write_tape
from slack_bot.tools.files import open_capture
from slack_bot.tools.replay.replay import replayed

from .chromium import Browser, Page
from .visitor import ANSWER, SEALED, look_inside, mention, outcome, picture, text_of

_KEEP_FILES = """(() => {
  window.saved = [];
  URL.createObjectURL = (blob) => { blob.text().then((text) => saved.push(text)); return "data:,"; };
  HTMLAnchorElement.prototype.click = function () { window.savedAs = this.download; };
})()"""


async def choose(page: Page, *, cut: int | None = None, faults: str = "") -> None:
    """Say in the panel what shall go wrong."""
    await page.click("#faults")
    for selector, text in (
        ("#cut-after", "" if cut is None else str(cut)),
        ("#fault-panel .fault input", faults),
    ):
        if text:
            await page.click(selector)
            await page.type(text)
    await picture(page, "faults")
    await page.click("#faults-set")
    await page.until("document.getElementById('faults').getAttribute('aria-pressed') === 'true'")


async def saved(page: Page) -> Tape:
    """The tape of the turn that is shown, by the button."""
    await look_inside(page)
    await page.value(_KEEP_FILES)
    await page.click("#export")
    text = await page.until("window.saved.length && window.saved[0]")
    tape = read_tape(str(text), "saved")
    assert isinstance(tape, Tape)
    return tape


def written(playground: Playground) -> list[str]:
    """What the bot wrote in the last thread."""
    root = playground.workspace.history(CHANNEL)[0].ts
    return [message.text for message in playground.workspace.thread(CHANNEL, root) if message.is_bot]


def seen_in(thread: Iterable[Any]) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Each message as a person sees it: its text, its state, its cards."""
    return [
        (message.text, message.state, [(card["title"], card["status"]) for card in map(plain, message.tasks)])
        for message in thread
    ]


async def replayed_texts(tape: Tape) -> list[str]:
    seen = await asyncio.to_thread(replayed, tape)
    return [message.text for message in seen.thread]


async def test_a_tape_of_the_page_replays_to_the_same_thread(page: Page, playground: Playground) -> None:
    await mention(page, "what is agntcy")
    await page.until(SEALED)
    await outcome(page, "answered")
    tape = await saved(page)
    assert "what is agntcy" in tape.head["question"]
    assert await page.value("window.savedAs") == "what-is-agntcy.jsonl"
    root = playground.workspace.history(CHANNEL)[0].ts
    shown = [message for message in playground.workspace.thread(CHANNEL, root) if message.is_bot]
    seen = await asyncio.to_thread(replayed, tape)
    assert seen_in(seen.thread) == seen_in(shown)
    assert len(seen_in(shown)[0][2]) > 1


@pytest.mark.slow
async def test_a_cut_and_a_fault_from_the_page_are_survived_and_are_in_the_tape(
    page: Page, playground: Playground
) -> None:
    await choose(page, cut=25, faults="-, internal_error!, -")
    await mention(page, "what is agntcy")
    await outcome(page, "answered")
    await page.until(SEALED)
    errors = [call.error for call in playground.workspace.calls if call.method == "chat.appendStream"]
    assert errors.count("internal_error") == 1
    failed = "[...document.querySelectorAll('.story .row[data-look=bad]')].map((one) => one.innerText)"
    (told,) = [each for each in await page.value(failed) if "chat.appendStream" in each]
    assert "internal_error" in told, "the story tells what Slack refused"
    await picture(page, "after-faults")
    tape = await saved(page)
    assert [moment.end for moment in tape.moments].count("cut") == 1
    assert tape.head["scenario"] == {"slack_faults": {"chat.appendStream": [None, "internal_error!", None]}}
    assert "".join(await replayed_texts(tape)) == "".join(written(playground))

    await page.click("#faults")
    await page.click("#faults-clear")
    await page.until("document.getElementById('faults').getAttribute('aria-pressed') === 'false'")


@pytest.mark.parametrize(
    ("fault", "told"), [("http:999", "http takes a status"), ("-, timout", "(did you mean 'timeout'?)")]
)
async def test_a_fault_that_does_not_exist_is_told(page: Page, fault: str, told: str) -> None:
    await page.click("#faults")
    await page.click("#fault-panel .fault input")
    await page.type(fault)
    await page.click("#faults-set")
    await page.until(f"document.querySelector('#fault-panel .bad').textContent.includes({json.dumps(told)})")
    assert await page.value("document.getElementById('notice').hidden"), "it is told once"
    assert await page.value("document.getElementById('faults').getAttribute('aria-pressed')") == "false"
    assert await page.value("document.getElementById('fault-panel').open"), "what was typed is still there"
    await picture(page, "refused")


async def test_the_panel_explains_its_written_form_by_an_example_that_it_takes(page: Page) -> None:
    await page.click("#faults")
    example = "[...document.querySelectorAll('#fault-panel code')].at(-1).innerText"
    told = await text_of(page, "#fault-panel")
    assert "refuses the second call for two seconds and no other" in told
    await page.click("#fault-panel .fault input")
    await page.type(await page.value(example))
    chosen = "[...document.querySelectorAll('#fault-panel .fault select')].map((one) => one.selectedOptions[0].text)"  # noqa: E501
    assert (await page.value(chosen))[1:] == ["Slack: wait 2 s", "on the 2nd call"]
    sees = await text_of(page, "#fault-panel .sees")
    assert sees == "What the person sees: The text stands still for two seconds, then it goes on."
    await picture(page, "faults-explained")


# The lists of the panel that are narrower than their longest entry.
_CUT = """[...document.querySelectorAll('#fault-panel select')].filter((one) => {
  const whole = one.cloneNode(true);
  Object.assign(whole.style, {position: "absolute", width: "max-content"});
  one.after(whole);
  const isCut = one.offsetWidth < whole.offsetWidth;
  whole.remove();
  return isCut;
}).map((one) => one.ariaLabel)"""


async def test_the_lists_of_the_panel_show_their_entries_whole(page: Page) -> None:
    await page.click("#faults")
    await page.until("document.querySelector('#fault-panel').open")
    for width in (1440, 800):
        await page.size(width, 900)
        assert await page.value(_CUT) == []


@pytest.mark.parametrize("way", ["Escape", "Cancel"])
async def test_the_panel_opens_with_what_is_in_force(page: Page, way: str) -> None:
    await choose(page, cut=7, faults="-, internal_error")
    await page.until("!document.getElementById('fault-panel').open")
    await page.click("#faults")
    for selector, more in (("#cut-after", "9"), ("#fault-panel .fault input", ", http:999")):
        await page.click(selector)
        await page.press("End", 35)
        await page.type(more)
    await page.click("#faults-set")
    await page.until("document.querySelector('#fault-panel .bad').textContent")
    await page.click("#fault-panel .fault input")
    await page.press("End", 35)
    await page.press("Backspace", 8)
    assert await text_of(page, "#fault-panel .bad") == "", "what is mended is no longer complained of"
    if way == "Escape":
        await page.press("Escape", 27)
    else:
        await page.click("#fault-panel .deeds .button:last-child")
    await page.until("!document.getElementById('fault-panel').open")
    await page.click("#faults")
    fields = "document.querySelectorAll('#fault-panel input:not([type=checkbox])')"
    shown = await page.value(f"[...{fields}].map((one) => one.value)")
    assert shown == ["7", "-, internal_error"]
    assert await text_of(page, "#fault-panel .bad") == ""
    assert await page.value("document.getElementById('notice').hidden")


async def test_a_refusal_outside_the_panel_is_told_in_the_notice(page: Page) -> None:
    await page.click("#say-root textarea")
    await page.type("x" * 13_000)
    await page.enter()
    await page.until("document.getElementById('notice').innerText.includes('A message has 1 to')")


async def test_a_stopped_turn_replays_as_stopped(page: Page, playground: Playground) -> None:
    await mention(page, "long 6000 of List<String> & co")
    await page.until(f"document.querySelector('{ANSWER} .md')?.textContent.length > 100")
    await page.click("#stop")
    await outcome(page, "stopped")
    tape = await saved(page)
    assert tape.head["question"] == "long 6000 of List<String> & co"
    seen = await asyncio.to_thread(replayed, tape)
    result, here = seen.result(), written(playground)
    assert result["outcome"] == "stopped"
    one, other = sorted((result["visible"], here[0]), key=len)
    assert other.startswith(one) and len(one) > 50


async def test_a_tape_that_was_planned_begins_when_the_page_is_opened(
    browser: Browser, playground: Playground, tmp_path: Path
) -> None:
    file = tmp_path / "kept.jsonl"
    file.write_text(write_tape(answer("One planned answer.", seconds=1.0)), "utf-8")
    playground.visitor.planned.append(PlannedReplay("kept.jsonl", open_capture(file), 1.0))
    assert playground.workspace.history(CHANNEL) == []
    page = await browser.open(playground.url)
    await page.until(SEALED)
    assert "One planned answer." in await text_of(page, f"{ANSWER} .md")
    second = await browser.open(playground.url)  # after the replay: its thread is shown
    await second.until(SEALED)
    assert "One planned answer." in await text_of(second, f"{ANSWER} .md")
    await picture(second, "after-the-replay")
    assert len(playground.workspace.history(CHANNEL)) == 1
    assert page.problems == second.problems == []
    assert json.dumps(written(playground)) == '["One planned answer."]'
