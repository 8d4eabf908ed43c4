"""Finding one's way on the playground's page: addresses, focus, keys, and what stands beside the thread."""

from __future__ import annotations

import pytest

from slack_bot.playground.server import Playground
from slack_bot.playground.visitor import CHANNEL
from tests.playground import scenes

from .chromium import Browser, Page
from .visitor import ANSWER, SEALED, look_at_raw, look_inside, mention, outcome, picture, text_of

FOCUS = "document.activeElement"
READY = "document.body?.dataset.ready"
THREAD = "document.querySelector('#thread').innerText"


async def tab(page: Page) -> None:
    await page.press("Tab", 9)


# -- a finished answer


async def test_the_card_of_a_finished_answer_is_closed_and_says_what_was_done(page: Page) -> None:
    plan = f"document.querySelector('{ANSWER} .plan')"
    await mention(page, "what is agntcy")
    await page.until(f"{plan}?.open && {plan}.dataset.state === 'running'")
    await page.until(SEALED)
    await picture(page, "closed-plan")
    assert await page.value(f"{plan}.open") is False
    assert (await text_of(page, f"{ANSWER} .plan summary")).strip() == "Searched 2 pages"
    await page.click(f"{ANSWER} .plan summary")
    await picture(page, "opened-plan")
    cards = (await text_of(page, f"{ANSWER} .cards")).splitlines()
    assert [line for line in cards if line.strip()] == [
        "Search the knowledge base",
        "Search “what is agntcy”",
        "I'll search the knowledge base.",
        "Read what was found",
        "Read “What AGNTCY is”",
        "Read “How AGNTCY agents communicate”",
        "I found 5 sections on 2 pages.",
        "Write the answer",
    ]


async def test_what_only_one_person_sees_is_no_reply(page: Page) -> None:
    await mention(page, "tell me a joke")
    await page.until(SEALED)
    await page.until("document.querySelector('#roots .replies .count')?.innerText === '1 reply'")
    await page.click("#thread .feedback[data-value^=positive]")
    await page.until("document.querySelector('#thread .private')")
    await picture(page, "private")
    assert await text_of(page, "#roots .replies .count") == "1 reply"


# -- addresses


async def test_a_reload_and_a_second_tab_find_the_thread_again(page: Page, browser: Browser) -> None:
    await mention(page, "tell me a joke")
    await page.until(SEALED)
    await mention(page, "unicode")
    await page.until(f"{THREAD}.includes('unicode')")  # before that, the outcome is the joke's
    await outcome(page, "answered")
    await page.click("#roots .message .replies")  # the first of the two
    await page.until(f"{THREAD}.includes('tell me a joke')")
    address = await page.value("location.href")
    answer = await text_of(page, f"{ANSWER} .md")
    await page.reload()
    await page.until(f"{READY} && document.querySelector('{ANSWER}')")
    assert await text_of(page, f"{ANSWER} .md") == answer
    assert "tell me a joke" in await text_of(page, ".lane-decisions"), "the turn of this thread is shown"
    other = await browser.open(address)
    await other.until(f"{READY} && document.querySelector('{ANSWER}')")
    assert await text_of(other, f"{ANSWER} .md") == answer
    assert other.problems == []


async def test_a_reload_makes_nobody_somebody_else(page: Page) -> None:
    await scenes.be(page, "Jonas")
    await page.reload()
    await page.until(READY)
    assert await page.value("document.querySelector('#people [aria-pressed=true]').title") == "Be Jonas"


async def test_a_thread_of_which_the_page_knows_no_turn_any_more_goes_on_without_a_mention(
    page: Page,
) -> None:
    """The page keeps the last turns; the bot follows a thread for a day."""
    known = """(async () => {
      const { Model } = await import("/page/model.js");
      const now = Date.now() / 1000, model = new Model();
      const [early, late] = [now - 2 * 86400, now - 3600].map((at) => at.toFixed(6));
      const said = (ts, root, author) => ({ channel: "C1", ts, thread_ts: root, author, text: "" });
      model.begin({ channels: [], bot: { user_id: "U0BOT", name: "bot" }, suggestions: {}, now: 0, homes: {},
        modals: {}, people: [], statuses: [], prompts: [], facts: [],
        messages: [early, late].flatMap((ts) => [said(ts, null, "U1"), said(`${ts}1`, ts, "U0BOT")]) });
      return [early, late].map((ts) => model.isPast("C1", ts));
    })()"""
    assert await page.value(known) == [True, False]


