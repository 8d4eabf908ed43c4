"""How a message looks on the playground's page, beside the real Slack."""

from __future__ import annotations

import json

from slack_bot.playground.server import Playground
from slack_bot.playground.visitor import CHANNEL
from slack_bot.testing.slack.workspace import BOT_TOKEN
from tests.playground import scenes

from .chromium import Page
from .visitor import mention, text_of


async def _edit(playground: Playground, ts: str, text: str) -> None:
    order = {"type": "edit", "user": scenes.MAYA, "channel": CHANNEL, "ts": ts, "text": text}
    assert await playground.visitor.take(order) is None


async def test_edited_stands_behind_the_last_word(page: Page, playground: Playground) -> None:
    await scenes.say(playground, scenes.MAYA, "who comes along?")
    for text, shown in (
        ("lunch at noon?", "lunch at noon? (edited)"),
        ("- bread\n- butter", "bread\nbutter (edited)"),
        ("- bread\n  - brown", "bread\nbrown (edited)"),
        ("> she said", "she said (edited)"),
    ):
        ts = await scenes.say(playground, scenes.MAYA, "lunch?")
        await _edit(playground, ts, text)
        message = f'#roots [data-ts="{ts}"]'
        found = f"document.querySelector({json.dumps(message)})"
        await page.until(f"{found}?.innerText.includes('(edited)')")
        assert (await text_of(page, f"{message} .md")).strip() == shown
        # On the same line, although this message has no line with a name of its own.
        head = json.dumps(f"{message} header")
        assert await page.value(f"getComputedStyle(document.querySelector({head})).display === 'none'")
        await _edit(playground, ts, f"{text} please")
        await page.until(f"{found}.innerText.includes('please (edited)')")
        assert (await text_of(page, message)).count("(edited)") == 1


async def test_people_write_bold_and_struck_as_in_slack(page: Page, playground: Playground) -> None:
    text = "*lunch* at ~noon~ _one_, 2 * 3 and a ~ b, `*as it is*`, **both**"
    ts = await scenes.say(playground, scenes.MAYA, text)
    body = f"document.querySelector('#roots [data-ts=\"{ts}\"] .md')"
    await page.until(f"{body}?.querySelector('strong')")
    marked = f"[...{body}.querySelectorAll('strong, s, em, code')]"
    shown = await page.value(f"{marked}.map((each) => each.outerHTML)")
    assert shown == [
        "<strong>lunch</strong>",
        "<s>noon</s>",
        "<em>one</em>",
        "<code>*as it is*</code>",
        "<strong>both</strong>",
    ]


async def test_people_write_quotes_as_in_slack(page: Page, playground: Playground) -> None:
    ts = await scenes.say(playground, scenes.MAYA, "&gt; ship *it*\n&gt; today\nyes, 2 &gt; 1\n`&gt; code`")
    body = f"document.querySelector('#roots [data-ts=\"{ts}\"] .md')"
    await page.until(f"{body}?.querySelector('blockquote strong')")
    assert await page.value(f"{body}.querySelector('blockquote').innerText") == "ship it\ntoday"
    assert "yes, 2 > 1" in await page.value(f"{body}.innerText")
    assert await page.value(f"{body}.querySelector('code').innerText") == "> code"


async def test_edited_stands_below_a_text_that_ends_with_code(page: Page, playground: Playground) -> None:
    ts = await scenes.say(playground, scenes.MAYA, "lunch?")
    await _edit(playground, ts, "```\nlunch()\n```")
    await page.until("document.querySelector('#roots .md')?.innerText.includes('(edited)')")
    assert await text_of(page, "#roots pre") == "lunch()"


async def test_a_task_is_one_line_with_its_box_before_it(page: Page, playground: Playground) -> None:
    await scenes.say(playground, scenes.MAYA, "- [ ] write\n- [x] test\n- [x] ship it, **soon**")
    await page.until("document.querySelectorAll('#roots .todo').length === 3")
    lines = "[...document.querySelectorAll('#roots .todo')].map((one) => [one.querySelector('[role=img]').ariaLabel, one.innerText, one.offsetHeight])"  # noqa: E501
    tasks = await page.value(lines)
    assert [task[:2] for task in tasks] == [["to do", "write"], ["done", "test"], ["done", "ship it, soon"]]
    plain = await page.value(
        "parseFloat(getComputedStyle(document.querySelector('#roots .todo')).lineHeight)"
    )
    assert all(height < plain * 1.5 for *_, height in tasks), (tasks, plain)


