"""Hostile tables, charts, files and sources are neutral, and Slack takes what the bot makes of them. Under
faults each file is there once, byte for byte."""

from __future__ import annotations

import itertools
import json
import re
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slack_sdk.models.blocks import Block

from slack_bot.testing.harness import run_bot
from slack_bot.testing.tape.tape import Tape
from slack_bot.testing.virtual_clock import on_virtual_time, run
from tests.examples import examples
from tests.slack.test_extras import artifact, tape

SHOWING = {"chat.postMessage", "chat.startStream", "chat.appendStream", "chat.stopStream", "chat.update"}
MENTION = re.compile(r"<(?:!(?:channel|here|everyone|subteam)|@[UW]|#C)", re.IGNORECASE)
NO_MODEL = {"data_table", "data_visualization"}  # the SDK does not know them: the emulated Slack judges
EVIL = (
    "<!channel>", "<@U1>", "<#C1|x>", "xoxb-1234567890-abcdefghij", "```", "`", "|", "", " ", "\u202e",
    "=cmd|'/c calc'!A0", "javascript:alert(1)", "https://evil.example/<!here>", "\ud800", "a" * 300, "[x](y)",
    '{"type":"image","image_url":"https://evil.example/x.png"}', "../../etc/passwd", "&lt;!channel&gt;",
)  # fmt: skip

words = st.sampled_from(EVIL) | st.text(max_size=30)
short = st.text("ab<!@#>&`|=", min_size=1, max_size=8)
numbers = st.integers() | st.floats() | st.just(10**400)
plain = words | numbers | st.booleans() | st.none()
blocks = st.sampled_from(
    [
        {"type": "image", "image_url": "https://evil.example/x.png", "alt_text": "x"},
        {
            "type": "actions",
            "elements": [{"type": "button", "text": {"type": "plain_text", "text": "Press"}}],
        },
        {"blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "<!channel>"}}]},
        {"type": "data_table", "rows": [], "caption": "<!channel>"},
    ]
)


@st.composite
def tables(draw: st.DrawFn) -> Any:
    few = st.lists(short, min_size=2, max_size=5, unique=True)
    columns = draw(few | st.lists(words, min_size=1, max_size=25))
    rows = draw(st.lists(st.lists(plain, min_size=len(columns), max_size=len(columns)), max_size=6))
    title = {"title": draw(words)}
    return draw(
        st.sampled_from(
            [
                {"type": "table", "columns": columns, "rows": rows * draw(st.integers(1, 60)), **title},
                [dict(zip(columns, row, strict=True)) for row in rows],
                {draw(words): [dict(zip(columns, row, strict=True)) for row in rows]},
            ]
        )
    )


@st.composite
def charts(draw: st.DrawFn) -> Any:
    is_sane = draw(st.booleans())
    one = short if is_sane else words | numbers
    labels = draw(st.lists(one, min_size=1, max_size=12 if is_sane else 25, unique=is_sane))
    values = st.lists(st.integers(1, 9) if is_sane else numbers, min_size=len(labels), max_size=len(labels))
    named = st.fixed_dictionaries({"name": short if is_sane else words, "data": values})
    series = draw(st.lists(named, min_size=1, max_size=3 if is_sane else 14))
    kind = draw(
        st.sampled_from(["bar", "line", "area", "pie", *([] if is_sane else ["radar", "<!channel>"])])
    )
    axes = {"x_label": draw(words), "y_label": draw(words), "title": draw(words)}
    return {"type": "chart", "chart": kind, "categories": labels, "series": series, **axes}


sources = st.lists(
    st.fixed_dictionaries({"url": words | st.just("https://x.example/a"), "title": words})
).map(lambda rows: {"type": "citations", "citations": rows})
hostile = tables() | charts() | sources | blocks | st.recursive(plain, st.lists, max_leaves=5)


def without_files(args: dict[str, Any]) -> str:
    return json.dumps({name: value for name, value in args.items() if name != "files"})


async def told(made: Tape) -> list[dict[str, Any]]:
    """All calls that show something. The bot makes none that Slack refuses, and the turn ends well."""
    async with run_bot(made) as bot:
        await bot.ask("hi")
        await bot.idle()
        assert bot.outcomes == ["answered"]
        wrong = [(call.method, call.error) for call in bot.workspace.calls if not call.ok]
        assert wrong == []
        return [dict(call.args) for call in bot.workspace.calls if call.method in SHOWING]


@examples(200)
@given(st.lists(hostile, min_size=1, max_size=3), words)
def test_what_is_hostile_is_neutral(values: list[Any], name: str) -> None:
    event = json.loads(json.dumps(artifact("See:", *values)))
    event["artifact"]["description"] = name
    event["artifact"]["parts"].append(
        {"kind": "file", "file": {"name": name, "mimeType": name, "bytes": "aGk="}}
    )
    for args in run(told(tape(event))):
        said = without_files(args)
        assert not MENTION.search(said)
        assert "xoxb-1234567890" not in said
        for block in args.get("blocks") or ():
            assert block["type"] not in ("image", "section")
            if block["type"] not in NO_MODEL:
                read = Block.parse(block)
                assert read is not None
                read.validate_json()


BROKEN = ("timeout", "timeout!", "http:502", "http:502!", "cut", "cut!", "connect")
FAULTS = (*BROKEN, "ratelimited:1", "internal_error")
METHODS = (
    "chat.startStream", "chat.appendStream", "chat.stopStream", "chat.postMessage", "chat.update",
    "conversations.replies", "files.getUploadURLExternal", "files.completeUploadExternal", "upload",
)  # fmt: skip


def failing(random: Random, calls: int) -> dict[str, list[str | None]]:
    """One call in ten fails."""
    return {
        method: [*(random.choice(kinds) if random.random() < 0.1 else None for _ in range(calls)), None]
        for method in METHODS
        for kinds in (
            BROKEN if method == "upload" else FAULTS,
        )  # its address says what is wrong by HTTP only
    }


@pytest.mark.parametrize("turns", [20, pytest.param(500, marks=pytest.mark.slow)])
@on_virtual_time
async def test_under_faults_each_file_is_there_once_byte_for_byte(turns: int) -> None:
    random = Random(turns)
    files = [random.randbytes(random.randint(1, 3_000)) for _ in range(turns)]
    rows = [{"number": number, "square": number**2} for number in range(5)]
    tapes = [tape(artifact(f"File {number}:", content, rows)) for number, content in enumerate(files)]
    async with run_bot(*tapes, faults=failing(random, 20 * turns), hourly_person=0) as bot:
        for number, content in enumerate(files):
            root = await bot.ask("a file, please")
            await bot.idle()
            seen = [message for message in bot.thread(root) if message.is_bot]
            shown = list(itertools.chain.from_iterable(message.files for message in seen))
            assert [file.content for file in shown] == [content], number
            kinds = [block["type"] for message in seen for block in message.blocks]
            assert kinds.count("data_table") == 1, number
            assert kinds.count("context_actions") == 1, number
        assert bot.outcomes == ["answered"] * turns