async def test_the_browser_s_back_button_leads_to_the_thread_before(page: Page) -> None:
    await mention(page, "tell me a joke")
    await page.until(SEALED)
    await mention(page, "hello")
    await page.until(f"{THREAD}.includes('Hello!')")
    await page.value("history.back()")
    await page.until(f"{THREAD}.includes('tell me a joke')")
    await page.value("history.back()")
    await page.until(f"{THREAD}.includes('No thread is open')")


async def test_a_direct_message_is_found_again_as_the_person_whose_it_is(
    page: Page, browser: Browser
) -> None:
    await page.click("#people [title='Be Jonas']")
    await page.click("#places [data-kind=im]")
    await page.type("tell me a joke")
    await page.enter()
    await page.until(SEALED)
    other = await browser.open(await page.value("location.href"))
    await other.until(f"{READY} && document.querySelector('{ANSWER}')")
    assert await text_of(other, "#people [aria-pressed=true]") == await text_of(
        page, "#people [aria-pressed=true]"
    )
    assert await page.value("Boolean(document.querySelector('#places [data-kind=im][aria-current=page]'))")
    assert await text_of(other, "#thread-place") == "direct message"


@pytest.mark.parametrize("address", ["#C0GENERAL/1.2", "#D9/1.2", "#nothing", "#%E0%A4%A"])
async def test_an_address_of_nothing_opens_the_channel(
    browser: Browser, playground: Playground, address: str
) -> None:
    page = await browser.open(playground.url + address)
    await page.until(READY)
    assert await text_of(page, "#places [aria-current=page]") == "general"
    assert "No thread is open" in await text_of(page, "#thread")
    said = await text_of(page, "#notice")
    assert ("not here any more" in said) == address.startswith(f"#{CHANNEL}")
    assert page.problems == []


# -- what happens inside


async def test_what_the_bot_leaves_alone_is_shown_inside_with_its_reason(page: Page) -> None:
    await page.value("document.querySelector('#say-root textarea').value = 'lunch, anybody?'")
    await page.click("#say-root textarea")
    await page.enter()
    await outcome(page, "ignored")
    await picture(page, "ignored")
    assert "a message that does not mention the bot" in await text_of(page, "#figures")
    assert "a message that does not mention the bot: lunch, anybody?" in await text_of(
        page, ".lane-decisions"
    )
    assert await page.value("document.querySelector('#export').hidden")
    # a reply of somebody else that names nobody, where nobody is waited for
    await mention(page, "tell me a joke")
    await outcome(page, "answered")
    await page.click("#people [title='Be Jonas']")
    await page.value("document.querySelector('#say-reply textarea').value = 'thanks'")
    await page.click("#say-reply textarea")
    await page.enter()
    await outcome(page, "ignored")
    assert "a thread where it needs to" in await text_of(page, "#figures")
    await page.reload()
    await page.until(f"{READY} && document.querySelector('#figures [data-outcome=ignored]')")


# How far the clock moved at most while the counts beside it stood still.
_MOVED = """(() => {
  const values = [...document.querySelectorAll("#figures b")].map((one) => one.innerText);
  const [took, key] = [parseFloat(values[4]), `${values[5]} ${values[6]}`];
  window.clock ??= {};
  window.clock[key] ??= took;
  return took - window.clock[key];
})()"""


async def test_the_clock_of_a_running_turn_runs_while_nothing_comes(page: Page) -> None:
    await mention(page, "slow 20")
    await page.until("document.querySelector('#narration').innerText.includes('Let me think about this')")
    await page.until(f"{_MOVED} > 1")
    await page.click("#stop")
    await outcome(page, "stopped")
    took = "document.querySelectorAll('#figures b')[4].innerText"
    ended = await page.value(took)
    await page.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert await page.value(took) == ended


# -- focus and keys


async def test_choosing_a_conversation_leads_into_its_composer(page: Page) -> None:
    await page.click("#places [data-kind=im]")
    await page.until(f"{FOCUS} === document.querySelector('#say-root textarea')")
    await page.type("hello")
    await page.enter()
    await page.until(f"{THREAD}.includes('Hello!')")
    await page.value("document.querySelector('#places [data-channel=C0GENERAL]').focus()")
    await page.enter()
    await page.until(f"{FOCUS} === document.querySelector('#say-root textarea')")


