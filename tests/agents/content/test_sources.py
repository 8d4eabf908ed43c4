"""Sources in the words of several frameworks, and what is no address."""

from __future__ import annotations

from typing import Any

import pytest

from slack_bot.agents.content.beside import BesideAnswer
from slack_bot.agents.content.sources import CITATION, Citations, canonical, is_address
from slack_bot.agents.wire.frames import decode
from slack_bot.turn.events import SourcesFound
from slack_bot.turn.extras import Source

URL, OTHER = "https://docs.example/a", "https://docs.example/b"
TOLD = Source(URL, "A")


def reply(metadata: Any = None, *parts: Any) -> dict[str, Any]:
    said = parts or ({"kind": "text", "text": "Yes [1]."},)
    return {
        "kind": "message",
        "messageId": "m",
        "role": "agent",
        "parts": list(said),
        "metadata": metadata or {},
    }


def artifact(event: Any = None, metadata: Any = None, *parts: Any) -> dict[str, Any]:
    held = {"artifactId": "a", "name": "answer", "parts": list(parts), "metadata": metadata or {}}
    return {
        "kind": "artifact-update",
        "taskId": "t",
        "contextId": "c",
        "artifact": held,
        "metadata": event or {},
    }


def sources_of(event: dict[str, Any]) -> list[Source]:
    found = [each for each in BesideAnswer().take(decode(event)) if isinstance(each, SourcesFound)]
    return [source for each in found for source in each.sources]


def data(value: Any) -> dict[str, Any]:
    return {"kind": "data", "data": value}


WEB = {"groundingChunks": [{"web": {"uri": URL, "title": "A"}}, {"retrievedContext": {"uri": "gs://x/y"}}]}


@pytest.mark.parametrize(
    "event",
    [
        reply({CITATION: [{"url": URL, "title": "A", "start_index": 0, "end_index": 3}]}),
        reply({CITATION: {"citations": [{"url": URL, "title": "A"}]}}),
        reply({"sources": [{"href": URL, "name": "A"}]}),
        reply(None, {"kind": "text", "text": "x", "metadata": {"citations": [{"url": URL, "title": "A"}]}}),
        reply(None, data({"type": "citations", "citations": [{"uri": URL, "title": "A"}]})),
        reply(None, data({"type": "sources", "items": [{"link": URL, "title": "A"}]})),
        artifact({"adk_grounding_metadata": WEB}),
        artifact(None, {"grounding_metadata": {"grounding_chunks": [{"web": {"uri": URL, "title": "A"}}]}}),
        {"kind": "status-update", "taskId": "t", "status": {"state": "working"}, "metadata": {"citations": [
            {"url": URL, "title": "A"}]}},
        {"kind": "task", "id": "t", "status": {"state": "completed", "message": reply({"sources": [
            {"url": URL, "title": "A"}]})}},
    ],
)  # fmt: skip
def test_every_way_to_name_one(event: dict[str, Any]) -> None:
    assert sources_of(event) == [TOLD]


def test_addresses_alone_are_sources_and_what_is_none_is_not() -> None:
    told = reply({"sources": [URL, 5, None, {"title": "no address"}, "javascript:x", {"url": OTHER}]})
    assert sources_of(told) == [Source(URL), Source(OTHER)]


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)", "data:text/html,x", "ftp://x.example", "//x.example", "https://", "https:///x",
        "https://bank.example@evil.example/", "https://x.example/a b", "https://x.example/<!channel>",
        "https://x.example/|y", "https://x.example/\u202e", "https://x.example:99999/", "http://[::1",
        "https://x.example/" + "a" * 2_000, "slack://open",
    ],
)  # fmt: skip
def test_no_address(url: str) -> None:
    assert not is_address(url)


def test_the_same_page_is_one_source() -> None:
    same = [
        "https://X.example/a",
        "http://x.example/a/",
        "https://x.example:443/a#part",
        "https://x.example/a?utm_source=x",
    ]
    assert {canonical(url) for url in same} == {"https://x.example/a"}
    assert canonical("https://x.example/a?b=1") != canonical("https://x.example/a?b=2")


def test_a_source_is_told_once_in_a_turn() -> None:
    citations = Citations()
    assert citations.cite([TOLD, Source(f"{URL}#part", "B")]) == [
        SourcesFound((TOLD,), reason="named by the agent")
    ]
    assert citations.cite([TOLD]) == []
