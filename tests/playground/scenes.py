"""What people do in the playground so that a picture can be taken; each scene begins on a fresh page."""

from __future__ import annotations

import asyncio
import base64
import json
import struct
import time
import zlib
from collections.abc import Awaitable, Callable
from typing import Any

from slack_bot.playground.server import Playground
from slack_bot.playground.visitor import CHANNEL
from slack_bot.testing.slack.blocks import with_ids
from slack_bot.testing.slack.state import Trigger
from slack_bot.testing.slack.workspace import BOT_TOKEN
from tests.e2e.chromium import PATIENCE, Page
from tests.e2e.visitor import ANSWER, QUESTION, SEALED, mention, outcome

Scene = Callable[[Page, Playground], Awaitable[None]]
MAYA, JONAS, PRIYA, RIVER = "U0MAYA", "U0JONAS", "U0PRIYA", "U0RIVER"
BOT = "<@U0BOT>"
SCENES: dict[str, tuple[Scene, dict[str, object]]] = {}
"""By name: what happens, and the bot's settings."""


def scene(**settings: object) -> Callable[[Scene], Scene]:
    """Register a scene under its function's name."""

    def register(play: Scene) -> Scene:
        SCENES[play.__name__.replace("_", "-")] = (play, settings)
        return play

    return register


async def say(playground: Playground, user: str, text: str, thread: str | None = None, **more: Any) -> str:
    """Somebody writes in the channel. Returns the message's ts."""
    order = {"type": "say", "user": user, "channel": CHANNEL, "text": text, "thread_ts": thread, **more}
    said = await playground.visitor.take(order)
    assert said is not None and said["type"] == "said", said
    return str(said["ts"])


async def turns(playground: Playground, *outcomes: str) -> None:
    """Wait until turns have ended so, in this order."""

    feed, changed = playground.visitor.feed, asyncio.Event()

    def ended() -> list[str]:
        return [fact["outcome"] for fact in feed.snapshot()["facts"] if fact["kind"] == "closed"]

    stop = feed.listen(lambda update: changed.set())
    try:
        async with asyncio.timeout(PATIENCE):
            while len(ended()) < len(outcomes):
                changed.clear()
                await changed.wait()
    finally:
        stop()
    assert sorted(ended()) == sorted(outcomes), ended()


def post(playground: Playground, thread: str, *blocks: dict[str, Any]) -> str:
    """The bot posts blocks. They are put into the workspace as they are: the page draws them all."""
    workspace = playground.workspace
    args = {"channel": CHANNEL, "thread_ts": thread, "text": "x"}
    now = max(workspace.state.now, float(thread)) + 1
    body = workspace.call("chat.postMessage", args, now=now, token=BOT_TOKEN, is_json=True).body
    assert body["ok"], body
    message = workspace.state.find(CHANNEL, body["ts"])
    assert message is not None
    message.blocks = with_ids(workspace.state, list(blocks))
    workspace.state.changed(CHANNEL, thread)
    return str(body["ts"])


async def be(page: Page, name: str) -> None:
    """Become somebody."""
    await page.value(f"document.querySelector('#people [title=\"Be {name}\"]').click()")


async def open_thread(page: Page, root: str) -> None:
    """Open a thread from its channel."""
    replies = f"document.querySelector('#roots [data-ts=\"{root}\"] .replies:not([hidden])')"
    await page.until(replies)
    await page.value(f"{replies}.click()")


# -- asking


@scene()
async def empty(page: Page, playground: Playground) -> None:
    await page.until("document.querySelector('#chips button')")


@scene()
async def live(page: Page, playground: Playground) -> None:
    await mention(page, QUESTION)
    await page.until(f"document.querySelector('{ANSWER} .md')?.textContent.length > 550")


@scene()
async def answered(page: Page, playground: Playground) -> None:
    await mention(page, QUESTION)
    await page.until(SEALED)
    await outcome(page, "answered")


@scene()
async def inside(page: Page, playground: Playground) -> None:
    await answered(page, playground)
    await page.value("document.querySelector('#inside-here').click()")


