"""Whole turns under all of Slack's limits: long in time, long in text, many cards, big tables and code.

The agent streams on the virtual clock; the thread is judged as a person reads it, and Slack's own view of the
bot is judged too: no call refused, no stream sealed by anybody but the bot, none left open.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.slack.workspace import Change, SeenMessage
from slack_bot.testing.tape.builders import chunk, status
from slack_bot.testing.tape.tape import Tape
from slack_bot.testing.virtual_clock import on_virtual_time

from .long_answers import FEEDBACK, WORD, Writer, answers, faults_of, pieces, streamed, tape

MOST_AGE, MOST_BYTES = 300.0, 11_000
Json = dict[str, Any]


def tool(kind: str, number: int, words: str) -> Json:
    event = chunk("")
    event["artifact"] |= {
        "artifactId": f"tool-{kind}-{number}",
        "name": f"tool_notification_{kind}",
        "metadata": {"tool_name": words, "tool_call_id": f"call-{number}"},
        "parts": [{"kind": "text", "text": words}],
    }
    return event


class Watched:
    """The answer as it grows, seen by the asker, and Slack's book of the calls."""

    def __init__(self, bot: BotHarness) -> None:
        self.bot, self.root = bot, ""
        self.growth: list[tuple[float, int]] = []  # seconds, words that stand there
        bot.workspace.listen(self._changed)

    async def ask(self) -> list[SeenMessage]:
        self.asked = self.bot.now
        self.root = await self.bot.ask("Tell me everything.")
        await self.bot.idle()
        return self.bot.thread(self.root)

    def _changed(self, change: Change) -> None:
        if change.kind == "thread" and self.root:
            seen = self.bot.workspace.thread(CHANNEL, self.root, viewer="U1")
            many = sum(len(WORD.findall(message.text)) for message in seen if message.is_bot)
            self.growth.append((self.bot.now - self.asked, many))

    def longest_lag(self, text: str, seconds: float) -> float:
        """The most seconds that a word stood with the agent and not in the thread."""
        parts, times = list(pieces(text)), []
        whole, words = "", 0
        for number, part in enumerate(parts):
            whole, before = whole + part, words
            words = len(WORD.findall(whole))
            times += (words - before) * [0.2 + seconds * number / len(parts)]
        shown = (next(at for at, many in self.growth if many > word) for word in range(len(times)))
        return max(seen - written for seen, written in zip(shown, times, strict=True))


def kept(bot: BotHarness, root: str) -> None:
    """Slack has nothing to complain of."""
    calls = bot.workspace.calls
    assert [(call.method, call.error) for call in calls if not call.ok] == []
    assert bot.workspace.open_streams() == []
    assert bot.workspace.session(CHANNEL, root) == "active"
    assert bot.workspace.status_rows(CHANNEL, root) == []
    stops = {call.args["ts"]: call.now for call in calls if call.method == "chat.stopStream"}
    assert all(at - float(ts) < MOST_AGE for ts, at in stops.items())


def sessions(bot: BotHarness) -> list[str]:
    """What each stop said about the session."""
    return [str(call.get("session_status", "active")) for call in bot.calls("chat.stopStream")]


async def told(tape: Tape, text: str, **settings: Any) -> tuple[BotHarness, list[SeenMessage], Watched]:
    """Ask, wait for the end, and judge what stands there."""
    async with run_bot(tape, **settings) as bot:
        watched = Watched(bot)
        thread = await watched.ask()
        assert bot.outcomes == ["answered"]
        assert faults_of(thread, text) == []
        kept(bot, watched.root)
    return bot, answers(thread), watched


@on_virtual_time
async def test_twelve_minutes_and_forty_thousand_characters() -> None:
    text = Writer().report(40_000)
    bot, shown, watched = await told(tape(streamed(text, 720)), text)
    assert 4 <= len(shown) <= 8
    assert sessions(bot) == ["processing"] * (len(shown) - 1) + ["active"]
    assert watched.longest_lag(text, 720) < 6


@on_virtual_time
async def test_twenty_one_minutes_with_long_silences() -> None:
    """Between its parts the agent says only that it works: segments end by the timer alone."""
    writer = Writer()
    parts = [writer.report(3_000) + "\n\n" for _ in range(4)]
    events: list[tuple[float, Json]] = []
    for number, part in enumerate(parts):
        at = 1.0 + number * 400
        events += streamed(part, 60, at)
        events += [(at + 60 + 50 * beat, status("working", "Still reading.")) for beat in range(1, 7)]
    bot, shown, _ = await told(tape(events), "".join(parts))
    assert len(shown) >= 4
    assert bot.now - float(shown[0].ts) > 21 * 60


