"""The verbs of the tools: their options, what they print and write, and their errors."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from slack_bot.cli import command_line, main
from slack_bot.testing.harness import free_port

STREAM = [
    {"kind": "task", "id": "t1", "contextId": "c1", "status": {"state": "submitted"}},
    {
        "kind": "status-update",
        "taskId": "t1",
        "contextId": "c1",
        "final": True,
        "status": {
            "state": "completed",
            "message": {
                "kind": "message",
                "messageId": "m",
                "role": "agent",
                "parts": [{"kind": "text", "text": "42"}],
            },
        },
    },
]


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory without a `.env`, and an environment without settings."""
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith(("SLACK_", "A2A_")):
            monkeypatch.delenv(name)
    return tmp_path


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    said = capsys.readouterr()
    assert said.out == ""
    return said.err.splitlines()


def test_what_the_verbs_are_given() -> None:
    parser = command_line()
    replayed = parser.parse_args(["replay", "a", "b", "--json", "--scenario", "s", "--key", "k"])
    assert (replayed.files, replayed.json, replayed.scenario, replayed.key) == (["a", "b"], True, "s", "k")
    captured = parser.parse_args(["capture", "http://a", "q", "-o", "f", "--then", "x", "--then", "y"])
    assert (captured.url, captured.text, captured.output, captured.then) == ("http://a", "q", "f", ["x", "y"])
    assert (captured.no_stream, captured.sse, captured.cut_after, captured.poll) == (
        False,
        False,
        None,
        False,
    )
    traced = parser.parse_args(["trace", "a", "b", "--html", "h", "--svg", "s"])
    assert (traced.targets, traced.html, traced.svg, traced.all) == (["a", "b"], "h", "s", False)
    compared = parser.parse_args(["compare", "a", "b", "-o", "c"])
    assert (compared.one, compared.two, compared.text, compared.output) == ("a", "b", None, "c")
    conformed = parser.parse_args(["conform", "--url", "u", "--report", "--repeat", "3", "-v"])
    assert (conformed.url, conformed.suite, conformed.report) == ("u", None, "")
    assert (conformed.repeat, conformed.verbose, conformed.mode) == (3, True, None)
    scrubbed = parser.parse_args(["scrub", "a", "-o", "b"])
    assert (scrubbed.file, scrubbed.output, scrubbed.key) == ("a", "b", None)


def test_replay_prints_the_thread(elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (elsewhere / "stream.json").write_text(json.dumps(STREAM))
    assert main(["replay", "stream.json"]) == 0
    assert "42" in capsys.readouterr().out
    assert main(["replay", "stream.json", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["visible"] == "42"


def test_scrub_writes_a_tape(elsewhere: Path) -> None:
    (elsewhere / "stream.json").write_text(json.dumps(STREAM))
    assert main(["scrub", "stream.json", "-o", "tape.jsonl"]) == 0
    assert main(["replay", "tape.jsonl"]) == 0


@pytest.mark.parametrize(
    "words",
    [
        ["scrub", "one.json", "-o", "one.json"],
        ["compare", "one.json", "two.json", "-o", "./two.json"],
        ["trace", "two.json", "one.json", "--svg", "one.json"],
        ["trace", "one.json", "--html", "one.json"],
        ["trace", "one.json", "--scenario", "s.json", "--svg", "s.json"],
        ["replay", "one.json", "--shrink", "-o", "one.json"],
        ["conform", "--suite", "s.json", "--report", "s.json"],
    ],
)
def test_no_verb_writes_over_what_it_reads(
    words: list[str], elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = [{"name": "a", "query": "q", "checks": ["live_streamed"]}]
    beside = {"name": "mine", "cases": cases} if words[0] == "conform" else {}
    files = {"one.json": STREAM, "two.json": STREAM, "s.json": beside}
    for name, content in files.items():
        (elsewhere / name).write_text(json.dumps(content))
    assert main(words) == 2
    (told,) = lines(capsys)
    assert told.endswith("this file is read, so it is not written; give another file")
    assert {name: json.loads((elsewhere / name).read_text()) for name in files} == files


def test_trace_prints_a_table_and_draws(
    elsewhere: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    (elsewhere / "stream.json").write_text(json.dumps(STREAM))
    assert main(["trace", "stream.json", "--svg", "stream.svg"]) == 0
    assert "decision and reason" in capsys.readouterr().out
    assert (elsewhere / "stream.svg").read_text().startswith("<svg")


def test_capture_of_nobody_is_one_sentence_and_exit_1(
    elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["capture", f"http://127.0.0.1:{free_port()}", "q", "-o", "tape.jsonl"]) == 1
    (told,) = lines(capsys)
    assert told.endswith("is the agent running at this address?")
    assert not (elsewhere / "tape.jsonl").exists()


def test_capture_does_not_write_over_a_file_unless_it_is_told_to(
    elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (elsewhere / "tape.jsonl").write_text("kept")
    capture = ["capture", f"http://127.0.0.1:{free_port()}", "q", "-o", "tape.jsonl"]
    assert main(capture) == 2
    (told,) = lines(capsys)
    assert told.endswith("tape.jsonl is there already: give another file, or --force to write over it")
    assert main([*capture, "--force"]) == 1, "it asks, and nobody is there"
    assert (elsewhere / "tape.jsonl").read_text() == "kept"


@pytest.mark.parametrize("content", [None, "", "{", '{"t": 1', "\x00\x01", "hello"])
def test_a_file_that_cannot_be_read_is_one_sentence_and_exit_2(
    content: str | None, elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        (elsewhere / "tape.jsonl").write_text(content)
    assert main(["replay", "tape.jsonl"]) == 2
    (told,) = lines(capsys)
    assert told.startswith("slack-bot replay: tape.jsonl")


@pytest.mark.parametrize(
    ("scenario", "told"),
    [
        (
            {"slack_faults": {"chat.update": ["oops:"]}},
            "s.json: in slack_faults.chat.update, 'oops:' is not a fault",
        ),
        ({"slack_faults": {"chat.updat": ["cut"]}}, "s.json: in slack_faults, 'chat.updat' is not a method"),
        ({"slack_faultz": {}}, "s.json: 'slack_faultz' is not a key of a scenario"),
    ],
)
def test_a_scenario_that_makes_no_sense_is_one_sentence_and_exit_2(
    scenario: object, told: str, elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (elsewhere / "stream.json").write_text(json.dumps(STREAM))
    (elsewhere / "s.json").write_text(json.dumps(scenario))
    assert main(["replay", "stream.json", "--scenario", "s.json"]) == 2
    (line,) = lines(capsys)
    assert line.startswith(f"slack-bot replay: {told}")


@pytest.mark.parametrize("verb", ["replay", "explain", "trace"])
def test_a_wrong_setting_of_a_scenario_names_the_file(
    verb: str, elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (elsewhere / "stream.json").write_text(json.dumps(STREAM))
    (elsewhere / "odd.json").write_text(json.dumps({"settings": {"rotate_aftr": 3, "idle_timeout": -1}}))
    assert main([verb, "stream.json", "--scenario", "odd.json"]) == 2
    assert lines(capsys) == [
        f"slack-bot {verb}: odd.json: rotate_aftr is not a setting; did you mean rotate_after?"
    ]
    (elsewhere / "odd.json").write_text(json.dumps({"settings": {"idle_timeout": -1, "rotate_after": "x"}}))
    assert main([verb, "stream.json", "--scenario", "odd.json"]) == 2
    errors = lines(capsys)
    assert len(errors) == 2
    assert all(error.startswith(f"slack-bot {verb}: odd.json: ") for error in errors)