@scene()
async def followed_thread(page: Page, playground: Playground) -> None:
    root = await say(playground, MAYA, f"{BOT} tell me a joke")
    await turns(playground, "answered")
    await say(playground, MAYA, "hello again, no mention needed", root)
    await turns(playground, "answered", "answered")
    await say(playground, JONAS, "That one is old.", root)
    await say(playground, PRIYA, "But good. Shall we ask for the sources?", root)
    await say(playground, JONAS, f"{BOT} what is agntcy", root)
    await turns(playground, *["answered"] * 3)
    await open_thread(page, root)


async def discussed(playground: Playground) -> str:
    """Three people discuss, then one asks the bot."""
    root = await say(playground, JONAS, "Do we stream the answers, or post them whole?")
    await say(playground, PRIYA, "Whole, I think. Long ones were cut at 4,000 characters once.", root)
    await say(playground, RIVER, "We stream ours, it reads better.", root)
    await say(playground, MAYA, f"{BOT} How does streaming work here?", root)
    return root


@scene()
async def mentioned_in_a_discussion(page: Page, playground: Playground) -> None:
    root = await discussed(playground)
    await turns(playground, "answered")
    await open_thread(page, root)
    await page.value("document.querySelector('#inside-here').click()")
    await page.until("document.querySelector('#sent-note').textContent")
    await page.value("document.querySelector('#sent').open = true")


@scene()
async def question_asked_back(page: Page, playground: Playground) -> None:
    await mention(page, "deploy the bot")
    await outcome(page, "asked")


@scene()
async def failed_and_healed(page: Page, playground: Playground) -> None:
    await page.value("document.querySelector('#faults').click()")
    await page.value("document.querySelector('#fault-demo').click()")
    await page.until("document.querySelector('#thread [data-action=retry]')")
    await page.value("document.querySelector('#thread [data-action=retry]').click()")
    await outcome(page, "answered")


@scene()
async def fault_panel(page: Page, playground: Playground) -> None:
    await page.value("document.querySelector('#faults').click()")
    await page.value(
        "(() => { const one = document.querySelector('.fault [aria-label=\"What goes wrong\"]');"
        " one.value = 'ratelimited:2'; one.dispatchEvent(new Event('change')); })()"
    )


# -- while an answer runs


async def busy(page: Page, playground: Playground) -> str:
    root = await say(playground, MAYA, f"{BOT} long 9000")
    await open_thread(page, root)
    await page.until(f"document.querySelector('{ANSWER} .md')?.textContent.length > 100")
    return root


@scene()
async def queued(page: Page, playground: Playground) -> None:
    root = await busy(page, playground)
    await say(playground, MAYA, "tell me a joke", root)
    await say(playground, MAYA, "hello", root)
    await page.until("document.querySelectorAll('#thread .reactions li').length === 2")


@scene(busy="collect")
async def collected(page: Page, playground: Playground) -> None:
    root = await busy(page, playground)
    for line in ("tell me a joke", "a short one", "about queues"):
        await say(playground, MAYA, line, root)
    await page.value("document.querySelector('#stop').click()")
    await turns(playground, "stopped", "answered")


@scene(busy="interrupt")
async def interrupted(page: Page, playground: Playground) -> None:
    root = await busy(page, playground)
    await say(playground, MAYA, "tell me a joke", root)
    await turns(playground, "stopped", "answered")


@scene()
async def edited(page: Page, playground: Playground) -> None:
    root = await busy(page, playground)
    waiting = await say(playground, MAYA, "tell me a joke", root)
    order = {"type": "edit", "user": MAYA, "channel": CHANNEL, "ts": waiting, "text": "what is agntcy"}
    assert await playground.visitor.take(order) is None
    await page.until("document.querySelector('#thread .edited:not([hidden])')")


@scene()
async def editing(page: Page, playground: Playground) -> None:
    root = await say(playground, MAYA, "lunch, anybody? & where?")
    await say(playground, JONAS, "Yes!", root)
    await open_thread(page, root)
    await page.value("document.querySelector('#thread [data-deed=edit]').click()")


@scene()
async def stop_running(page: Page, playground: Playground) -> None:
    await busy(page, playground)


