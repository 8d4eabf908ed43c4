"""Under which name and picture an answer stands, and what is done where Slack does not show them."""

from __future__ import annotations

import pytest

from slack_bot.slack.look import Look, look_args, may_show


def test_an_emoji_counts_before_an_address_and_what_is_not_there_is_not_sent() -> None:
    assert Look("Research", ":mag:", "https://a.example/x.png").args == {
        "username": "Research",
        "icon_emoji": ":mag:",
    }
    assert Look("Ops", icon_url="https://a.example/x.png").args["icon_url"] == "https://a.example/x.png"
    assert Look("Ops").args == {"username": "Ops"}


def test_only_methods_that_show_a_name_get_it() -> None:
    look = Look("Research")
    for method in ("chat.postMessage", "chat.startStream", "assistant.threads.setStatus"):
        assert look_args(method, look) == {"username": "Research"}
    for method in ("chat.appendStream", "chat.update", "chat.stopStream", "reactions.add"):
        assert look_args(method, look) == {}
    assert look_args("chat.postMessage", None) == {}


@pytest.mark.parametrize(
    ("picture", "may"),
    [
        ("https://agent.example/icon.png", True),
        ("http://agent.example/icon.png", False),
        ("https://user@agent.example/icon.png", False),
        ("https://127.0.0.1/icon.png", False),
        ("https://localhost/icon.png", False),
        ("https://2130706433/icon.png", False),
        ("data:image/png;base64,AAAA", False),
        ("", False),
    ],
)
def test_slack_is_sent_only_pictures_of_the_web(picture: str, may: bool) -> None:
    assert may_show(picture) is may