async def test_a_message_with_replies_says_whose_how_many_and_when(
    page: Page, playground: Playground
) -> None:
    root = await scenes.discussed(playground)
    line = "document.querySelector('#roots .replies')"
    await page.until(f"{line} && !{line}.hidden")
    await page.until(f"{line}.querySelector('.count')?.innerText === '4 replies'")
    await scenes.turns(playground, "answered")
    await page.until(f"/^Last reply today at \\d/.test({line}.querySelector('.last').innerText)")
    faces = await page.value(f"[...{line}.querySelectorAll('.face')].map((one) => one.className)")
    assert len(faces) == len(set(faces)) == 4, faces  # Priya, River, Maya and the bot, each once
    # by keys: the line can be reached, says what Enter does, and Enter does it
    await page.value(f"{line}.focus()")
    await page.press("Shift", 16)  # a key was used, so the focus is seen
    assert "View thread" in await text_of(page, "#roots .replies")
    assert "Last reply" not in await text_of(page, "#roots .replies")
    await page.enter()
    await page.until(f"document.querySelector('#thread [data-ts=\"{root}\"] + .reply-count')")
    assert await text_of(page, "#thread .reply-count") == "4 replies"


async def test_while_an_answer_is_written_the_message_says_so(page: Page, playground: Playground) -> None:
    await scenes.busy(page, playground)
    assert "answering…" in await text_of(page, "#roots .replies")
    await page.value("document.querySelector('#stop').click()")
    await page.until("document.querySelector('#roots .replies .last').innerText.startsWith('Last reply')")


# Texts that the page itself shows: what people and agents wrote may have any character.
_NEEDS_AN_EMOJI_FONT = r"""(() => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
  while (texts.nextNode()) {
    const node = texts.currentNode;
    if (/\p{Extended_Pictographic}/u.test(node.data) && !node.parentElement.closest(".md, script")) found.push(node.data);
  }
  return found;
})()"""  # noqa: E501


async def test_the_page_itself_needs_no_emoji_font(page: Page, playground: Playground) -> None:
    assert await page.value(_NEEDS_AN_EMOJI_FONT) == []
    await scenes.queued(page, playground)
    for name in ("eyes", "white_check_mark", "thumbsup", "-1", "ours", "robot_face"):
        root = playground.workspace.history(CHANNEL)[0].ts
        args = {"channel": CHANNEL, "timestamp": root, "name": name}
        playground.workspace.call("reactions.add", args, now=float(root) + 60, token=BOT_TOKEN, is_json=True)
    await page.until("document.querySelectorAll('#roots .reactions li').length === 6")
    assert await page.value(_NEEDS_AN_EMOJI_FONT) == []
    assert await text_of(page, "#roots .reactions [data-emoji=ours]") == ":ours:\n1"
    await page.until("document.querySelectorAll('#roots .reactions [role=img]').length === 5")
    assert await page.value("document.querySelectorAll('.face-bot:not(:has(svg))').length") == 0


async def test_an_emoji_of_a_rich_text_is_drawn_or_is_the_characters_that_slack_gives(
    page: Page, playground: Playground
) -> None:
    root = await scenes.say(playground, scenes.MAYA, "lunch?")
    emoji = [
        {"type": "emoji", "name": "tada"},
        {"type": "emoji", "name": "clap", "unicode": "1f44f"},
        {"type": "emoji", "name": "ours"},
        {"type": "emoji", "name": "bad", "unicode": "ffffff"},
    ]
    section = {"type": "rich_text_section", "elements": emoji}
    scenes.post(playground, root, {"type": "rich_text", "elements": [section]})
    await scenes.open_thread(page, root)
    await page.until("document.querySelector('#thread .rich')")
    assert await text_of(page, "#thread .rich") == "👏:ours::bad:"
    assert await page.value("document.querySelector('#thread .rich [role=img]').ariaLabel") == "tada"