@scene()
async def stop_waiting(page: Page, playground: Playground) -> None:
    root = await busy(page, playground)
    for text in ("tell me a joke", "hello"):
        await say(playground, MAYA, text, root)
    await page.until("document.querySelectorAll('#thread .reactions li').length === 2")
    await page.value("document.querySelector('#stop').click()")
    await page.until("document.querySelector('#thread [data-action=drop]')")


@scene()
async def stopped(page: Page, playground: Playground) -> None:
    await busy(page, playground)
    await page.value("document.querySelector('#stop').click()")
    await outcome(page, "stopped")
    await page.until(SEALED)


# -- home, direct messages, who may


@scene()
async def home(page: Page, playground: Playground) -> None:
    await say(playground, MAYA, f"{BOT} slow 30")
    await page.until("document.querySelector('#roots').innerText.includes('answering')")  # it was taken
    await page.value("document.querySelector('#places [data-kind=im]').click()")
    await page.value("document.querySelector('#tabs [data-tab=home]').click()")
    await page.until("document.querySelector('#home [data-action=stop_in_home]')")


@scene()
async def direct_message(page: Page, playground: Playground) -> None:
    await page.value("document.querySelector('#places [data-kind=im]').click()")
    await page.until("document.querySelector('#chips button')")


@scene()
async def refused(page: Page, playground: Playground) -> None:
    await be(page, "River (partner)")
    await say(playground, RIVER, f"{BOT} what is agntcy")
    await page.until("document.querySelector('#thread .private, #roots .private')")


@scene(hourly_person=1)
async def told_to_wait(page: Page, playground: Playground) -> None:
    await say(playground, MAYA, f"{BOT} tell me a joke")
    await turns(playground, "answered")
    await say(playground, MAYA, f"{BOT} what is agntcy")
    await page.until("document.querySelector('#thread .private, #roots .private')")


OPERATED = """
[channel]
context = "asker"
[channels.C0INCIDENTS]
respond = "channel"
ask = "What is wrong here, and what can be done?"
instructions = "Answer in two sentences."
[schedules.standup]
cron = "0 9 * * 1-5"
tz = "Europe/Berlin"
channel = "C0INCIDENTS"
ask = "What is open since yesterday?"
"""


@scene(toml=OPERATED, operators=[MAYA])
async def what_operators_see(page: Page, playground: Playground) -> None:
    await page.value("document.querySelector('#places [data-kind=im]').click()")
    await page.value("document.querySelector('#tabs [data-tab=home]').click()")
    await page.until("document.querySelector('#home').innerText.includes('Settings of channels')")


@scene(toml=OPERATED, allowed_bots=["UPAGER"])
async def alert_answered(page: Page, playground: Playground) -> None:
    workspace = playground.workspace
    workspace.add_user("UPAGER", "Pager", is_bot=True)
    alert = {"title": "Disk of db1 is full", "fields": [{"title": "Host", "value": "db1"}]}
    root = workspace.alert("UPAGER", "C0INCIDENTS", [alert], now=time.time())
    places = "[...document.querySelectorAll('#places button')]"
    await page.value(f"{places}.find((each) => each.innerText.includes('incidents')).click()")
    await turns(playground, "answered")
    await open_thread(page, root)


@scene(toml='[channel]\nreactions = { robot_face = "ask" }\n')
async def reaction_that_asks(page: Page, playground: Playground) -> None:
    root = await say(playground, JONAS, "Where is our data stored, and for how long?")
    playground.workspace.react(MAYA, CHANNEL, root, "robot_face", now=time.time())
    await turns(playground, "answered")
    await open_thread(page, root)


@scene()
async def unread(page: Page, playground: Playground) -> None:
    order = {"user": JONAS, "channel": "C0INCIDENTS", "text": "The queue is growing.", "type": "say"}
    await playground.visitor.take(order)
    direct = playground.workspace.direct(MAYA)
    args = {"channel": direct, "text": "Your task is done."}
    playground.workspace.call("chat.postMessage", args, now=float("2e9"), token=BOT_TOKEN, is_json=True)
    await page.until("document.querySelectorAll('#places .unread').length === 2")
    await page.click("#say-root textarea")
    await page.type("shall we ask @")
    await page.until("!document.querySelector('#say-root .names').hidden")


