"""The settings of what is fetched from addresses that an agent named."""

from __future__ import annotations

from slack_bot.settings.load import load


def test_nothing_is_fetched_as_things_come() -> None:
    settings = load({}, None, None)
    assert settings.web.fetch_hosts == ()
    given = load({"SLACK_BOT_WEB__FETCH_HOSTS": "a.example, *.b.example"}, None, None)
    assert given.web.fetch_hosts == ("a.example", "*.b.example")
