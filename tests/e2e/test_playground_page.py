"""The playground's page in a real Chromium: what a visitor sees, does and never sees."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from slack_bot.playground.server import Playground, open_playground
from slack_bot.playground.visitor import CHANNEL
from slack_bot.settings.load import Settings
from slack_bot.testing.overrides import with_overrides
from slack_bot.testing.slack.workspace import BOT_TOKEN
from slack_bot.testing.tape.tape import Tape, read_tape, write_tape
from slack_bot.tools.replay.scenario import make_scenario
from tests.live_agent import live_agent

from .chromium import Browser, Page
from .visitor import ANSWER, QUESTION, SEALED, look_at_raw, look_inside, mention, outcome, picture, text_of

PUBLISHED = Path(__file__).parents[2] / "docs" / "tapes" / "caipe-0.2.41-simple.jsonl"

# Notes whatever showed, however shortly: lengths of the answer, statuses, states of cards, the Stop button.
_WATCH = f"""(() => {{
  window.seen = {{lengths: new Set(), statuses: new Set(), cards: new Set(), stop: new Set()}};
  const look = () => {{
    seen.lengths.add(document.querySelector("{ANSWER} .md")?.textContent.length ?? 0);
    seen.statuses.add(document.getElementById("status").textContent);
    seen.stop.add(!document.getElementById("stop").hidden);
    for (const card of document.querySelectorAll("#thread .card")) seen.cards.add(card.dataset.state);
  }};
  const all = {{subtree: true, childList: true, attributes: true, characterData: true}};
  new MutationObserver(look).observe(document.querySelector(".pane.thread"), all);
}})()"""


async def test_a_mention_is_answered_live(page: Page, playground: Playground) -> None:
    await picture(page, "empty")
    await page.value(_WATCH)
    # The first status stays for at least this time, so that a busy browser draws it too.
    playground.visitor.set_faults(make_scenario({"slack_faults": {"chat.startStream": ["slow:1"]}}))
    await mention(page, QUESTION)
    await page.until(f"document.querySelector('{ANSWER} .md')?.textContent.length > 400")
    await picture(page, "live")
    await page.until(SEALED)
    await outcome(page, "answered")
    await picture(page, "finished")

    seen = await page.value(
        "Object.fromEntries(Object.entries(window.seen).map(([name, values]) => [name, [...values]]))"
    )
    assert "slack_bot is thinking..." in seen["statuses"]
    assert set(seen["cards"]) >= {"running", "done"}
    assert set(seen["stop"]) == {True, False}
    full = await page.value(f"document.querySelector('{ANSWER} .md').textContent.length")
    assert len([length for length in seen["lengths"] if 0 < length < full]) >= 5, seen

    answer = await text_of(page, f"{ANSWER} .md")
    narrated = await text_of(page, "#narration")
    assert "I'll search the knowledge base" in narrated
    assert "I'll search the knowledge base" not in answer
    assert await page.value(f"document.querySelectorAll('{ANSWER} .md :is(h4, table, pre)').length") >= 3
    states = await page.value(
        "[...document.querySelectorAll('#thread .card')].map((card) => card.dataset.state)"
    )
    assert states
    assert set(states) == {"done"}
    assert await page.value("document.querySelector('#stop').hidden")
    assert await text_of(page, "#status") == ""

    first = "[...document.querySelectorAll('#figures div')].find((it) => /first visible/.test(it.innerText))"
    (visible,) = [
        fact["at"] - playground.visitor.feed.snapshot()["facts"][0]["at"]
        for fact in playground.visitor.feed.snapshot()["facts"]
        if fact["kind"] == "visible"
    ]
    assert await page.value(f"{first}.lastElementChild.innerText") == f"{visible:.2f} s"

    root = playground.workspace.history(CHANNEL)[0].ts
    written = playground.workspace.thread(CHANNEL, root)[-1].text
    words = "".join(char for char in answer if char.isalnum())
    assert words == "".join(char for char in await _as_read(page, written) if char.isalnum())


async def _as_read(page: Page, markdown: str) -> str:
    """What a renderer of the whole text makes of it, in one go."""
    return str(
        await page.value(
            "import('/page/markdown.js').then(({show}) => { const box = document.createElement('div');"
            f" document.body.append(box); show(box, {json.dumps(markdown)}); const text = box.innerText;"
            " box.remove(); return text; })"
        )
    )


async def test_the_lanes_show_what_happened_and_why(page: Page) -> None:
    await mention(page, "tell me a joke")
    await outcome(page, "answered")
    for lane, word in (
        ("events", "final_result"),
        ("decisions", "AppendText"),
        ("calls", "chat.startStream"),
    ):
        assert word in await text_of(page, f".lane-{lane}")
    story = await text_of(page, ".lane-decisions")
    for words in ("ids noted", "text added", "marked by the agent as the answer (is_final_answer on"):
        assert words in story
    assert "latched" not in story
    names = "[...document.querySelectorAll('.lane-decisions .named')].map((one) => one.innerText)"
    assert {"SaveIds", "AppendText", "EndTurn"} <= set(await page.value(names))
    assert await page.value(
        "[...document.querySelectorAll('.lane-decisions summary:has(.named)')].every((one) => one.title)"
    )
    assert "first sign of life" in await text_of(page, "#figures")
    await look_at_raw(page)
    await page.click(".lane-events .row:last-child summary")
    await page.until("document.querySelector('.lane-events .row:last-child pre')?.textContent.includes('{')")
    # Another turn in another thread: the lanes follow, or show the one that was chosen.
    await page.click("#inside-close")
    await mention(page, "fail")
    await outcome(page, "failed")
    assert "chat.startStream" in await text_of(page, ".lane-calls")
    await look_inside(page)
    await page.click("#past summary")
    await page.click("#turns .turn:last-child")
    await outcome(page, "answered")
    assert "tell me a joke" in await text_of(page, ".lane-decisions")


def told_slack(playground: Playground, method: str, **args: Any) -> dict[str, Any]:
    """What the bot could do in the thread of the first question, done from outside."""
    workspace, is_json = playground.workspace, method != "files.getUploadURLExternal"
    root = workspace.history(CHANNEL)[0]
    where = {"thread_ts": root.ts} if is_json else {}
    answer = workspace.call(
        method, {**args, **where}, now=float(root.ts) + 60, token=BOT_TOKEN, is_json=is_json
    )
    assert answer.body["ok"], answer.body
    return dict(answer.body)


async def test_an_uploaded_file_is_seen_and_can_be_opened(page: Page, playground: Playground) -> None:
    await mention(page, "tell me a joke")
    await outcome(page, "answered")
    content = "# All of it\n<b>as text</b> ü\n" * 100
    size = len(content.encode())
    offer = told_slack(playground, "files.getUploadURLExternal", filename="answer.md", length=str(size))
    playground.workspace.receive_file(offer["file_id"], content.encode())
    files = [{"id": offer["file_id"], "title": "answer.md"}]
    told_slack(playground, "files.completeUploadExternal", channel_id=CHANNEL, files=files)
    await page.until("document.querySelector('#thread .file a')")
    await picture(page, "file")
    assert (await text_of(page, "#thread .file")).split() == ["answer.md", f"{size / 1024:.1f}", "KB"]
    opened = await page.value("fetch(document.querySelector('#thread .file a').href).then((it) => it.text())")
    assert opened == content
    await page.go_to(await page.value("document.querySelector('#thread .file a').href"))
    await page.until(
        "document.contentType === 'text/plain' && document.body.innerText.includes('<b>as text')"
    )


@pytest.mark.parametrize("way", ["text", "blocks", pytest.param("section", marks=pytest.mark.slow)])
async def test_a_wide_table_scrolls_within_itself(page: Page, playground: Playground, way: str) -> None:
    await mention(page, "tell me a joke")
    await outcome(page, "answered")
    row = "|" + "|".join(f" quite_a_long_word_{number} " for number in range(12)) + "|\n"
    wide = "word " * 60 + "\n\n" + row + "|---" * 12 + "|\n" + row + "\n```\n" + "x" * 400 + "\n```\n"
    kinds = {
        "blocks": {"type": "markdown", "text": wide},
        "section": {"type": "section", "text": {"type": "mrkdwn", "text": wide}},
    }
    blocks = {"blocks": [kinds[way]]} if way in kinds else {}
    told_slack(playground, "chat.postMessage", channel=CHANNEL, text=wide, **blocks)
    await page.until("document.querySelector('#thread .table')")
    await picture(page, f"wide-{way}")
    scrolls = "((it) => it.scrollWidth > it.clientWidth)(document.querySelector('{}'))"
    assert await page.value(scrolls.format("#thread .table"))
    assert await page.value(scrolls.format("#thread .code pre"))
    assert not await page.value(scrolls.format("#thread"))
    assert await page.value(
        "(() => { const pane = document.querySelector('#thread').getBoundingClientRect().right;"
        " return [...document.querySelectorAll('#thread :is(p, .md, .table, .code)')]"
        ".every((one) => one.getBoundingClientRect().right <= pane); })()"
    )


@pytest.mark.slow
async def test_a_table_of_long_names_fits_its_pane(page: Page, playground: Playground) -> None:
    await page.size(1400, 900)
    await mention(page, "What are the most important settings?")
    await outcome(page, "answered")
    await page.value("document.querySelector('#thread .table').scrollIntoView()")
    await picture(page, "table-1400")
    widths = await page.value(
        "[...document.querySelectorAll('#thread .table')].map((it) => [it.scrollWidth, it.clientWidth])"
    )
    assert len(widths) == 1
    assert all(inner <= outer for inner, outer in widths), widths
    name = await page.value("document.querySelector('#thread .table td code').textContent")
    assert name == "SLACK_BOT_STREAM__FLUSH_INTERVAL"


async def test_a_question_that_waits_shows_the_mark_until_its_turn(page: Page) -> None:
    await mention(page, "long 3000")
    await page.until(f"document.querySelector('{ANSWER} .md')?.textContent.length > 100")
    await page.click("#say-reply textarea")
    await page.type("tell me a joke")
    await page.enter()
    mark = "#thread .reactions [data-emoji=hourglass_flowing_sand]"
    await page.until(f"document.querySelector('{mark}')")
    await picture(page, "waits")
    assert (await text_of(page, mark)).split() == ["1"]
    assert await page.value(f"document.querySelector('{mark} svg').ariaLabel") == "hourglass flowing sand"
    asked = f"document.querySelector('{mark}').closest('.message').innerText"
    assert "tell me a joke" in await page.value(asked)
    await page.click("#stop")
    await page.until(f"!document.querySelector('{mark}')")
    await outcome(page, "answered")
    assert await page.value("!document.querySelector('.reactions li')")


async def test_an_emoji_that_is_not_known_is_shown_by_its_name(page: Page, playground: Playground) -> None:
    await mention(page, "tell me a joke")
    await outcome(page, "answered")
    root = playground.workspace.history(CHANNEL)[0].ts
    for name in ("constructor", "eyes"):
        args = {"channel": CHANNEL, "timestamp": root, "name": name}
        playground.workspace.call("reactions.add", args, now=float(root) + 60, token=BOT_TOKEN, is_json=True)
    await page.until("document.querySelectorAll('#thread .reactions li').length === 2")
    await picture(page, "reactions")
    for column in ("#thread", "#roots"):
        assert (await text_of(page, f"{column} .reactions")).split() == [":constructor:", "1", "1"]
        drawn = f"[...document.querySelectorAll('{column} .reactions svg')].map((one) => one.ariaLabel)"
        assert await page.value(drawn) == ["eyes"]


async def test_the_page_of_another_agent_says_whom_it_asks(browser: Browser) -> None:
    async with live_agent() as live:
        theirs = with_overrides(Settings(), {"agent.url": f"{live.url}?key=geheim"})
        async with open_playground(theirs=theirs) as playground:
            page = await browser.open(playground.url)
            await page.until("document.body.dataset.ready")
            await picture(page, "another-agent")
            where = await text_of(page, "#where")
            assert where == f"Asks {live.url} and writes to an emulated Slack."
            shown = await text_of(page, "body")
            assert "Nothing leaves" not in shown
            assert "questions below" not in shown
            assert await page.value("document.querySelectorAll('#chips *').length") == 0
            await mention(page, "echo hello")
            await outcome(page, "answered")
            assert page.problems == []


async def test_inside_says_what_an_agent_said_of_its_failure(browser: Browser) -> None:
    """Whoever writes an agent looks for the message of their exception there; the thread has none of it."""
    async with (
        live_agent() as live,
        open_playground(theirs=with_overrides(Settings(), {"agent.url": live.url})) as playground,
    ):
        page = await browser.open(playground.url)
        await mention(page, "raise it")
        await outcome(page, "failed")
        await page.click("#inside-open")
        await page.until("document.querySelector('#inside').innerText.includes('the agent says: ')")
        said = await text_of(page, "#inside")
        await picture(page, "inside-failure")
        assert "boom in the middle" in said
        assert "boom" not in await text_of(page, "#thread")


async def test_the_page_of_our_own_agent_says_that_nothing_leaves(page: Page) -> None:
    assert "Nothing leaves this machine." in await text_of(page, "#where")
    assert "one of the questions below" in await text_of(page, "#roots")


async def test_a_doubled_mention_is_sent_once(page: Page, playground: Playground) -> None:
    await mention(page, "@slack_bot  @slack_bot tell me a joke about @slack_bot @slack_bot")
    await outcome(page, "answered")
    asked = playground.workspace.history(CHANNEL)[0].text
    assert asked == "<@U0BOT> tell me a joke about <@U0BOT> <@U0BOT>"


async def test_feedback_shows_as_pressed_and_survives_a_reload(page: Page) -> None:
    await mention(page, "tell me a joke")
    await page.until(SEALED)
    await page.click("#thread .feedback[data-value^=positive]")
    await page.until("document.querySelector('#thread .feedback[data-value^=positive][aria-pressed=true]')")
    await page.until("document.querySelector('#thread .private')?.innerText.includes('Only visible to you')")
    await page.reload()
    await page.until(
        "document.body?.dataset.ready && document.querySelector('#roots .replies:not([hidden])')"
    )
    await page.click("#roots .replies")
    await page.until("document.querySelector('#thread .feedback[data-value^=positive][aria-pressed=true]')")
    # What only Maya may read, Jonas does not see.
    await page.click("#people [title='Be Jonas']")
    await page.until(
        "document.querySelector('#thread .feedback') && !document.querySelector('#thread .private')"
    )


async def test_who_may_not_ask_is_told_and_nobody_else_sees_it(page: Page, playground: Playground) -> None:
    await page.click("#people [title='Be River (partner)']")
    await mention(page, "what is agntcy")
    private = "document.querySelector('#roots').innerText.includes('Only visible to you')"
    await page.until(private)
    assert "I take no questions from other organisations here" in await text_of(page, "#roots")
    assert "another organisation (external = deny)" in await text_of(page, "#figures")
    await picture(page, "refused")
    await page.click("#people [title='Be Jonas']")
    await page.until(f"!({private})")
    await mention(page, "tell me a joke")
    await page.until(SEALED)


async def test_a_failed_turn_offers_to_try_again(page: Page) -> None:
    await mention(page, "fail")
    await outcome(page, "failed")
    await page.click("#thread [data-action=retry]")
    await look_inside(page)
    await page.click("#past summary")
    await page.until("document.querySelectorAll('#turns [data-outcome=failed]').length === 2")


async def test_stop_ends_a_long_answer(page: Page) -> None:
    await mention(page, "long 8000")
    await page.until(f"document.querySelector('{ANSWER} .md')?.textContent.length > 200")
    await page.click("#stop")
    await outcome(page, "stopped")
    await page.until(SEALED)
    assert await page.value("document.querySelector('#stop').hidden")


async def test_a_direct_message_is_answered_and_a_question_asked_back(page: Page) -> None:
    await page.value("document.querySelector('#places [data-kind=im]').click()")
    await page.until("document.querySelector('#say-root textarea').value === ''")
    await mention(page, "deploy the bot")
    await outcome(page, "asked")
    assert "environment" in await text_of(page, "#thread")
    await page.click("#say-reply textarea")
    await page.type("staging")
    await page.enter()
    await outcome(page, "answered")
    await page.until("document.querySelector('#thread').innerText.split('staging').length > 3")


def events_of_lines() -> list[dict[str, Any]]:
    task = {"taskId": "t", "contextId": "c"}
    chunks = [
        {"kind": "artifact-update", **task, "append": number > 0, "artifact": {
            "artifactId": "a", "name": "streaming_result", "metadata": {"is_final_answer": True},
            "parts": [{"kind": "text", "text": f"Line {number} of the tape.\n\n"}]}}
        for number in range(5)
    ]  # fmt: skip
    end = {"kind": "status-update", **task, "final": True, "status": {"state": "completed"}}
    events: list[dict[str, Any]] = [
        {"_t": 0.2 * number, **event} for number, event in enumerate([*chunks, end])
    ]
    return events


async def test_a_replay_opens_its_channel_also_from_a_direct_message(page: Page) -> None:
    await page.value("document.querySelector('#places [data-kind=im]').click()")
    await page.until("!document.querySelector('#tabs').hidden")
    await page.drop_file("captured.json", json.dumps(events_of_lines()))
    await page.until("document.querySelector('#thread .message')?.innerText.includes('captured.json')")
    await page.until("document.querySelector('#place-title').innerText.includes('general')")
    assert "captured.json" in await text_of(page, "#roots")
    await outcome(page, "answered")


async def test_a_dropped_file_is_replayed(page: Page) -> None:
    await page.drop_file("captured.json", json.dumps(events_of_lines()))
    await page.until("document.querySelector('#thread .message')?.innerText.includes('captured.json')")
    await outcome(page, "answered")
    assert "Line 4 of the tape." in await text_of(page, f"{ANSWER} .md")
    await page.drop_file("several.json", json.dumps({"one": events_of_lines(), "two": events_of_lines()}))
    await page.until("document.querySelector('#choose').open")
    await page.value("document.querySelector('#keys button:last-child').click()")
    await page.until("document.querySelector('#thread .message')?.innerText.includes('several.json (two)')")
    await outcome(page, "answered")
    await page.drop_file("broken.json", "[{")
    await page.until("document.querySelector('#notice').innerText.includes('broken.json')")


async def test_a_dropped_tape_is_read_as_its_head_says(page: Page) -> None:
    """The README's own example, ten times as fast: its head says that its stream is its answer."""
    tape = read_tape(PUBLISHED.read_bytes(), PUBLISHED.name)
    assert isinstance(tape, Tape)
    moments = tuple(replace(moment, t=moment.t / 10) for moment in tape.moments)
    await page.value(_WATCH)
    await page.drop_file("published.jsonl", write_tape(replace(tape, moments=moments)))
    await page.until(f"document.querySelector('{ANSWER} .md')?.textContent.length > 400")
    await picture(page, "dropped-live")
    await outcome(page, "answered")
    await picture(page, "dropped")
    full = await page.value(f"document.querySelector('{ANSWER} .md').textContent.length")
    lengths = await page.value("[...window.seen.lengths]")
    assert len([length for length in lengths if 0 < length < full]) >= 3, lengths
    assert "what can you do?" in await text_of(page, "#thread .message")


