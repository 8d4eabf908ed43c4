"""The page: one file, nothing loaded, and nothing that an agent wrote is markup."""

from __future__ import annotations

from html.parser import HTMLParser

from slack_bot.tools.trace.html_page import MOST_ROWS, page
from tests.tools.trace.turns import called, closed, drawn, event, opened, usual


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "onload", "onerror")]


def tags(html: str) -> Tags:
    found = Tags()
    found.feed(html)
    return found


def test_a_picture_and_every_row() -> None:
    found = tags(page([drawn(), drawn("another")]))
    assert (found.seen.count("svg"), found.seen.count("table"), found.seen.count("script")) == (1, 2, 1)
    assert found.seen.count("tr") == 2 * (len(drawn().rows) + 1)
    assert found.links == []


def test_what_an_agent_writes_is_text() -> None:
    evil = "</title></svg><script>alert(1)</script><img src=x onerror=alert(1)>\ud800"
    facts = [opened(evil), event(1.0, evil, evil), called(2.0, evil, evil, error=evil), closed(3.0)]
    found = tags(page([drawn(evil, facts)]))
    assert found.seen.count("script") == 1
    assert "img" not in found.seen
    assert found.links == []
    assert page([drawn(evil, facts)]).encode()


def test_a_very_long_trace_says_what_it_leaves_out() -> None:
    many = [opened(), *(event(n / 1000, "x") for n in range(MOST_ROWS + 10)), *usual()[-1:]]
    html = page([drawn("many", many)])
    assert "10 further rows are left out here" in html
    assert tags(html).seen.count("tr") == MOST_ROWS + 1
