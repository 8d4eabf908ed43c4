"""Modals, the Home tab, and files on their way in."""

from __future__ import annotations

from typing import Any

import pytest

from slack_bot.testing.slack.workspace import SeenFile

from .scene import Scene, button, modal, plain


def text_input(label: str = "l", **more: Any) -> dict[str, Any]:
    element = {"type": "plain_text_input", "action_id": "field"}
    return {"type": "input", "block_id": label, "label": plain(label), "element": element, **more}


BAD_VIEWS: list[tuple[str, dict[str, Any], str]] = [
    ("a home tab", modal(type="home"), "invalid_arguments"),
    ("unknown field", modal(color="red"), "invalid_arguments"),
    ("no title", {"type": "modal", "blocks": []}, "invalid_arguments"),
    ("title of 25", modal(title=plain("t" * 25)), "invalid_arguments"),
    ("title in mrkdwn", modal(title={"type": "mrkdwn", "text": "t"}), "invalid_arguments"),
    ("title without text", modal(title={"type": "plain_text"}), "invalid_arguments"),
    ("long submit", modal(submit=plain("t" * 25)), "invalid_arguments"),
    ("no submit", modal(blocks=[text_input()]), "invalid_arguments"),
    ("no blocks", {"type": "modal", "title": plain("t")}, "invalid_arguments"),
    ("bad blocks", modal(blocks=["x"]), "invalid_blocks"),
    ("private_metadata", modal(private_metadata="x" * 3_001), "invalid_arguments"),
]  # fmt: skip


def trigger(scene: Scene) -> str:
    """A press, and the trigger it gives the app."""
    ts = scene.post(text="t", blocks=[{"type": "actions", "elements": [button()]}])
    pressed = scene.workspace.press("U1", "C1", ts, "retry", now=scene.now)
    return str(pressed.payload["trigger_id"])


@pytest.mark.parametrize(("view", "error"), [v[1:] for v in BAD_VIEWS], ids=[v[0] for v in BAD_VIEWS])
def test_views_that_are_refused(view: dict[str, Any], error: str) -> None:
    scene = Scene()
    assert scene.error("views.open", trigger_id=trigger(scene), view=view) == error


def test_a_modal_opens_with_a_fresh_trigger_once() -> None:
    scene = Scene()
    fresh, old = trigger(scene), trigger(scene)
    view = scene.ok("views.open", trigger_id=fresh, view=modal(callback_id="form", submit=plain("Send")))[
        "view"
    ]
    assert (view["callback_id"], view["state"], view["root_view_id"]) == ("form", {"values": {}}, view["id"])
    assert scene.error("views.open", trigger_id=fresh, view=modal()) == "invalid_trigger_id"
    scene.wait(3.1)
    assert scene.error("views.open", trigger_id=old, view=modal()) == "expired_trigger_id"


def test_views_stack_three_deep_and_a_new_one_starts_over() -> None:
    scene = Scene()
    first = scene.ok("views.push", trigger_id=trigger(scene), view=modal())["view"]
    second = scene.ok("views.push", trigger_id=trigger(scene), view=modal())["view"]
    assert (second["previous_view_id"], second["root_view_id"]) == (first["id"], first["id"])
    scene.ok("views.push", trigger_id=trigger(scene), view=modal())
    assert scene.error("views.push", trigger_id=trigger(scene), view=modal()) == "push_limit_reached"
    scene.ok("views.open", trigger_id=trigger(scene), view=modal())
    scene.ok("views.push", trigger_id=trigger(scene), view=modal())


def test_a_view_is_updated_by_either_id_and_against_its_hash() -> None:
    scene = Scene()
    old = scene.ok("views.open", trigger_id=trigger(scene), view=modal(external_id="mine"))["view"]
    first_hash = old["hash"]
    by_id = {"view_id": old["id"], "hash": first_hash}
    new = scene.ok("views.update", **by_id, view=modal(title=plain("Next"), external_id="mine"))["view"]
    assert (new["id"], new["title"]["text"]) == (old["id"], "Next")
    assert scene.error("views.update", view_id=old["id"], hash=first_hash, view=modal()) == "hash_conflict"
    scene.ok("views.update", external_id="mine", view=modal())
    assert scene.error("views.update", view_id="V9", view=modal()) == "not_found"
    assert scene.error("views.update", view=modal()) == "not_found"


