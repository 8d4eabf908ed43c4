"""Probes of what becomes of streamed Markdown: how it reads back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from .port import Place, ProbeResult, SlackPort, add_probe, probe
from .stream_probes import APPEND, TEXT, read, start, stop, streamed, text_chunk
from .text_probes import post

_MANY = 20
_SAMPLE = """# Heading

**bold** ~~struck~~ [label](https://example.com) a & b < c

- one
  - two

```
code
```

| head | other |
|---|---|
| cell | more |

"""


async def _sample(slack: SlackPort, place: Place) -> Mapping[str, Any]:
    """A message with all that Markdown has, read back."""

    async def make() -> dict[str, Any]:
        return await streamed(slack, place, text_chunk(f"{_SAMPLE}<@{place.user}> is mentioned.\n"))

    return await slack.once("sample", make)


def _add(rule: str, *patterns: tuple[str, str], is_blocks: bool = False) -> None:
    """A probe that says which pattern the sample's text has, or its blocks as JSON."""

    async def run(slack: SlackPort, place: Place) -> ProbeResult:
        shown = await _sample(slack, place)
        text = json.dumps(shown.get("blocks") or []) if is_blocks else str(shown.get("text"))
        for word, pattern in patterns:
            if re.search(pattern, text, re.MULTILINE):
                return ProbeResult(word)
        return ProbeResult("other", text)

    add_probe(rule, run)


_add("read.heading", ("marked", "^# Heading"), ("bold", r"^\*Heading\*"), ("plain", "^Heading"))
_add("read.bold", ("markdown", r"\*\*bold\*\*"), ("mrkdwn", r"\*bold\*"))
_add("read.strike", ("markdown", "~~struck~~"), ("mrkdwn", "~struck~"))
_add("read.link", ("markdown", r"\[label\]\("), ("mrkdwn", r"(<|&lt;)https://example\.com/?\|label"))
_add("read.escape", ("escaped", "a &amp; b &lt; c"), ("raw", "a & b < c"))
_add("read.bullet", ("bullet", "^[•◦] one"), ("dash", "^[-*] one"))
_add("read.nested", ("indented", r"^\s+[•◦▪*-] two"), ("flat", r"^[•◦▪*-] two"))
_add(
    "read.fence",
    (
        "preformatted",
        r'"rich_text_preformatted"[^{}]*\{[^{}]*code|code[^{}]*\}[^{}]*"rich_text_preformatted"',
    ),
    ("section", "code"),
    is_blocks=True,
)


def _has(block: Any, kind: str) -> bool:
    """A block, or a part of it, is of that type."""
    if isinstance(block, Mapping):
        return block.get("type") == kind or any(_has(part, kind) for part in block.values())
    return isinstance(block, list) and any(_has(part, kind) for part in block)


@probe("read.table")
async def _table(slack: SlackPort, place: Place) -> ProbeResult:
    shown = await _sample(slack, place)
    return ProbeResult(_has(shown.get("blocks"), "table"))


@probe("read.mention")
async def _mention(slack: SlackPort, place: Place) -> ProbeResult:
    shown = await _sample(slack, place)
    return ProbeResult("live" if _has(shown.get("blocks"), "user") else "text")


async def _space(
    slack: SlackPort, place: Place, *texts: str, with_space: Callable[[str], bool]
) -> ProbeResult:
    """Whether white space stays, of a stream that gets these texts."""
    ts = await start(slack, place, text_chunk(texts[0]))
    for text in texts[1:]:
        await slack.ok(APPEND, channel=place.channel, ts=ts, chunks=[text_chunk(text)])
    await stop(slack, place, ts)
    shown = str((await read(slack, place, ts)).get("text"))
    return ProbeResult("kept" if with_space(shown) else "dropped")


@probe("read.leading_space")
async def _leading(slack: SlackPort, place: Place) -> ProbeResult:
    return await _space(slack, place, f"\n\n{TEXT}", with_space=lambda text: text[:1].isspace())


@probe("read.blank_append")
async def _blank(slack: SlackPort, place: Place) -> ProbeResult:
    texts = ("one", " \n\n ", "two")
    return await _space(slack, place, *texts, with_space=lambda text: "onetwo" not in text)


@probe("read.titles")
async def _titles(slack: SlackPort, place: Place) -> ProbeResult:
    card = {"type": "task_update", "id": "a", "title": "Titled", "status": "complete"}
    shown = await streamed(slack, place, card, text_chunk(TEXT))
    return ProbeResult("Titled" in str(shown.get("text")))


@probe("read.state")
async def _state(slack: SlackPort, place: Place) -> ProbeResult:
    ts = await start(slack, place, text_chunk(TEXT))
    shown = await read(slack, place, ts)
    await stop(slack, place, ts)
    return ProbeResult(shown.get("streaming_state") == "in_progress")


@probe("read.whole_thread")
async def _whole(slack: SlackPort, place: Place) -> ProbeResult:
    asked = {"channel": place.channel, "ts": place.root, "limit": _MANY}
    while True:
        page = await slack.ok("conversations.replies", **asked)
        count = len(page.get("messages") or ())
        if count >= _MANY:
            return ProbeResult(True)
        if page.get("has_more") or (page.get("response_metadata") or {}).get("next_cursor"):
            return ProbeResult(False, f"{count} came")
        await post(slack, place)
