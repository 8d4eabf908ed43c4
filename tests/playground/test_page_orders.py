"""What people do in the workspace by orders of a page, and what Slack refuses them."""

from __future__ import annotations

import base64
from typing import Any

import httpx
import pytest

from slack_bot.clock import Clock
from slack_bot.playground.recorder import ReplayRouter
from slack_bot.playground.visitor import CHANNEL, Visitor
from slack_bot.testing.slack.workspace import BOT_TOKEN, Workspace

WORDS = {"type": "plain_text", "text": "x"}
FORM: dict[str, Any] = {
    "type": "modal",
    "title": WORDS,
    "submit": WORDS,
    "blocks": [
        {
            "type": "input",
            "block_id": "why",
            "label": {"type": "plain_text", "text": "Why?"},
            "element": {"type": "plain_text_input", "action_id": "reason", "min_length": 3},
        }
    ],
}


class Scene:
    def __init__(self) -> None:
        self.workspace = Workspace()
        router = ReplayRouter(httpx.AsyncHTTPTransport(verify=False))
        self.visitor = Visitor(self.workspace, router, Clock(lambda: 0.0, lambda: 100.0))
        self.told: list[dict[str, Any]] = []
        self.visitor.feed.listen(self.told.append)

    async def take(self, kind: str, user: str = "U0MAYA", **order: Any) -> dict[str, Any]:
        return await self.visitor.take({"type": kind, "user": user, **order}) or {}

    def call(self, method: str, **args: Any) -> dict[str, Any]:
        body = self.workspace.call(method, args, now=101.0, token=BOT_TOKEN, is_json=True).body
        assert body["ok"], body
        return dict(body)

    def sent(self) -> list[dict[str, Any]]:
        return [dict(envelope.payload) for envelope in self.workspace.take()]


@pytest.fixture
def scene() -> Scene:
    return Scene()


async def test_a_message_is_changed_and_deleted_by_who_wrote_it_and_nobody_else(scene: Scene) -> None:
    ts = (await scene.take("say", channel=CHANNEL, text="hi"))["ts"]
    place = {"channel": CHANNEL, "ts": ts}
    refused = await scene.take("edit", "U0JONAS", **place, text="ha")
    assert refused["text"] == "Only who wrote a message can change it."
    refused = await scene.take("delete", "U0JONAS", **place)
    assert refused["text"] == "Only who wrote a message can delete it."
    assert scene.visitor.feed.snapshot()["messages"][0]["text"] == "hi"
    assert await scene.take("edit", **place, text="hello") == {}
    (message,) = scene.visitor.feed.snapshot()["messages"]
    assert (message["text"], message["edited"]) == ("hello", True)
    assert await scene.take("delete", **place) == {}
    assert scene.visitor.feed.snapshot()["messages"] == []


async def test_a_reaction_comes_and_goes_by_the_same_order(scene: Scene) -> None:
    ts = (await scene.take("say", channel=CHANNEL, text="hi"))["ts"]
    place = {"channel": CHANNEL, "ts": ts}

    def shown() -> dict[str, list[str]]:
        return dict(scene.visitor.feed.snapshot()["messages"][0]["reactions"])

    for user in ("U0MAYA", "U0JONAS"):
        assert await scene.take("react", user, **place, name="eyes") == {}
    assert shown() == {"eyes": ["U0MAYA", "U0JONAS"]}
    assert await scene.take("react", **place, name="eyes") == {}
    assert shown() == {"eyes": ["U0JONAS"]}
    assert (await scene.take("react", **place, name=":no:"))["text"] == "No emoji has that name."
    gone = {**place, "ts": "1.000"}
    assert (await scene.take("react", **gone, name="eyes"))["text"] == "That is not there any more."


async def test_a_file_comes_with_the_message_byte_for_byte(scene: Scene) -> None:
    given = {"name": "a.txt", "kind": "text/plain", "data": base64.b64encode(b"\x00words").decode()}
    await scene.take("say", channel=CHANNEL, text="", files=[given])
    (file,) = scene.visitor.feed.snapshot()["messages"][0]["files"]
    assert (file["name"], file["size"]) == ("a.txt", 6)
    kept = scene.visitor.feed.file(file["id"])
    assert kept is not None and kept.content == b"\x00words"
    assert scene.sent()[-1]["event"]["files"][0]["id"] == file["id"]


@pytest.mark.parametrize("files", [[{"name": "a"}], [{"name": "a", "kind": "", "data": "?"}], ["a"] * 11])
async def test_a_file_that_cannot_be_read_is_refused(scene: Scene, files: list[Any]) -> None:
    refused = await scene.take("say", channel=CHANNEL, text="", files=files)
    assert refused["type"] == "refused"
    assert scene.workspace.outbox == []