def test_a_home_tab_belongs_to_a_person() -> None:
    scene = Scene()
    home = {"type": "home", "blocks": [{"type": "divider"}]}
    first = scene.ok("views.publish", user_id="U1", view=home)["view"]
    assert scene.ok("views.publish", user_id="U1", view=home)["view"]["id"] == first["id"]
    assert scene.error("views.publish", user_id="U9", view=home) == "user_not_found"
    assert scene.error("views.publish", user_id="U1", view=modal()) == "invalid_arguments"


def test_a_file_is_announced_sent_and_shown() -> None:
    scene = Scene()
    offer = scene.ok("files.getUploadURLExternal", filename="answer.md", length=5)
    files = [{"id": offer["file_id"], "title": "The answer"}]
    assert scene.error("files.completeUploadExternal", files=files) == "file_not_found"
    assert scene.workspace.receive_file(offer["file_id"], b"x" * 4).status == 400
    assert scene.error("files.completeUploadExternal", files=files) == "file_not_found"
    assert scene.workspace.receive_file(offer["file_id"], b"# All").status == 200
    assert scene.workspace.receive_file("F9", b"# All").status == 404
    where = {"channel_id": "C1", "thread_ts": scene.root, "initial_comment": "All of it:"}
    scene.ok("files.completeUploadExternal", files=files, **where)
    assert (scene.last().text, scene.last().files) == (
        "All of it:", (SeenFile("answer.md", "The answer", b"# All"),),
    )  # fmt: skip
    scene.ok("files.completeUploadExternal", files=files, channel_id="C1")
    assert len(scene.seen()) == 1
    assert scene.ok("files.completeUploadExternal", files=files)["files"][0]["title"] == "The answer"


def test_a_file_is_shown_in_several_channels_with_blocks_unless_it_has_a_comment() -> None:
    scene = Scene()
    direct = scene.ok("conversations.open", users="U1")["channel"]["id"]
    offer = scene.ok("files.getUploadURLExternal", filename="answer.md", length=5)
    scene.workspace.receive_file(offer["file_id"], b"# All")
    files, blocks = [{"id": offer["file_id"]}], [{"type": "markdown", "text": "**All**"}]
    show = {"files": files, "blocks": blocks, "channel_id": "C1", "channels": f"C1, {direct}"}
    scene.ok("files.completeUploadExternal", **show)
    shown = [scene.workspace.history(channel)[-1] for channel in ("C1", direct)]
    assert [[f.title for f in each.files] for each in shown] == [["answer.md"]] * 2
    assert [len(each.blocks) for each in shown] == [1, 1]
    assert len(scene.workspace.history("C1")) == 2, "once in each channel"
    scene.ok("files.completeUploadExternal", **show, initial_comment="All of it:")
    last = scene.workspace.history("C1")[-1]
    assert (last.text, last.blocks) == ("All of it:", ())
    assert scene.error("files.completeUploadExternal", **{**show, "blocks": ["x"]}) == "invalid_blocks"
    assert scene.error("files.completeUploadExternal", **{**show, "channels": "C9"}) == "channel_not_found"
    assert len(scene.workspace.history("C1")) == 3, "nothing of what was refused"


@pytest.mark.parametrize(
    ("method", "args", "error"),
    [
        ("files.getUploadURLExternal", {"filename": "f", "length": 0}, "missing_argument"),
        (
            "files.getUploadURLExternal",
            {"filename": "f.py", "length": 1_000_001, "snippet_type": "python"},
            "invalid_arguments",
        ),
        ("files.completeUploadExternal", {"files": ["F1"]}, "file_not_found"),
        ("files.completeUploadExternal", {"files": [{"id": "F9"}]}, "file_not_found"),
    ],
)
def test_files_that_are_refused(method: str, args: dict[str, Any], error: str) -> None:
    assert Scene().error(method, **args) == error
