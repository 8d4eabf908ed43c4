"""How Slack gives a message back."""

from __future__ import annotations

import pytest

from slack_bot.testing.slack.rendering import mrkdwn, read_back

from .scene import Scene, context, task, text


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("**bold** and __bold__", "*bold* and *bold*"),
        ("[docs](https://e.x)", "<https://e.x|docs>"),
        ("a < b && c > d", "a &lt; b &amp;&amp; c &gt; d"),
        ("# Title\ntext", "Title\ntext"),
        ("- one\n  * two\n+ three\n-four", "• one\n  • two\n• three\n-four"),
        ("~~no~~", "~no~"),
        ("plain", "plain"),
    ],
)
def test_markdown_becomes_slacks_dialect(markdown: str, expected: str) -> None:
    assert mrkdwn(markdown) == expected


def test_a_streamed_message() -> None:
    scene = Scene()
    ts = scene.start(task(status="complete", output="3"), text("**a**"), task_display_mode="plan")
    shown = scene.stop(ts, blocks=[context()])["message"]
    assert [block["type"] for block in shown["blocks"]] == ["plan", "rich_text", "context"]
    assert (shown["text"], shown["streaming_state"]) == ("Search\n*a*", "completed")
    assert shown["parent_user_id"] == "U1"
    assert shown["blocks"][0]["tasks"][0]["output"]["type"] == "rich_text"


def test_cards_of_a_timeline_stand_alone() -> None:
    scene = Scene()
    shown = scene.stop(scene.start(task(status="complete")))["message"]
    assert [block["type"] for block in shown["blocks"]] == ["task_card"]
    assert shown["text"] == "Search"


def test_a_posts_own_text_is_not_touched() -> None:
    scene = Scene()
    ts = scene.post(text="*bold* <https://e.x|docs>")
    state = scene.workspace.state
    message = state.find("C1", ts)
    assert message is not None
    assert read_back(state, message, False)["text"] == "*bold* <https://e.x|docs>"


def test_a_root_tells_of_its_replies_and_a_message_of_its_reactions_edits_and_files() -> None:
    scene = Scene()
    first = scene.post(text="one")
    scene.ok("chat.update", channel="C1", ts=first, text="two")
    scene.ok("reactions.add", channel="C1", timestamp=first, name="eyes")
    scene.workspace.say("U1", "C1", "look", now=scene.now, thread_ts=scene.root, files=["a.txt"])
    root, reply, third = scene.ok("conversations.replies", channel="C1", ts=scene.root)["messages"]
    assert (root["reply_count"], root["reply_users"], root["client_msg_id"]) == (
        2,
        ["U0BOT", "U1"],
        "client-msg-000001",
    )
    assert reply["reactions"] == [{"name": "eyes", "users": ["U0BOT"], "count": 1}]
    assert (reply["edited"]["user"], third["files"][0]["name"]) == ("U0BOT", "a.txt")


def test_a_reply_outlives_its_root() -> None:
    scene = Scene()
    ts = scene.post(text="t")
    scene.workspace.delete_root("C1", scene.root, now=scene.now)
    (reply,) = scene.ok("conversations.replies", channel="C1", ts=ts)["messages"]
    assert reply["parent_user_id"] == "USLACKBOT"