async def test_a_modal_is_looked_at_before_it_is_sent_and_answered_by_the_app(scene: Scene) -> None:
    button = {"type": "button", "action_id": "ask", "text": WORDS, "value": "1"}
    blocks = [{"type": "actions", "elements": [button]}]
    ts = scene.call("chat.postMessage", channel=CHANNEL, text="x", blocks=blocks)["ts"]
    await scene.take("press", channel=CHANNEL, ts=ts, action_id="ask", value="1")
    scene.call("views.open", trigger_id=scene.sent()[-1]["trigger_id"], view=FORM)
    assert "why" in scene.visitor.feed.snapshot()["modals"]["U0MAYA"][""]["values"]
    await scene.take("submit", values={"reason": "no"})
    assert scene.told[-1]["modals"][""]["errors"] == {"why": "Must be 3 to 3000 characters."}
    assert scene.sent() == []
    await scene.take("submit", values={"reason": "because"})
    (envelope,) = scene.workspace.take()
    assert envelope.payload["view"]["state"]["values"]["why"]["reason"]["value"] == "because"
    scene.workspace.answered(envelope, {"response_action": "errors", "errors": {"why": "Not so."}})
    assert scene.visitor.feed.snapshot()["modals"]["U0MAYA"][""]["errors"] == {"why": "Not so."}
    await scene.take("close")
    assert scene.visitor.feed.snapshot()["modals"] == {}
    assert (await scene.take("submit"))["text"] == "That is not there any more."


async def test_a_modal_is_open_in_the_window_where_something_was_pressed_and_in_no_other(
    scene: Scene,
) -> None:
    button = {"type": "button", "action_id": "ask", "text": WORDS, "value": "1"}
    blocks = [{"type": "actions", "elements": [button]}]
    ts = scene.call("chat.postMessage", channel=CHANNEL, text="x", blocks=blocks)["ts"]
    place = {"channel": CHANNEL, "ts": ts, "action_id": "ask", "value": "1"}

    def opened() -> list[str]:
        return list(scene.visitor.feed.snapshot()["modals"].get("U0MAYA", {}))

    for number, window in enumerate(("left", "right"), 1):
        await scene.take("press", **place, window=window)
        scene.call("views.open", trigger_id=scene.sent()[-1]["trigger_id"], view=FORM)
        assert list(scene.told[-2]["modals"]) == opened() == ["left", "right"][:number]
    await scene.take("submit", values={"reason": "no"}, window="right")
    told = scene.told[-1]["modals"]
    assert (told["left"]["errors"], told["right"]["errors"]) == ({}, {"why": "Must be 3 to 3000 characters."})
    await scene.take("press", **place, window="right")
    scene.call("views.open", trigger_id=scene.sent()[-1]["trigger_id"], view=FORM)
    assert opened() == ["left", "right"], "a second one takes the place of the first one there"
    await scene.take("submit", values={"reason": "because"}, window="left")
    (envelope,) = scene.workspace.take()
    scene.workspace.answered(envelope, {})
    assert opened() == ["right"]
    assert (await scene.take("close", window="left"))["text"] == "That is not there any more."
    await scene.take("close", window="right")
    assert opened() == []


async def test_what_is_filled_in_on_a_message_is_told_at_once(scene: Scene) -> None:
    options = [{"text": {"type": "plain_text", "text": name}, "value": name[0]} for name in ("Red", "Blue")]
    element = {"type": "static_select", "action_id": "colour", "options": options}
    blocks = [{"type": "actions", "elements": [element]}]
    ts = scene.call("chat.postMessage", channel=CHANNEL, text="x", blocks=blocks)["ts"]
    await scene.take("fill", channel=CHANNEL, ts=ts, name="colour", given="Blue")
    (action,) = scene.sent()[-1]["actions"]
    assert (action["action_id"], action["selected_option"]["value"]) == ("colour", "B")
    refused = await scene.take("fill", channel=CHANNEL, ts=ts, name="colour", given="Green")
    assert refused["type"] == "refused"


async def test_the_home_tab_is_opened_and_its_buttons_pressed(scene: Scene) -> None:
    await scene.take("home")
    assert scene.sent()[-1]["event"]["type"] == "app_home_opened"
    button = {"type": "button", "action_id": "stop", "text": WORDS, "value": "7"}
    view = {"type": "home", "blocks": [{"type": "actions", "elements": [button]}]}
    scene.call("views.publish", user_id="U0MAYA", view=view)
    assert scene.told[-1]["home"]["blocks"][0]["elements"] == [button]
    await scene.take("press_home", action_id="stop", value="7")
    (action,) = scene.sent()[-1]["actions"]
    assert (action["action_id"], action["value"]) == ("stop", "7")


async def test_a_select_of_the_home_tab_is_told_at_once(scene: Scene) -> None:
    options = [{"text": {"type": "plain_text", "text": name}, "value": name[0]} for name in ("Red", "Blue")]
    select = {"type": "static_select", "action_id": "colour", "options": options}
    scene.call(
        "views.publish",
        user_id="U0MAYA",
        view={"type": "home", "blocks": [{"type": "actions", "elements": [select]}]},
    )
    await scene.take("fill_home", name="colour", given="Blue")
    (action,) = scene.sent()[-1]["actions"]
    assert (action["action_id"], action["selected_option"]["value"]) == ("colour", "B")


async def test_the_agent_is_away_until_the_question_is_asked_again(scene: Scene) -> None:
    button = {"type": "button", "action_id": "retry", "text": WORDS, "value": "1"}
    blocks = [{"type": "actions", "elements": [button]}]
    ts = scene.call("chat.postMessage", channel=CHANNEL, text="x", blocks=blocks)["ts"]
    router = scene.visitor.router
    await scene.take("say", channel=CHANNEL, text="<@U0BOT> hi", away=True)
    assert router.away
    await scene.take("press", channel=CHANNEL, ts=ts, action_id="retry", value="1")
    assert not router.away
    await scene.take("faults", slack_faults={}, away=True)
    await scene.take("say", channel=CHANNEL, text="<@U0BOT> hi")
    assert router.away