@on_virtual_time
async def test_many_cards() -> None:
    """Cards count by their weight, and are closed before their message is."""
    writer = Writer()
    events: list[tuple[float, Json]] = []
    for number in range(90):
        title = f"{writer.words(1)} looks through the drawer number {number} of the cupboard " + "very " * 20
        events += [
            (1.0 + 4 * number, tool("start", number, title)),
            (4.0 + 4 * number, tool("end", number, title)),
        ]
    text = Writer().report(4_000)
    events += streamed(text, 30, 400)
    async with run_bot(tape(events)) as bot:
        watched = Watched(bot)
        thread = await watched.ask()
        kept(bot, watched.root)
    mine = [seen for seen in thread if seen.is_bot]
    titles = [task.title for seen in mine for task in seen.tasks]
    assert [number for number in range(90) if not any(f"number {number} " in title for title in titles)] == []
    assert all(task.status == "complete" for seen in mine for task in seen.tasks)
    assert not any(seen.plan_failed or seen.expired for seen in mine)
    body = "".join(seen.text for seen in mine)
    assert WORD.findall(body.lower()) == WORD.findall(text.lower())
    assert [FEEDBACK in seen.extras for seen in mine] == [False] * (len(mine) - 1) + [True]


@pytest.mark.parametrize("seconds", [20, pytest.param(1_200, marks=pytest.mark.slow)])
def test_thousands_of_cards_leave_room_for_the_answer(seconds: float) -> None:
    """All tools beyond the first ones are counted in one card; the answer stands in messages, live."""
    many = 2_000
    events: list[tuple[float, Json]] = []
    for number in range(many):
        at = 1.0 + number * seconds / many
        title = f"look through the drawer number {number} of the cupboard"
        events += [(at, tool("start", number, title)), (at + seconds / many, tool("end", number, title))]
    text = Writer().report(8_000)

    @on_virtual_time
    async def story() -> None:
        async with run_bot(tape([*events, *streamed(text, 60, seconds + 5.0)])) as bot:
            watched = Watched(bot)
            mine = [seen for seen in await watched.ask() if seen.is_bot]
            kept(bot, watched.root)
        assert not any(seen.files for seen in mine)
        assert WORD.findall("".join(seen.text for seen in mine).lower()) == WORD.findall(text.lower())
        tasks = [task for seen in mine for task in seen.tasks]
        assert all(task.status == "complete" for task in tasks)
        own = {task.title for task in tasks if "drawer number" in task.title}
        assert tasks[-1].title == f"… {many - len(own):,} more steps"
        assert len(own) <= 200
        assert len(mine) <= 8
        words = [(at, count) for at, count in watched.growth if count]
        assert words[0][0] < seconds + 5.0 + 20
        assert len({count for _, count in words}) > 10  # written live, not at once

    story()


@pytest.mark.parametrize("kind", ["table", "code", "one line", "long lines"])
def test_what_is_longer_than_a_message(kind: str) -> None:
    writer = Writer()
    text = {
        "table": lambda: f"{writer.words(5)}\n\n{writer.table(400)}\n\n{writer.words(5)}",
        "code": lambda: f"{writer.words(5)}\n\n{writer.code(350)}\n\n{writer.words(5)}",
        "one line": lambda: writer.words(3_000),
        "long lines": lambda: "\n\n".join(writer.words(1_000) for _ in range(3)),
    }[kind]()

    @on_virtual_time
    async def story() -> None:
        _, shown, watched = await told(tape(streamed(text, 200)), text)
        assert len(shown) >= 3
        assert watched.longest_lag(text, 200) < 6

    story()


@on_virtual_time
async def test_an_answer_that_comes_at_once() -> None:
    """Forty thousand characters within a second: the rates, and not the agent, set the pace."""
    text = Writer().report(40_000)
    _, shown, watched = await told(tape(streamed(text, 1)), text)
    assert 4 <= len(shown) <= 8
    assert watched.growth[-1][0] < 60


@on_virtual_time
async def test_no_message_grows_beyond_what_slack_keeps() -> None:
    writer = Writer()
    text = "\n\n".join(f"{writer.words(8)} \u5b57\u5b57\u5b57\U0001f642" for _ in range(400))
    _, shown, _ = await told(tape(streamed(text, 300)), text)
    assert all(len(seen.text.encode()) <= MOST_BYTES for seen in shown)
    assert all(float(later.ts) - float(former.ts) < MOST_AGE for former, later in pairwise(shown))
