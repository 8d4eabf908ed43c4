"""The playground's page under load and in trouble: it stays live, and what a visitor typed is never lost."""

from __future__ import annotations

import pytest

from slack_bot.playground.server import Playground, open_playground
from slack_bot.playground.visitor import CHANNEL
from slack_bot.settings.models import ReferenceSettings

from .chromium import Browser, Page
from .visitor import ANSWER, SEALED, choose_turn, look_inside, mention, outcome, picture, text_of

FIELD = "document.querySelector('#say-root textarea')"
NOTES = "[...document.querySelectorAll('.lane .row')].map((row) => row.querySelector('.note').innerText)"
LANES = """import('/page/lanes.js').then(({Lanes}) => {
  document.body.innerHTML = '<div id="box"></div>';
  const box = document.getElementById('box');
  const shown = new Lanes(box, ['events']);
  const same = {lane: 'events', turn: 't', time: '0', raw: {}};
  const row = (number) => ({...same, name: `e${number}`, note: `n${number}`});
  const look = () => [...box.querySelectorAll('.lane-events .row .note')].map((one) => one.textContent);
  return (%s)(shown, row, look, box);
})"""


async def layouts(page: Page) -> float:
    metrics = (await page.send("Performance.getMetrics"))["metrics"]
    return float(next(one["value"] for one in metrics if one["name"] == "LayoutCount"))


@pytest.mark.slow
async def test_an_answer_costs_a_layout_a_frame_and_not_one_a_fact(page: Page) -> None:
    await page.send("Performance.enable")
    before = await layouts(page)
    await mention(page, "what is agntcy")
    await outcome(page, "answered")
    await page.until(SEALED)
    spent = await layouts(page) - before
    events = int(await text_of(page, ".lane-events .count"))
    assert events > 400
    assert spent < events * 0.75, f"{spent} layouts for {events} events"


async def test_grouped_rows_keep_their_count_and_text_when_drawn_again(page: Page) -> None:
    await mention(page, "tell me a joke")
    await outcome(page, "answered")
    await look_inside(page)
    live = await page.value(NOTES)
    assert any(note.startswith("×") and "There are two hard things" in note for note in live)
    for turn in ("all", "follow"):
        await choose_turn(page, turn)
        assert await page.value(NOTES) == live


async def test_a_lane_shows_its_last_rows_and_earlier_ones_on_demand(page: Page) -> None:
    shown = await page.value(
        LANES
        % """(lanes, row, look, box) => {
          for (let number = 0; number < 1000; number += 1) lanes.add(row(number));
          lanes.draw();
          const seen = [look()];
          box.querySelector('.lane-events .earlier').click();
          seen.push(look());
          lanes.add(row(1000));
          lanes.draw();
          seen.push(look());
          return [seen, box.querySelector('.earlier').innerText, box.querySelector('.count').textContent];
        }"""
    )
    (first, more, later), button, count = shown
    assert first == [f"n{number}" for number in range(800, 1000)]
    assert more == [f"n{number}" for number in range(600, 1000)]
    assert later == [f"n{number}" for number in range(601, 1001)]
    assert (button, count) == ("Show earlier (601 more)", "1001")


async def test_an_opened_row_lists_what_comes_and_not_more_than_it_can_hold(page: Page) -> None:
    listed = await page.value(
        LANES
        % """async (lanes, row, look, box) => {
          lanes.add(row(1));
          lanes.draw();
          box.querySelector('.row').open = true;
          await new Promise((done) => box.querySelector('.row').addEventListener('toggle', done));
          const sizes = [box.querySelectorAll('.raw').length];
          for (const many of [9, 1000]) {
            for (let time = 0; time < many; time += 1) lanes.add(row(1));
            lanes.draw();
            sizes.push(box.querySelectorAll('.raw').length);
          }
          return [sizes, look()];
        }"""
    )
    assert listed == [[1, 10, 300], ["×1010 n1"]]


