"""The thread as a person sees it."""

from __future__ import annotations

from slack_bot.testing.slack.workspace import SeenFile

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


def test_a_file_is_seen_with_its_bytes_and_a_persons_without() -> None:
    scene = Scene()
    scene.workspace.say("U1", "C1", "see", now=scene.now, thread_ts=scene.root, files=["in.pdf"])
    offer = scene.ok("files.getUploadURLExternal", filename="out.md", length=2)
    scene.workspace.receive_file(offer["file_id"], b"ok")
    where = {"channel_id": "C1", "thread_ts": scene.root}
    scene.ok("files.completeUploadExternal", files=[{"id": offer["file_id"]}], **where)
    assert [seen.files for seen in scene.seen()] == [
        (SeenFile("in.pdf"),), (SeenFile("out.md", "out.md", b"ok"),),
    ]  # fmt: skip


def test_a_thread_that_never_was_is_empty() -> None:
    assert Scene().workspace.thread("C1", "1.2") == []