async def test_what_follows_shows_its_time_beside_it_when_it_is_looked_at(
    page: Page, playground: Playground
) -> None:
    for text in ("one", "two"):
        await scenes.say(playground, scenes.MAYA, text)
    await page.until("document.querySelectorAll('#roots .message').length === 2")
    follows = "#roots .message.follows"
    tall = await page.value(f"document.querySelector('{follows}').offsetHeight")
    assert await page.value(f"document.querySelector('{follows} header').offsetHeight") == 0
    await page.value(f"document.querySelector('{follows}').focus()")
    assert await text_of(page, f"{follows} header") == await text_of(page, "#roots .message time")
    assert await page.value(f"document.querySelector('{follows}').offsetHeight") == tall


async def test_who_reads_at_the_end_stays_there_when_the_window_shrinks(
    page: Page, playground: Playground
) -> None:
    await scenes.say(playground, scenes.MAYA, "\n\n".join(map(str, range(30))))
    rest = "((box) => box.scrollHeight - box.scrollTop - box.clientHeight)(document.querySelector('#roots'))"
    await page.until(f"document.querySelector('#roots .message') && {rest} < 2")
    await page.size(1280, 500)
    await page.until(f"innerHeight === 500 && {rest} < 2", 5)


_REST = "((box) => box.scrollHeight - box.scrollTop - box.clientHeight)(document.querySelector('#roots'))"
_ATTACH_PICTURE = """(async () => {
  const canvas = Object.assign(document.createElement('canvas'), {width: 400, height: 300});
  const bytes = await new Promise((done) => canvas.toBlob(done));
  const [data, pick] = [new DataTransfer(), document.querySelector('#say-root input[type=file]')];
  data.items.add(new File([bytes], 'picture.png', {type: 'image/png'}));
  pick.files = data.files;
  pick.dispatchEvent(new Event('change'));
})()"""


async def test_the_channel_follows_after_a_picture_was_sent(page: Page, playground: Playground) -> None:
    for line in range(12):
        await scenes.say(playground, scenes.JONAS, f"line {line}\nand more")
    await page.until(f"document.querySelectorAll('#roots .message').length === 12 && {_REST} < 2")
    await page.value(_ATTACH_PICTURE)
    await mention(page, "what is this")
    await page.until(f"document.querySelector('#roots .picture img')?.complete && {_REST} < 2", 10)
    await mention(page, "tell me a joke")
    await page.until(f"document.querySelectorAll('#roots .message').length === 14 && {_REST} < 2", 10)


async def test_a_field_that_grows_before_the_page_hears_of_a_scroll_does_not_stop_it_from_following(
    page: Page, playground: Playground
) -> None:
    for line in range(12):
        await scenes.say(playground, scenes.JONAS, f"line {line}\nand more")
    await page.until(f"document.querySelectorAll('#roots .message').length === 12 && {_REST} < 2")
    attached = (  # right after the page has scrolled, before the event of it
        "(() => { const data = new DataTransfer();"
        " const pick = document.querySelector('#say-root input[type=file]');"
        " data.items.add(new File(['x'], 'note.txt')); pick.files = data.files;"
        " new MutationObserver((changes, watch) => { watch.disconnect();"
        " setTimeout(() => pick.dispatchEvent(new Event('change'))); })"
        ".observe(document.querySelector('#roots'), {childList: true}); })()"
    )
    await page.value(attached)
    await scenes.say(playground, scenes.JONAS, "one more")
    await page.until("document.querySelector('#say-root .attached li')")
    await scenes.say(playground, scenes.JONAS, "the last")
    await page.until(f"document.querySelectorAll('#roots .message').length === 14 && {_REST} < 2", 10)


async def test_who_reads_further_up_stays_there_until_they_write(page: Page, playground: Playground) -> None:
    for line in range(16):
        await scenes.say(playground, scenes.JONAS, f"line {line}\nand more")
    await page.until(f"document.querySelectorAll('#roots .message').length === 16 && {_REST} < 2")
    await page.value("document.querySelector('#roots').scrollTop = 100")
    await page.until(f"{_REST} > 200")
    await scenes.say(playground, scenes.JONAS, "one more")
    await page.until("document.querySelectorAll('#roots .message').length === 17")
    assert await page.value("document.querySelector('#roots').scrollTop") == 100
    await mention(page, "tell me a joke")
    await page.until(f"{_REST} < 2", 10)


