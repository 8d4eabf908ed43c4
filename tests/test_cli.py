"""The verbs: their help, their errors, their exit status."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from slack_bot import __version__
from slack_bot.cli import EXIT_SIGPIPE, command_line, main, run_guarded
from slack_bot.testing.harness import free_port
from tests.loaded_program import loaded_program
from tests.signing_keys import KeyPair

VERBS = [
    "play",
    "run",
    "say",
    "schedules",
    "api-key",
    "keys",
    "replay",
    "explain",
    "capture",
    "scrub",
    "trace",
    "compare",
    "conform",
    "rules",
    "store",
    "config",
    "manifest",
    "doctor",
    "workspace",
    "completion",
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
    is_option = words[words.index(next(filter(lambda word: not word.strip(), words))) - 1].startswith("-")
    end_of_line = ", or leave the option out\n" if is_option else "\n"
    assert capsys.readouterr().err.endswith(f"it is empty; give a value{end_of_line}")


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
    assert re.findall(r"^(\S.*):$", said, re.MULTILINE)[-4:] == [
        "try it",
        "run it",
        "look at an answer",
        "check an agent, or Slack",
    ]
    assert f"slack-bot {__version__}" in said


def test_the_files_of_channels_and_keys_are_checked_without_slack(
    elsewhere: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = elsewhere / "slack_bot.toml"
    for text, told in (
        ('[channel]\nbusy = "collect"\n[channels.C1]\nguests = "deny"\n', "[channel], [channels.C1]"),
        ("", "it changes nothing"),
    ):
        file.write_text(text, encoding="utf-8")
        assert main(["config", "check", "slack_bot.toml"]) == 0
        assert capsys.readouterr().out == f"slack_bot.toml is right: {told}\n"
    file.write_text('[channel]\nbusy = "colect"\npeople = "U1"\n', encoding="utf-8")
    assert main(["config", "check", "slack_bot.toml"]) == 2
    assert lines(capsys) == [
        "slack-bot config: slack_bot.toml: channel.people is 'U1': should be a list: write people = [\"U1\"]",
        "slack-bot config: slack_bot.toml: channel.busy is 'colect': should be queue, collect or interrupt;"
        " did you mean 'collect'?",
    ]
    file.write_text("", encoding="utf-8")
    monkeypatch.setenv("SLACK_BOT_AGENT__CARD_KEYS", "keys.json")
    assert main(["config", "check", "slack_bot.toml"]) == 2
    (told,) = lines(capsys)
    assert told.startswith("slack-bot config: keys.json cannot be read (No such file or directory); correct ")
    (elsewhere / "keys.json").write_text(json.dumps({"keys": []}))
    assert main(["config", "check", "slack_bot.toml"]) == 2
    (told,) = lines(capsys)
    assert "keys.json holds no public key as PEM or JWKS; correct SLACK_BOT_AGENT__CARD_KEYS" in told
    (elsewhere / "keys.json").write_text(json.dumps(KeyPair().public))
    assert main(["config", "check", "slack_bot.toml"]) == 0
    assert "keys.json is right: it holds public keys for the agent's card" in capsys.readouterr().out
    assert main(["config", "check", "nowhere.toml"]) == 2
    (told,) = lines(capsys)
    assert told == "slack-bot config: nowhere.toml: no such file; check the path"
    assert main(["config", "check", "slack_bto.toml"]) == 2
    assert lines(capsys) == ["slack-bot config: slack_bto.toml: no such file; did you mean slack_bot.toml?"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["dance"], "slack-bot: argument VERB: invalid choice: 'dance'"),
        (["repaly", "x"], "slack-bot: argument VERB: there is no 'repaly'; did you mean 'replay'?"),
        (["--x", "rnu"], "slack-bot: argument VERB: there is no 'rnu'; did you mean 'run'?"),
        (["store", "shwo"], "slack-bot store: argument WHAT: there is no 'shwo'; did you mean 'show'?"),
        (["conform", "--mode", "makrer"], "slack-bot conform: argument --mode: there is no 'makrer'"),
        (["replay"], "slack-bot replay: the following arguments are required: FILE"),
        (
            ["capture", "http://a", "q"],
            "slack-bot capture: the following arguments are required: -o/--output",
        ),
        (["scrub", "f"], "slack-bot scrub: the following arguments are required: -o/--output"),
        (
            ["run", "--nope"],
            "slack-bot run: unrecognized arguments: --nope; slack-bot run -h shows the options",
        ),
        (
            ["say", "--channel", "C1", "hi", "there"],
            "slack-bot say: unrecognized arguments: there; write a text of several words in quotes",
        ),
        (["run", "there"], "slack-bot run: unrecognized arguments: there; leave them out"),
        (["--verson"], "slack-bot: there is no --verson; did you mean --version?"),
        (
            ["store", "export", "--user", "maya"],
            "slack-bot store export: argument --user: 'maya' is no id; give the person's (U...), as",
        ),
        (["say", "--chanel", "C1", "hi"], "slack-bot say: there is no --chanel; did you mean --channel?"),
        (["store", "erase", "--usr=U1"], "slack-bot store erase: there is no --usr; did you mean --user?"),
        (["say", "--chan", "C1", "--usr", "U1", "hi"], "slack-bot say: there is no --usr; did you mean"),
        (["--nope"], "slack-bot: the following arguments are required: VERB"),
        (["play", "--port", "x"], "slack-bot play: argument --port: 'x' is no whole number"),
        (["play", "--pace", "x"], "slack-bot play: argument --pace: 'x' is no number"),
        (
            ["manifest", "--name"],
            "slack-bot manifest: argument --name: its value is missing; write it behind the option",
        ),
        (
            ["config"],
            "slack-bot config: the following arguments are required: WHAT; give one of check",
        ),
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
    assert told[-1].startswith("slack-bot scrub: unrecognized arguments: --nope; slack-bot scrub -h")


def test_run_has_one_option() -> None:
    parser = command_line()
    assert parser.parse_args(["run", "--http"]).http
    assert set(re.findall(r"^    ([\w-]+) ", parser.format_help(), re.MULTILINE)) == {*VERBS, "agent"}


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


def run_process(
    *words: str, where: Path, command: tuple[str, ...] = (), **env: str
) -> subprocess.CompletedProcess[str]:
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
        [*(command or (*loaded_program(), "run")), *words],
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
        env |= {"SLACK_SIGNING_SECRET": "hunter2", "SLACK_BOT_STORE__LOCK_WAIT": "0"}
        ran = run_process("--http", where=elsewhere, **env)
    assert ran.returncode == 1  # it may become free
    assert len(ran.stderr.splitlines()) == 1, ran.stderr
    assert ran.stderr.startswith(f"slack-bot run: Port {port} cannot be used (")
    assert "; end the process that has it, or set SLACK_BOT_SLACK__HTTP_PORT to another." in ran.stderr


def test_a_run_that_cannot_reach_slack_is_one_sentence_and_exit_1(elsewhere: Path) -> None:
    ran = run_process(where=elsewhere)
    assert ran.returncode == 1
    assert len(ran.stderr.splitlines()) == 1, ran.stderr
    assert ran.stderr.startswith("slack-bot run: Slack cannot be reached at http://127.0.0.1:")
    assert "hunter2" not in ran.stderr


def test_a_run_looks_for_garbage_seldom_and_not_among_what_it_loaded(elsewhere: Path) -> None:
    run = "from slack_bot.cli import main; main(['run']); import gc"
    look = f"{run}; print(gc.get_threshold()[0], gc.get_freeze_count())"
    threshold, loaded = run_process(where=elsewhere, command=(sys.executable, "-c", look)).stdout.split()
    assert int(threshold) >= 10_000
    assert int(loaded) > 50_000


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


def test_an_interrupt_before_the_verb_begins_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("slack_bot.cli.command_line", interrupted)
    assert main(["manifest"]) == 130


# -- output that cannot be written ------------------------------------------------------------------------

ROOT = Path(__file__).parent.parent
TAPE = str(ROOT / "docs" / "tapes" / "caipe-0.3.0-simple.jsonl")
WRITERS = [
    ["replay", TAPE],
    ["trace", TAPE, "--all"],
    ["conform", "--only", "simple-chat"],
]


def started(words: list[str], **streams: object) -> subprocess.CompletedProcess[bytes]:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    command = [*loaded_program(), *words]
    return subprocess.run(command, env=environment, check=False, timeout=60, **streams)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize("words", WRITERS[1:], ids=lambda words: words[0])
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


def test_a_full_disk_is_one_sentence() -> None:
    words = WRITERS[0]
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
