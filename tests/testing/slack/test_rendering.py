"""How Slack gives a message back, and the thread as a person sees it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.testing.slack.blocks import plain
from slack_bot.testing.slack.rendering import inline, mrkdwn, read_back, rich_text
from slack_bot.testing.slack.workspace import PersonFile, SeenFile
from tests.turn.work import grows_like_its_text

from .scene import Scene, context, feedback, task, text


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


def words(text: str, **style: bool) -> dict[str, Any]:
    return {"type": "text", "text": text, **({"style": style} if style else {})}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", []),
        ("plain", [words("plain")]),
        ("a **b** c", [words("a "), words("b", bold=True), words(" c")]),
        ("*i* and _i_", [words("i", italic=True), words(" and "), words("i", italic=True)]),
        ("`**x**`", [words("**x**", code=True)]),
        ("~~gone~~", [words("gone", strike=True)]),
        ("snake_case_name 2*3*4", [words("snake_case_name 2*3*4")]),
        ("[a](https://e.x)", [{"type": "link", "url": "https://e.x", "text": "a"}]),
        ("![](https://e.x/i.png)", [{"type": "link", "url": "https://e.x/i.png", "text": "https://e.x/i.png"}]),
        ("<@U1> hi", [{"type": "user", "user_id": "U1"}, words(" hi")]),
        ("<@U2|bob>", [{"type": "user", "user_id": "U2"}]),
    ],
)  # fmt: skip
def test_inline(text: str, parts: list[dict[str, Any]]) -> None:
    assert inline(text) == parts


def test_blocks() -> None:
    text = "# Title\ntext\n- a\n* b\n1. c\n2) d\n> said\n```python\n- x\n```\nend"
    elements = rich_text("b1", text)["elements"]
    assert [(e["type"], e.get("style")) for e in elements] == [
        ("rich_text_section", None),
        ("rich_text_section", None),
        ("rich_text_list", "bullet"),
        ("rich_text_list", "ordered"),
        ("rich_text_quote", None),
        ("rich_text_preformatted", None),
        ("rich_text_section", None),
    ]
    assert [len(e["elements"]) for e in elements[2:4]] == [2, 2]
    assert elements[5]["elements"][0]["text"] == "- x"
    assert plain(rich_text("b1", text)) == "Title\ntext\na\nb\nc\nd\nsaid\n- x\nend"


def test_an_open_fence_runs_to_the_end() -> None:
    assert plain(rich_text("b1", "```\na\nb")) == "a\nb"


@given(st.text(alphabet=st.sampled_from("ab *_`~#[]()<>@U1-.\n"), max_size=60))
def test_no_letter_is_lost(text: str) -> None:
    shown = plain(rich_text("b1", text))
    assert shown.count("b") >= text.replace("](b", "").count("b") - text.count("](") - text.count(
        "```"
    ) - text.count("~~~")


@pytest.mark.parametrize(
    "piece", ["[", "[a](", "[](a(", "[a](b(c)", "![", "<@A|", "*a** ", "_a ", "`", "~~a "]
)
def test_reading_back_costs_as_much_as_the_text_is_long(piece: str) -> None:
    assert grows_like_its_text(inline, piece, 6_000)
    assert grows_like_its_text(mrkdwn, piece, 6_000)


def test_an_address_may_hold_parentheses_and_a_label_begins_at_the_last_bracket() -> None:
    assert mrkdwn("[a [b](http://c.example/(d)/e)") == "[a <http://c.example/(d)/e|b>"


def test_a_thread_is_read_from_top_to_bottom() -> None:
    scene = Scene()
    ts = scene.start({"type": "plan_update", "title": "Looking"}, task(status="complete"), text("Answer."))
    scene.stop(ts, blocks=[feedback()])
    root, answer = scene.workspace.thread("C1", scene.root)
    assert (root.author, root.is_bot, root.text) == ("U1", False, "<@U0BOT> why?")
    assert (answer.author, answer.is_bot, answer.thread_ts) == ("U0BOT", True, scene.root)
    assert answer.read == "Looking\n\nSearch (complete)\n\nAnswer.\n\nGood Bad"


def test_the_status_stands_on_the_last_message_only() -> None:
    scene = Scene()
    scene.post(text="one")
    scene.ok("assistant.threads.setStatus", channel_id="C1", thread_ts=scene.root, status="is thinking...")
    root, last = scene.workspace.thread("C1", scene.root)
    assert (root.status_line, last.status_line, last.text) == (None, "is thinking...", "one")


def test_what_was_seen_does_not_change_afterwards() -> None:
    scene = Scene()
    ts = scene.start(task(), text("a"))
    before = scene.last()
    scene.append(ts, task(title="Other"), text("b"))
    assert (before.text, before.tasks[0].title, scene.last().text) == ("a", "Search", "ab")


def test_a_post_with_nothing_but_furniture_has_no_text() -> None:
    scene = Scene()
    scene.post(text="fallback", blocks=[context("note")])
    assert (scene.last().text, scene.last().extras, scene.last().read) == ("", ("note",), "note")


def test_a_message_with_nothing_but_cards_has_no_text() -> None:
    scene = Scene()
    ts = scene.post(text="fallback")
    card = {"type": "task_card", "task_id": "a", "title": "Search", "status": "complete"}
    scene.ok("chat.update", channel="C1", ts=ts, text="fallback", blocks=[card])
    assert (scene.last().text, scene.last().read) == ("", "Search (complete)")


def test_a_plan_that_failed_says_so_first() -> None:
    scene = Scene()
    scene.stop(scene.start(task(), text("Answer."), task_display_mode="plan"))
    assert (scene.last().plan_failed, scene.last().text) == (True, "Something went wrong\n\nAnswer.")


def test_who_is_not_the_recipient_sees_the_beginning_until_it_is_over() -> None:
    scene = Scene()
    ts = scene.start()

    def seen_by(viewer: str) -> str:
        return scene.workspace.thread("C1", scene.root, viewer=viewer)[-1].text

    assert seen_by("U2") == ""
    scene.append(ts, text("One "))
    scene.append(ts, text("two."))
    assert (seen_by("U1"), seen_by("U2")) == ("One two.", "One ")
    scene.stop(ts)
    assert seen_by("U2") == "One two."


def test_a_file_is_seen_with_its_bytes() -> None:
    scene = Scene()
    given = PersonFile("in.pdf", b"%PDF")
    scene.workspace.say("U1", "C1", "see", now=scene.now, thread_ts=scene.root, files=[given])
    offer = scene.ok("files.getUploadURLExternal", filename="out.md", length=2)
    scene.workspace.receive_file(offer["file_id"], b"ok")
    where = {"channel_id": "C1", "thread_ts": scene.root}
    scene.ok("files.completeUploadExternal", files=[{"id": offer["file_id"]}], **where)
    assert [seen.files for seen in scene.seen()] == [
        (SeenFile("in.pdf", "in.pdf", b"%PDF"),), (SeenFile("out.md", "out.md", b"ok"),),
    ]  # fmt: skip


def test_a_thread_that_never_was_is_empty() -> None:
    assert Scene().workspace.thread("C1", "1.2") == []
