"""`slack-bot manifest`, as an operator types it."""

import json
from pathlib import Path

import pytest

from slack_bot.cli import main
from slack_bot.manifest import PERMISSIONS, install_link, manifest_of, wanted


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def test_it_is_printed_as_slack_takes_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["manifest"]) == 0
    assert json.loads(capsys.readouterr().out) == manifest_of(wanted())
    assert main(["manifest", "--name", "helpdesk", "--http", "https://bot.example.com"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == manifest_of(wanted(), name="helpdesk", public_url="https://bot.example.com")


def test_it_fits_the_file_of_the_channels(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "slack_bot.toml"
    file.write_text('[channel]\nrespond = "mention"\ncontext = "none"\n', "utf-8")
    monkeypatch.setenv("SLACK_BOT_CONFIG", str(file))
    assert main(["manifest"]) == 0
    assert "channels:history" not in capsys.readouterr().out
    file.write_text(file.read_text("utf-8") + '[channels.C0123456789]\nrespond = "auto"\n', "utf-8")
    assert main(["manifest"]) == 0
    assert "channels:history" in capsys.readouterr().out


def test_several_agents_ask_for_names_of_their_own(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (file := tmp_path / "slack_bot.toml").write_text('[agents.ops]\nurl = "https://ops.example/"\n', "utf-8")
    monkeypatch.setenv("SLACK_BOT_CONFIG", str(file))
    assert main(["manifest"]) == 0
    scopes = json.loads(capsys.readouterr().out)["oauth_config"]["scopes"]
    assert "chat:write.customize" in scopes["bot_optional"]
    assert main(["manifest", "--why"]) == 0
    assert "chat:write.customize" in capsys.readouterr().out


def test_each_scope_stands_in_the_table_with_its_events(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["manifest", "--why"]) == 0
    printed = capsys.readouterr().out
    for each in wanted():
        assert each.scope in printed and all(event in printed for event in each.events)
    assert {each.scope for each in PERMISSIONS} - {each.scope for each in wanted()} == {
        "users:read.email",
        "chat:write.customize",
        "reactions:read",
    }


def test_the_link_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["manifest", "--link"]) == 0
    assert capsys.readouterr().out == install_link(manifest_of(wanted())) + "\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ("--name", "our bot"),
            "--name is 'our bot'; give at most 35 letters, digits, '-', '_' or '.': the bot's mention is made"
            " of it",
        ),
        (("--name", "x" * 36), "give at most 35 letters"),
        (
            ("--http", "http://bot.example.com"),
            "--http is 'http://bot.example.com'; give the https address at which Slack reaches the bot",
        ),
        (("--http", "https:///slack"), "give the https address"),
        (("--http", "https://["), "give the https address"),
    ],
)
def test_what_slack_would_refuse_is_one_sentence(
    words: tuple[str, ...], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["manifest", *words]) == 2
    told = capsys.readouterr()
    assert sentence in told.err and told.out == ""