async def test_no_step_of_a_conversation_loses_the_focus(page: Page) -> None:
    await page.value("document.querySelector('#people [title=\"Be Jonas\"]').focus()")
    await page.enter()
    assert await page.value(f"{FOCUS}.title") == "Be Jonas"
    await page.click("#say-root textarea")
    await page.type("tell me a joke")
    await page.enter()
    await page.until(SEALED)
    await page.value("document.querySelector('#roots .replies').focus()")
    await page.enter()
    assert await page.value(f"{FOCUS} === document.querySelector('#say-reply textarea')")
    await page.value("document.querySelector('#thread .feedback').focus()")
    await page.enter()
    await page.until("document.querySelector('#thread .feedback[aria-pressed=true]')")
    assert await page.value(f"{FOCUS}.matches('.feedback[aria-pressed=true]')")
    await page.value("document.querySelector('#close-thread').focus()")
    await page.enter()
    assert await page.value(f"{FOCUS} === document.querySelector('#say-root textarea')")


async def test_where_one_pane_is_seen_the_focus_follows_the_question_into_its_thread(page: Page) -> None:
    await page.size(420, 800)
    await mention(page, "tell me a joke")
    await page.until(SEALED)
    assert await page.value(f"{FOCUS} === document.querySelector('#say-reply textarea')")


@pytest.mark.parametrize("width", [390, pytest.param(800, marks=pytest.mark.slow)])
async def test_where_a_thread_covers_its_channel_the_channel_s_name_leads_back(
    page: Page, width: int
) -> None:
    back = "document.querySelector('#leave-thread')"
    await mention(page, "tell me a joke")
    await page.until(SEALED)
    assert not await page.value(f"{back}.checkVisibility()"), "the channel stands beside its thread"
    await page.size(width, 800)
    await page.until(f"{back}.checkVisibility()")
    assert (await text_of(page, "#leave-thread"), await page.value(f"{back}.ariaLabel")) == (
        "general",
        "Back to general",
    )
    await picture(page, f"back-{width}")
    await page.value("document.querySelector('#say-reply textarea').focus()")
    await page.value(f"{back}.focus()")
    await page.enter()
    await page.until("document.querySelector('#roots').checkVisibility()")
    assert await page.value(f"{FOCUS} === document.querySelector('#roots .replies')"), "it leads in again"
    await page.enter()
    await page.until(f"{FOCUS} === document.querySelector('#say-reply textarea')")
    await page.press("Escape", 27)
    await page.until(f"{FOCUS} === document.querySelector('#roots .replies')")


async def test_stopping_an_answer_by_key_leads_to_the_reply(page: Page) -> None:
    await mention(page, "long 8000")
    await page.until(f"document.querySelector('{ANSWER} .md')?.textContent.length > 200")
    await page.value("document.querySelector('#stop').focus()")
    await page.enter()
    await outcome(page, "stopped")
    await page.until(f"{FOCUS} === document.querySelector('#say-reply textarea')")


async def test_inside_is_few_stops_of_the_tab_key_and_its_rows_are_reached_by_arrows(page: Page) -> None:
    await mention(page, "fail")
    await outcome(page, "failed")
    assert await page.value("document.querySelectorAll('.inside .row').length") > 10
    await look_inside(page)
    around = ["export", "inside-close"]
    assert await stops_inside(page) == [*around, "story-tab", "SUMMARY", "SUMMARY", "Decisions"]
    await look_at_raw(page)
    assert await stops_inside(page) == [*around, "raw-tab", "Events"]

    await page.value("document.querySelector('.lane-events .scroll').focus()")
    await page.press("Home", 36)
    first = "document.querySelector('.lane-events summary')"
    assert await page.value(f"{FOCUS} === {first}")
    await page.press("ArrowDown", 40)
    assert await page.value(f"{FOCUS} === document.querySelectorAll('.lane-events summary')[1]")
    await page.press("ArrowUp", 38)
    await page.enter()
    await page.until(f"{first}.parentElement.open")
    await page.press("Escape", 27)
    assert not await page.value(f"{first}.parentElement.open")
    assert await page.value(f"{FOCUS} === {first}")
    assert await page.value("!document.querySelector('#close-thread').hidden"), (
        "one thing is closed at a time"
    )
    await page.press("ArrowRight", 39)
    assert await page.value(f"{FOCUS}.ariaLabel") == "Slack calls"
    await page.press("End", 35)
    assert await page.value(f"{FOCUS} === [...document.querySelectorAll('.lane-calls summary')].at(-1)")
    await page.value("document.querySelector('#raw-tab').focus()")
    await tab(page)
    assert await page.value(f"{FOCUS} === [...document.querySelectorAll('.lane-calls summary')].at(-1)")


