"""The workspace that the playground's page shows: what people know from Slack, by mouse, keys and files."""

from __future__ import annotations

import json
from pathlib import Path

from slack_bot.playground.server import Playground
from slack_bot.playground.visitor import CHANNEL
from slack_bot.playground.workspace import open_workspace
from slack_bot.testing.harness import wait_until
from slack_bot.testing.slack.workspace import BOT_TOKEN
from tests.live_agent import live_agent
from tests.playground import scenes
from tests.playground.test_workspace import answer, ask, bot_of

from .chromium import Browser, Page
from .visitor import choose_turn, look_inside, mention, outcome, picture, text_of

NO_SIDEWAYS = (
    "[...document.querySelectorAll('html, .scroll, .home, dialog[open]')]"
    ".every((one) => one.scrollWidth <= one.clientWidth + 1)"
)
_PASTE = """(() => {
  const data = new DataTransfer();
  data.items.add(new File(["ERROR"], "app.log", {type: "text/plain"}));
  const field = document.querySelector("#say-root textarea");
  field.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
})()"""


async def test_unread_marks_and_the_names_of_people(page: Page, playground: Playground) -> None:
    await scenes.unread(page, playground)
    marks = "[...document.querySelectorAll('#places .unread')].map((one) => one.ariaLabel)"
    assert await page.value(marks) == ["incidents, 1 unread", "slack_bot APP, 1 unread, direct message"]
    offered = "[...document.querySelectorAll('#say-root .names li')].map((one) => one.lastChild.textContent)"
    assert await page.value(offered) == ["slack_bot", "Jonas", "Priya", "River (partner)"]
    await page.type("jo")
    await page.until("document.querySelectorAll('#say-root .names li').length === 1")
    await page.enter()
    await page.type("about it")
    await page.enter()
    await page.until("document.querySelector('#roots .mention + .mention, #roots .message')")
    await page.click("#places [data-channel=C0INCIDENTS]")
    await page.until("document.querySelectorAll('#places .unread').length === 1")
    (message,) = playground.workspace.history(CHANNEL)
    assert message.text == "<@U0BOT> shall we ask <@U0JONAS> about it"


async def test_only_ones_own_messages_are_changed_and_deleted(page: Page, playground: Playground) -> None:
    root = await scenes.say(playground, scenes.MAYA, "lunch, <b>anybody</b>?")
    await scenes.say(playground, scenes.JONAS, "Yes!", root)
    await scenes.open_thread(page, root)
    offers = "[...document.querySelectorAll('#thread .message')].map((one) => one.querySelectorAll('[data-deed=edit], [data-deed=trash]').length)"  # noqa: E501
    await page.until(f"String({offers}) === '2,0'")
    # by keys alone: to the message, along its actions
    await page.value("document.querySelector('#thread').focus()")
    await page.press("ArrowDown", 40)
    focus = "document.activeElement"
    for _ in range(6):
        await page.press("ArrowRight", 39)
        if await page.value(f"{focus}.dataset.deed === 'edit'"):
            break
    await page.enter()
    await page.until(f"{focus}.closest('.rewrite')")
    assert await page.value(f"{focus}.value") == "lunch, <b>anybody</b>?"
    await page.press("End", 35)
    await page.type(" at <noon>")
    await page.enter()
    await page.until("document.querySelector('#thread .edited:not([hidden])')")
    assert playground.workspace.history(CHANNEL)[0].text.endswith("? at &lt;noon&gt;")
    await page.value("document.querySelector('#thread [data-deed=trash]').click()")
    await page.until("document.querySelector('#ask .about')?.innerText.startsWith('lunch, <b>anybody')")
    await page.enter()  # as in Slack, that is Delete
    await page.until(
        "document.querySelector('#thread .message.gone') && document.querySelector('#roots .message.gone')"
    )
    assert await text_of(page, "#thread .gone .md") == "This message was deleted."
    assert await page.value("document.querySelectorAll('.gone .hover button').length") == 0


async def test_the_home_tab_stops_what_runs(page: Page, playground: Playground) -> None:
    await scenes.home(page, playground)
    await picture(page, "home")
    assert (await page.value("location.hash")).endswith("/home")
    await page.click("#home [data-action=stop_in_home]")
    await outcome(page, "stopped")
    await page.click("#tabs [data-tab=messages]")
    await page.click("#tabs [data-tab=home]")
    await page.until("!document.querySelector('#home [data-action=stop_in_home]')")


