"""What a visitor may do, and what the workspace and the bot hear of it."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from slack_bot.clock import Clock
from slack_bot.observe.facts import TurnEnded, TurnStarted
from slack_bot.playground.recorder import ReplayRouter
from slack_bot.playground.replays import REPLAYER, PlannedReplay
from slack_bot.playground.visitor import CHANNEL, Visitor, file_name, head_of
from slack_bot.testing.slack.workspace import BOT_TOKEN, Workspace
from slack_bot.testing.tape.tape import read_tape
from slack_bot.tools.replay.scenario import Scenario

EVENT = {"kind": "message", "messageId": "m", "role": "agent", "parts": [{"kind": "text", "text": "hi"}]}


class Scene:
    def __init__(self) -> None:
        self.workspace, self.board = Workspace(), ReplayRouter(httpx.AsyncHTTPTransport(verify=False))
        self.visitor = Visitor(self.workspace, self.board, Clock(lambda: 0.0, lambda: 100.0))

    async def take(self, kind: str, **order: Any) -> dict[str, Any]:
        return await self.visitor.take({"type": kind, "user": "U0MAYA", **order}) or {}

    def events(self) -> list[dict[str, Any]]:
        return [envelope.payload["event"] for envelope in self.workspace.take()]

    def post(self, thread_ts: str, *blocks: dict[str, Any]) -> str:
        args = {"channel": CHANNEL, "thread_ts": thread_ts, "text": "x", "blocks": list(blocks)}
        body = self.workspace.call("chat.postMessage", args, now=101.0, token=BOT_TOKEN, is_json=True).body
        assert body["ok"], body
        self.workspace.take()
        return str(body["ts"])


@pytest.fixture
def scene() -> Scene:
    return Scene()


async def test_a_visitor_speaks_and_the_bot_hears_it(scene: Scene) -> None:
    said = await scene.take("say", channel=CHANNEL, text="<@U0BOT> hello", thread_ts=None)
    assert said == {"type": "said", "channel": CHANNEL, "ts": said["ts"], "thread_ts": None}
    assert {event["type"] for event in scene.events()} == {"app_mention", "message"}
    reply = await scene.take("say", channel=CHANNEL, text="more", thread_ts=said["ts"])
    assert reply["thread_ts"] == said["ts"]
    assert scene.events()[0]["thread_ts"] == said["ts"]


async def test_a_direct_message_needs_no_mention(scene: Scene) -> None:
    await scene.take("say", channel=scene.workspace.direct("U0MAYA"), text="hello")
    (event,) = scene.events()
    assert (event["channel_type"], event["text"]) == ("im", "hello")


@pytest.mark.parametrize(
    "order",
    [
        {"type": "say", "channel": CHANNEL, "text": "  "},
        {"type": "say", "channel": CHANNEL, "text": "x" * 12_001},
        {"type": "say", "channel": "C9", "text": "x"},
        {"type": "say", "channel": CHANNEL, "text": "x", "thread_ts": "9.9"},
        {"type": "say", "channel": CHANNEL, "text": "x", "user": REPLAYER},
        {"type": "say", "channel": CHANNEL, "text": "x", "user": "U0BOT"},
        {"type": "say", "channel": CHANNEL, "text": 3},
        {"type": "press", "channel": CHANNEL, "ts": "9.9", "action_id": "retry", "value": ""},
        {"type": "press", "channel": CHANNEL},
        {"type": "replay", "name": "x", "text": "nonsense", "speed": 1},
        {"type": "replay", "name": "x", "text": "", "speed": 1},
        {"type": "replay", "name": "x", "text": json.dumps({"one": [EVENT]}), "key": "two", "speed": 1},
        {"type": "dance"},
        {},
    ],
)
async def test_what_cannot_be_done_is_refused_in_words(scene: Scene, order: dict[str, Any]) -> None:
    answer = await scene.visitor.take({"user": "U0MAYA", **order})
    assert answer is not None
    assert answer["type"] == "refused"
    assert answer["text"].endswith(".") or "x" in answer["text"]
    assert scene.workspace.outbox == []


async def test_feedback_shows_as_pressed_at_once_and_a_plain_button_does_not(scene: Scene) -> None:
    root = (await scene.take("say", channel=CHANNEL, text="hi"))["ts"]
    words = {"type": "plain_text", "text": "x"}
    sides = {side: {"text": words, "value": side[:3]} for side in ("positive_button", "negative_button")}
    feedback = {"type": "feedback_buttons", "action_id": "feedback", **sides}
    retry = {"type": "button", "action_id": "retry", "text": words, "value": "again"}
    ts = scene.post(
        root, {"type": "context_actions", "elements": [feedback]}, {"type": "actions", "elements": [retry]}
    )
    assert await scene.take("press", channel=CHANNEL, ts=ts, action_id="feedback", value="pos") == {}
    assert await scene.take("press", channel=CHANNEL, ts=ts, action_id="retry", value="again") == {}
    payloads = [envelope.payload for envelope in scene.workspace.take()]
    assert [payload["actions"][0]["value"] for payload in payloads] == ["pos", "again"]
    assert scene.visitor.feed.snapshot()["messages"][-1]["pressed"] == {"feedback": "pos"}


async def test_everybody_is_in_the_channel_and_can_be_told_something_alone(scene: Scene) -> None:
    general = scene.visitor.feed.snapshot()["channels"][0]
    assert general["members"] == ["U0BOT", "U0JONAS", "U0MAYA", "U0PRIYA", "U0REPLAY", "U0RIVER"]


async def test_stop_is_slacks_own(scene: Scene) -> None:
    root = (await scene.take("say", channel=CHANNEL, text="hi"))["ts"]
    scene.workspace.take()
    assert await scene.take("stop", channel=CHANNEL, thread_ts=root) == {}
    (event,) = scene.events()
    assert (event["type"], event["user"], event["thread_ts"]) == ("agent_session_stopped", "U0MAYA", root)


async def test_a_dropped_file_is_asked_about_by_somebody_else(scene: Scene) -> None:
    answer = await scene.take("replay", name="my `tape`.json", text=json.dumps([EVENT]), speed=0)
    assert answer["type"] == "said"
    mention = scene.events()[0]
    assert mention["user"] == REPLAYER
    assert mention["text"] == "<@U0BOT> Replay of `my 'tape'.json`"
    assert scene.visitor.replays.around(answer["ts"]) == Scenario()


async def test_what_goes_wrong_on_the_page_counts_more_than_what_a_tape_says(scene: Scene) -> None:
    own = {"slack_faults": {"chat.startStream": ["missing_scope"]}, "cut_after": 7, "stop_at": 60}
    head = {"format": "slack-bot-tape", "version": 1, "scenario": own}
    tape = "\n".join(json.dumps(line) for line in (head, {"t": 0, "event": EVENT}))
    await scene.take("replay", name="t", text=tape, speed=1)
    fault = scene.workspace.faults.next("chat.startStream")
    assert fault is not None and fault.error == "missing_scope"
    await scene.take("faults", slack_faults={"chat.update": ["fatal_error"]}, cut_after=None)
    around = scene.visitor.replays.around((await scene.take("replay", name="t", text=tape, speed=1))["ts"])
    assert around is not None
    assert (around.slack_faults, around.cut_after) == ({"chat.update": ("fatal_error",)}, 7)
    assert scene.workspace.faults.next("chat.startStream") is None
    assert scene.board.cut_after is None, "the next question is asked of the page's agent"


async def test_a_setting_of_a_tape_that_does_not_exist_is_told(scene: Scene) -> None:
    head = {"format": "slack-bot-tape", "version": 1, "scenario": {"settings": {"rotate_afte": 3}}}
    tape = "\n".join(json.dumps(line) for line in (head, {"t": 0, "event": EVENT}))
    refused = await scene.take("replay", name="t", text=tape, speed=1)
    assert refused["type"] == "refused"
    assert "rotate_afte" in refused["text"]
    assert scene.workspace.outbox == []


async def test_a_tapes_own_question_is_shown(scene: Scene) -> None:
    head = {"format": "slack-bot-tape", "version": 1, "question": "what is up"}
    tape = "\n".join(json.dumps(line) for line in (head, {"t": 0, "event": EVENT}))
    await scene.take("replay", name="t", text=tape, speed=1)
    assert scene.events()[0]["text"] == "<@U0BOT> Replay of `t`: what is up"


async def test_raw_sse_replays_too(scene: Scene) -> None:
    await scene.take("replay", name="raw", text=f"data: {json.dumps({'result': EVENT})}\n\n", speed=1)
    assert scene.events()[0]["text"] == "<@U0BOT> Replay of `raw`"


async def test_of_several_streams_one_is_chosen(scene: Scene) -> None:
    text = json.dumps({"one": [EVENT], "two": [EVENT], "note": "x"})
    asked = await scene.take("replay", name="many.json", text=text, speed=1)
    assert asked == {"type": "choose", "name": "many.json", "keys": ["one", "two"]}
    assert scene.workspace.outbox == []
    await scene.take("replay", name="many.json", text=text, speed=1, key="two")
    assert scene.events()[0]["text"] == "<@U0BOT> Replay of `many.json` (two)"


# -- what goes wrong on purpose, and what is kept


async def test_what_goes_wrong_is_told_to_every_page_and_meets_each_question(scene: Scene) -> None:
    told: list[dict[str, Any]] = []
    scene.visitor.feed.listen(told.append)
    faults = {"chat.appendStream": [None, "ratelimited:2"]}
    assert await scene.take("faults", slack_faults=faults, cut_after=3) == {}
    faults_set = {"slack_faults": faults, "cut_after": 3, "away": False}
    assert told == [{"type": "faults", "faults": faults_set}]
    assert scene.visitor.feed.snapshot()["faults"] == faults_set
    script = scene.workspace.faults
    assert script.next("chat.appendStream") is None, "nothing goes wrong before the next question"
    assert scene.board.cut_after is None
    for _ in range(2):
        await scene.take("say", channel=CHANNEL, text="<@U0BOT> hello")
        assert scene.board.cut_after == 3
        errors = [fault and fault.error for fault in (script.next("chat.appendStream") for _ in range(3))]
        assert errors == [None, "ratelimited", "ratelimited"], "the script begins anew"
    await scene.take("faults", slack_faults={}, cut_after=None)
    await scene.take("say", channel=CHANNEL, text="<@U0BOT> hello")
    assert script.next("chat.appendStream") is None
    assert scene.board.cut_after is None


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ({"slack_faults": {"chat.appendStreams": ["x"]}}, "did you mean 'chat.appendStream'?"),
        ({"slack_faults": {"chat.appendStream": ["http:99"]}}, "http takes a status"),
        ({"slack_faults": {"chat.appendStream": ["banana"]}}, "'banana' is not a fault"),
        ({"slack_faults": {"chat.appendStream": ["ratelimted:2"]}}, "did you mean 'ratelimited:2'?"),
        ({"slack_faults": {}, "cut_after": -1}, "cut_after must be a number of events"),
        ({"slack_faults": []}, "does not know"),
    ],
)
async def test_faults_that_cannot_be_are_refused(scene: Scene, order: dict[str, Any], said: str) -> None:
    refused = await scene.take("faults", **order)
    assert refused["type"] == "refused"
    assert said in refused["text"]
    assert scene.visitor.feed.snapshot()["faults"] == {"slack_faults": {}, "cut_after": None, "away": False}


def opened_turn(scene: Scene, *, closed: bool) -> None:
    scene.visitor.feed(TurnStarted(1.0, "T:C:1", "U1", CHANNEL, "1.0", "why?"))
    if closed:
        scene.visitor.feed(TurnEnded(2.0, "T:C:1", "answered", None, None, None, None, {}, 0))


async def test_a_turn_can_be_exported_when_it_is_over_and_something_was_heard(scene: Scene) -> None:
    assert "not over yet" in (await scene.take("export", turn="unknown"))["text"]
    opened_turn(scene, closed=False)
    assert "not over yet" in (await scene.take("export", turn="T:C:1"))["text"]
    opened_turn(scene, closed=True)
    assert "Nothing was heard" in (await scene.take("export", turn="T:C:1"))["text"]


async def test_a_planned_replay_begins_with_the_first_visitor(scene: Scene) -> None:
    capture = read_tape(json.dumps([EVENT]), "x")
    scene.visitor.planned.append(PlannedReplay("x.json", capture, 1.0))
    assert scene.workspace.outbox == []
    (update,) = scene.visitor.welcome()
    assert update["type"] == "said"
    assert scene.events()[0]["ts"] == update["ts"]
    assert scene.visitor.welcome() == []


OPENED: dict[str, Any] = {"kind": "opened", "at": 10.0, "text": "why?"}


def decision(name: str, at: float) -> dict[str, Any]:
    return {"kind": "decision", "at": at, "event": {"name": name}}


def test_a_head_says_what_was_asked() -> None:
    assert head_of([OPENED, decision("AnswerText", 11.0)], 10.0) == {
        "question": "why?",
        "agent": "playground",
    }


def test_faults_and_a_stop_belong_to_the_scenario() -> None:
    faults = {"chat.appendStream": [None, "ratelimited:2"]}
    head = head_of([{**OPENED, "slack_faults": faults}, decision("StopRequested", 13.25)], 10.5)
    assert head["scenario"] == {"slack_faults": faults, "stop_at": 2.75}


def test_a_replay_that_is_kept_again_keeps_what_it_was_replayed_with() -> None:
    faults, settings = {"chat.update": ("fatal_error",)}, {"dialect": "caipe-0.2"}
    there = Scenario(slack_faults=faults, settings=settings, cut_after=3)
    head = head_of([{**OPENED, "slack_faults": {"chat.update": ["other"]}}], 10.0, there)
    assert head["scenario"] == {"slack_faults": {"chat.update": ["fatal_error"]}, "settings": settings}
    assert "scenario" not in head_of([OPENED], 10.0, Scenario())


def test_a_stop_stands_where_the_tape_has_it_and_not_before_its_beginning() -> None:
    """A tape begins with the agent's answer: counted from the question, a stop comes too late."""
    assert head_of([OPENED, decision("StopRequested", 13.25)], 13.0)["scenario"] == {"stop_at": 0.25}
    assert head_of([OPENED, decision("StopRequested", 13.25)], 14.0)["scenario"] == {"stop_at": 0.0}


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What is AGNTCY?", "what-is-agntcy"),
        ("../../etc/passwd", "etc-passwd"),
        ("???", "answer"),
        ("word " * 40, "word-word-word-word-word-word-word-word"),
    ],
)
def test_a_file_is_named_for_its_question(question: str, name: str) -> None:
    assert file_name(question) == name
