"""`slack-bot api-key`."""

from __future__ import annotations

import pytest

from slack_bot.cli import main
from slack_bot.features.api.keys import hash_of


def test_the_key_is_shown_once_and_its_hash_is_for_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["api-key", "ci"]) == 0
    told = capsys.readouterr()
    key = told.out.strip()
    assert key.startswith("sbk_") and "[keys.ci]" in told.err
    assert hash_of(key) in told.err and key not in told.err
