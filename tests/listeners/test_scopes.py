"""What the bot needs of Slack, and what is said where that is not granted."""

from __future__ import annotations

import json
from pathlib import Path

from slack_bot.listeners.scopes import NEEDED, missing

MANIFEST = Path(__file__).parents[2] / "docs" / "slack-app-manifest.json"


def test_the_manifest_asks_for_all_that_is_needed() -> None:
    asked = set(json.loads(MANIFEST.read_text("utf-8"))["oauth_config"]["scopes"]["bot"])
    assert set(NEEDED) <= asked
    assert asked - set(NEEDED) == {"im:read"}  # nothing is lost without it
    assert list(missing(asked)) == []


def test_each_scope_that_is_missing_is_one_sentence_with_what_is_lost_and_the_remedy() -> None:
    (sentence,) = missing(set(NEEDED) - {"channels:history"})
    assert sentence == (
        "the Slack app lacks the scope channels:history: replies in public channels do not reach the bot, and"
        " what became of a call without an answer cannot be looked up there; add it under OAuth & Permissions"
        " in your Slack app settings and install the app again"
    )
    assert len(list(missing(()))) == len(NEEDED)