# -- blocks


def plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def options(*names: str) -> list[dict[str, Any]]:
    return [{"text": plain(name), "value": name.lower()} for name in names]


def asked(name: str, label: str, element: dict[str, Any], **more: Any) -> dict[str, Any]:
    given = {**element, "action_id": name}
    return {"type": "input", "block_id": name, "label": plain(label), "element": given, **more}


PLACES = options("Staging", "Production")
HINT = plain("Choose")
FORM = {
    "type": "modal",
    "title": plain("Deploy"),
    "submit": plain("Deploy"),
    "close": plain("Cancel"),
    "blocks": [
        {"type": "section", "text": {"type": "mrkdwn", "text": "*web-frontend* to which place, and when?"}},
        asked("where", "Environment", {"type": "static_select", "options": PLACES, "placeholder": HINT}),
        asked("count", "Replicas", {"type": "number_input", "is_decimal_allowed": False, "min_value": "1"}),
        asked("when", "Day", {"type": "datepicker"}, optional=True),
        asked(
            "how", "Strategy", {"type": "radio_buttons", "options": options("Rolling", "All at once")}
        ),
        asked("told", "Tell", {"type": "checkboxes", "options": options("Ops", "Support")}, optional=True),
        asked(
            "why",
            "Reason",
            {"type": "plain_text_input", "multiline": True, "min_length": 5},
            hint=plain("Who reads the log sees this."),
        ),
    ],
}  # fmt: skip


def open_form(playground: Playground) -> None:
    """The bot answers a press with the form."""
    workspace = playground.workspace
    trigger = workspace.state.next_id("trigger-test-")
    workspace.state.triggers[trigger] = Trigger(MAYA, workspace.state.now)
    args = {"trigger_id": trigger, "view": FORM}
    body = workspace.call("views.open", args, now=workspace.state.now, token=BOT_TOKEN, is_json=True).body
    assert body["ok"], body


@scene()
async def form(page: Page, playground: Playground) -> None:
    await mention(page, "tell me a joke")
    await outcome(page, "answered")
    open_form(playground)
    await page.until("document.querySelector('#modal').open")
    await page.value("document.querySelector('#modal [type=submit]').click()")
    await page.until("document.querySelectorAll('#modal .wrong').length === 4")


@scene()
async def form_of_the_agent(page: Page, playground: Playground) -> None:
    root = await say(playground, MAYA, f"{BOT} form")
    await turns(playground, "asked")
    await open_thread(page, root)


@scene()
async def negative_feedback(page: Page, playground: Playground) -> None:
    root = await say(playground, MAYA, f"{BOT} tell me a joke")
    await turns(playground, "answered")
    await open_thread(page, root)
    await page.until("document.querySelector('#thread .feedback[data-value^=negative]')")
    await page.value("document.querySelector('#thread .feedback[data-value^=negative]').click()")
    await page.until("document.querySelector('#modal').open")


def cells(*row: object) -> list[dict[str, Any]]:
    return [
        {"type": "raw_text", "text": each}
        if isinstance(each, str)
        else {"type": "raw_number", "value": each, "text": f"{each:,}"}
        for each in row
    ]


TABLE = {
    "type": "table",
    "column_settings": [{}, {"align": "right"}],
    "rows": [cells("Service", "Requests"), cells("web", "12,031"), cells("search", "4,410")],
}
DATA_TABLE = {
    "type": "data_table",
    "caption": "Slowest services",
    "page_size": 3,
    "rows": [
        cells("Service", "p99 ms", "Requests"),
        *(cells(f"service-{number}", 1200 - 90 * number, 1000 * number + 31) for number in range(7)),
    ],
}


def chart(kind: str, *series: str) -> dict[str, Any]:
    days = ["Mon", "Tue", "Wed", "Thu", "Fri"]
    drawn = [
        {
            "name": name,
            "data": [
                {"label": day, "value": 20 + 13 * ((at * 7 + which * 3) % 5)} for at, day in enumerate(days)
            ],
        }
        for which, name in enumerate(series)
    ]
    axes = {"categories": days, "x_label": "Day", "y_label": "Requests"}
    body = {"type": kind, "series": drawn, "axis_config": axes}
    return {"type": "data_visualization", "title": f"Requests a day ({kind})", "chart": body}


