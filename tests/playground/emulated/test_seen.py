"""The thread as a person sees it."""

from __future__ import annotations

from .scene import Scene, context, feedback, task, text


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


def test_a_thread_that_never_was_is_empty() -> None:
    assert Scene().workspace.thread("C1", "1.2") == []
