"""`slack-bot say`: its words, and real processes beside a bot that runs, or alone."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import sys
from argparse import Namespace
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from slack_bot.cli import main
from slack_bot.clock import system_clock
from slack_bot.errors import SettingsError
from slack_bot.say import message_of, say
from slack_bot.store.sqlite_admin import OPENER
from slack_bot.testing.agent.scripted import ScriptedAgent, serve_scripted
from slack_bot.testing.harness import CHANNEL, bot_settings, wait_until
from slack_bot.testing.slack.server import SlackServer
from slack_bot.testing.slack.workspace import APP_TOKEN, BOT_TOKEN, Workspace
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.tape.tape import Tape
from slack_bot.turn.outbound import OutboundMessage
from tests.loaded_program import loaded_program

LINES = "".join(f"Line {number} of the answer has some words.\n" for number in range(1, 13)).rstrip()
ROOT = "1700000000.123456"
NOTHING = dict.fromkeys(("channel", "user", "thread", "headline", "ask", "text", "key", "team"))


def args(**given: str) -> Namespace:
    return Namespace(**{**NOTHING, **given})


# -- words


@pytest.mark.parametrize(
    "link",
    [
        f"C1:{ROOT}",
        "https://x.slack.com/archives/C1/p1700000000123456",
        f"https://x.slack.com/archives/C1/p1700000009000000?thread_ts={ROOT}&cid=C1",
    ],
)
def test_a_thread_is_named_by_the_link_of_any_of_its_messages(link: str) -> None:
    expected = OutboundMessage("hi", "C1", "", ROOT)
    assert message_of(args(thread=link, text="hi")) == expected


def test_a_text_or_a_question_may_come_from_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    for option, is_question in (("text", False), ("ask", True)):
        monkeypatch.setattr(sys, "stdin", io.StringIO("two\nlines\n"))
        message = message_of(args(user="U1", headline="H", **{option: "-"}))
        assert message == OutboundMessage("two\nlines", "", "U1", "", "H", is_question)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"channel": "C1"}, "give either TEXT or --ask TEXT"),
        ({"channel": "C1", "text": "a", "ask": "b"}, "give either TEXT or --ask TEXT"),
        ({"channel": "#general", "text": "a"}, r"--channel is '#general'; give the channel's id \(C...\)"),
        ({"user": "@anna", "text": "a"}, r"--user is '@anna'; give the person's id \(U...\)"),
        ({"channel": "U1", "text": "a"}, "--channel is 'U1', which is a person: give --user U1"),
        ({"user": "C1", "text": "a"}, "--user is 'C1', which is a channel: give --channel C1"),
        ({"thread": "https://x.slack.com/", "text": "a"}, "give the link of a message"),
        ({"thread": "C1:now", "text": "a"}, "give the link of a message"),
        ({"channel": "C1", "text": "a", "headline": "b\nc"}, "--headline has several lines"),
        ({"channel": "C1", "text": "-"}, "there is nothing on stdin"),
        ({"channel": "C1", "text": "a \ud83d"}, "TEXT holds bytes that are no UTF-8, or half of a character"),
        ({"channel": "C1", "text": "a", "headline": "\udcff"}, "--headline holds bytes that are no UTF-8"),
        (
            {"thread": "https://evil.example/archives/C1/p1700000000123456", "text": "a"},
            "which is no link of Slack's: they begin with https://NAME.slack.com/",
        ),
        ({"thread": "https://xslack.com/archives/C1/p1700000000123456", "text": "a"}, "no link of Slack's"),
        ({"thread": "http://x.slack.com/archives/C1/p1700000000123456", "text": "a"}, "no link of Slack's"),
    ],
)
def test_wrong_words_are_one_sentence(
    given: Mapping[str, str], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(" \n"))
    with pytest.raises(SettingsError, match=problem):
        message_of(args(**given))


def test_one_place_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["say", "hi"], ["say", "--channel", "C1", "--user", "U1", "hi"]):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 2
        assert "slack-bot say: " in capsys.readouterr().err


# -- processes


ALONE = "no bot runs, so the answer is written from here; a bot that starts now waits until it is whole"


@dataclass
class Place:
    """A workspace and an agent on the network, and what processes of the bot are started with."""

    workspace: Workspace
    agent: ScriptedAgent
    env: Mapping[str, str]
    folder: Path

    async def start(self, *words: str) -> asyncio.subprocess.Process:
        command, pipe = (*loaded_program(), *words), asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(
            *command, env=self.env, cwd=self.folder, stdout=pipe, stderr=pipe
        )

    async def say(self, *words: str) -> tuple[int | None, str, str]:
        """Exit status, stdout and stderr."""
        return await self.told("say", *words)

    async def told(self, *words: str) -> tuple[int | None, str, str]:
        """As `say`, of any verb."""
        process = await self.start(*words)
        out, err = await asyncio.wait_for(process.communicate(), 60.0)
        return process.returncode, out.decode().strip(), err.decode().strip()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[asyncio.subprocess.Process]:
        """A bot that holds the store meanwhile."""
        process = await self.start("run")
        try:
            async with asyncio.timeout(60.0):
                while not await OPENER.is_held(self.env["SLACK_BOT_STORE__URL"]):
                    assert process.returncode is None
                    await asyncio.sleep(0.05)
            yield process
        finally:
            if process.returncode is None:
                process.send_signal(signal.SIGTERM)
            await process.communicate()

    def texts(self, root: str) -> list[str]:
        return [seen.text for seen in self.workspace.thread(CHANNEL, root)]


@asynccontextmanager
async def place(
    folder: Path, *tapes: Tape, faults: Mapping[str, Sequence[str | None]] | None = None
) -> AsyncIterator[Place]:
    workspace, clock = Workspace(faults=faults), system_clock()
    workspace.add_channel(CHANNEL).members.add(workspace.add_user("U1").id)
    agent = ScriptedAgent(*(tapes or (answer("Hello.", seconds=0.2),)))
    async with serve_scripted(agent) as agent_url, SlackServer(workspace, clock) as server:
        env = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("SLACK_", "A2A_"))},
            "SLACK_BOT_TOKEN": BOT_TOKEN,
            "SLACK_APP_TOKEN": APP_TOKEN,
            "SLACK_API_URL": server.api_url,
            "A2A_AGENT_URL": agent_url,
            "SLACK_BOT_STORE__URL": f"sqlite:///{folder}/store.sqlite",
            "PYTHONPATH": str(Path(__file__).parents[1]),
        }
        yield Place(workspace, agent, env, folder)


async def test_beside_a_bot_that_runs_that_delivers_it(tmp_path: Path) -> None:
    async with place(tmp_path) as at, at.running():
        status, link, problem = await at.say(
            "--channel", CHANNEL, "--headline", "News", "--ask", "what is new?"
        )
        assert (status, problem) == (0, "")
        (root,) = at.workspace.history(CHANNEL)
        assert link.endswith(f"/archives/{CHANNEL}/p{root.ts.replace('.', '')}")
        assert at.texts(root.ts) == ["News", "Hello."]
        assert [asked.text for asked in at.agent.questions] == ["what is new?"]

        status, _, problem = await at.say("--channel", "C404", "hi")
        assert status == 1
        assert problem.startswith("slack-bot say: Slack does not take this for C404 (channel_not_found): ")

        status, key, _ = await at.say("--thread", link, "--no-wait", "--key", "k1", "that is all")
        assert (status, key) == (0, "k1")
        await wait_until(lambda: at.texts(root.ts)[2:] == ["that is all"], at.workspace)


async def test_alone_it_delivers_itself_and_a_key_says_it_once(tmp_path: Path) -> None:
    async with place(tmp_path) as at:
        words = "--user", "U1", "--key", "k1", "good *morning*"
        first, again = await at.say(*words), await at.say(*words)
        assert first == again
        direct = at.workspace.direct("U1")
        assert [seen.text for seen in at.workspace.history(direct)] == ["good *morning*"]
        status, _, problem = await at.say(*words[:-1], "good evening")
        assert status == 1
        assert problem == "slack-bot say: something else was said with --key k1; give another key"
        status, _, problem = await at.say("--channel", "C404", "hi")
        assert (status, problem.count("\n")) == (1, 0), "it is said once"
        assert problem.startswith("slack-bot say: Slack does not take this for C404 (channel_not_found): ")


async def test_a_bot_that_starts_delivers_what_was_left(tmp_path: Path) -> None:
    async with place(tmp_path) as at:
        assert (await at.say("--channel", CHANNEL, "--no-wait", "--key", "k1", "hi"))[:2] == (0, "k1")
        assert at.workspace.history(CHANNEL) == []
        async with at.running():
            await wait_until(lambda: at.workspace.history(CHANNEL), at.workspace, within=60.0)
        assert [seen.text for seen in at.workspace.history(CHANNEL)] == ["hi"]


@pytest.mark.slow
@pytest.mark.parametrize("says", [True, False])
async def test_killed_in_the_middle_of_the_answer_the_next_process_goes_on(
    tmp_path: Path, *, says: bool
) -> None:
    async with place(tmp_path, answer(LINES, seconds=4.0)) as at:
        words = "--channel", CHANNEL, "--headline", "News", "--key", "k1", "--ask", "hi"
        killed = await at.start("say", *words)

        def is_answering() -> bool:
            roots = at.workspace.history(CHANNEL)
            return bool(roots) and len(at.texts(roots[0].ts)) > 1

        await wait_until(is_answering, at.workspace, within=60.0)
        killed.kill()
        await killed.communicate()
        if says:
            status, _, problem = await at.say(*words)
        else:
            async with at.running():
                status, _, problem = await at.say(*words)
        assert (status, problem) == (0, ALONE if says else "")
        (root,) = at.workspace.history(CHANNEL)
        headline, *body = at.texts(root.ts)
        assert headline == "News"
        assert " ".join(body).split() == LINES.split()
        assert len(at.agent.questions) == 1


@pytest.mark.slow
async def test_where_the_bot_that_was_to_deliver_it_dies_say_ends_and_the_next_one_delivers_it(
    tmp_path: Path,
) -> None:
    async with place(tmp_path, answer(LINES, seconds=4.0)) as at:
        at.env = {**at.env, "SLACK_BOT_STORE__LOCK_WAIT": "1"}
        async with at.running() as bot:
            saying = asyncio.create_task(at.say("--channel", CHANNEL, "--key", "k1", "--ask", "hi"))
            await wait_until(lambda: at.agent.questions, at.workspace, within=60.0)
            bot.kill()
            status, _, problem = await saying
            assert status == 1
            assert problem.endswith(
                "no bot runs that would deliver this; its next start does, and k1 is the id"
            )
        async with at.running():
            (root,) = at.workspace.history(CHANNEL)
            await wait_until(
                lambda: "helpful" in str(at.workspace.thread(CHANNEL, root.ts)), at.workspace, 30.0
            )
        question, *body = at.texts(root.ts)
        assert question == "hi"
        assert " ".join(body).split() == LINES.split()
        assert len(at.agent.questions) == 1


def test_the_workspace_is_named_where_there_are_several() -> None:
    assert message_of(args(channel="C1", text="hi", team="T2")).team == "T2"
    with pytest.raises(SettingsError, match="--team is 'acme'; give the workspace's id"):
        message_of(args(channel="C1", text="hi", team="acme"))
    settings = bot_settings({"bot_token": None, "bot_tokens": "xoxb-1,xoxb-2"})
    with pytest.raises(SettingsError, match="SLACK_BOT_TOKENS is of several workspaces; give --team"):
        asyncio.run(say(settings, OutboundMessage("hi", channel="C1"), None, wait=False))
