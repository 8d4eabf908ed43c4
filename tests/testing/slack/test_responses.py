"""A response_url: five answers within half an hour."""

from __future__ import annotations

from typing import Any

import pytest

from .scene import Scene, button


def pressed(scene: Scene, ts: str | None = None) -> str:
    """The key of the response_url that a press gives."""
    ts = ts or scene.post(text="old", blocks=[{"type": "actions", "elements": [button()]}])
    payload = scene.workspace.press("U1", "C1", ts, "retry", now=scene.now).payload
    return str(payload["response_url"]).rpartition("/")[2]


def respond(scene: Scene, key: str, **body: Any) -> str | None:
    error: str | None = scene.workspace.respond(key, body, now=scene.now).body.get("error")
    return error


def test_the_presser_alone_sees_it_by_default() -> None:
    scene = Scene()
    assert respond(scene, pressed(scene), text="Thanks") is None
    assert (scene.last().text, scene.last().ephemeral_for) == ("Thanks", "U1")


def test_it_can_be_for_everybody_in_the_thread() -> None:
    scene = Scene()
    assert respond(scene, pressed(scene), text="Hi", response_type="in_channel") is None
    assert (scene.last().text, scene.last().ephemeral_for) == ("Hi", None)


def test_it_can_replace_or_delete_the_message() -> None:
    scene = Scene()
    key = pressed(scene)
    assert respond(scene, key, text="new", replace_original=True) is None
    assert [m.text for m in scene.seen()] == ["new"]
    assert respond(scene, key, delete_original=True) is None
    assert scene.seen() == []
    assert respond(scene, key, text="still here") is None
    assert scene.workspace.history("C1")[-1].ephemeral_for == "U1"


def test_a_thread_can_be_named() -> None:
    scene = Scene()
    assert respond(scene, pressed(scene), text="Hi", thread_ts="1.2") == "invalid_thread_ts"


def test_it_ends_after_five_uses() -> None:
    scene = Scene()
    key = pressed(scene)
    assert [respond(scene, key, text=str(n)) for n in range(6)] == [None] * 5 + ["expired_url"]


def test_it_ends_after_half_an_hour() -> None:
    scene = Scene()
    key = pressed(scene)
    scene.wait(1_801)
    assert respond(scene, key, text="late") == "expired_url"


@pytest.mark.parametrize("key", ["", "response-9"])
def test_what_was_never_offered(key: str) -> None:
    assert respond(Scene(), key, text="t") == "invalid_url"