PIE = {
    "type": "data_visualization",
    "title": "Errors by kind",
    "chart": {
        "type": "pie",
        "segments": [
            {"label": name, "value": value}
            for name, value in (("timeout", 41), ("rate limit", 22), ("other", 9))
        ],
    },
}  # fmt: skip
RICH = {
    "type": "rich_text",
    "elements": [
        {
            "type": "rich_text_section",
            "elements": [
                {"type": "text", "text": "Sources", "style": {"bold": True}},
                {"type": "text", "text": " checked by "},
                {"type": "user", "user_id": PRIYA},
                {"type": "text", "text": " "},
                {"type": "emoji", "name": "tada"},
            ],
        },
        {
            "type": "rich_text_list",
            "style": "ordered",
            "elements": [
                {
                    "type": "rich_text_section",
                    "elements": [{"type": "link", "url": "https://a.example/doc", "text": "The guide"}],
                },
                {
                    "type": "rich_text_section",
                    "elements": [{"type": "text", "text": "A note <b>of ours</b>"}],
                },
            ],
        },
    ],
}
SURE = {
    "title": plain("Sure?"),
    "text": plain("It cannot be undone."),
    "confirm": plain("Approve"),
    "deny": plain("Wait"),
}


def button(name: str, label: str, **more: Any) -> dict[str, Any]:
    return {"type": "button", "text": plain(label), "action_id": name, "value": "1", **more}


APPROVAL = [
    {"type": "header", "text": plain("Approve this tool call?")},
    {
        "type": "section",
        "text": {"type": "mrkdwn", "text": "*kubectl delete* `deployment/web` in *production*"},
        "fields": [
            {"type": "mrkdwn", "text": "*Asked by*\n<@U0MAYA>"},
            {"type": "mrkdwn", "text": "*Approvers*\n@ops"},
        ],
    },
    {
        "type": "actions",
        "elements": [
            button("approve", "Approve", style="primary", confirm=SURE),
            button("edit", "Edit…"),
            button("reject", "Reject…", style="danger"),
            {"type": "static_select", "action_id": "place", "placeholder": HINT, "options": PLACES},
        ],
    },
]


async def posted(page: Page, playground: Playground, *blocks: dict[str, Any]) -> str:
    root = await say(playground, MAYA, "Numbers, please.")
    ts = post(playground, root, *blocks)
    await open_thread(page, root)
    return ts


@scene()
async def approval(page: Page, playground: Playground) -> None:
    await posted(page, playground, *APPROVAL)
    await page.until("document.querySelector('#thread [data-action=approve]')")


@scene()
async def tables(page: Page, playground: Playground) -> None:
    await posted(page, playground, RICH, TABLE, DATA_TABLE)
    await page.until("document.querySelector('#thread .data-table')")


@scene()
async def charts(page: Page, playground: Playground) -> None:
    await posted(page, playground, chart("bar", "web", "search"), chart("line", "web", "search", "mail"))
    await page.until("document.querySelectorAll('#thread .chart').length === 2")


@scene()
async def more_charts(page: Page, playground: Playground) -> None:
    await posted(page, playground, chart("area", "web", "search"), PIE)
    await page.until("document.querySelectorAll('#thread .chart').length === 2")


def png(side: int = 96) -> bytes:
    """A small picture."""
    rows = b"".join(
        b"\0" + b"".join(bytes((2 * x, 107, 255 - 2 * y)) for x in range(side)) for y in range(side)
    )
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


@scene()
async def files(page: Page, playground: Playground) -> None:
    given = [("queue.png", "image/png", png()), ("app.log", "text/plain", b"ERROR timeout\n" * 400)]
    root = await say(
        playground,
        MAYA,
        "Two files about it.",
        files=[{"name": n, "kind": k, "data": base64.b64encode(d).decode()} for n, k, d in given],
    )
    await say(playground, JONAS, "Thanks!", root)
    await open_thread(page, root)
    await page.until("document.querySelector('#thread .picture img')?.naturalWidth")


