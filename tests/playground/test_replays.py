"""A capture with several questions is asked question by question."""

from __future__ import annotations

from slack_bot.clock import Clock
from slack_bot.observe.facts import TurnClosed
from slack_bot.playground.replays import Planned, Replays
from slack_bot.playground.switchboard import Switchboard
from slack_bot.playground.workspace import Workspace
from slack_bot.tools.tape import Moment, Tape
from slack_bot.turn.record import message_id_of
from tests.playground.test_stage import Board

CHANNEL = "C0GENERAL"
EVENT = {"kind": "message", "messageId": "m", "role": "agent", "parts": [{"kind": "text", "text": "hi"}]}


class Scene:
    def __init__(self) -> None:
        self.workspace, self.board = Workspace(), Board()
        self.workspace.add_user("U0REPLAY", "Replay")
        self.workspace.add_channel(CHANNEL, "general").members.add("U0REPLAY")
        clock = Clock(lambda: 0.0, lambda: 100.0)
        self.replays = Replays(self.workspace, self.board, clock, CHANNEL)

    def key(self, ts: str) -> str:
        return f"{self.workspace.state.team}:{CHANNEL}:{ts}"

    def over(self, ts: str) -> None:
        self.replays(TurnClosed(1.0, self.key(ts), "answered", None, None, None, None, {}, 0))

    def said(self, root: str) -> list[str]:
        bot = f"<@{self.workspace.bot.user_id}> "
        return [each.text.removeprefix(bot) for each in self.workspace.thread(CHANNEL, root)]


def test_each_question_is_asked_in_the_thread_when_the_one_before_it_is_answered() -> None:
    scene = Scene()
    assert isinstance(scene.board, Switchboard)
    moments = (Moment(0.0, event=EVENT), Moment(2.0, question="more & <more>"), Moment(2.5, event=EVENT))
    root = scene.replays.begin(Planned("a.jsonl", Tape({"question": "first"}, moments), 2.0))
    assert scene.said(root) == ["Replay of `a.jsonl`: first"]
    scene.over("1.2")
    assert len(scene.said(root)) == 1, "another turn was over"
    scene.over(root)
    assert scene.said(root)[1:] == ["more &amp; &lt;more&gt;"]
    second = scene.workspace.thread(CHANNEL, root)[1].ts
    scene.over(second)
    scene.over(second)
    assert len(scene.said(root)) == 2, "there is no third question"
    asked = [
        (message, [m.t for m in tape.moments], speed)
        for message, tape, speed in scene.board.plugged
        if isinstance(tape, Tape)
    ]
    ids = [message_id_of(scene.key(ts)) for ts in (root, second)]
    assert asked == [(ids[0], [0.0], 2.0), (ids[1], [0.5], 2.0)]
