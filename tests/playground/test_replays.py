"""A capture on the page: asked question by question, and answered as `slack-bot replay` answers it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from slack_bot.clock import Clock
from slack_bot.errors import SettingsError
from slack_bot.observe.facts import TurnEnded
from slack_bot.playground.recorder import Recorder
from slack_bot.playground.replays import PlannedReplay, Replays
from slack_bot.playground.server import Playground, open_playground
from slack_bot.settings.models import ReferenceSettings
from slack_bot.testing.slack.workspace import Workspace
from slack_bot.testing.tape.builders import answer, failure
from slack_bot.testing.tape.tape import Moment, Tape, read_tape, write_tape
from slack_bot.tools.replay.replay import replayed
from slack_bot.tools.replay.scenario import Scenario, as_captured, make_scenario
from slack_bot.tools.turn_log import TurnLog
from slack_bot.turn.events import AnswerText

CHANNEL = "C0GENERAL"
EVENT = {"kind": "message", "messageId": "m", "role": "agent", "parts": [{"kind": "text", "text": "hi"}]}
PUBLISHED = Path(__file__).parents[2] / "docs" / "tapes" / "caipe-0.2.41-simple.jsonl"


class Scene:
    """A workspace in which replays are asked, without anybody who answers."""

    def __init__(self) -> None:
        self.workspace = Workspace()
        self.workspace.add_user("U0REPLAY")
        self.workspace.add_user("B0REPLAY", is_bot=True)
        self.workspace.add_channel(CHANNEL, "general").members.add("U0REPLAY")
        clock = Clock(lambda: 0.0, lambda: 100.0)
        self.replays = Replays(
            self.workspace, clock, CHANNEL, recorder=Recorder(clock.monotonic), observer=lambda fact: None
        )

    def begin(self, tape: Tape, around: Scenario | None = None, name: str = "a.jsonl") -> str:
        return self.replays.begin(PlannedReplay(name, tape, 2.0), as_captured(around or Scenario(), tape))

    def over(self, ts: str) -> None:
        key = f"{self.workspace.state.team}:{CHANNEL}:{ts}"
        self.replays(TurnEnded(1.0, key, "answered", None, None, None, None, {}, 0))

    def said(self, root: str) -> list[str]:
        bot = f"<@{self.workspace.bot.user_id}> "
        return [each.text.removeprefix(bot) for each in self.workspace.thread(CHANNEL, root)]


def test_each_question_is_asked_in_the_thread_when_the_one_before_it_is_answered() -> None:
    scene = Scene()
    moments = (Moment(0.0, event=EVENT), Moment(2.0, question="more & <more>"), Moment(2.5, event=EVENT))
    root = scene.begin(Tape({"question": "first"}, moments))
    assert scene.said(root) == ["Replay of `a.jsonl`: first"]
    scene.over("1.2")
    assert len(scene.said(root)) == 1, "another turn was over"
    scene.over(root)
    assert scene.said(root)[1:] == ["more &amp; &lt;more&gt;"]
    second = scene.workspace.thread(CHANNEL, root)[1].ts
    scene.over(second)
    scene.over(second)
    assert len(scene.said(root)) == 2, "there is no third question"


def test_a_bot_asks_where_the_scenarios_asker_is_one() -> None:
    scene, tape = Scene(), Tape({}, (Moment(0.0, event=EVENT),))
    roots = [scene.begin(tape, Scenario(user=user)) for user in ("U7", "B7")]
    askers = [scene.workspace.thread(CHANNEL, root)[0].author for root in roots]
    assert askers == ["U0REPLAY", "B0REPLAY"]


def test_a_setting_that_does_not_exist_is_told_before_anything_is_asked() -> None:
    scene = Scene()
    with pytest.raises(SettingsError, match="flush_intervall"):
        scene.begin(Tape({"scenario": {"settings": {"flush_intervall": 1}}}, (Moment(0.0, event=EVENT),)))
    assert scene.workspace.history(CHANNEL) == []


async def test_of_many_replays_that_are_over_the_oldest_is_forgotten() -> None:
    scene, tape = Scene(), Tape({}, (Moment(0.0, event=EVENT),))
    running, *roots = [scene.begin(tape) for _ in range(30)]
    for root in roots:
        scene.over(root)
    roots += [scene.begin(tape) for _ in range(2)]
    kept = [root for root in (running, *roots) if scene.replays.around(root) is not None]
    assert kept == [running, *roots[2:]]
    await scene.replays.close(0.0)


# -- the whole playground


@pytest.fixture
async def playground() -> AsyncIterator[Playground]:
    async with open_playground(chosen=ReferenceSettings(pace=0)) as opened:
        yield opened


def decisions(facts: list[dict[str, Any]]) -> list[str]:
    return [fact["event"]["name"] for fact in facts if fact["kind"] == "decision"]


async def shown(
    playground: Playground, tape: Tape, speed: float = 1.0, around: Scenario | None = None
) -> tuple[list[str], list[dict[str, Any]]]:
    """The bot's messages after `tape` was replayed on the page, and all facts of its turn."""
    over, facts = asyncio.Event(), list[dict[str, Any]]()

    def hear(update: Mapping[str, Any]) -> None:
        if update["type"] == "fact":
            facts.append(update["fact"])
            if update["fact"]["kind"] == "closed":
                over.set()

    stop = playground.visitor.feed.listen(hear)
    if around is None:
        order = {"type": "replay", "name": "t.jsonl", "text": write_tape(tape), "speed": speed}
        told = await playground.visitor.take(order)
    else:
        playground.visitor.planned.append(PlannedReplay("t.jsonl", tape, speed, around=around))
        (told,) = playground.visitor.welcome()
    assert told is not None and told["type"] == "said", told
    async with asyncio.timeout(60):
        await over.wait()
    stop()
    thread = playground.workspace.thread(CHANNEL, told["ts"])
    return [message.text for message in thread if message.is_bot], facts


