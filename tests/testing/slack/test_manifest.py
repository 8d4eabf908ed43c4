"""An app may call what its manifest has scopes for, and hears of what it subscribes to."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from slack_bot.testing.slack.manifest import SHIPPED, AppManifest
from slack_bot.testing.slack.rules import METHODS
from slack_bot.testing.slack.workspace import APP_TOKEN, BOT_TOKEN, Workspace

from .scene import NOW, U1, Scene, text

ROOT = Path(__file__).parents[3]
ON_PAPER = ROOT / "docs" / "slack-app-manifest.json"
IN_FRONT = ("slack", "listeners")
METHOD = re.compile(
    r"(agents|apps|assistant|auth|chat|conversations|files|reactions|users|views)\.[a-zA-Z.]+"
)


def without(*gone: str) -> AppManifest:
    """The shipped manifest without these scopes or events."""
    return AppManifest(SHIPPED.scopes - set(gone), SHIPPED.events - set(gone))


def called_methods() -> Iterator[str]:
    """Every method of Slack's that the bot names as an argument of a call, read off its source."""
    package = ROOT / "slack_bot"
    rooms = [path for room in IN_FRONT for path in (package / room).rglob("*.py")]
    for path in (*rooms, package / "dispatch.py", package / "runner.py", package / "app.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                values = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
                yield from (value for value in values if isinstance(value, str) and METHOD.fullmatch(value))


def test_the_manifest_that_people_install_is_the_one_that_is_enforced() -> None:
    assert AppManifest.from_json(json.loads(ON_PAPER.read_text("utf-8"))) == SHIPPED
    assert Workspace().state.manifest is SHIPPED


def test_the_manifest_covers_every_method_that_the_bot_calls() -> None:
    called = set(called_methods())
    assert {"chat.startStream", "chat.update", "files.completeUploadExternal", "auth.test"} <= called
    assert called <= METHODS.keys()
    with_bot_token = called - {"apps.connections.open"}  # that one takes the app-level token
    refused = {
        each for each in with_bot_token if METHODS[each].scopes and not METHODS[each].scopes & SHIPPED.scopes
    }
    assert refused == set()
    for kind in ("channel", "group", "im", "mpim"):
        assert set(METHODS["conversations.replies"].accepts(kind)) <= SHIPPED.scopes


@pytest.mark.parametrize(
    ("method", "gone", "needed"),
    [
        ("files.getUploadURLExternal", "files:write", "files:write"),
        ("chat.postMessage", "chat:write", "chat:write"),
        ("reactions.add", "reactions:write", "reactions:write"),
        ("conversations.open", "im:write", "im:write"),
        ("users.info", "", "users:read"),
        ("assistant.threads.setStatus", "chat:write", "assistant:write,chat:write"),
    ],
)
def test_a_call_without_its_scope_is_refused_as_slack_refuses_it(method: str, gone: str, needed: str) -> None:
    manifest = without(gone)
    answer = Workspace(manifest=manifest).call(method, {}, now=NOW, token=BOT_TOKEN)
    provided = ",".join(sorted(manifest.scopes))
    assert answer.status == 200
    assert answer.body == {"ok": False, "error": "missing_scope", "needed": needed, "provided": provided}
    assert answer.headers["x-oauth-scopes"] == provided


@pytest.mark.parametrize("kind", ["channel", "group", "im", "mpim"])
def test_a_thread_is_read_with_the_scope_of_its_kind_of_conversation(kind: Any) -> None:
    family = "channels" if kind == "channel" else "groups" if kind == "group" else kind
    scope = f"{family}:history"
    for manifest, error in ((SHIPPED, None), (without(scope), "missing_scope")):
        workspace = Workspace(manifest=manifest)
        workspace.add_channel("X1", kind=kind)
        root = workspace.say("U1", "X1", "hi", now=NOW)
        args = {"channel": "X1", "ts": root}
        answer = workspace.call("conversations.replies", args, now=NOW, token=BOT_TOKEN)
        assert answer.body.get("error") == error
        assert answer.headers["x-accepted-oauth-scopes"] == answer.body.get("needed", scope) == scope


def test_every_answer_names_the_scopes_of_its_token() -> None:
    workspace = Workspace(faults={"chat.postMessage": ["fatal_error", "http:503"]})

    def scopes(method: str, token: str | None) -> str | None:
        return workspace.call(method, {}, now=NOW, token=token).headers.get("x-oauth-scopes")

    mine = ",".join(sorted(SHIPPED.scopes))
    assert scopes("auth.test", BOT_TOKEN) == scopes("chat.postMessage", BOT_TOKEN) == mine
    assert scopes("apps.connections.open", APP_TOKEN) == "connections:write"
    assert scopes("auth.test", "xoxb-other") is scopes("auth.test", None) is None
    assert scopes("chat.postMessage", BOT_TOKEN) is None  # a page from something in front of Slack


@pytest.mark.parametrize(
    ("gone", "heard"),
    [
        ("", ["app_mention", "message", "message"]),
        ("app_mention", ["message", "message"]),
        ("app_mentions:read", ["message", "message"]),
        ("message.channels", ["app_mention"]),
        ("channels:history", ["app_mention"]),
        ("message.groups", ["app_mention", "message", "message"]),
    ],
)
def test_what_the_app_does_not_subscribe_to_it_is_not_told(gone: str, heard: list[str]) -> None:
    scene = Scene(manifest=without(gone))
    scene.workspace.say("U1", "C1", "<@U0BOT> why?", now=NOW)
    scene.call("chat.startStream", channel="C1", thread_ts=scene.root, chunks=[text("a")], **U1)
    told = [event for event in scene.events() if event.get("subtype") != "message_changed"]
    assert [event["type"] for event in told] == heard


def test_a_press_of_stop_and_a_visit_are_events_of_their_own() -> None:
    for gone, heard in (("", ["agent_session_stopped"]), ("agent_session_stopped", [])):
        scene = Scene(manifest=without(gone))
        scene.workspace.stop("U1", "C1", scene.root, now=NOW)
        scene.workspace.open_home("U1", now=NOW)  # not subscribed to by the shipped manifest
        assert [event["type"] for event in scene.events()] == heard


def test_a_manifest_without_events_is_no_manifest_of_a_bot() -> None:
    with pytest.raises(KeyError):
        AppManifest.from_json({"oauth_config": {"scopes": {"bot": []}}, "settings": {}})
