"""The typing status, titles, prompts and sessions of threads."""

from __future__ import annotations

from typing import Any

import pytest

from .scene import Scene, rules, text

ROOT = "<root>"
STATUS, TITLE = "assistant.threads.setStatus", "assistant.threads.setTitle"
PROMPTS, SESSION = "assistant.threads.setSuggestedPrompts", "agents.sessions.setStatus"
PROMPT = {"title": "Joke", "message": "Tell me a joke"}
RULES: list[tuple[str, dict[str, Any], str | None]] = [
    (STATUS, {"thread_ts": ROOT, "status": "is thinking..."}, None),
    (STATUS, {"thread_ts": ROOT, "status": "", "loading_messages": ["a"] * 10}, None),
    (STATUS, {"thread_ts": ROOT}, "invalid_arguments"),
    (STATUS, {"status": "t"}, "invalid_arguments"),
    (STATUS, {"thread_ts": "1.2", "status": "t"}, "invalid_thread_ts"),
    (STATUS, {"thread_ts": ROOT, "status": "t", "loading_messages": ["a"] * 11}, "invalid_arguments"),
    (STATUS, {"thread_ts": ROOT, "status": "t", "loading_messages": [1]}, "invalid_arguments"),
    (STATUS, {"channel_id": "C2", "thread_ts": ROOT, "status": "t"}, "not_in_channel"),
    (TITLE, {"thread_ts": ROOT, "title": "t"}, None),
    (TITLE, {"thread_ts": "1.2", "title": "t"}, "invalid_thread_ts"),
    (PROMPTS, {"thread_ts": ROOT, "prompts": [PROMPT]}, None),
    (PROMPTS, {"prompts": [PROMPT]}, None),
    (PROMPTS, {"prompts": []}, "invalid_arguments"),
    (PROMPTS, {"prompts": [PROMPT] * 5}, "invalid_arguments"),
    (PROMPTS, {"prompts": [{"title": "t"}]}, "invalid_arguments"),
    (PROMPTS, {"prompts": ["t"]}, "invalid_arguments"),
    (SESSION, {"thread_ts": ROOT, "status": "suspended"}, None),
    (SESSION, {"thread_ts": ROOT, "status": "active", "title": "t", "initiator_user_id": "U1"}, None),
    (SESSION, {"thread_ts": ROOT, "status": "busy"}, "invalid_status"),
    (SESSION, {"status": "active"}, "thread_ts_required"),
    (SESSION, {"thread_ts": "1.2", "status": "active"}, "invalid_thread_ts"),
    (SESSION, {"thread_ts": ROOT, "status": "active", "initiator_user_id": "U9"}, "user_not_found"),
]


@pytest.mark.parametrize(("method", "args", "error"), RULES)
def test_the_rules(method: str, args: dict[str, Any], error: str | None) -> None:
    scene = Scene()
    filled = {"channel_id": "C1", **{k: scene.root if v == ROOT else v for k, v in args.items()}}
    assert scene.error(method, **filled) == error


def shown(scene: Scene) -> str | None:
    return scene.workspace.status_line("C1", scene.root, now=scene.now)


def think(scene: Scene, status: str = "is thinking...") -> None:
    scene.ok(STATUS, channel_id="C1", thread_ts=scene.root, status=status)


def test_a_status_shows_until_it_is_cleared() -> None:
    scene = Scene()
    assert shown(scene) is None
    think(scene)
    assert shown(scene) == "is thinking..."
    assert scene.workspace.thread("C1", scene.root)[-1].status_line == "is thinking..."
    think(scene, "")
    assert shown(scene) is None


def test_a_status_goes_away_after_two_minutes() -> None:
    scene = Scene()
    think(scene)
    scene.wait(119)
    assert shown(scene) == "is thinking..."
    scene.wait(1)
    assert shown(scene) is None


def test_a_post_in_the_thread_clears_the_status_and_one_elsewhere_does_not() -> None:
    scene = Scene()
    think(scene)
    scene.ok("chat.postMessage", channel="C1", text="elsewhere")
    scene.ok("chat.postEphemeral", channel="C1", user="U1", text="psst", thread_ts=scene.root)
    assert shown(scene) == "is thinking..."
    scene.post(text="t")
    assert shown(scene) is None


def test_a_stream_clears_the_status_and_a_later_status_is_a_second_row() -> None:
    scene = Scene()
    think(scene)
    ts = scene.start(text("a"))
    assert shown(scene) is None
    think(scene, "is responding...")
    think(scene, "")
    assert shown(scene) is None
    assert scene.workspace.status_rows("C1", scene.root) == ["is responding..."]
    scene.stop(ts)
    think(scene, "again")
    assert shown(scene) == "again"


def test_a_status_moves_the_session() -> None:
    scene = Scene()
    assert scene.workspace.session("C1", scene.root) is None
    think(scene)
    assert scene.workspace.session("C1", scene.root) == "processing"
    think(scene, "")
    assert scene.workspace.session("C1", scene.root) == "active"
    scene.ok(SESSION, channel_id="C1", thread_ts=scene.root, status="suspended", title="Why")
    assert scene.workspace.session("C1", scene.root) == "suspended"
    assert scene.workspace.state.thread("C1", scene.root).title == "Why"


def test_a_workspace_without_agent_sessions() -> None:
    scene = Scene(rules=rules(agent_sessions=False))
    assert scene.error(SESSION, channel_id="C1", thread_ts=scene.root, status="active") == "feature_disabled"
