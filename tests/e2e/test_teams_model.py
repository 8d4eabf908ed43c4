"""Nothing of one workspace is ever in a call for another one, and no call to the agent mixes two: over
threads, direct messages, edits, Stops, presses, reactions, Home tabs, people of one workspace who write in
another one's channel, tasks that are followed in the background, messages that the bot posts by itself, kills
and restarts.

Each workspace has a mark in its ids, in what its people write and in what the agent answers there. Each call
to Slack, each call to the agent and each row of the store may have one mark only.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from slack_bot.http_client import AsyncBaseTransport, Request, Response
from slack_bot.store.outbound import accept_outbound
from slack_bot.testing import virtual_clock
from slack_bot.testing.agent.scripted import ScriptedAgent, ScriptedTransport
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.slack.state import Bot
from slack_bot.testing.slack.workspace import Workspace, WorkspaceRules
from slack_bot.testing.tape.builders import answer, chunk, question, status, task
from slack_bot.testing.tape.tape import Moment, Tape
from slack_bot.turn.outbound import OutboundMessage, OutboundRecord
from tests.e2e.several_teams import TeamsBot, run_teams

MARKS = ("AAA", "BBB", "CCC")
VISITOR = "U0VISITOR"
"""Somebody of the workspace BBB who also writes in a channel of AAA (Slack Connect)."""
QUESTIONS = 40  # tapes of each workspace
LONG = 60.0  # seconds of a task that is followed in the background
PATIENCE = 10.0  # seconds for which a turn listens
FILE = """
[channel]
respond = "thread"
external = "allow"
reactions = {robot_face = "ask", octagonal_sign = "stop", repeat = "again", "+1" = "good"}
identity = "name"
share = true
[teams.TBBB]
footer = "time"
"""
_MARK = re.compile("|".join(MARKS))
_FOREIGN = ("recipient_team_id", "user_team")  # where a person comes from


def marks_in(value: object) -> set[str]:
    return set(_MARK.findall(value if isinstance(value, str) else json.dumps(value, default=repr)))


def new_workspace(mark: str) -> Workspace:
    bot = Bot(user_id=f"U0BOT{mark}", bot_id=f"B0BOT{mark}")
    workspace = Workspace(
        team=f"T{mark}", domain=f"domain-{mark}", bot=bot, rules=WorkspaceRules.real(), token=f"xoxb-{mark}"
    )
    workspace.state.mark = f"{mark}X"
    workspace.add_channel(f"C{mark}")
    for number in (1, 2):
        person = workspace.add_user(f"U{mark}{number}", f"name-{mark}-{number}")
        workspace.state.channels[f"C{mark}"].members.add(person.id)
    return workspace


def tape(mark: str, number: int) -> Tape:
    """What the agent does with the question `number` of a workspace."""
    ids, words = f"{mark}{number}", f"answer-{mark}-{number}"
    match number % 4:
        case 1:
            moments = (
                Moment(0.1, event=task(ids=ids)),
                Moment(0.5, event=chunk(f"{words} begins, ", ids=ids)),
                Moment(LONG, event=chunk("and ends.", ids=ids)),
                Moment(LONG, event=status("completed", ids=ids)),
                Moment(LONG, end="closed"),
            )
            return Tape({"wire": "0.3"}, moments)
        case 3:
            return question(f"{words}: which?", ids=ids)
    return answer(f"{words}.", ids=ids, seconds=3.0)


class Agent(AsyncBaseTransport):
    """One agent for all workspaces, which answers each with what is its own. It counts on the metadata."""

    def __init__(self) -> None:
        self.inner = {
            mark: ScriptedTransport(ScriptedAgent(*(tape(mark, number) for number in range(QUESTIONS))))
            for mark in MARKS
        }
        self.broken: list[AssertionError] = []
        self.asked = dict.fromkeys(MARKS, 0)

    async def handle_async_request(self, request: Request) -> Response:
        if request.method == "GET":
            return await self.inner[MARKS[0]].handle_async_request(request)
        body = json.loads(await request.aread())
        try:
            mark = self.mark_of(body["params"])
        except AssertionError as error:
            self.broken.append(error)
            raise
        return await self.inner[mark].handle_async_request(request)

    def mark_of(self, params: Mapping[str, Any]) -> str:
        found = marks_in(_without(params, _FOREIGN))
        assert len(found) == 1, f"a call is about {found}: {params}"
        (mark,) = found
        if (about := params.get("message", {}).get("metadata", {}).get("slack")) is not None:
            assert about["team"] == f"T{mark}"
            self.asked[mark] += 1
        return mark


def _without(value: Any, names: Sequence[str]) -> Any:
    if isinstance(value, Mapping):
        return {name: _without(each, names) for name, each in value.items() if name not in names}
    return [_without(each, names) for each in value] if isinstance(value, list) else value


class Story:
    """What people do in all workspaces, and what becomes of the bot meanwhile."""

    def __init__(self, folder: Path) -> None:
        self.teams = {mark: new_workspace(mark) for mark in MARKS}
        self.teams["AAA"].add_user(VISITOR, "visitor", team="TBBB")
        self.agent, self.store = Agent(), MemoryStore(is_durable=True)
        self.roots: dict[str, list[tuple[str, str]]] = {mark: [] for mark in MARKS}
        self.stack, self.speaking = AsyncExitStack(), list[asyncio.Task[None]]()
        self.bots: list[TeamsBot] = []
        self.said = 0
        (folder / "slack_bot.toml").write_text(FILE, encoding="utf-8")
        self.settings: dict[str, Any] = {
            "config": str(folder / "slack_bot.toml"),
            "bot_tokens": ",".join(f"xoxb-{mark}" for mark in MARKS),
            "agent.turn_timeout": PATIENCE,
            "agent.accept_timeout": 2.0,
            "agent.idle_timeout": 5.0,
            "agent.poll_timeout": 2.0,
            "agent.connect_timeout": 2.0,
            "agent.watch_intervals": [15],
        }

    @property
    def bot(self) -> TeamsBot:
        return self.bots[-1]

    async def start(self) -> None:
        running = run_teams(
            teams=[*self.teams.values()], store=self.store, through=lambda _: self.agent,
            after=self.bots[-1] if self.bots else None, **self.settings,
        )  # fmt: skip
        self.bots.append(await self.stack.enter_async_context(running))
        run = self.bot.app.features["outbound"].run
        assert run is not None
        self.speaking.append(asyncio.create_task(run()))

    async def kill(self) -> None:
        self.bot.life.end_now()
        self.speaking[-1].cancel()
        await self.start()
        await self.bot.app.backfill.run()

    # -- what people do

    def words(self, mark: str) -> str:
        self.said += 1
        return f"words-{mark}-{self.said}"

    async def ask(self, mark: str, number: int, place: int) -> None:
        """A new thread, or a question in one that is there."""
        team, text = self.teams[mark], f"<@U0BOT{mark}> {self.words(mark)}"
        roots = [each for each in self.roots[mark] if each[1].startswith("C")]
        thread_ts = roots[place][0] if place < len(roots) else None
        user = VISITOR if mark == "AAA" and number == 3 else f"U{mark}{number % 2 + 1}"
        ts = team.say(user, f"C{mark}", text, now=self.bot.now, thread_ts=thread_ts)
        if thread_ts is None:
            self.roots[mark].append((ts, f"C{mark}"))
        await self.bot.deliver()

    async def direct(self, mark: str, number: int, _: int) -> None:
        team, user = self.teams[mark], f"U{mark}{number % 2 + 1}"
        channel = team.direct(user)
        self.roots[mark].append((team.say(user, channel, self.words(mark), now=self.bot.now), channel))
        await self.bot.deliver()

    async def write(self, mark: str, number: int, place: int) -> None:
        """In a thread, without a mention; the word "stop" now and then."""
        for root, channel in self.roots[mark][place : place + 1]:
            text = "stop" if number == 0 else self.words(mark)
            user = f"U{mark}{number % 2 + 1}"
            if channel.startswith("C") or channel == self.teams[mark].direct(user):
                self.teams[mark].say(user, channel, text, now=self.bot.now, thread_ts=root)
        await self.bot.deliver()

    async def edit(self, mark: str, _: int, place: int) -> None:
        for root, channel in self.roots[mark][place : place + 1]:
            self.teams[mark].edit(channel, root, f"<@U0BOT{mark}> {self.words(mark)}", now=self.bot.now)
        await self.bot.deliver()

    async def react(self, mark: str, number: int, place: int) -> None:
        emoji = ("robot_face", "octagonal_sign", "repeat", "+1")[number]
        for root, channel in self.roots[mark][place : place + 1]:
            shown = [each for each in self.teams[mark].thread(channel, root) if not each.ephemeral_for]
            on = shown[-1 if number else 0]
            if emoji not in (on.reactions or {}):
                self.teams[mark].react(f"U{mark}1", channel, on.ts, emoji, now=self.bot.now)
        await self.bot.deliver()

    async def press(self, mark: str, number: int, place: int) -> None:
        """Some control of the last message that has one."""
        team = self.teams[mark]
        for root, channel in self.roots[mark][place : place + 1]:
            controls = [
                (seen.ts, action)
                for seen in team.thread(channel, root)
                for action in re.findall(r'"action_id": "([^"]+)"', json.dumps(seen.blocks))
                if not seen.ephemeral_for
            ]
            if controls:
                ts, action = controls[number % len(controls)]
                user = VISITOR if mark == "AAA" and channel == "CAAA" and number == 3 else f"U{mark}1"
                value = ("positive", "negative")[number % 2] if "feedback" in action else None
                team.press(user, channel, ts, action, now=self.bot.now, value=value)
        await self.bot.deliver()

    async def home(self, mark: str, number: int, _: int) -> None:
        user = f"U{mark}{number % 2 + 1}"
        self.teams[mark].open_home(user, now=self.bot.now, tab="home" if number < 2 else "messages")
        await self.bot.deliver()

    async def speak(self, mark: str, number: int, _: int) -> None:
        """A program has the bot post, or ask, by itself."""
        place = {"channel": f"C{mark}"} if number % 2 else {"user": f"U{mark}1"}
        message = OutboundMessage(
            self.words(mark), **place, headline=self.words(mark), is_question=number > 1, team=f"T{mark}"
        )
        await accept_outbound(self.store, OutboundRecord(f"key-{mark}-{self.said}", message, self.bot.now))

    async def wait(self, _mark: str, number: int, _: int) -> None:
        await asyncio.sleep((0.2, 2.0, 8.0, 40.0)[number])
        await self.bot.deliver()

    # -- what is true of it all

    async def end(self) -> None:
        await asyncio.sleep(3 * LONG)
        for _ in range(3):
            await self.bot.idle()
        self.speaking[-1].cancel()
        await self.stack.aclose()

    async def judge(self) -> None:
        assert self.agent.broken == []
        for mark, team in self.teams.items():
            for call in team.calls:
                found = marks_in(_without(dict(call.args), _FOREIGN))
                assert found <= {mark}, f"a call of {mark} carries {found}: {call}"
                assert call.error not in ("channel_not_found", "user_not_found", "invalid_auth"), call
            assert {token for _, token in team.downloads} <= {f"xoxb-{mark}"}
        for row in await self.rows():
            assert len(marks_in(_without_foreign(row))) <= 1, row

    async def rows(self) -> Iterable[str]:
        turns = [repr(turn) for turn in await self.store.accepted_since(0.0)]
        for collection in self.store.collections:
            turns += [repr(each) async for each in self.store.records(collection)]
        return turns


def _without_foreign(row: str) -> str:
    return re.sub(r"user_team='T[A-Z]+'", "", row)


DEEDS = ("ask", "ask", "direct", "write", "edit", "react", "press", "home", "speak", "wait", "wait")
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(DEEDS), st.sampled_from(MARKS), st.integers(0, 3), st.integers(0, 2)),
        st.just(("kill", "", 0, 0)),
    ),
    min_size=4,
    max_size=30,
)


@given(STEPS)
def test_nothing_of_one_workspace_is_in_a_call_for_another(steps: list[tuple[str, str, int, int]]) -> None:
    async def play() -> None:
        with TemporaryDirectory() as folder:
            story = Story(Path(folder))
            await story.start()
            for deed, mark, number, place in steps:
                if deed == "kill":
                    await story.kill()
                else:
                    await getattr(story, deed)(mark, number, place)
            await story.end()
            await story.judge()

    virtual_clock.run(play())
