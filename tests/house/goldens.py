"""What must stay as it is while the house is rebuilt, kept in files beside this one.

python -m tests.house.goldens            makes them anew (see what changed with git diff)
python -m tests.house.goldens FOLDER     makes them there, with everything that is otherwise kept as a hash:
                                         made by two commits, the two folders can be compared
"""

from __future__ import annotations

import ast
import hashlib
import io
import random
import re
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stdout, suppress
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

from slack_bot.cli import main as main_of_bot
from slack_bot.errors import UnreadableInput
from slack_bot.observe import facts
from slack_bot.observe.health import Health
from slack_bot.observe.metrics import Metrics
from slack_bot.testing import virtual_clock
from slack_bot.testing.slack.call_pipeline import SlackCall
from slack_bot.tools.files import open_capture
from slack_bot.tools.replay.replay import replayed
from slack_bot.tools.replay.result import as_line
from tests.e2e import test_busy_model, test_captures, test_oracle
from tests.examples import unheard
from tests.house import scenes, shape

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).with_name("goldens")
WHOLE: Path | None = None
"""Where all is written whole that is kept as a hash; None: nowhere."""

RECORDINGS = ("tests/captures", "docs/tapes", "slack_bot/tools/conform/suites/tapes")
SHARED = ROOT.parent / "shared" / "captures"
CONVERSATIONS, STEPS = 12, 25
"""How many conversations of the model are kept for each policy, and how long they are."""

WEIGHTS = {
    "mention": 4.0,
    "write_without_a_mention": 2.0,
    "mention_somebody_else": 1.0,
    "mention_and_change_before_it_comes": 1.0,
    "stop_listening": 0.5,
    "change": 2.0,
    "stop": 2.0,
    "drop": 1.0,
    "time_passes": 6.0,
    "slack_brings_it_again": 1.0,
    "the_process_is_killed": 0.5,
}
"""How often each step of a conversation comes."""