async def stops_inside(page: Page) -> list[str]:
    """Where the Tab key stops after the list of turns, up to the end of Inside."""
    await page.value("document.querySelector('#past summary').focus()")
    stops = list[str]()
    while True:
        await tab(page)
        if not await page.value(f"Boolean({FOCUS}.closest('.inside'))"):
            return stops
        stops.append(await page.value(f"{FOCUS}.id || {FOCUS}.ariaLabel || {FOCUS}.tagName"))


async def test_the_tabs_of_inside_are_one_stop_and_arrows_lead_from_one_to_the_other(page: Page) -> None:
    await mention(page, "tell me a joke")
    await outcome(page, "answered")
    await page.size(1440, 900)
    await look_inside(page)
    panels = "[...document.querySelectorAll('.inside [role=tabpanel]')]"
    shown = f"{panels}.filter((one) => one.offsetWidth).map((one) => one.id)"
    tabs = "[...document.querySelectorAll('#inside-tabs [aria-selected=true]')]"
    chosen = f"{tabs}.filter((one) => one.tabIndex === 0).map((one) => one.innerText)"
    assert await page.value(f"[{shown}, {chosen}]") == [["story"], ["Story"]]
    for lane in ("decisions", "events", "calls"):
        panel = "story" if lane == "decisions" else "raw"
        assert (
            await page.value(f"document.querySelector('.lane-{lane}').closest('[role=tabpanel]').id") == panel
        )
    await page.value("document.querySelector('#story-tab').focus()")
    for key, code, panel in (
        ("ArrowRight", 39, "raw"),
        ("ArrowRight", 39, "story"),
        ("ArrowLeft", 37, "raw"),
        ("Home", 36, "story"),
        ("End", 35, "raw"),
    ):
        await page.press(key, code)
        assert await page.value(f"[{shown}, {chosen}]") == [[panel], [panel.capitalize()]]
        assert await page.value(f"{FOCUS}.id") == f"{panel}-tab"
    named = f"{panels}.map((one) => one.getAttribute('aria-labelledby'))"
    assert await page.value(named) == ["story-tab", "raw-tab"]


async def test_inside_stands_between_the_channels_and_the_thread_and_is_wide(page: Page) -> None:
    await mention(page, "tell me a joke")
    await outcome(page, "answered")
    await page.size(1440, 900)
    await page.value("document.querySelector('#inside-here').focus()")
    await page.enter()
    parts = "['#side', '#inside', '.pane.thread'].map((one) => document.querySelector(one))"
    places = await page.value(f"{parts}.map((one) => one.getBoundingClientRect().x)")
    assert places == sorted(places)
    assert await page.value("document.querySelector('#inside').offsetWidth") > 600
    assert await page.value(f"{FOCUS}.id") == "inside-here", "the button that closes it again"


async def test_inside_follows_the_conversation_where_no_thread_is_open(page: Page) -> None:
    await mention(page, "tell me a joke")
    await outcome(page, "answered")
    await look_inside(page)
    await page.until("document.querySelector('.lane-decisions .row')")
    await page.value("document.querySelector('#places [data-channel=C0INCIDENTS]').click()")
    await page.until("!document.querySelector('.lane-decisions .row')")


async def test_the_figures_of_a_turn_stand_in_one_line(page: Page) -> None:
    await mention(page, "tell me a joke")
    await outcome(page, "answered")
    await page.size(1440, 900)
    await look_inside(page)
    tops = "new Set([...document.querySelectorAll('#figures div')].map((one) => one.offsetTop)).size"
    assert await page.value(tops) == 1


@pytest.mark.parametrize(
    ("width", "place"),
    [(800, "thread"), (390, "room"), pytest.param(390, "thread", marks=pytest.mark.slow)],
)
async def test_inside_takes_a_narrow_screen_and_leads_back(page: Page, width: int, place: str) -> None:
    await mention(page, "tell me a joke")
    await outcome(page, "answered")
    if place == "room":
        await page.click("#close-thread")
    await page.size(width, 844)
    if place == "room":
        await page.click("#menu")
    opener = "#inside-here" if place == "thread" else "#inside-open"
    await page.value(f"document.querySelector('{opener}').focus()")
    await page.enter()
    panes = "[...document.querySelectorAll('.pane')].filter((one) => one.offsetWidth).map((one) => one.id)"
    assert await page.value(panes) == ["inside"]
    await picture(page, f"inside-{width}-{place}")
    assert await page.value(f"{FOCUS}.id") == "story-tab"
    assert not await page.value("document.querySelector('#inside-close').checkVisibility()")
    name = {"thread": "Thread", "room": "general"}[place]
    assert await text_of(page, "#leave-inside") == name
    await page.value("document.querySelector('#leave-inside').focus()")
    await page.enter()
    await page.until("document.querySelector('#inside').hidden")
    assert await page.value(f"{FOCUS}.id") == {"thread": "inside-here", "room": "menu"}[place]


