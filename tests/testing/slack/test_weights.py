"""What a streamed message weighs, and when it is full."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.testing.slack.rules import WorkspaceRules
from slack_bot.testing.slack.state import Refused, StoredMessage
from slack_bot.testing.slack.weights import added, check, weight

from .scene import Scene, task, text

PLAN = {"type": "plan_update", "title": "Plan"}
CARD = task("1", "Look", details="de", output="o")
BLOCKS = {"type": "blocks", "blocks": []}


def message() -> StoredMessage:
    return StoredMessage("C1", "1.2", "U0BOT", "T1")


@pytest.mark.parametrize(
    ("content", "bytes_"),
    [
        ("abc", 3),
        ("\u5b57\U0001f642", 7),
        ([text("abc"), text("d")], 4),
        ([CARD], 4 + 2 * 3),
        ([CARD, CARD], 4 + 2 * 3 + 2 * 3),
        ([CARD, task("1", "L")], 1 + 2 * 3),
        ([CARD, task("2", "L")], 4 + 2 * 3 + 1),
        ([PLAN], 4),
        ([PLAN, {"type": "plan_update", "title": "P"}], 1),
        ([BLOCKS], 0),
    ],
)
def test_what_content_adds(content: Any, bytes_: int) -> None:
    assert added(message(), content) == bytes_


CHUNKS = st.lists(
    st.one_of(
        st.text("a\u5b57 ", min_size=1, max_size=9).filter(str.strip).map(text),
        st.builds(
            task,
            st.sampled_from("12"),
            st.text("xy", min_size=1, max_size=5),
            details=st.text("de", max_size=5),
            output=st.text("o", max_size=5),
        ),
        st.text("p", min_size=1, max_size=5).map(lambda title: {"type": "plan_update", "title": title}),
    ),
    min_size=1,
    max_size=6,
)


@given(st.lists(CHUNKS, min_size=1, max_size=4))
def test_what_is_added_is_what_it_weighs_then(calls: list[list[dict[str, Any]]]) -> None:
    """At most: white space that Slack drops was counted."""
    scene = Scene()
    ts = scene.start()
    standing = scene.workspace.state.open_streams[ts]
    for chunks in calls:
        before, more = weight(standing), added(standing, chunks)
        scene.append(ts, *chunks)
        spaces = sum(len(chunk.get("text", "")) - len(chunk.get("text", "").lstrip()) for chunk in chunks)
        assert before + more - spaces <= weight(standing) <= before + more


def test_full_for_good() -> None:
    state = Scene(rules=WorkspaceRules(stream_bytes=10)).workspace.state
    standing = message()
    check(state, standing, "x" * 10)
    standing.body = "x" * 9
    check(state, standing, "y")
    with pytest.raises(Refused, match="msg_too_long"):
        check(state, standing, "yy")
    with pytest.raises(Refused, match="msg_too_long"):
        check(state, standing, "y")
    check(state, standing, [BLOCKS])
