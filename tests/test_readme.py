"""The README promises only what is so: its diagram is drawn from the machine's table, its links lead.

python -m tests.test_readme     prints the diagram
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from slack_bot.cli import command_line
from slack_bot.completion import script
from slack_bot.turn.machine import TABLE, State

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
KNOWLEDGE = ROOT / "slack_bot" / "playground" / "reference" / "knowledge"
GUIDES = [README, *(ROOT / "docs").glob("*.md"), *KNOWLEDGE.glob("*.md")]


def diagram() -> str:
    """The transition table as a Mermaid state diagram. Events that leave a state as it is are not drawn."""
    ways: dict[tuple[State, State], list[str]] = defaultdict(list)
    for (state, kind), (_, leads_to) in TABLE.items():
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
    found = re.search(r"```mermaid\n(stateDiagram.*?)\n```", README.read_text("utf-8"), re.DOTALL)
    assert found is not None
    assert found.group(1) == diagram()


def test_every_link_into_the_repository_leads_somewhere() -> None:
    for target in re.findall(r"\]\((?!https?://|#)([^)]+)\)", README.read_text("utf-8")):
        assert (ROOT / target.split("#")[0]).exists(), target


def test_every_variable_in_the_readme_exists() -> None:
    known = set(re.findall(r"[A-Z0-9_]+(?==)", (ROOT / ".env.example").read_text("utf-8")))
    named = re.findall(r"\b(?:SLACK|A2A)_[A-Z0-9_]*[A-Z0-9]\b", README.read_text("utf-8"))
    assert named and set(named) <= known, set(named) - known


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.name)
def test_commands_have_one_name_for_the_program_and_verbs_that_exist(guide: Path) -> None:
    text = guide.read_text("utf-8")
    verbs = set(re.findall(r'" (\w+)"', script(command_line(), "bash")))
    named = set(re.findall(r"(?m)(?:^ *|[`$&] ?|bin/)slack-bot ([a-z]\S*?)(?=[ `\n])", text))
    assert named <= verbs, named - verbs
    others = re.findall(r"(?m)`[^`\n]*-m slack_bot(?![.\w])[^`\n]*`|^ *\S*python -m slack_bot .*", text)
    assert set(others) <= {"`.venv/bin/python -m slack_bot`", "`python -m slack_bot`"}


if __name__ == "__main__":
    print(diagram())