async def test_a_row_that_leaves_the_page_gives_the_focus_to_its_lane(page: Page) -> None:
    await mention(page, "tell me a joke")
    await outcome(page, "answered")
    await look_at_raw(page)
    await page.value("document.querySelector('.lane-events summary').focus()")
    await page.value("document.querySelector('#chips button[title=\"Fail on purpose\"]').click()")
    await outcome(page, "failed")
    assert await page.value(f"{FOCUS}.ariaLabel") == "Events"


async def test_escape_closes_what_is_open(page: Page) -> None:
    await mention(page, "tell me a joke")
    await page.until(SEALED)
    await page.click("#faults")
    await page.until("document.querySelector('#fault-panel').open")
    await page.press("Escape", 27)
    await page.until("!document.querySelector('#fault-panel').open")
    assert not await page.value("document.querySelector('#close-thread').hidden")
    await page.drop_file("broken.json", "[{")
    await page.until("!document.querySelector('#notice').hidden")
    await page.press("Escape", 27)
    assert await page.value("document.querySelector('#notice').hidden")
    await page.click("#say-reply textarea")
    await page.type("half a thought")
    await page.press("Escape", 27)
    await page.until("document.querySelector('#close-thread').hidden")
    assert await page.value(f"{FOCUS} === document.querySelector('#say-root textarea')")
    await page.click("#roots .replies")
    assert "half a thought" in await page.value("document.querySelector('#say-reply textarea').value")


# -- at a phone's width


FIELD = "document.querySelector('#say-root textarea')"
IS_WHOLE = f"{FIELD}.clientHeight > 20 && {FIELD}.scrollHeight <= {FIELD}.clientHeight"


@pytest.mark.parametrize("way", ["asked", "reloaded"])
async def test_the_channel_s_field_is_whole_when_it_is_seen_again(page: Page, way: str) -> None:
    await page.size(390, 844)
    await mention(page, "tell me a joke")
    await page.until(SEALED)
    if way == "reloaded":
        await page.reload()
        await page.until(f"{READY} && document.querySelector('{ANSWER}')")
    await page.click("#leave-thread")
    await page.until(f"{FIELD}.checkVisibility()")
    await picture(page, f"back-{way}")
    await page.until(IS_WHOLE, 5)
    await page.click("#say-root textarea")
    await page.type("a text of some length that takes two lines at this width")
    await page.click("#roots .replies")
    await page.until(f"!{FIELD}.checkVisibility()")
    await page.size(600, 844)
    await page.click("#leave-thread")
    await page.until(IS_WHOLE, 5)


async def test_the_side_bar_closes_when_a_person_is_chosen(page: Page) -> None:
    await page.size(390, 844)
    await page.click("#menu")
    await page.click("#people [title='Be Jonas']")
    assert not await page.value("document.querySelector('#side').checkVisibility({visibilityProperty: true})")
    await mention(page, "tell me a joke")
    await page.until(SEALED)


async def test_the_side_bar_closes_when_a_question_comes_from_it(page: Page) -> None:
    await page.size(390, 844)
    await page.click("#menu")
    await page.click("#faults")
    await page.click("#fault-demo")
    await page.until("document.querySelector('#thread [data-action=retry]')")
    assert not await page.value("document.querySelector('#side').checkVisibility({visibilityProperty: true})")


# -- a question that is not taken


@pytest.mark.parametrize("width", [390, 1440])
async def test_who_is_refused_is_led_to_where_it_is_said(page: Page, width: int) -> None:
    await page.size(width, 844)
    await page.value("document.querySelector('#people [title=\"Be River (partner)\"]').click()")
    await mention(page, "tell me a joke")
    await page.until("document.querySelector('#roots .private')?.checkVisibility()", 10)
    await picture(page, f"refused-{width}")
    assert await page.value("document.body.dataset.view") == "room"
    assert await page.value(f"{FOCUS} === {FIELD}")
    await look_inside(page)
    await page.until("document.querySelector('#figures [data-outcome=ignored]')")
    assert await page.value("document.querySelector('#thinking').hidden"), "there is none"
