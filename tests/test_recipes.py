"""The recipes of docs/development.md, made in a copy of the package by the lines that they show.

A block begins with its file: `# path` of a new one, `+++ path` of a change. In a change `+` is added, `-` is
taken out, and the other lines, which stand in the file once, say where; `@@` begins another place.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from slack_bot.testing.tape.items import Moment
from slack_bot.testing.tape.tape import Tape, write_tape

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/development.md").read_text("utf-8")
BLOCK = re.compile(r"^( *)```(python|diff)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
IGNORED = shutil.ignore_patterns("*.pyc.*")  # which others are writing
NAMES = ("A dialect", "A store", "A setting", "A button", "A check of `conform`")


def section(name: str) -> str:
    """The recipe, up to the next heading."""
    _, found, rest = PAGE.partition(f"\n### {name}\n")
    assert found, f"there is no recipe {name!r}"
    return re.split(r"^##+ ", rest, maxsplit=1, flags=re.MULTILINE)[0]


def change(path: Path, lines: Sequence[str]) -> None:
    """One place of a `diff` block."""
    before = [line[1:] for line in lines if not line.startswith("+")]
    after = [line[1:] for line in lines if not line.startswith("-")]
    text, there = path.read_text("utf-8"), "\n".join(["", *before, ""])
    assert text.count(there) == 1, f"these lines stand in {path.name} {text.count(there)} times:{there}"
    path.write_text(text.replace(there, "\n".join(["", *after, ""])), "utf-8")


def carry_out(name: str, package: Path) -> set[str]:
    """Do what the recipe shows. Returns the files."""
    touched = set()
    for indent, kind, block in BLOCK.findall(section(name)):
        head, *lines = [line.removeprefix(indent) for line in block.splitlines()]
        file = head.removeprefix("# " if kind == "python" else "+++ ")
        touched.add(file)
        if kind == "python":
            assert not (package / file).exists()
            (package / file).write_text("\n".join([*lines, ""]), "utf-8")
            continue
        for place in "\n".join(lines).split("\n@@\n"):
            change(package / file, place.split("\n"))
    return touched


def in_folder(folder: Path, *args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Python with the package of `folder`."""
    own = {name: each for name, each in os.environ.items() if not name.startswith(("SLACK_", "A2A_"))}
    environment = {**own, "PYTHONPATH": str(folder), **environment}
    return subprocess.run(
        [sys.executable, *args], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def done(folder: Path, *args: str, **environment: str) -> str:
    """What it writes, if all went well."""
    found = in_folder(folder, *args, **environment)
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


def verb(folder: Path, *args: str) -> str:
    return done(folder, "-m", "slack_bot", *args)


def copied(name: str, folder: Path) -> Path:
    """A copy of the package with what the recipe adds, which Ruff has looked at."""
    package = folder / "slack_bot"
    shutil.copytree(ROOT / "slack_bot", package, ignore=IGNORED)
    files = [str(package / each) for each in carry_out(name, package) if each.endswith(".py")]
    rules = "--config", str(ROOT / "pyproject.toml"), "--no-cache"
    for order in (["check"], ["format", "--check"]):
        assert "rror" not in done(folder, "-m", "ruff", *order, *rules, *files)
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_says_how_many_files_it_touches(name: str, tmp_path: Path) -> None:
    package = tmp_path / "slack_bot"
    shutil.copytree(ROOT / "slack_bot", package, ignore=IGNORED)
    before = {path: path.read_bytes() for path in package.rglob("*") if path.is_file()}
    carry_out(name, package)
    after = {path: path.read_bytes() for path in package.rglob("*") if path.is_file()}
    touched = [path for path in after if after[path] != before.get(path)]
    said = re.search(r"^Package files: (\d+)\b", section(name), re.MULTILINE)
    assert said is not None
    assert len(touched) == int(said[1]) <= 5


def test_no_other_recipe_shows_a_change() -> None:
    assert len(BLOCK.findall(PAGE)) == sum(len(BLOCK.findall(section(name))) for name in NAMES)


# -- a dialect


IDS = {"taskId": "t-1", "contextId": "c-1"}
BEGIN = {"kind": "task", "id": "t-1", "contextId": "c-1", "status": {"state": "working"}}
END = {"kind": "status-update", **IDS, "status": {"state": "completed"}, "final": True}


def said(text: str, name: str = "", **metadata: Any) -> dict[str, Any]:
    """An artifact of Acme's agent."""
    artifact = {
        "artifactId": f"{name or 'a'}-1",
        "name": name,
        "metadata": metadata,
        "parts": [{"kind": "text", "text": text}],
    }
    return {"kind": "artifact-update", **IDS, "append": True, "artifact": artifact}


def write(path: Path, *events: dict[str, Any]) -> None:
    """A tape of an answer."""
    moments = [Moment(0.1 + at, event=event) for at, event in enumerate((BEGIN, *events, END))]
    end = Moment(0.2 + len(moments), end="closed")
    path.write_text(write_tape(Tape({"wire": "0.3"}, (*moments, end))), "utf-8")


ACME = (
    said("Let me look into the files. ", acme_run="7", acme_aside=True),
    said("There may be three. ", "scratch", acme_run="7"),
    said("There are four files.", acme_run="7"),
)


def shown(folder: Path, tape: Path) -> list[str]:
    """The texts of the thread that a tape leads to."""
    found = json.loads(verb(folder, "replay", str(tape), "--json"))
    return [message["text"] for message in found["thread"] if message["text"]]


@pytest.mark.slow
def test_a_new_dialect_reads_its_tape_and_a_scrubbed_one(tmp_path: Path) -> None:
    tape, scrubbed = tmp_path / "acme.jsonl", tmp_path / "scrubbed.jsonl"
    write(tape, *ACME)
    assert shown(ROOT, tape) != ["There are four files."]
    folder = copied("A dialect", tmp_path)
    assert shown(folder, tape) == ["There are four files."]
    verb(folder, "scrub", str(tape), "-o", str(scrubbed))
    assert "four" not in scrubbed.read_text("utf-8")
    assert [len(text) for text in shown(folder, scrubbed)] == [len("There are four files.")]
    assert "adk, acme, strands" in done(folder, "-m", "slack_bot.tools.env_example")


# -- a store


STORE = """
import asyncio, json
from dataclasses import replace
from slack_bot import store_kinds
from slack_bot.clock import system_clock
from slack_bot.store.sqlite import SqliteStore
from slack_bot.testing.harness import CHANNEL, bot_on_network, bot_settings, wait_until
from slack_bot.tools.doctor.other_checks import check_store

async def doctor(url):
    settings = bot_settings({"store.url": url})
    return [str(found) async for found in check_store(settings, system_clock())]

async def story():
    async with bot_on_network(**{"store.url": "scratch://"}) as (workspace, _, app):
        root = workspace.say("U1", CHANNEL, f"<@{workspace.bot.user_id}> hi", now=app.clock.wall())
        read = lambda: [seen.text for seen in workspace.thread(CHANNEL, root) if seen.is_bot]
        await wait_until(lambda: read() == ["Hello."] and not workspace.open_streams(), workspace)
        await app.threads.idle()
        kept = [turn.question.text for turn in await app.store.accepted_since(0)]
    as_it_is = await doctor("scratch://")
    store_kinds.STORES["scratch"] = replace(store_kinds.STORES["scratch"], is_lost=False)
    print(json.dumps([read(), kept, as_it_is, await doctor("scratch://here")]))

asyncio.run(story())
"""
"""Doctor is asked a second time, as of a store that is not lost, whose address names a place: it takes none
for a file."""


@pytest.mark.slow
def test_a_new_store_is_opened_by_its_address_and_keeps_a_turn(tmp_path: Path) -> None:
    read, kept, lost, looked_into = json.loads(done(copied("A store", tmp_path), "-c", STORE))
    assert (read, kept) == (["Hello."], ["hi"])
    assert len(lost) == len(looked_into) == 1
    assert "scratch:// is gone when the process ends" in lost[0]
    assert "Only the bot itself has scratch://" in looked_into[0]


# -- a setting


SETTING = """
import asyncio, json
from slack_bot.settings.load import load
from slack_bot.testing import virtual_clock
from slack_bot.testing.harness import run_bot

async def story():
    async with run_bot(hint=load(env_file=None, secrets_dir=None).channel.hint) as bot:
        root = await bot.ask("")
        await bot.idle()
        print(json.dumps(bot.read(root)))

virtual_clock.run(story())
"""


@pytest.mark.slow
def test_a_new_setting_is_read_listed_and_may_stand_in_the_file(tmp_path: Path) -> None:
    folder = copied("A setting", tmp_path)
    needed = {"A2A_AGENT_URL": "http://agent.invalid/", "SLACK_BOT_TOKEN": "xoxb-1-x"}
    assert json.loads(done(folder, "-c", SETTING, **needed, SLACK_BOT_CHANNEL__HINT="Just ask.")) == [
        "Just ask."
    ]
    (unset,) = json.loads(done(folder, "-c", SETTING, **needed))
    assert unset.startswith("Hello! Write your question")
    assert "#SLACK_BOT_CHANNEL__HINT=" in done(folder, "-m", "slack_bot.tools.env_example")
    file = folder / "bot.toml"
    file.write_text('[channels.C0123ABC]\nhint = "Just ask."\n', "utf-8")
    assert "is right: [channels.C0123ABC]" in done(
        folder, "-m", "slack_bot", "config", "check", str(file), **needed
    )


# -- a button


BUTTON = """
import json
from slack_bot.observe.facts import reference_of
from slack_bot.testing import virtual_clock
from slack_bot.testing.harness import CHANNEL, run_bot, wait_until

async def story():
    async with run_bot() as bot:
        root = await bot.ask("hi")
        await bot.idle()
        (turn,) = await bot.store.accepted_since(0)
        bot.workspace.press("U1", CHANNEL, bot.thread(root)[-1].ts, "reference", now=bot.now)
        statuses = await bot.deliver()
        await wait_until(lambda: bot.ephemeral(root), bot.workspace)
        print(json.dumps([statuses, bot.ephemeral(root), reference_of(turn.key), len(bot.agent.questions)]))

virtual_clock.run(story())
"""


@pytest.mark.slow
def test_a_new_button_is_pressed_under_an_answer_and_tells_who_pressed(tmp_path: Path) -> None:
    statuses, told, reference, asked = json.loads(done(copied("A button", tmp_path), "-c", BUTTON))
    assert statuses == [200]
    assert told == [["U1", f"The reference of this answer is `{reference}`."]]
    assert asked == 1


# -- a check of `conform`


def suite(folder: Path, **texts: str) -> Path:
    """A suite with a case for each text, which its tape answers."""
    cases = []
    for name, text in texts.items():
        write(folder / f"{name}.jsonl", said(text))
        cases.append({"name": name, "query": "hi", "tape": f"{name}.jsonl", "checks": ["no_html"]})
    path = folder / "mine.json"
    path.write_text(json.dumps({"name": "mine", "cases": cases}), "utf-8")
    return path


@pytest.mark.slow
def test_a_new_check_is_run_by_the_suite_and_finds_its_defect(tmp_path: Path) -> None:
    folder = copied("A check of `conform`", tmp_path)
    found = json.loads(verb(folder, "conform", "--suite", "extended", "--only", "first-look", "--json"))
    assert '"no_html"' in json.dumps(found)
    mine = suite(folder, good="Four files.", bad="Four<br/>files.")
    report = in_folder(folder, "-m", "slack_bot", "conform", "--suite", str(mine))
    assert report.returncode == 1, report.stderr
    assert re.findall(r"^(PASS|FAIL) +(good|bad) ", report.stdout, re.MULTILINE) == [
        ("PASS", "good"),
        ("FAIL", "bad"),
    ]
    assert "no_html: <br/> in the text" in report.stdout