async def test_a_suggestion_is_a_click_away_and_keys_are_enough(page: Page) -> None:
    assert await page.value("document.activeElement === document.querySelector('#say-root textarea')")
    await page.value("document.querySelector('#chips button[title=\"What is this bot?\"]').focus()")
    await page.enter()
    await outcome(page, "answered")
    assert "What is this bot?" in await text_of(page, "#thread .message")


async def test_every_width_is_usable(page: Page) -> None:
    await mention(page, "unicode")
    await page.until(SEALED)
    await page.prefer(prefers_color_scheme="dark", prefers_reduced_motion="reduce")
    for width, height, columns in ((1600, 900, 2), (1280, 800, 2), (1000, 700, 1), (390, 800, 1)):
        await page.size(width, height)
        await picture(page, f"dark-{width}")
        panes = "[...document.querySelectorAll('.pane')].filter((pane) => pane.offsetWidth).length"
        assert await page.value(panes) == columns
        assert await page.value("document.documentElement.scrollWidth <= innerWidth")
        dark = await page.value("getComputedStyle(document.querySelector('.pane')).backgroundColor")
        assert max(int(part) for part in dark[4:-1].split(",")) < 80
        await page.click("#inside-here")
        await page.until("document.querySelector('#inside').offsetWidth")
        assert await page.value("document.documentElement.scrollWidth <= innerWidth")
        await page.press("Escape", 27)
        await page.until("!document.querySelector('#inside').offsetWidth")