async def test_what_the_agent_was_sent_stands_beside_the_mention_and_has_an_address(
    page: Page, playground: Playground, browser: Browser
) -> None:
    await scenes.mentioned_in_a_discussion(page, playground)
    sent = await text_of(page, "#sent-parts")
    assert "How does streaming work here?" in sent
    for words in ("Quoted text, not as instruction", "Long ones were cut", "slack.user"):
        assert words in sent
    assert "know nothing" not in await text_of(page, "#thread"), "what is quoted is not searched for"
    turn = await page.value("document.querySelector('#thread .message:nth-of-type(4)').dataset.ts")
    await choose_turn(page, f"T1:{CHANNEL}:{turn}")
    address = await page.value("location.href")
    assert "/T1" in address
    other = await browser.open(address)
    await other.until("document.body.dataset.ready && !document.querySelector('#inside').hidden")
    await other.until("document.querySelector('#sent-parts').textContent.includes('Long ones were cut')")
    assert other.problems == []


async def test_a_failing_question_heals_when_it_is_asked_again(page: Page, playground: Playground) -> None:
    await scenes.failed_and_healed(page, playground)
    await look_inside(page)
    await page.click("#past summary")
    await page.until("document.querySelectorAll('#turns .turn').length === 4")
    await page.press("Escape", 27)
    await page.press("Escape", 27)
    assert await page.value("document.querySelector('#inside').hidden")


async def test_a_modal_shows_what_is_wrong_by_field_and_is_sent(page: Page, playground: Playground) -> None:
    await scenes.form(page, playground)
    await page.until("document.activeElement?.closest('.wrong')")
    wrong = "[...document.querySelectorAll('#modal .wrong')].map((one) => one.dataset.block)"
    assert await page.value(wrong) == ["where", "count", "how", "why"]
    for name, value in (("where", "Staging"), ("count", "2"), ("why", "It is Monday")):
        field = f"document.querySelector('#modal [data-action={name}]')"
        script = f"{field}.value = {json.dumps(value)}; {field}.dispatchEvent(new Event('change'))"
        await page.value(f"(() => {{ {script}; }})()")
    await page.click("#modal [data-action=how] label")
    await page.size(390, 844)
    assert await page.value(NO_SIDEWAYS)
    await page.click("#modal [type=submit]")
    await page.until(
        "!document.querySelector('#modal').open || document.querySelectorAll('#modal .wrong').length === 0"
    )
    opened = playground.visitor.feed.snapshot()["modals"].get(scenes.MAYA, {})
    (view,) = [one["values"] for one in opened.values()] or [None]
    assert view is None or view["how"]["how"]["selected_option"]["text"]["text"] == "Rolling"


