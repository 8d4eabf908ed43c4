"""A feature is a folder and a row: without both, the bot answers all the same."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import cast

import pytest

from slack_bot.app import FEATURES
from tests.loaded_program import loaded_python

PACKAGE = Path(__file__).parents[2] / "slack_bot"
ROOMS = ("agents", "inbound", "observe", "settings", "slack", "store", "text", "threads", "turn", "web")
"""What the bot is built of beside its features: nothing here may import them."""
STORY = """
import asyncio, json, os, signal
from slack_bot.app import FEATURES, run
from slack_bot.clock import system_clock
from slack_bot.settings.load import load
from slack_bot.testing.agent.scripted import ScriptedAgent, serve_scripted
from slack_bot.testing.harness import CHANNEL, wait_until
from slack_bot.testing.slack.server import SlackServer
from slack_bot.testing.slack.workspace import APP_TOKEN, BOT_TOKEN, Workspace
from slack_bot.testing.tape.builders import answer

async def story():
    workspace, agent = Workspace(), ScriptedAgent(answer("Hello.", seconds=0.1))
    workspace.add_channel(CHANNEL).members.add(workspace.add_user("U1").id)
    async with serve_scripted(agent) as agent_url, SlackServer(workspace, system_clock()) as face:
        settings = load({
            "SLACK_BOT_TOKEN": BOT_TOKEN,
            "SLACK_APP_TOKEN": APP_TOKEN,
            "SLACK_API_URL": face.api_url,
            "A2A_AGENT_URL": agent_url,
            "SLACK_BOT_STORE__URL": "memory://",
            "SLACK_BOT_STORE__EVENT_BYTES": "1000",
            "SLACK_BOT_TRACES__ENABLED": "true",
            "SLACK_BOT_TRACES__ENDPOINT": agent_url,
            "SLACK_BOT_AUDIT__PATH": ".",
        }, None, None)
        running = asyncio.create_task(run(settings))
        await face.sockets.connected()
        root = workspace.say("U1", CHANNEL, f"<@{workspace.bot.user_id}> hi", now=system_clock().wall())
        read = lambda: [seen.text for seen in workspace.thread(CHANNEL, root) if seen.is_bot]
        await wait_until(lambda: read() == ["Hello."] and not workspace.open_streams(), workspace)
        os.kill(os.getpid(), signal.SIGTERM)
        await running
    is_traced = "traceparent" in agent.calls[-1].headers  # the first ones ask for the login
    print(json.dumps([read(), [feature.name for feature in FEATURES], is_traced]))

asyncio.run(story())
"""
"""A bot that runs with every feature switched on, and is asked something."""


WATCHED = """
import asyncio, json
from slack_bot.testing.harness import run_bot
from slack_bot.testing.tape.builders import chunk, status, task
from slack_bot.testing.tape.tape import Moment, Tape
from slack_bot.testing.virtual_clock import on_virtual_time

SLOW = Tape({"wire": "0.3"}, (
    Moment(0.1, event=task()),
    Moment(0.5, event=chunk("The first. ")),
    Moment(7200.0, event=chunk("The last.")),
    Moment(7200.1, event=status("completed")),
    Moment(7200.2, end="closed"),
))

@on_virtual_time
async def story():
    async with run_bot(SLOW, cut_after=2, **{"push.public_url": "https://bot.example"}) as bot:
        await bot.ask("hi")
        await bot.idle()
        while len(bot.outcomes) == 1:
            await asyncio.sleep(60.0)
            await bot.idle()
        print(json.dumps(bot.outcomes))

story()
"""
"""A bot whose agent outlives the stream of its answer."""

ASKED_IN_A_THREAD = """
import json
from slack_bot.testing.harness import run_bot
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.virtual_clock import on_virtual_time

@on_virtual_time
async def story():
    async with run_bot(answer("One."), answer("Two.", ids="2")) as bot:
        root = await bot.say("the disk is full", user="U2")
        await bot.ask("what now?", thread_ts=root)
        await bot.idle()
        await bot.say("it is the log", user="U2", thread_ts=root)
        await bot.ask("and now?", thread_ts=root)
        await bot.idle()
        asked = [question.params["message"] for question in bot.agent.questions]
        parts = [[part["text"] for part in message["parts"]] for message in asked]
        print(json.dumps([parts, [message.get("metadata") for message in asked], bot.outcomes]))