async def test_a_lost_connection_is_said_and_nothing_typed_is_lost(browser: Browser) -> None:
    async with open_playground(chosen=ReferenceSettings(pace=0)) as first:
        page = await browser.open(first.url, 1280, 800)
        await page.until("document.body.dataset.ready")
        await mention(page, "tell me a joke")
        await outcome(page, "answered")
        await page.click("#say-reply textarea")
        await page.type("and another")
        port = int(first.url.rstrip("/").rsplit(":", 1)[1])
    await page.until("!document.querySelector('#link').hidden")
    assert await text_of(page, "#link") == "Connection lost, reconnecting…"
    await mention(page, "what is agntcy")
    assert await page.value(f"{FIELD}.value") == "@slack_bot what is agntcy"
    assert "Not connected" in await text_of(page, "#say-root .hint")
    closed = await page.value(
        "[...document.querySelectorAll('.composer [type=submit], #chips button, #thread .feedback, #pick')]"
        ".map((one) => one.disabled)"
    )
    assert len(closed) > 8
    assert all(closed)
    await picture(page, "lost")
    await page.drop_file("later.sse", "data: {}")
    await page.until("document.querySelector('#notice').innerText.includes('when the connection is back')")
    async with open_playground(port=port, chosen=ReferenceSettings(pace=0)) as second:
        await page.until("document.querySelector('#link').hidden")
        await page.until("document.querySelector('#roots').innerText.includes('Replay of later.sse')")
        # The thread is gone with the first playground; what was written in it goes on in the channel.
        assert await page.value(f"{FIELD}.value") == "@slack_bot what is agntcy\nand another"
        await page.click("#say-root [type=submit]")
        await outcome(page, "answered")
        await page.until(f"{FIELD}.value === '@slack_bot '")
        replayed, asked = sorted(second.workspace.history(CHANNEL), key=lambda message: message.ts)
        assert "later.sse" in replayed.text
        assert "and another" in asked.text


_LATE = """(() => {
  const answered = new Promise((done) => { window.answer = done; });
  window.WebSocket = class extends WebSocket {
    addEventListener(kind, run) {
      super.addEventListener(kind, kind === "message" ? (event) => answered.then(() => run(event)) : run);
    }
  };
})()"""


async def early(page: Page) -> None:
    """Load the page anew; the playground's first word comes with `window.answer()`."""
    await page.send("Page.addScriptToEvaluateOnNewDocument", source=_LATE)
    await page.reload()
    await page.until(f"window.answer && {FIELD} && document.querySelector('#say-root [type=submit]')")
    await page.click("#say-root textarea")


async def test_what_is_typed_before_the_connection_stays_with_its_caret(
    page: Page, playground: Playground
) -> None:
    await early(page)
    assert await text_of(page, "#roots") == "Connecting…"
    await page.type("tell a joke")
    for _ in range(len("a joke")):
        await page.press("ArrowLeft", 37)
    await page.value("window.answer()")
    await page.until("document.body.dataset.ready")
    assert "Connecting…" not in await text_of(page, "#roots")
    assert await page.value(f"{FIELD}.value") == "@slack_bot tell a joke"
    await page.type("me ")
    assert await page.value(f"{FIELD}.value") == "@slack_bot tell me a joke"
    assert playground.workspace.history(CHANNEL) == []
    await page.enter()
    await outcome(page, "answered")


@pytest.mark.parametrize("typed", ["tell me a joke", "@slack_bot tell me a joke"])
async def test_enter_before_the_connection_is_said_and_kept(
    page: Page, playground: Playground, typed: str
) -> None:
    await early(page)
    await page.type(typed)
    await page.enter()
    assert "Not connected yet" in await text_of(page, "#say-root .hint")
    assert await page.value(f"{FIELD}.value") == typed
    await page.value("window.answer()")
    await outcome(page, "answered")
    assert [message.text for message in playground.workspace.history(CHANNEL)] == ["<@U0BOT> tell me a joke"]
    await page.until(f"{FIELD}.value === '@slack_bot '")
    assert await text_of(page, "#say-root .hint") == ""


async def test_who_goes_on_typing_after_an_early_enter_sends_by_hand(
    page: Page, playground: Playground
) -> None:
    await early(page)
    await page.type("tell me")
    await page.enter()
    await page.type(" a joke")
    await page.value("window.answer()")
    await page.until("document.body.dataset.ready")
    assert await page.value(f"{FIELD}.value") == "@slack_bot tell me a joke"
    assert playground.workspace.history(CHANNEL) == []


async def test_a_refused_message_stays_in_the_field(page: Page) -> None:
    await page.click("#say-root textarea")
    await page.value(f"{FIELD}.value = '@slack_bot ' + 'x'.repeat(12001)")
    await page.enter()
    await page.until("document.querySelector('#notice').innerText.includes('12,000 characters')")
    assert await page.value(f"{FIELD}.value.length") == 12_012