async def test_what_is_wrong_with_a_field_is_said_until_the_field_has_what_it_wants(
    page: Page, playground: Playground
) -> None:
    await scenes.form(page, playground)
    wrong = "[...document.querySelectorAll('#modal .wrong')].map((one) => one.dataset.block)"
    said = "[...document.querySelectorAll('#modal .wrong .bad')].map((one) => one.textContent)"
    assert await page.value(said) == [
        "Environment: Please complete this required field: choose one.",
        "Replicas: Please complete this required field: write a number.",
        "Strategy: Please complete this required field: choose one.",
        "Reason: Please complete this required field: write a text.",
    ]
    summary = "#modal .lacking"
    told = "Not sent. Please look at: "
    assert await text_of(page, summary) == f"{told}Environment, Replicas, Strategy, Reason"
    await picture(page, "form-wrong")
    await page.value(
        "(() => { const one = document.querySelector('#modal [data-action=where]'); one.value = 'Staging';"
        " one.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )
    assert "where" not in await page.value(wrong)
    await page.click("#modal [data-action=count]")
    await page.type("0")
    assert "count" in await page.value(wrong), "at least 1 is wanted"
    await page.press("Backspace", 8)
    await page.type("2")
    assert "count" not in await page.value(wrong)
    await page.click("#modal [data-action=how] label")
    await page.click("#modal [data-action=why]")
    await page.type("now")
    assert await page.value(wrong) == ["why"], "five characters are wanted"
    assert await text_of(page, summary) == f"{told}Reason"
    await page.type(" is fine")
    assert await page.value(wrong) == []
    assert await text_of(page, summary) == ""
    assert not await page.value("document.querySelector('#modal [aria-invalid]')")
    await page.value("document.querySelector('#people [title=\"Be Jonas\"]').click()")
    await page.value("document.querySelector('#people [title=\"Be Maya\"]').click()")
    await page.until("document.querySelector('#modal').open")
    assert await page.value(wrong) == [], "it is not said again"


async def test_a_modal_belongs_to_the_page_that_saw_it_open(
    page: Page, playground: Playground, browser: Browser
) -> None:
    is_open = "document.querySelector('#modal').open"
    await scenes.negative_feedback(page, playground)
    await page.reload()
    await page.until("document.body?.dataset.ready")
    assert not await page.value(is_open)
    await page.value("document.querySelector('#thread .feedback[data-value^=negative]').click()")
    await page.until(is_open)
    other = await browser.open(playground.url)
    await other.until("document.body.dataset.ready")
    for name in ("Jonas", "Maya"):
        await scenes.be(other, name)
        assert not await other.value(is_open)
    assert await page.value(is_open)
    # A window that was there already has none either: only that in which the button was pressed.
    await page.click("#modal header button")
    await page.until(f"!{is_open}")
    bad = ".feedback[data-value^=negative]"
    await scenes.open_thread(other, await page.value("document.querySelector('#thread .message').dataset.ts"))
    await other.value(f"document.querySelector('#thread {bad}').click()")
    await other.until(is_open)
    assert not await page.value(is_open)
    await page.value(f"document.querySelector('#thread {bad}').click()")
    await page.until(is_open)
    assert await other.value(is_open), "each has its own"
    await other.click("#modal header button")
    await other.until(f"!{is_open}")
    assert await page.value(is_open)
    assert other.problems == []


async def test_what_is_typed_into_a_form_stays_while_something_changes_elsewhere(
    page: Page, playground: Playground
) -> None:
    await scenes.form(page, playground)
    await page.click("#modal [data-action=why]")
    await page.type("It is Mon")
    workspace = playground.workspace
    home = {"type": "home", "blocks": [{"type": "header", "text": scenes.plain("Changed")}]}
    args = {"user_id": scenes.MAYA, "view": home}
    answer = workspace.call("views.publish", args, now=workspace.state.now, token=BOT_TOKEN, is_json=True)
    assert answer.body["ok"], answer.body
    await scenes.say(playground, scenes.JONAS, "after it")
    await page.until("document.querySelector('#roots').innerText.includes('after it')")
    assert await page.value("document.activeElement.dataset.action") == "why"
    await page.type("day")
    assert await page.value("document.activeElement.value") == "It is Monday"


async def test_what_the_app_refuses_is_said_until_the_field_is_changed(
    page: Page, playground: Playground
) -> None:
    await scenes.form(page, playground)
    for name, value in (("where", "Staging"), ("count", "2"), ("why", "It is Monday")):
        await page.value(
            f"(() => {{ const one = document.querySelector('#modal [data-action={name}]');"
            f" one.value = {json.dumps(value)}; one.dispatchEvent(new Event('change')); }})()"
        )
    await page.click("#modal [data-action=how] label")
    playground.visitor.feed.windows.complain(scenes.MAYA, {"why": "Mondays are frozen."})
    said = "document.querySelector('#modal .wrong .bad')?.textContent"
    await page.until(f"{said} === 'Reason: Mondays are frozen.'")
    await page.click("#modal [data-action=why]")
    await page.type(".")
    await page.until("document.querySelectorAll('#modal .wrong').length === 0")


async def test_a_form_in_a_message_is_filled_in_and_answered_by_its_asker_alone(
    page: Page, playground: Playground
) -> None:
    await scenes.form_of_the_agent(page, playground)
    await page.until("document.querySelectorAll('#thread .form-row').length === 3")
    await scenes.be(page, "Jonas")
    await page.until("!document.querySelector('#thread .button.primary')")
    await scenes.be(page, "Maya")
    await page.until("document.querySelector('#thread .button.primary')")
    for field, given in (("select", "staging"), ("input", "1.2")):
        one = f"document.querySelector('#thread .form-row {field}')"
        await page.value(
            f"(() => {{ {one}.value = '{given}'; {one}.dispatchEvent(new Event('change')); }})()"
        )
    await page.value("document.querySelector('#thread .button.primary').click()")
    await outcome(page, "answered")
    await page.until("document.querySelectorAll('#thread .form-row').length === 0")
    await picture(page, "form-answered")


async def test_every_block_is_drawn_and_none_is_wider_than_a_phone(
    page: Page, playground: Playground
) -> None:
    await scenes.posted(page, playground, scenes.RICH, scenes.TABLE, scenes.DATA_TABLE, *scenes.APPROVAL)
    root = playground.workspace.history(CHANNEL)[0].ts
    scenes.post(playground, root, scenes.chart("bar", "web", "search"), scenes.PIE)
    scenes.post(playground, root, scenes.chart("area", "web"), scenes.chart("line", "web", "mail"))
    await page.until("document.querySelectorAll('#thread .chart svg').length === 4")
    assert "A note <b>of ours</b>" in await text_of(page, "#thread .rich")
    first = "document.querySelector('#thread .data-table tbody td').textContent"
    assert await page.value(first) == "service-0"
    await page.value("document.querySelectorAll('#thread .sort')[1].click()")
    assert await page.value(first) == "service-6"
    assert await page.value("document.querySelectorAll('#thread .data-table tbody tr').length") == 3
    assert await page.value("document.querySelectorAll('#thread .chart rect').length") == 10
    for width in (1024, 390):
        await page.size(width, 844)
        assert await page.value(NO_SIDEWAYS), width
    await page.size(1280, 800)
    await page.value("document.querySelector('#thread [data-action=approve]').click()")
    await page.click("#ask .primary")
    await page.value(
        "(() => { const one = document.querySelector('#thread [data-action=place]');"
        " one.value = 'Production'; one.dispatchEvent(new Event('change')); })()"
    )
    taken = "document.querySelector('#thread [data-action=place]').value === 'Production'"
    assert await page.value(taken)


async def test_files_are_pasted_and_go_with_the_message(page: Page, playground: Playground) -> None:
    await page.click("#say-root textarea")
    await page.value(_PASTE)
    await page.until("document.querySelector('#say-root .attached li')")
    await page.type("look at this, tell me a joke")
    await page.enter()
    await page.until("document.querySelector('#thread .file a')")
    await page.until("!document.querySelector('#say-root .attached li')")
    (message,) = playground.workspace.history(CHANNEL)
    assert [(file.name, file.content) for file in message.files] == [("app.log", b"ERROR")]
    await scenes.files(page, playground)


async def test_light_and_dark_by_a_switch_that_is_kept(page: Page) -> None:
    ground = "getComputedStyle(document.querySelector('.pane')).backgroundColor"
    await page.prefer(prefers_color_scheme="light")
    light = await page.value(ground)
    await page.click("#theme")
    assert await page.value(ground) != light
    await page.reload()
    await page.until("document.body?.dataset.ready")
    assert await page.value(ground) != light
    await page.click("#theme")
    assert await page.value(ground) == light


async def test_suggested_prompts_of_the_direct_message_are_a_click_away(page: Page) -> None:
    await page.click("#places [data-kind=im]")
    chips = "[...document.querySelectorAll('#chips button')]"
    await page.until(f"{chips}.some((one) => one.title === 'How does streaming work?')")
    await picture(page, "prompts")
    await page.click("#chips button")
    await page.until("document.querySelector('#thread .message[data-author=U0BOT]')")


async def test_a_phone_has_the_side_bar_behind_a_button(page: Page) -> None:
    await page.size(390, 844)
    await page.click("#menu")
    await page.click("#people [title='Be Jonas']")
    await page.press("Escape", 27)
    await page.until("!document.body.classList.contains('menu-open')")
    await mention(page, "tell me a joke")
    await outcome(page, "answered")
    assert "Jonas" in await text_of(page, "#thread")
    assert await page.value(NO_SIDEWAYS)


async def test_stop_stands_there_while_a_bot_elsewhere_works(browser: Browser, tmp_path: Path) -> None:
    """`slack-bot workspace`: no facts come of the bot, so what Slack shows tells that it works."""
    async with live_agent() as live, open_workspace() as alone, bot_of(alone, live.url, tmp_path):
        page = await browser.open(alone.url)
        await page.until("document.body.dataset.ready")
        assert "so there is no “Inside the bot”: slack-bot play has that" in await text_of(page, "#where")
        assert await page.value("document.getElementById('inside-open').checkVisibility()") is False
        await picture(page, "bot-elsewhere")
        live.hold = 3
        root = await ask(alone, "held")
        await scenes.open_thread(page, root)
        await page.until("!document.querySelector('#stop').hidden")
        await wait_until(lambda: bool(answer(alone, root)), alone.workspace)
        await page.click("#stop")
        await page.until("document.querySelector('#stop').hidden")
        stopped = [each.stopped_by for each in alone.workspace.thread(CHANNEL, root) if each.is_bot]
        assert scenes.MAYA in stopped
        live.release.set()
        assert page.problems == []