story()
"""
"""A bot that is mentioned twice in a thread of people."""

FORM = """
import json
from slack_bot.testing.harness import run_bot
from slack_bot.testing.tape.builders import answer, task
from slack_bot.testing.tape.tape import Moment, Tape
from slack_bot.testing.virtual_clock import on_virtual_time

SCHEMA = {"type": "object", "properties": {"env": {"title": "Where", "enum": ["dev", "prod"]}}}
PARTS = [{"kind": "text", "text": "Which environment?"}, {"kind": "data", "data": SCHEMA}]
SAID = {"kind": "message", "messageId": "asks", "role": "agent", "parts": PARTS}
STATUS = {"state": "input-required", "message": SAID}
ASKS = {"kind": "status-update", "taskId": "task-1", "contextId": "ctx-1", "status": STATUS, "final": True}
FORM = Tape({"wire": "0.3"}, (
    Moment(0.1, event=task()), Moment(0.5, event=ASKS), Moment(0.6, end="closed"),
))

@on_virtual_time
async def story():
    async with run_bot(FORM, answer("Deployed.")) as bot:
        root = await bot.ask("deploy")
        await bot.idle()
        (shown,) = [message for message in bot.thread(root) if message.is_bot]
        await bot.say("prod", thread_ts=root)
        await bot.idle()
        asked = bot.agent.questions[-1].params["message"]
        print(json.dumps([shown.text, "form_" in json.dumps(shown.blocks), asked["taskId"], bot.outcomes]))

story()
"""
"""A bot whose agent asks with a form, which is answered in words."""


BRIEF = "import gc; gc.disable()\n"
"""Before a story: to look for garbage among what is imported takes a fifth of the time of that."""


def tell(story: str, folder: Path, without: str = "") -> object:
    """What `story` prints in a process that works in `folder`, and in which the bot has no feature `without`;
    "": it has all.
    """
    done = subprocess.run(
        [*loaded_python(*ROOMS), "-c", BRIEF + take_out(without, folder / "changed") + story],
        cwd=folder,
        env={**os.environ, "OTEL_TRACES_SAMPLER": "always_off"},  # nobody takes them
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def take_out(name: str, folder: Path) -> str:
    """The beginning of a story in which nothing of this feature can be imported, and `app.py` is another one,
    in `folder`, whose list of features is without it. A copy of the package would be compiled for each test.
    """
    if not name:
        return ""
    folder.mkdir()
    source = re.sub(rf"from \.features\.{name}\..*\n", "", (PACKAGE / "app.py").read_text("utf-8"))
    (folder / "app.py").write_text(re.sub(rf"\b{name.upper()}\b(,\s*)?", "", source), "utf-8")
    return f"""
import sys, slack_bot
assert not [name for name in sys.modules if name.startswith("slack_bot.features")], "a room imports a feature"
slack_bot.__path__.insert(0, {str(folder)!r})
sys.modules["slack_bot.features.{name}"] = None
"""


def has_audit(folder: Path) -> bool:
    return any(folder.glob("audit-*.jsonl"))


@pytest.mark.parametrize("name", ["", *(feature.name for feature in FEATURES)])
def test_the_bot_answers_without_a_feature(name: str, tmp_path: Path) -> None:
    """And with all of them, of which only those that are there have done their work."""
    others = [feature.name for feature in FEATURES if feature.name != name]
    assert tell(STORY, tmp_path, name) == [["Hello."], others, name != "traces"]
    assert has_audit(tmp_path) is (name != "audit")


def test_without_push_a_watched_task_is_polled(tmp_path: Path) -> None:
    assert tell(WATCHED, tmp_path, "push") == ["watched", "answered"]


def test_without_context_the_agent_gets_the_question_alone(tmp_path: Path) -> None:
    parts = [["what now?"], ["and now?"]]
    assert tell(ASKED_IN_A_THREAD, tmp_path, "context") == [parts, [None, None], ["answered", "answered"]]


def test_without_forms_an_agent_asks_in_words(tmp_path: Path) -> None:
    """And the answer in words goes to the task that asked."""
    for name, has_buttons in (("", True), ("forms", False)):
        (folder := tmp_path / f"without {name}").mkdir()
        words, *others = cast(list[object], tell(FORM, folder, name))
        assert others == [has_buttons, "task-1", ["asked", "answered"]]
        assert ("dev" in str(words)) is not has_buttons, "buttons show it"