async def test_who_reads_further_up_is_led_to_what_came_meanwhile(page: Page, playground: Playground) -> None:
    for line in range(16):
        await scenes.say(playground, scenes.JONAS, f"line {line}\nand more")
    await page.until(f"document.querySelectorAll('#roots .message').length === 16 && {_REST} < 2")
    button = "document.querySelector('#roots + .latest')"
    assert not await page.value(f"{button}.checkVisibility()")
    await page.value("document.querySelector('#roots').scrollTop = 100")
    await page.until(f"{button}.checkVisibility()")
    assert await page.value(f"{button}.innerText") == "Latest messages"
    await scenes.say(playground, scenes.JONAS, "one more")
    await page.until(f"{button}.innerText === 'New messages'")
    await page.click("#roots + .latest")
    await page.until(f"{_REST} < 2 && !{button}.checkVisibility()")


async def test_what_is_new_in_a_conversation_stands_below_a_line(page: Page, playground: Playground) -> None:
    await scenes.say(playground, scenes.JONAS, "old", channel="C0INCIDENTS")
    await page.click("#places [data-channel=C0INCIDENTS]")
    await page.until("document.querySelectorAll('#roots .message').length === 1")
    assert await page.value("document.querySelectorAll('.news ~ .message').length") == 1
    await page.click("#places [data-channel=C0GENERAL]")
    await page.value("window.pressed = document.querySelector('#places [data-channel=C0INCIDENTS]')")
    for text in ("new", "newer"):
        await scenes.say(playground, scenes.JONAS, text, channel="C0INCIDENTS")
    await page.until("document.title === '* general - slack_bot playground'")
    assert await page.value("window.pressed.isConnected && window.pressed.matches('.unread')")
    await page.click("#places [data-channel=C0INCIDENTS]")
    below = "[...document.querySelectorAll('#roots .news ~ .message .md')].map((one) => one.innerText)"
    await page.until("document.querySelector('#roots .news')")
    assert await page.value(below) == ["new", "newer"]
    assert await page.value("document.title") == "incidents - slack_bot playground"
    await page.value("document.querySelector('#say-root textarea').value = ''")
    await mention(page, "read it")
    await page.until("!document.querySelector('#roots .news')")


async def test_a_mention_of_the_reader_looks_otherwise_than_others(
    page: Page, playground: Playground
) -> None:
    await scenes.say(playground, scenes.JONAS, "<@U0MAYA> and <@U0PRIYA>, <!here>")
    mine = "[...document.querySelectorAll('#roots .mention.mine')].map((one) => one.innerText).join()"
    await page.until(f"{mine} === '@Maya,@here'")
    await scenes.be(page, "Priya")
    await page.until(f"{mine} === '@Priya,@here'")


async def test_here_and_the_like_are_written_as_people_write_them(page: Page, playground: Playground) -> None:
    await mention(page, "hi @here, not me@here or @hereby")
    await page.until("document.querySelector('#roots .mention.mine')?.innerText === '@here'")
    (message,) = playground.workspace.history(CHANNEL)
    assert message.text == f"{scenes.BOT} hi <!here>, not me@here or @hereby"
    await page.value("document.querySelector('#roots [data-deed=edit]').click()")
    field = "document.querySelector('.rewrite textarea').value"
    assert await page.value(field) == "@slack_bot hi @here, not me@here or @hereby"


async def test_code_is_copied_by_a_button(page: Page, playground: Playground) -> None:
    await scenes.say(playground, scenes.JONAS, "```\nlunch()\n```")
    await page.until("document.querySelector('#roots .code .copy')")
    await page.value(
        "document.execCommand = () => {"
        " window.copied = String(getSelection() || document.activeElement.value); return true; }"
    )
    await page.value("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    await page.value("document.querySelector('#roots .copy').focus()")
    await page.enter()
    await page.until("document.querySelector('#roots .copy').ariaLabel === 'Copied'")
    assert await page.value("window.copied") == "lunch()"
    assert await page.value("document.activeElement.matches('.copy')")