MARKDOWN = [
    ("plain <b>text</b> & more", "<p>plain &lt;b&gt;text&lt;/b&gt; &amp; more</p>"),
    ("<img src=x onerror=alert(1)>", "<p>&lt;img src=x onerror=alert(1)&gt;</p>"),
    ("# One\n### Two ###", "<h3>One</h3><h5>Two</h5>"),
    ("**bold** *it* _it_ ~~gone~~ ***both***",
     "<p><strong>bold</strong> <em>it</em> <em>it</em> <s>gone</s> <strong><em>both</em></strong></p>"),
    ("**bold with *it* inside**", "<p><strong>bold with <em>it</em> inside</strong></p>"),
    ("snake_case_name 2 * 3 * 4 **open", "<p>snake_case_name 2 * 3 * 4 **open</p>"),
    ("`a < *b*` ``x ` y``", "<p><code>a &lt; *b*</code> <code>x ` y</code></p>"),
    ("\\*no\\* &lt;!channel&gt; `open", "<p>*no* &lt;!channel&gt; `open</p>"),
    ("line\nbreak\n\nnext", "<p>line<br>break</p><p>next</p>"),
    ("one\u2028two", "<p>one<br>two</p>"),
    ("```py\nx < 1\n\n**y**\n```\nafter",
     '<figure class="code"><figcaption>py</figcaption><pre tabindex="0"><code>x &lt; 1\n\n**y**</code></pre>'
     "</figure><p>after</p>"),
    ("```\nopen", '<figure class="code"><pre tabindex="0"><code>open</code></pre></figure>'),
    ("- a\n- b\n  - c\n- [x] d", "<ul><li>a</li><li>b<ul><li>c</li></ul></li>"
     '<li class="todo"><span class="tick done" role="img" aria-label="done"></span>d</li></ul>'),
    ("3. a\n4. b", '<ol start="3"><li>a</li><li>b</li></ol>'),
    ("> quoted\n> **more**\nafter",
     "<blockquote><p>quoted<br><strong>more</strong></p></blockquote><p>after</p>"),
    ("a\n\n---\n\nb", "<p>a</p><hr><p>b</p>"),
    ("| a | b |\n|---|--:|\n| `x|y` | 1 |\n| only \\| |",
     '<div class="table" tabindex="0"><table><thead><tr><th scope="col">a</th>'
     '<th class="to-right" scope="col">b</th></tr></thead><tbody>'
     '<tr><td><code>x|y</code></td><td class="to-right">1</td></tr>'
     '<tr><td>only |</td><td class="to-right"></td></tr></tbody></table></div>'),
    ("[label](https://a.example/x_(y)) https://b.example/z. <https://c.example|see>",
     '<p><a href="https://a.example/x_(y)" target="_blank" rel="noopener noreferrer">label</a>'
     ' <a href="https://b.example/z" target="_blank" rel="noopener noreferrer">https://b.example/z</a>.'
     ' <a href="https://c.example" target="_blank" rel="noopener noreferrer">see</a></p>'),
    ("[x](javascript:alert(1)) ![pic](https://a.example/p.png) [y](data:text/html,x)",
     '<p><span>x</span> <a href="https://a.example/p.png" target="_blank" rel="noopener noreferrer">pic</a>'
     " <span>y</span></p>"),
    ("<!here> <#C1|general> <!date^0^on {nothing|then>",
     '<p><span class="mention mine">@here</span> <span class="mention">#general</span>'
     " <time>on {nothing</time></p>"),
    ("in <#C7> and <#C8>",
     '<p>in <span class="mention">#news</span> and <span class="mention">#C8</span></p>'),
    ("<@U0MAYA> and <@U9ELSE>",
     '<p><span class="mention">@Maya</span> and <span class="mention">@U9ELSE</span></p>'),
]  # fmt: skip