async def test_a_mention_alone_is_kept_and_hinted_at(page: Page) -> None:
    await page.click("#say-root textarea")
    await page.enter()
    await page.until("document.querySelector('#say-root .hint').innerText")
    assert await text_of(page, "#say-root .hint") == "Write your question after @slack_bot."
    assert await page.value(f"{FIELD}.value") == "@slack_bot "
    await picture(page, "hint")
    await page.type("tell me a joke")
    assert await text_of(page, "#say-root .hint") == ""
    await page.enter()
    await outcome(page, "answered")


async def test_what_is_typed_while_a_message_is_on_its_way_stays(page: Page) -> None:
    await page.click("#say-root textarea")
    await page.type("tell me a joke")
    await page.value(
        "(() => { document.querySelector('#say-root').requestSubmit();"
        f" {FIELD}.value += ' and more'; document.querySelector('#say-root').requestSubmit(); }})()"
    )
    await outcome(page, "answered")
    assert await page.value(f"{FIELD}.value") == " and more"
    assert await page.value("document.querySelectorAll('#roots .message').length") == 1


async def test_each_place_keeps_its_draft(page: Page) -> None:
    await page.click("#say-root textarea")
    await page.type("half a question")
    await page.click("#places [data-kind=im]")
    await page.until(f"{FIELD}.value === ''")
    await page.click("#places [data-channel=C0GENERAL]")
    await page.until(f"{FIELD}.value === '@slack_bot half a question'")


COVERED = (
    "(() => { const one = document.querySelector('#notice').getBoundingClientRect();"
    " return [...document.querySelectorAll('button, textarea, select, .pane')].filter((other) => {"
    " const box = other.getBoundingClientRect(), isSeen = !other.closest('.skips:not(:focus-within)');"
    " return isSeen && box.width && box.left < one.right"
    " && box.right > one.left && box.top < one.bottom && box.bottom > one.top; }).length; })()"
)
"""How many things that can be used, or panes, the notice lies over."""


async def test_a_notice_covers_nothing(page: Page) -> None:
    await page.drop_file("broken.json", "[{")
    await page.until("document.querySelector('#notice').innerText.includes('broken.json')")
    for width in (400, 1280):
        await page.size(width, 800)
        await picture(page, f"notice-{width}")
        assert await page.value(COVERED) == 0
        assert await page.value("document.documentElement.scrollHeight <= innerHeight")


async def test_a_failed_plan_says_one_thing_about_how_far_it_came(page: Page) -> None:
    await mention(page, "fail")
    await outcome(page, "failed")
    await page.until(f"document.querySelector('{ANSWER} .plan[data-state=failed]')")
    await picture(page, "failed")
    assert (await text_of(page, f"{ANSWER} .plan summary")).strip() == "0 of 2 steps done, 1 failed"


async def test_a_retry_that_was_used_shows_as_used(page: Page) -> None:
    await mention(page, "fail")
    await outcome(page, "failed")
    await page.click("#people [title='Be Jonas']")  # who did not ask may not ask again
    await page.until("!document.querySelector('#thread [data-action=retry]')")
    await page.click("#people [title='Be Maya']")
    await page.click("#thread [data-action=retry]")
    await page.until("document.querySelectorAll('#thread [data-action=retry]').length === 2")
    await picture(page, "retried")
    buttons = await page.value(
        "[...document.querySelectorAll('#thread [data-action=retry]')]"
        ".map((one) => [one.disabled, one.innerText])"
    )
    assert buttons == [[True, "Asked again"], [False, "Try again"]]


async def test_feedback_that_changes_is_thanked_for_once(page: Page, playground: Playground) -> None:
    thanks = "document.querySelector('#thread .private')"
    await mention(page, "tell me a joke")
    await page.until(SEALED)
    await page.click("#thread .feedback[data-value^=positive]")
    first = await page.until(f"{thanks}?.dataset.ts")
    await page.click("#thread .feedback[data-value^=negative]")
    await page.click("#modal [type=submit]")
    await page.until("!document.querySelector('#modal').open")
    await page.until(f"{thanks}?.dataset.ts > '{first}'")
    await picture(page, "thanked")
    assert await page.value("document.querySelectorAll('#thread .private').length") == 1
    root = playground.workspace.history(CHANNEL)[0].ts
    said = [one.text for one in playground.workspace.thread(CHANNEL, root) if one.ephemeral_for]
    assert said == ["Thanks for your feedback."] * 2