async def test_a_tape_is_read_as_its_head_says(playground: Playground) -> None:
    """The README's own example: its stream is its answer, as its head says."""
    tape = read_tape(PUBLISHED.read_bytes(), PUBLISHED.name)
    assert isinstance(tape, Tape)
    there = await asyncio.to_thread(replayed, tape, log=TurnLog(keeps_events=True))
    texts, facts = await shown(playground, tape, speed=20.0)
    assert texts == [message.text for message in there.thread]
    pieces = sum(isinstance(fact.event, AnswerText) for fact in there.log.turns[0].handled)
    assert decisions(facts).count("AnswerText") == pieces > 100
    first, *_ = [number for number, fact in enumerate(facts) if fact["kind"] == "visible"]
    assert "FinalAnswer" in decisions(facts[first:])


@pytest.mark.parametrize(
    ("head", "outcome"),
    [
        ({"scenario": {"agent_error": {"after": 3, "message": "boom"}}}, "failed"),
        ({"scenario": {"agent_error": {"after": 0, "message": "boom"}}}, "failed"),
        ({"scenario": {"cut_after": 4}}, "answered"),
        ({"scenario": {"slack_faults": {"chat.startStream": ["missing_scope"]}}}, "answered"),
        ({"scenario": {"settings": {"rotate_bytes": 600}}}, "answered"),
    ],
    ids=["agent_error", "agent_error at once", "cut_after", "slack_faults", "settings"],
)
async def test_the_scenario_in_a_tapes_head_holds(
    playground: Playground, head: dict[str, Any], outcome: str
) -> None:
    told = answer("A line that is said.\n" * 40, seconds=0.5)
    tape = replace(told, head={**told.head, **head})
    there = (await asyncio.to_thread(replayed, tape)).result()
    texts, facts = await shown(playground, tape)
    assert texts == [message["text"] for message in there["thread"]]
    assert facts[-1]["outcome"] == there["outcome"] == outcome
    methods = {fact["method"] for fact in facts if fact["kind"] == "call"}
    assert ("chat.update" in methods) == ("slack_faults" in head["scenario"])


async def test_a_stop_in_a_tapes_head_is_pressed(playground: Playground) -> None:
    told = answer("A line that is said.\n" * 200, seconds=4.0)
    texts, facts = await shown(playground, replace(told, head={"scenario": {"stop_at": 1.5}}))
    assert facts[-1]["outcome"] == "stopped"
    assert texts[0].count("A line that is said.") < 200


async def test_a_scenario_for_the_page_counts_as_for_replay(playground: Playground) -> None:
    tape = answer("For a bot.\n", seconds=0.2)
    around = make_scenario({"user": "B7", "settings": {"max_segments": 3}})
    there = (await asyncio.to_thread(replayed, tape, around)).result()
    texts, facts = await shown(playground, tape, around=around)
    assert texts == [message["text"] for message in there["thread"]]
    here = {fact["method"] for fact in facts if fact["kind"] == "call"}
    assert "chat.startStream" not in here
    assert here == {call["method"] for call in there["calls"]}


async def test_what_a_tape_teaches_is_not_believed_of_the_pages_agent(playground: Playground) -> None:
    task = {"taskId": "t", "contextId": "c"}

    def status(state: str, text: str = "", **more: Any) -> dict[str, Any]:
        said = {"message": {"messageId": text, "role": "agent", "parts": [{"kind": "text", "text": text}]}}
        return {
            "kind": "status-update", **task, **more,
            "status": {"state": state, **(said if text else {})},
        }  # fmt: skip

    pieces = [f"Piece {number} of an answer that is told as a status. " for number in range(6)]
    events = [status("working", piece) for piece in pieces]
    done = status("completed", "".join(pieces), final=True)
    tape = read_tape(json.dumps([*events, done]), "t.json")
    assert isinstance(tape, Tape)
    profiles = dict[str, str]()
    texts, _ = await shown(playground, tape)
    assert [text.strip() for text in texts] == ["".join(pieces).strip()]
    bot = await playground.visitor.replays.bot_for(
        {"event": {"ts": playground.workspace.history(CHANNEL)[0].ts}}
    )
    assert bot is not None
    profiles.update(bot.agent.profile)
    assert "answer_source" in profiles
    assert playground.app.agent.profile == {}


async def test_a_failed_replay_that_is_asked_again_plays_again(playground: Playground) -> None:
    await shown(playground, failure("It broke."))
    root = playground.workspace.history(CHANNEL)[0].ts
    (message,) = [each for each in playground.workspace.thread(CHANNEL, root) if each.is_bot]
    over = asyncio.Event()
    playground.visitor.feed.listen(
        lambda update: over.set() if update.get("fact", {}).get("kind") == "closed" else None
    )
    buttons = [element for block in message.blocks for element in block.get("elements", ())]
    retry = next(each for each in buttons if each.get("action_id") == "retry")
    playground.workspace.press(
        "U0REPLAY", CHANNEL, message.ts, "retry", now=playground.app.clock.wall(), value=retry["value"]
    )
    async with asyncio.timeout(60):
        await over.wait()
    texts = [each.text for each in playground.workspace.thread(CHANNEL, root) if each.is_bot]
    assert len(texts) == 2
    assert texts[0] == texts[1], "the tape's own answer"
