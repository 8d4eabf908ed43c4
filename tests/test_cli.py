"""The verbs: their help, their errors, their exit status."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from slack_bot import __version__
from slack_bot.cli import EXIT_SIGPIPE, main, parser, run_guarded
from slack_bot.testing.harness import free_port

VERBS = ["play", "run", "replay", "explain", "capture", "scrub", "trace", "compare", "conform"]
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


@pytest.mark.parametrize(
    "words",
    [
        ["conform", "--url", ""],
        ["conform", "--junit", " "],
        ["conform", "--only", ""],
        ["trace", "tape", "--svg", ""],
        ["replay", "tape", "--golden", ""],
        ["replay", ""],
        ["scrub", "tape", "-o", ""],
        ["capture", "http://a/", "", "-o", "x"],
    ],
)
def test_a_word_that_is_empty_is_no_word(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2
    assert "it is empty; give a value, or leave the option out" in capsys.readouterr().err


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_each_verb_shows_an_example(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([verb, "--help"])
    assert ended.value.code == 0
    assert "example:" in (said := capsys.readouterr().out)
    assert f"slack-bot {verb}" in said


def test_the_help_names_every_verb_and_the_version_is_the_package_s(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for option in ("--help", "--version"):
        with pytest.raises(SystemExit):
            main([option])
    said = capsys.readouterr().out
    assert all(verb in said for verb in VERBS)
    assert f"slack-bot {__version__}" in said


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["dance"], "slack-bot: argument VERB: invalid choice: 'dance'"),
        (["repaly", "x"], "slack-bot: there is no verb 'repaly'; did you mean 'replay'?"),
        (["replay"], "slack-bot replay: the following arguments are required: FILE"),
        (
            ["capture", "http://a", "q"],
            "slack-bot capture: the following arguments are required: -o/--output",
        ),
        (["scrub", "f"], "slack-bot scrub: the following arguments are required: -o/--output"),
        (["run", "--nope"], "slack-bot run: unrecognized arguments: --nope"),
        (["--nope"], "slack-bot: the following arguments are required: VERB"),
        (["play", "--port", "x"], "slack-bot play: argument --port: invalid int value: 'x'"),
    ],
)
def test_wrong_usage_is_exit_2(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    usage, *_, error = capsys.readouterr().err.splitlines()
    assert usage.startswith("usage: slack-bot")
    assert error.startswith(told)


def test_without_a_verb_all_verbs_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2
    told = lines(capsys)
    assert told[0].startswith("usage: slack-bot ")
    assert [verb for verb in VERBS if not any(line.split()[:1] == [verb] for line in told)] == []
    assert told[-1] == "slack-bot: a verb is missing; give one of these"


def test_a_flag_that_a_verb_does_not_know_shows_the_usage_of_that_verb(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["scrub", "a", "-o", "b", "--nope"])
    told = lines(capsys)
    assert told[0].startswith("usage: slack-bot scrub ")
    assert told[-1] == "slack-bot scrub: unrecognized arguments: --nope"


def test_what_the_verbs_are_given() -> None:
    played = parser().parse_args(["play"])
    assert (played.host, played.port, played.pace) == ("127.0.0.1", 8765, None)
    replayed = parser().parse_args(["replay", "a", "b", "--json", "--scenario", "s", "--key", "k"])
    assert (replayed.files, replayed.json, replayed.scenario, replayed.key) == (["a", "b"], True, "s", "k")
    assert parser().parse_args(["run", "--http"]).http
    captured = parser().parse_args(["capture", "http://a", "q", "-o", "f", "--then", "x", "--then", "y"])
    assert (captured.url, captured.text, captured.output, captured.then) == ("http://a", "q", "f", ["x", "y"])
    assert (captured.no_stream, captured.sse, captured.cut_after, captured.poll) == (
        False,
        False,
        None,
        False,
    )
    traced = parser().parse_args(["trace", "a", "b", "--html", "h", "--svg", "s"])
    assert (traced.targets, traced.html, traced.svg, traced.all) == (["a", "b"], "h", "s", False)
    compared = parser().parse_args(["compare", "a", "b", "-o", "c"])
    assert (compared.one, compared.two, compared.text, compared.output) == ("a", "b", None, "c")
    conformed = parser().parse_args(["conform", "--url", "u", "--report", "--repeat", "3", "-v"])
    assert (conformed.url, conformed.suite, conformed.report) == ("u", "caipe", "")
    assert (conformed.repeat, conformed.verbose, conformed.mode) == (3, True, None)
    scrubbed = parser().parse_args(["scrub", "a", "-o", "b"])
    assert (scrubbed.file, scrubbed.output, scrubbed.key) == ("a", "b", None)


def test_a_run_without_settings_says_what_is_missing(
    elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run"]) == 2
    told = lines(capsys)
    assert [line.split()[2] for line in told] == ["SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "A2A_AGENT_URL"]
    assert all(line.startswith("slack-bot run: ") for line in told)


def test_a_run_with_a_wrong_setting_says_which(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SLACK_BOT_STREAM__FLUSH_INTERVALL", "1")
    assert main(["run"]) == 2
    told = lines(capsys)
    assert told[0] == (
        "slack-bot run: SLACK_BOT_STREAM__FLUSH_INTERVALL is not a setting;"
        " did you mean SLACK_BOT_STREAM__FLUSH_INTERVAL?"
    )
    assert [line.split()[2] for line in told[1:]] == ["SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "A2A_AGENT_URL"]


def test_a_run_with_a_broken_env_file_names_its_line_and_nothing_that_may_stand_there(
    elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (elsewhere / ".env").write_text("SLACK_BOT_TOKEN='xoxb-hunter2\n")
    assert main(["run"]) == 2
    assert lines(capsys) == [
        "slack-bot run: .env, line 1 cannot be read: write NAME=value, and close every quote"
    ]


def run_process(*words: str, where: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """`slack-bot run` in a process of its own; nobody answers where Slack and the agent should be."""
    known = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(Path(__file__).parents[1]),
        "SLACK_BOT_TOKEN": "xoxb-hunter2",
        "SLACK_APP_TOKEN": "xapp-hunter2",
        "A2A_AGENT_URL": "http://127.0.0.1:1",
        "SLACK_API_URL": f"http://127.0.0.1:{free_port()}/api/",
    }
    return subprocess.run(
        [sys.executable, "-m", "slack_bot", "run", *words],
        cwd=where,
        env={**known, **env},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def test_a_run_whose_port_is_taken_says_so_before_it_asks_slack(elsewhere: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        env = {"SLACK_BOT_SLACK__HTTP_HOST": "127.0.0.1", "SLACK_BOT_SLACK__HTTP_PORT": port}
        ran = run_process("--http", where=elsewhere, SLACK_SIGNING_SECRET="hunter2", **env)
    assert ran.returncode == 2
    assert len(ran.stderr.splitlines()) == 1, ran.stderr
    assert ran.stderr.startswith(f"slack-bot run: Port {port} cannot be used (")
    assert "set SLACK_BOT_SLACK__HTTP_PORT to another" in ran.stderr


def test_a_run_that_cannot_reach_slack_is_one_sentence_and_exit_1(elsewhere: Path) -> None:
    ran = run_process(where=elsewhere)
    assert ran.returncode == 1
    assert len(ran.stderr.splitlines()) == 1, ran.stderr
    assert ran.stderr.startswith("slack-bot run: Slack cannot be reached at http://127.0.0.1:")
    assert "hunter2" not in ran.stderr


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


def test_help_is_quick_because_nothing_heavy_is_loaded() -> None:
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "slack_bot", "--help"],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
        cwd=Path(__file__).parents[1],
    )
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in ran.stderr.splitlines()}
    assert not loaded & {"slack_sdk", "slack_bolt", "httpx", "aiohttp", "pydantic", "a2a", "aiosqlite"}


def test_a_verb_that_is_interrupted_ends_as_a_shell_expects(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(args: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("slack_bot.tools.replay.replay.main", interrupted)
    assert main(["replay", "x"]) == 130


def test_play_on_a_port_that_is_taken_is_one_sentence_and_exit_1(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert main(["play", "--port", str(taken.getsockname()[1])]) == 1
    (told,) = lines(capsys)
    assert told.startswith("slack-bot play: Port ")
    assert "--port" in told


def test_play_without_its_extra_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.startswith("slack_bot.playground.server")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("slack_bot.playground.server", raising=False)

    class Missing:
        def find_spec(self, name: str, path: object = None, target: object = None) -> None:
            if name == "slack_bot.playground.server":
                raise ModuleNotFoundError("No module named 'a2a'", name="a2a.server")

    monkeypatch.setattr(sys, "meta_path", [Missing(), *sys.meta_path])
    assert main(["play"]) == 1
    (told,) = lines(capsys)
    assert "pip install --require-hashes -r deploy/play.txt" in told


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


# -- output that cannot be written ------------------------------------------------------------------------

ROOT = Path(__file__).parent.parent
TAPE = str(ROOT / "docs" / "tapes" / "caipe-0.3.0-simple.jsonl")
WRITERS = [
    ["replay", TAPE],
    ["replay", TAPE, "--json"],
    ["trace", TAPE, "--all"],
    ["conform", "--only", "simple-chat"],
]


def started(words: list[str], **streams: object) -> subprocess.CompletedProcess[bytes]:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "slack_bot", *words]
    return subprocess.run(command, env=environment, check=False, timeout=60, **streams)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize("words", WRITERS[1:4], ids=lambda words: words[0])
def test_a_reader_who_leaves_is_no_error(words: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        done = started(words, stdout=write, stderr=subprocess.PIPE)
    finally:
        os.close(write)
    assert b"Error" not in done.stderr and b"Traceback" not in done.stderr
    assert done.returncode == EXIT_SIGPIPE


def test_a_picture_is_drawn_though_nobody_reads_the_table(tmp_path: Path) -> None:
    picture = tmp_path / "x.svg"
    with Path("/dev/full").open("wb") as full:
        done = started(["trace", TAPE, "--svg", str(picture)], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert picture.read_text().endswith("</svg>\n")


@pytest.mark.parametrize("words", [WRITERS[0], WRITERS[2]], ids=lambda words: words[0])
def test_a_full_disk_is_one_sentence(words: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = started(words, stdout=full, stderr=subprocess.PIPE)
    said = "the output cannot be written: No space left on device; send it somewhere else"
    assert done.stderr.decode() == f"slack-bot {words[0]}: {said}\n"
    assert done.returncode == 1


def test_nowhere_to_write_is_no_reason_to_break() -> None:
    command = f"exec {sys.executable} -m slack_bot replay {TAPE} >&- 2>&-"
    assert subprocess.run(["sh", "-c", command], cwd=ROOT, check=False, timeout=60).returncode == 0


def test_what_a_verb_returns_and_raises_is_passed_on() -> None:
    assert run_guarded(lambda: 3) == 3

    def broken() -> int:
        raise FileNotFoundError(2, "No such file", "x")

    with pytest.raises(FileNotFoundError):
        run_guarded(broken)
