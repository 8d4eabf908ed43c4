"""`slack-bot keys`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slack_bot.cli import main
from tests.people_keys import identity_settings


def test_it_prints_the_public_keys_and_nothing_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SLACK_BOT_IDENTITY__KEYS", ",".join(identity_settings(tmp_path, keys=2).keys))
    assert main(["keys"]) == 0
    keys = json.loads(capsys.readouterr().out)["keys"]
    assert [sorted(each) for each in keys] == [["alg", "crv", "kid", "kty", "use", "x", "y"]] * 2


def test_without_a_key_it_says_what_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["keys"]) != 0
    assert "SLACK_BOT_IDENTITY__KEYS is not set" in capsys.readouterr().err
