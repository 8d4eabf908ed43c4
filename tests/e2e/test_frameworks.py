"""Recordings of live servers, each with the text that its model wrote: as the first question, as a later one,
and with the stream cut behind every event.

More of them than are kept here lie beside the checkout where the facts were gathered.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

from slack_bot.testing.agent.scripted import ScriptedAgent
from slack_bot.testing.harness import run_bot
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.tools.conform.truth import RIGHT, TruePlay, cuts_of, opened, plays_of, truth_of
from slack_bot.tools.files import open_capture
from tests.features.routing.town import town

OURS = Path(__file__).parents[1] / "captures" / "frameworks"
SHARED = Path(__file__).parents[3] / "shared" / "captures" / "frameworks"
TRIED = {path.name: path for folder in (SHARED, OURS) for path in folder.glob("*.sse")}
FILES = [path for _, path in sorted(TRIED.items()) if truth_of(path).is_file()]
QUICK = 3
"""Places at which a stream is cut in the quick tests."""

THOROUGH = 16
"""Places in the slow ones."""

LONG_POLLED = ("sdk03-status_boom", "trpc_hello")
"""Tasks that never end: each cut is polled for long, and even their first plays are slow."""

QUICK_ONES = {path for path in FILES if path.parent == OURS and path.stem not in LONG_POLLED}
"""Those that lie elsewhere are more cases of the same rule."""


def marked(paths: list[Path]) -> list[ParameterSet]:
    return [pytest.param(path, marks=[] if path in QUICK_ONES else [pytest.mark.slow]) for path in paths]


NO_TEXT = ("agno_ask", "voltagent_hello")
"""Recordings of which the bot reads no text: agno sends none where its agent waits for a human, and
events of VoltAgent begin with a separator."""


def stem(path: Path) -> str:
    return path.stem


def check(plays: list[TruePlay]) -> None:
    right = (RIGHT, "no text") if plays[0].recording in NO_TEXT else (RIGHT,)
    assert {each.play: each.why for each in plays if each.verdict not in right} == {}


def test_the_recordings_kept_here_are_among_those_that_are_tried() -> None:
    assert {path.name for path in OURS.glob("*.sse")} <= {path.name for path in FILES}
    assert len(FILES) > 20


@pytest.mark.parametrize("path", marked(FILES), ids=stem)
def test_a_reader_has_the_models_text_whole_and_once(path: Path) -> None:
    hello = TRIED.get(f"{path.stem.partition('_')[0]}_hello.sse")
    check(list(plays_of(opened(path), [("hello", open_capture(hello))] if hello is not None else [])))


@pytest.mark.parametrize("path", marked([path for path in FILES if path.stem.endswith("_tool")]), ids=stem)
def test_a_stream_that_is_cut_is_whole_and_once(path: Path) -> None:
    """A cut ends no task: what was missed comes from there."""
    check(list(cuts_of(opened(path), QUICK)))


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=stem)
def test_a_stream_that_is_cut_at_many_places_is_whole_and_once(path: Path) -> None:
    """At each event one by one: `slack-bot conform --from-tape FOLDER --cuts`."""
    check(list(cuts_of(opened(path), THOROUGH)))


@on_virtual_time
async def test_five_agents_of_five_frameworks_answer_in_one_workspace_each_in_its_thread(
    tmp_path: Path,
) -> None:
    names = ("adk-sse", "adkjs", "agno", "a2aadapter", "kagent")
    tables = "".join(f'[agents.{name}]\nurl = "http://{name}.invalid/"\n' for name in names)
    paths = {name: OURS / f"{name}_tool.sse" for name in names}
    agents = {f"{name}.invalid": ScriptedAgent(open_capture(path)) for name, path in paths.items()}
    alone = {}
    for name, path in paths.items():
        async with run_bot(open_capture(path)) as bot:
            root = await bot.ask("what is it?")
            await bot.idle()
            alone[name] = bot.read(root)
    async with town(tmp_path, tables, agents=agents) as there:
        roots = {name: await there.bot.ask(f"{name}: what is it?") for name in names}
        await there.bot.idle()
        for name, root in roots.items():
            assert there.asked(name) == ["what is it?"]
            assert there.bot.read(root) == alone[name] != []
