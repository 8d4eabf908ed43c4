"""Messages of a thread, read from Slack's JSON: who wrote them, and all their words, once."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from slack_bot.slack.thread_messages import thread_message
from slack_bot.turn.people import Organisation, PersonKind
from slack_bot.turn.quotes import ThreadMessage

OWN = {"bot_user_id": "U0BOT", "bot_id": "B0BOT"}
OURS = Organisation("T1", "E1")


def read(**message: Any) -> ThreadMessage | None:
    whole = {"type": "message", "ts": "100.000001", "user": "U1", "team": "T1", "text": "hi", **message}
    return thread_message({name: value for name, value in whole.items() if value is not None}, OWN, OURS)


def words(**message: Any) -> str:
    found = read(**message)
    assert found is not None
    return found.text


def kind(**message: Any) -> PersonKind:
    found = read(**message)
    assert found is not None
    return found.kind


def test_what_a_person_says_is_kept_as_slack_has_it() -> None:
    assert read(text="ask <@U2> &amp; go") == ThreadMessage(
        "100.000001", "U1", PersonKind.MEMBER, "ask <@U2> &amp; go"
    )


@pytest.mark.parametrize(
    "message",
    [
        {"subtype": "channel_join"},
        {"subtype": "message_deleted", "hidden": True},
        {"hidden": True},
        {"is_ephemeral": True},
        {"user": None},
        {"ts": None},
        {"ts": "no time"},
    ],
)
def test_what_nobody_said_is_no_message(message: dict[str, Any]) -> None:
    assert read(**message) is None


def test_files_are_named() -> None:
    files = [{"name": "log.txt"}, {"title": "A picture"}, {}, "no file"]
    found = read(files=files, subtype="file_share")
    assert found is not None
    assert found.files == ("log.txt", "A picture")


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({}, PersonKind.MEMBER),
        ({"team": None}, PersonKind.MEMBER),
        ({"team": "T9"}, PersonKind.EXTERNAL),
        ({"team": None, "user_team": "T9", "source_team": "T9"}, PersonKind.EXTERNAL),
        ({"team": "T2", "user_team": "E1"}, PersonKind.MEMBER),
        ({"user_profile": {"is_restricted": True}}, PersonKind.GUEST),
        ({"user_profile": {"is_ultra_restricted": True}}, PersonKind.GUEST),
        ({"bot_id": "B1"}, PersonKind.BOT),
        ({"bot_profile": {"name": "Pager"}}, PersonKind.BOT),
        ({"user": "USLACKBOT"}, PersonKind.BOT),
    ],
)
def test_the_kind_of_the_author_is_what_the_message_says(
    message: dict[str, Any], expected: PersonKind
) -> None:
    assert kind(**message) is expected


def test_an_outsider_s_message_that_names_our_workspace_too_is_an_outsider_s() -> None:
    """Slack gives the channel's workspace as `team` and the author's as `user_team`."""
    assert kind(team="T1", user_team="T9", source_team="T9") is PersonKind.EXTERNAL


def test_a_bot_has_a_name_and_the_bot_itself_is_known_by_either_id() -> None:
    found = read(user=None, bot_id="B1", username="Pager")
    assert found is not None
    assert (found.author, found.name, found.is_own) == ("B1", "Pager", False)
    for own in ({"user": "U0BOT"}, {"user": None, "bot_id": "B0BOT"}):
        found = read(**own)
        assert found is not None
        assert found.is_own


# -- words


def rich(text: str) -> dict[str, Any]:
    section = {"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}
    return {"type": "rich_text", "elements": [section]}


def test_a_person_s_blocks_say_what_the_text_says() -> None:
    assert words(text="*hi* there", blocks=[rich("hi there")]) == "*hi* there"


def test_an_alert_may_say_everything_in_attachments() -> None:
    attachment = {
        "fallback": "not shown",
        "pretext": "Alert",
        "title": "Disk full",
        "text": "db1 has 0 bytes",
        "fields": [{"title": "Host", "value": "db1"}, {"value": "now"}],
    }
    said = words(text="", bot_id="B1", attachments=[attachment])
    assert said == "Alert\nDisk full\ndb1 has 0 bytes\nHost: db1\nnow"


def test_an_attachment_that_shows_nothing_has_its_fallback() -> None:
    assert words(text="", bot_id="B1", attachments=[{"fallback": "Disk full"}]) == "Disk full"


def test_an_alert_may_say_everything_in_blocks() -> None:
    blocks = [
        {"type": "header", "text": {"type": "plain_text", "text": "Disk full"}},
        {"type": "section", "text": {"text": "on db1"}, "fields": [{"text": "since"}, {"text": "noon"}]},
        {"type": "context", "elements": [{"type": "mrkdwn", "text": "by Pager"}, {"type": "image"}]},
        {"type": "actions", "elements": [{"type": "button", "text": {"text": "Mute"}}]},
        {"type": "markdown", "text": "**soon**"},
        {"type": "table", "rows": [[{"type": "raw_text", "text": "a"}, rich("b")]]},
        rich("and last"),
        "no block",
    ]
    said = words(text="", bot_id="B1", attachments=[{"blocks": blocks}])
    assert said == "Disk full\non db1\nsince\nnoon\nby Pager\n**soon**\na | b\nand last"


def test_what_a_bot_says_twice_is_quoted_once() -> None:
    blocks = [{"type": "section", "text": {"text": "*Disk full*"}}]
    attachments = [{"text": "Disk full"}, {"text": "and more"}]
    assert (
        words(text="Disk full", bot_id="B1", blocks=blocks, attachments=attachments) == "Disk full\nand more"
    )


def test_of_the_bot_s_own_answers_the_cards_are_left_out() -> None:
    blocks = [{"type": "task_card", "title": "Search"}, rich("The answer.")]
    assert words(user="U0BOT", bot_id="B0BOT", text="Search\nThe answer.", blocks=blocks) == "The answer."
    assert words(user="U0BOT", bot_id="B0BOT", text="A note.") == "A note."


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["type", "text", "elements", "fields", "blocks", "title", "value", "rows", "name"]
    ), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
FIELDS = ["ts", "user", "bot_id", "subtype", "text", "blocks", "attachments", "files", "bot_profile", "team"]


@example({"blocks": [{"fields": True}, {"type": "table", "rows": 5}, {"type": "table", "rows": [5, [True]]}]})
@given(st.dictionaries(st.sampled_from([*FIELDS, "user_profile", "username"]), JSON))
def test_no_json_makes_it_raise(message: dict[str, Any]) -> None:
    found = thread_message({"ts": "1.0", "user": "U1", **message}, OWN, OURS)
    assert found is None or isinstance(found.text, str)