def hashed(kind: str, name: str, text: str) -> str:
    """A line that stands for `text`."""
    if WHOLE is not None:
        path = WHOLE / kind / re.sub(r"[^\w.-]", "_", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return f"{hashlib.sha256(text.encode()).hexdigest()[:16]} {name}"


# -- threads


def replays() -> Iterator[str]:
    """`replay --json` of every tape and recording in this repository."""
    for folder in RECORDINGS:
        for path in captures_in(ROOT / folder):
            yield replay(path.relative_to(ROOT).as_posix(), path)


def replay(name: str, path: Path) -> str:
    """A line for the thread of a capture; of a file that is none, what is said about it."""
    try:
        capture = open_capture(path)
    except UnreadableInput as error:
        return f"{name}: {str(error).removeprefix(f'{path}')}"
    result = replayed(capture).result()
    if path in test_captures.FILES:
        try:
            test_captures.assert_well_told(path, result)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error
    return hashed("replays", name, as_line(result))


def shared_replays() -> Iterator[str]:
    """The same of those that are not ours to keep here, and of the cases of the oracle."""
    for path in captures_in(SHARED):
        yield replay(path.relative_to(SHARED).as_posix(), path)
    for kind in test_oracle.KINDS:
        for case in test_oracle.cases(kind):
            seen = replayed(test_oracle.capture_of(case), test_oracle.scenario_of(case))
            yield hashed("oracle", case["id"], as_line(seen.result()))


def captures_in(folder: Path) -> Iterator[Path]:
    kinds = {".sse", ".txt", ".jsonl"}
    for path in sorted(folder.rglob("*")):
        if path.suffix in kinds and not path.name.endswith(".truth.txt"):
            yield path


def conversations(step: int = 1) -> Iterator[str]:
    """The ordered calls of Slack in conversations of `test_busy_model`, at random, always the same.

    `step`: only each so many of them.
    """
    for machine in (test_busy_model.ThreadOfPeople, test_busy_model.Collecting, test_busy_model.Interrupting):
        for seed in range(0, CONVERSATIONS, step):
            with unheard():
                calls = "\n".join(scenes.as_lines(conversation(machine, random.Random(seed))))
            yield hashed("conversations", f"{machine.busy} {seed}", calls)


def conversation(kind: type[test_busy_model.ThreadOfPeople], dice: random.Random) -> list[SlackCall]:
    machine = kind()
    try:
        machine.begin()
        for _ in range(STEPS):
            step(machine, dice)
    finally:
        machine.teardown()
    return list(machine.bot.workspace.calls)


def step(machine: test_busy_model.ThreadOfPeople, dice: random.Random) -> None:
    """Something that a person does, or that happens."""
    user, is_so, at = dice.choice(["U1", "U1", "U2"]), dice.random() < 0.5, dice.randrange(31)
    seconds = dice.choice([0.3, 1.0, 1.6, 4.0, 9.0, 40.0])
    how = dice.choice(["edited", "deleted", "for somebody else"])
    (name,) = dice.choices(list(WEIGHTS), weights=list(WEIGHTS.values()))
    match name:
        case "mention" | "write_without_a_mention" | "mention_somebody_else" | "drop":
            getattr(machine, name)(user=user)
        case "mention_and_change_before_it_comes":
            machine.mention_and_change_before_it_comes(user=user, is_gone=is_so)
        case "stop":
            machine.stop(user=user, is_native=is_so)
        case "change":
            machine.change(at=at, how=how)
        case "slack_brings_it_again":
            machine.slack_brings_it_again(at=at)
        case "time_passes":
            machine.time_passes(seconds=seconds)
        case _:
            getattr(machine, name)()


# -- scenes


def played() -> dict[str, str]:
    """Each scene: the calls of Slack, then the rows of the store; and the controls of all."""
    kept = {}
    for name in scenes.SCENES:
        with tempfile.TemporaryDirectory() as folder:
            stage = scenes.play(name, Path(folder))
            kept[f"scenes/{name}"] = text_of([*stage.calls(), "", *stage.rows()])
    controls = set().union(*(scenes.controls_of(each) for each in kept.values()))
    return kept | {"controls": text_of(sorted(controls))}


# -- names


def fact_names() -> Iterator[str]:
    """Every fact that observers get, with its fields."""
    for kind in get_args(facts.Fact):
        yield f"{kind.__name__} {' '.join(field.name for field in fields(kind))}"


def metric_names() -> Iterator[str]:
    metrics = Metrics(virtual_clock.new_clock())
    metrics.watch(lambda: {"running": 0, "waiting": 0, "watched": 0}, lambda: None, Health())
    for line in metrics.scrape()[1].decode().splitlines():
        if line.startswith(("# HELP", "# TYPE")):
            yield line


def setting_names() -> Iterator[str]:
    for line in (ROOT / ".env.example").read_text("utf-8").splitlines():
        if name := re.match(r"#? ?([A-Z][A-Z0-9_]+=.*)", line):
            yield name[1]


def log_lines() -> Iterator[str]:
    """Every line that the bot may log: its level and its words. In which module it is may change."""
    lines = {
        f"error {each.value.value}"
        for each in shape.nodes(ast.keyword)
        if each.arg == "failure" and isinstance(each.value, ast.Constant)
    }
    for call in shape.nodes(ast.Call):
        match call.func:
            case ast.Attribute(value=ast.Name(id="log" | "_log"), attr=level):
                lines |= {f"{level} {each.value}" for each in call.args[:1] if isinstance(each, ast.Constant)}
            case ast.Name(id="Log"):
                lines.add(" ".join(each.value for each in call.args[:2] if isinstance(each, ast.Constant)))
    yield from sorted(lines)


def verbs() -> Iterator[str]:
    """What each verb says of itself, in words that do not depend on the version of Python."""
    for name in ["", *re.findall(r"(?m)^    (\w+) ", helped([])), *MORE_VERBS]:
        yield f"== slack-bot {name}"
        yield from textwrap.wrap(" ".join(helped(name.split()).split()), 110)


MORE_VERBS = (
    *("store show", "store turns", "store export", "store erase", "store feedback", "store export-tape"),
    "store backup",
    "config check",
)


def helped(words: list[str]) -> str:
    with pytest.MonkeyPatch.context() as around, redirect_stdout(io.StringIO()) as out, suppress(SystemExit):
        around.setenv("COLUMNS", "10000")  # where argparse breaks a line differs
        main_of_bot([*words, "-h"])
    return re.sub(r"(-\w) (\S+), (--[\w-]+) \2", r"\1, \3 \2", out.getvalue())


GOLDENS: dict[str, Callable[[], Iterable[str]]] = {
    "replays": replays,
    "conversations": conversations,
    "facts": fact_names,
    "metrics": metric_names,
    "settings": setting_names,
    "log": log_lines,
    "verbs": verbs,
}


def text_of(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def main() -> None:
    global WHOLE
    folder = FOLDER
    if len(sys.argv) > 1:
        folder = WHOLE = Path(sys.argv[1])
    produced = {**GOLDENS, **({"shared_replays": shared_replays} if SHARED.is_dir() else {})}
    for name, lines in produced.items():
        sys.stderr.write(f"{name}...\n")
        write(folder / f"{name}.txt", text_of(lines()))
    sys.stderr.write("scenes...\n")
    for name, text in played().items():
        write(folder / f"{name}.txt", text)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
