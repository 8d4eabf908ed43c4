"""README and guides promise only what is so: links and anchors lead somewhere, variables and verbs exist.

python -m tests.test_readme     prints the diagram of docs/how-it-works.md
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from slack_bot.cli import command_line
from slack_bot.completion import script
from slack_bot.turn.machine import TABLE, State
from tests.loaded_program import loaded_program

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
KNOWLEDGE = ROOT / "slack_bot" / "playground" / "reference" / "knowledge"
DOCS = ROOT / "docs"
PAGES = [README, ROOT / "CHANGELOG.md", *sorted(DOCS.glob("*.md"))]
GUIDES = [README, *sorted(DOCS.glob("*.md")), *sorted(KNOWLEDGE.glob("*.md"))]
SHOWN = sorted(
    {
        command
        for page in GUIDES
        for command in re.findall(r"`(slack-bot \w+ [^`\n]*docs/tapes/[^`\n]*)`", page.read_text("utf-8"))
    }
)
_READ = {".py", ".md", ".yml", ".toml", ".sh", ".service", ".json", ".txt", ".html", ".js"}


def without_code(text: str) -> str:
    return re.sub(r"(?ms)^ *```.*?^ *```$|`[^`\n]*`", "", text)


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to a page's headings."""
    headings = re.findall(r"(?m)^#+ (.+)$", re.sub(r"(?ms)^ *```.*?^ *```$", "", page.read_text("utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def leads(folder: Path, page: Path, link: str) -> bool:
    """Whether `link` leads to a file, and its anchor to a heading there; seen from `page` in `folder`."""
    name, _, anchor = link.partition("#")
    target = folder / name if name else page
    return target.exists() and (not anchor or anchor in anchors(target))


STARTED = (sys.executable, "-m", "slack_bot")


def run(folder: Path, *words: str, program: tuple[str, ...] = STARTED) -> str:
    """What the verb prints, run in `folder`; it must succeed."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        [*program, *words], check=False, cwd=folder, capture_output=True, text=True, timeout=120, env=env
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout
    return ran.stdout


def diagram() -> str:
    """The transition table as a Mermaid state diagram. Events that leave a state as it is are not drawn."""
    ways: dict[tuple[State, State], list[str]] = defaultdict(list)
    for (state, kind), leads_to in TABLE.items():
        if leads_to is not state:
            ways[state, leads_to].append(kind.__name__)
    lines = ["stateDiagram-v2", f"    [*] --> {State.WAITING}"]
    order = list(State)
    for (state, target), kinds in sorted(
        ways.items(), key=lambda way: (order.index(way[0][0]), order.index(way[0][1]))
    ):
        lines.append(f"    {state} --> {target}: {', '.join(sorted(kinds))}")
    return "\n".join([*lines, f"    {State.CLOSED} --> [*]"])


def test_the_state_diagram_is_the_table() -> None:
    page = (DOCS / "how-it-works.md").read_text("utf-8")
    found = re.search(r"```mermaid\n(stateDiagram.*?)\n```", page, re.DOTALL)
    assert found is not None
    assert found.group(1) == diagram()


def test_the_readme_is_read_in_three_minutes() -> None:
    text = README.read_text("utf-8")
    assert len(text.splitlines()) <= 120
    assert len(text.split()) <= 1_300


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_and_every_anchor_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?://)([^)\s]+)\)", without_code(page.read_text("utf-8")))
    assert [each for each in links if not leads(page.parent, page, each)] == []


@pytest.mark.parametrize(
    "folder", ["slack_bot", "deploy", "tests", ".ci", "Dockerfile", "CHANGELOG.md", "docs"]
)
def test_every_page_that_is_named_anywhere_exists(folder: str) -> None:
    """A path is named from the top: docs/NAME, in an error's sentence as in a comment."""
    top = ROOT / folder
    files = (
        [top]
        if top.is_file()
        else [path for path in top.rglob("*") if path.suffix in _READ or not path.suffix]
    )
    named = {
        (str(path.relative_to(ROOT)), target)
        for path in files
        if path.is_file()
        for target in re.findall(r"(?<![\w/.-])docs/[\w./-]+\.md(?:#[\w-]+)?", path.read_text("utf-8"))
    }
    assert [each for each in sorted(named) if not leads(ROOT, README, each[1])] == []


def test_the_buttons_that_the_guides_name_are_on_the_page() -> None:
    page = (ROOT / "slack_bot" / "playground" / "page" / "index.html").read_text("utf-8")
    for guide in (README, DOCS / "tools.md"):
        named = re.findall(r"\*(Inside[^*]*|[^*\s]+…)\*", guide.read_text("utf-8"))
        assert len(named) == 2
        assert [each for each in named if f">{each}</button>" not in page] == []


def test_the_map_names_every_page() -> None:
    listed = set(re.findall(r"\]\(([\w-]+\.md)\)", (DOCS / "README.md").read_text("utf-8")))
    assert listed == {path.name for path in DOCS.glob("*.md")} - {"README.md"}


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.name)
def test_every_variable_in_a_guide_exists(guide: Path) -> None:
    known = set(re.findall(r"[A-Z0-9_]+(?==)", (ROOT / ".env.example").read_text("utf-8")))
    named = set(re.findall(r"\b(?:SLACK|A2A)_[A-Z0-9_]*[A-Z0-9]\b", guide.read_text("utf-8")))
    # those of one agent of several have its name in them: SLACK_BOT_AGENTS__RESEARCH__BEARER_TOKEN
    named = {re.sub(r"_AGENTS__[A-Z]+__", "_AGENT__", each) for each in named}
    # the secret of a webhook has the name of that
    named = {each for each in named if not re.fullmatch(r"SLACK_BOT_HOOKS__[A-Z]+__SECRET", each)}
    assert named <= known, named - known


@pytest.mark.parametrize("command", SHOWN)
def test_commands_on_the_sample_tapes_run_as_they_are_written(command: str, tmp_path: Path) -> None:
    (tmp_path / "docs").symlink_to(DOCS)
    run(tmp_path, *shlex.split(command)[1:])


def test_the_examples_of_a_suite_and_a_scenario_are_taken(tmp_path: Path) -> None:
    suite, scenario = re.findall(r"```json\n(.*?)```", (DOCS / "tools.md").read_text("utf-8"), re.DOTALL)
    (tmp_path / "suite.json").write_text(suite, "utf-8")
    (tmp_path / "scenario.json").write_text(scenario, "utf-8")
    assert "3 of 3 checks passed" in run(
        tmp_path, "conform", "--suite", "suite.json", program=loaded_program()
    )
    tape = str(DOCS / "tapes" / "caipe-0.2.41-simple.jsonl")
    words = ("replay", tape, "--json", "--scenario", "scenario.json")
    played = json.loads(run(tmp_path, *words, program=loaded_program()))
    assert played["outcome"] == "failed", "the example's agent fails"


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.name)
def test_commands_have_one_name_for_the_program_and_verbs_that_exist(guide: Path) -> None:
    text = guide.read_text("utf-8")
    verbs = set(re.findall(r'" ([\w-]+)"', script(command_line(), "bash")))
    named = set(re.findall(r"(?m)(?:^ *|[`$&] ?|bin/)slack-bot ([a-z]\S*?)(?=[ `\n])", text))
    assert named <= verbs, named - verbs
    others = re.findall(r"(?m)`[^`\n]*-m slack_bot(?![.\w])[^`\n]*`|^ *\S*python -m slack_bot .*", text)
    assert set(others) <= {"`.venv/bin/python -m slack_bot`", "`python -m slack_bot`"}


if __name__ == "__main__":
    print(diagram())
