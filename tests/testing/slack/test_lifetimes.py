"""When Slack seals a stream by itself."""

from __future__ import annotations

import pytest

from slack_bot.testing.slack import lifetimes
from slack_bot.testing.slack.rules import WorkspaceRules

from .scene import NOW, Scene, text


@pytest.mark.parametrize(
    ("rules", "end"),
    [
        (WorkspaceRules(), None),
        (WorkspaceRules(stream_life=300), 300),
        (WorkspaceRules(stream_idle=30), 130),
        (WorkspaceRules(stream_life=300, stream_idle=30), 130),
        (WorkspaceRules(stream_life=120, stream_idle=30), 120),
    ],
)
def test_a_stream_ends_by_age_or_by_silence(rules: WorkspaceRules, end: float | None) -> None:
    scene = Scene(rules=rules)
    ts = scene.start(text("a"))
    for _ in range(4):
        scene.wait(25)
        scene.append(ts, text("b"))
    message = scene.workspace.state.open_streams[ts]
    expected = None if end is None else NOW + end
    assert lifetimes.ends_at(scene.workspace.state, message) == expected
    assert scene.workspace.next_end() == expected


def test_a_sealed_stream_ends_no_more() -> None:
    scene = Scene(rules=WorkspaceRules.real())
    ts = scene.start(text("a"))
    message = scene.workspace.state.open_streams[ts]
    scene.stop(ts)
    assert lifetimes.ends_at(scene.workspace.state, message) is None
    assert scene.workspace.next_end() is None


def test_the_oldest_ends_first_and_each_in_its_own_time() -> None:
    scene = Scene(rules=WorkspaceRules.real())
    first = scene.start(text("a"))
    scene.wait(100)
    second = scene.start(text("b"))
    assert scene.workspace.next_end() == NOW + 300
    scene.workspace.pass_time(NOW + 299)
    assert scene.workspace.open_streams() == [first, second]
    scene.workspace.take()
    scene.workspace.pass_time(NOW + 399)
    assert scene.workspace.open_streams() == [second]
    assert {event["ts"][:10] for event in scene.events()} == {str(int(NOW + 300))}
    assert [seen.expired for seen in scene.seen()] == [True, False]


def test_a_press_of_stop_comes_too_late_for_what_is_over() -> None:
    scene = Scene(rules=WorkspaceRules.real())
    scene.start(text("a"))
    assert scene.workspace.stop("U1", "C1", scene.root, now=NOW + 301) == []
    assert scene.last().stopped_by is None


def test_a_deleted_stream_is_forgotten() -> None:
    scene = Scene(rules=WorkspaceRules.real())
    scene.start(text("a"))
    scene.workspace.delete_root("C1", scene.root, now=NOW + 1, with_replies=True)
    assert (scene.workspace.open_streams(), scene.workspace.next_end()) == ([], None)