# -- the reference agent's own forms, files, tables, charts and sources


async def click(page: Page, selector: str) -> None:
    """Press it as soon as it is there."""
    await page.until(f"document.querySelector({json.dumps(selector)})")
    await page.value(f"document.querySelector({json.dumps(selector)}).click()")


async def fill(page: Page, action: str, value: str) -> None:
    """Fill in a field of the modal."""
    field = f"document.querySelector({json.dumps(f'#modal [data-block={action}] :is(input, select)')})"
    await page.value(f"{field}.value = {json.dumps(value)}")
    await page.value(f"{field}.dispatchEvent(new Event('change'))")


async def release(page: Page, playground: Playground) -> None:
    """The agent asks for six things; somebody else is refused, and the asker has the modal open."""
    root = await say(playground, MAYA, f"{BOT} plan a release")
    await turns(playground, "asked")
    await open_thread(page, root)
    await be(page, "Jonas")
    await click(page, "#thread .actions button")
    await page.until("document.querySelector('#thread .private')")


@scene()
async def form_refused_to_another(page: Page, playground: Playground) -> None:
    await release(page, playground)


@scene()
async def form_of_six_fields(page: Page, playground: Playground) -> None:
    await release(page, playground)
    await be(page, "Maya")
    await click(page, "#thread .actions button")
    await page.until("document.querySelector('#modal').open")


@scene()
async def form_answered(page: Page, playground: Playground) -> None:
    await form_of_six_fields(page, playground)
    for block, value in (("field-0", "1.4.0"), ("field-1", "staging")):
        await fill(page, block, value)
    await page.value("document.querySelector('#modal [type=submit]').click()")
    await turns(playground, "asked", "answered")
    await page.until("!document.querySelector('#modal').open")


@scene()
async def approval_of_the_agent(page: Page, playground: Playground) -> None:
    root = await say(playground, MAYA, f"{BOT} restart the search service")
    await turns(playground, "asked")
    await open_thread(page, root)
    await page.until("document.querySelector('#thread .actions .primary')")


@scene()
async def approved(page: Page, playground: Playground) -> None:
    await approval_of_the_agent(page, playground)
    await click(page, "#thread .actions .primary")
    await turns(playground, "asked", "answered")


@scene()
async def file_in_and_out(page: Page, playground: Playground) -> None:
    data = base64.b64encode(b"ERROR timeout\n" * 40).decode()
    files = [{"name": "app.log", "kind": "text/plain", "data": data}]
    root = await say(playground, MAYA, f"{BOT} what is in it?", files=files)
    await turns(playground, "answered")
    await say(playground, MAYA, f"{BOT} show me a file", root)
    await turns(playground, "answered", "answered")
    await open_thread(page, root)
    await page.until("document.querySelectorAll('#thread .files li').length === 2")


@scene()
async def table_chart_and_sources(page: Page, playground: Playground) -> None:
    root = await say(playground, MAYA, f"{BOT} show me a table")
    await turns(playground, "answered")
    for number, what in enumerate(("a chart", "your sources"), 2):
        await say(playground, MAYA, f"{BOT} show me {what}", root)
        await turns(playground, *["answered"] * number)
    await open_thread(page, root)
    await page.until("document.querySelector('#thread .chart')")


@scene(lost_notice_after=0.5, watch_after=1.0)
async def stop_watching(page: Page, playground: Playground) -> None:
    root = await say(playground, MAYA, f"{BOT} look into it")
    await turns(playground, "watched")
    await open_thread(page, root)
    await page.until("document.querySelector('#thread .actions button')")


@scene()
async def deleted_root(page: Page, playground: Playground) -> None:
    root = await say(playground, MAYA, "Lunch at noon?")
    await say(playground, JONAS, "Gladly.", root)
    await open_thread(page, root)
    order = {"type": "delete", "user": MAYA, "channel": CHANNEL, "ts": root}
    assert await playground.visitor.take(order) is None
    await page.until("document.querySelector('#thread .message.gone')")
