"""The port of the HTTP API."""

from slack_bot.settings.api import ApiSettings


def test_it_is_apart_from_the_others() -> None:
    assert ApiSettings().port not in (3000, 3001, 3002)