async def test_markdown_is_rendered_safely_and_the_same_live(page: Page) -> None:
    for text, html in MARKDOWN:
        at_once, live = await page.value(
            "import('/page/markdown.js').then(({show}) => {"
            " const names = {U0MAYA: 'Maya', C7: 'news'};"
            " const one = document.createElement('div'), other = one.cloneNode();"
            f" const text = {json.dumps(text)}; show(one, text, names);"
            " for (let end = 1; end <= text.length; end += 1) show(other, text.slice(0, end), names);"
            " for (const it of [one, other]) for (const copy of it.querySelectorAll('.copy')) copy.remove();"
            " return [one.innerHTML, other.innerHTML]; })"
        )
        assert at_once == html, text
        assert live == html, text


async def test_hostile_markdown_is_rendered_in_time(page: Page) -> None:
    for piece in ("[", "*a ", "`", "> ", "- ", "|-", "**", "[a](", "<", "_a ", "~~a ", "![", "   - "):
        took = await page.value(
            "import('/page/markdown.js').then(({show}) => { const box = document.createElement('div');"
            f" const text = {json.dumps(piece)}.repeat({12_000 // len(piece)});"
            " const began = performance.now(); show(box, text); return performance.now() - began; })"
        )
        assert took < 2000, piece


async def test_another_page_cannot_drive_the_playground(page: Page, playground: Playground) -> None:
    url = playground.url.replace("http://127.0.0.1", "ws://127.0.0.1") + "ws"
    foreign = "data:text/html,<title>foreign</title>"
    await page.go_to(foreign)
    await page.until("document.title === 'foreign'")
    opened = await page.value(
        f"new Promise((done) => {{ const link = new WebSocket({json.dumps(url)});"
        " link.onopen = () => done('open'); link.onerror = () => done('refused'); })"
    )
    assert opened == "refused"
    page.problems.clear()  # the refusal is logged by the browser, and that is what was asked for
