"""Which payloads are questions, which are not, and that none can do harm."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.inbound.read import (
    Asker,
    BotIdentity,
    ChannelMessage,
    Ignored,
    Inbound,
    MessageChanged,
    StopRequest,
    StreamStarted,
    ThreadReply,
    read_message,
    read_press,
    read_reacted,
    read_reaction,
    read_stop,
    without_mention,
)
from slack_bot.text.mrkdwn import to_text
from slack_bot.turn.people import Organisation
from slack_bot.turn.record import Question, ThreadKey

from .payloads import ME, direct, event, mention


def reading(body: object, me: BotIdentity = ME) -> Inbound:
    return read_message(body, me).reading


def sender(body: object) -> Asker:
    return read_message(body, ME).asker


def asked(body: object, me: BotIdentity = ME) -> Question:
    question = reading(body, me)
    assert isinstance(question, Question), question
    return question


def ignored(body: object) -> str:
    judged = reading(body, ME)
    assert isinstance(judged, Ignored), judged
    return judged.reason


# -- the bot's own streams


def own_stream(**changes: Any) -> dict[str, Any]:
    """The event of a stream that started."""
    fields = {
        "bot_id": "B0BOT",
        "text": "",
        "thread_ts": "1600000000.000001",
        "streaming_state": "in_progress",
    }
    return event(**{"user": None, **fields, **changes})


def test_slack_tells_of_the_bots_own_stream() -> None:
    thread = ThreadKey("T1", "C1", "1600000000.000001")
    for author in ({}, {"user": "U0BOT"}, {"user": "U0BOT", "bot_id": None}):
        assert reading(own_stream(**author), ME) == StreamStarted(thread, "1700000000.000100")


def test_what_is_not_the_begin_of_a_stream_of_the_bots_is_ignored() -> None:
    for change in (
        {"bot_id": "B0OTHER"},
        {"streaming_state": "completed"},
        {"streaming_state": None},
        {"subtype": "message_changed"},
        {"thread_ts": None},
        {"thread_ts": "nan"},
        {"ts": "1e9"},
        {"ts": "1700000000.000100\n"},
        {"ts": 17},
        {"channel": None},
    ):
        assert isinstance(reading(own_stream(**change), ME), Ignored), change
    assert isinstance(reading(own_stream(), BotIdentity("U0BOT", "")), Ignored)


# -- what is asked


def test_a_mention_is_a_question() -> None:
    assert asked(mention()) == Question(
        thread=ThreadKey("T1", "C1", "1700000000.000100"),
        ts="1700000000.000100",
        user="U1",
        user_team="T1",
        text="what is agntcy",
    )


def test_a_reply_belongs_to_its_root_s_thread() -> None:
    assert asked(mention(thread_ts="1600000000.000001")).thread.ts == "1600000000.000001"


def test_the_twins_of_one_mention_are_one_question() -> None:
    assert asked(mention()).key == asked(event()).key


def test_a_mention_with_a_file_may_come_as_message_only() -> None:
    assert asked(event(subtype="file_share", files=[{"id": "F1"}])).text == "what is agntcy"


def test_a_mention_without_a_word_is_an_empty_question() -> None:
    assert asked(mention(text="<@U0BOT> ")).text == ""


def test_a_root_direct_message_comes_without_thread_ts() -> None:
    question = asked(direct())
    assert (question.text, question.thread.ts) == ("hello", question.ts)


def test_a_channel_named_d_is_direct_even_where_the_kind_is_not_said() -> None:
    assert asked(direct(channel_type=None)).text == "hello"


@pytest.mark.parametrize("subtype", ["assistant_app_thread", "thread_broadcast", "file_share"])
def test_people_speak_in_these_subtypes_too(subtype: str) -> None:
    assert asked(direct(subtype=subtype)).text == "hello"


@pytest.mark.parametrize("kind", ["channel", "group", "mpim"])
def test_a_message_that_names_the_bot_is_for_it_in_every_kind_of_channel(kind: str) -> None:
    assert asked(event(channel_type=kind)).text == "what is agntcy"


def test_another_bot_may_mention_the_bot() -> None:
    question = asked(event(subtype="bot_message", user=None, bot_id="B7"))
    assert (question.user, question.asker_is_bot) == ("B7", True)


@pytest.mark.parametrize(
    "fields",
    [
        {"bot_id": "B7"},
        {"bot_profile": {"id": "B7", "app_id": "A7"}},
        {"user_profile": {"is_bot": True}},
        {"user": "USLACKBOT"},
        {"user": "B7"},
    ],
)
def test_apps_workflows_and_bot_users_count_as_bots(fields: dict[str, Any]) -> None:
    assert asked(mention(**fields)).asker_is_bot
    assert not asked(mention()).asker_is_bot
    assert not asked(mention(user_profile={"is_bot": False})).asker_is_bot


def test_a_bot_has_several_ids() -> None:
    assert sender(mention(bot_id="B7", app_id="A7")).ids == {"U1", "B7", "A7"}
    assert sender(None).ids == sender({"event": {"user": 7}}).ids == frozenset()


OURS = Organisation("T1", "E1")


@pytest.mark.parametrize(
    ("body", "is_ours"),
    [
        (mention(), True),
        (mention(user_team="T1", source_team="T1"), True),
        (mention(user_team="E1"), True),
        (mention(user_team="T2"), False),
        (mention(team="T2"), False),
        (mention(source_team="T2"), False),
        (mention(team="T2", user_team="E1"), False),  # of the same organisation: Slack is asked
        (mention(team="T2") | {"is_ext_shared_channel": False}, False),
        (mention(team=None), False),
        (mention(team=None, bot_profile={"team_id": "T1"}), True),
        (mention(bot_profile={"team_id": "T2"}), False),
        (mention(user_profile={"team": "T2"}), False),
        (mention(team=None) | {"is_ext_shared_channel": True}, False),
        (mention(team=None) | {"is_ext_shared_channel": "no"}, False),
        (mention(team=None) | {"is_ext_shared_channel": False}, True),
        (None, False),
    ],
)
def test_who_is_surely_of_our_organisation(body: object, *, is_ours: bool) -> None:
    assert sender(body).is_surely_of(OURS) == is_ours


@pytest.mark.parametrize(
    ("body", "is_ours"),
    [
        ({"user": {"id": "U1", "team_id": "T1"}, "team": {"id": "T2"}}, True),
        ({"user": {"id": "U1", "team_id": "T2"}, "team": {"id": "T1"}}, False),
        ({"user": {"id": "U1"}, "team": {"id": "T1"}}, False),
        ({"user": {"id": "U1"}, "is_ext_shared_channel": False}, True),
    ],
)
def test_who_pressed_is_known_by_their_id_and_team(body: object, *, is_ours: bool) -> None:
    press = read_press(body, ME)
    assert press is not None and press.user == press.by.user == "U1"
    assert press.by.is_surely_of(OURS) == is_ours


# -- whose team


@pytest.mark.parametrize(
    ("fields", "team"),
    [
        ({"user_team": "T9"}, "T9"),
        ({"source_team": "T8"}, "T8"),
        ({"user_team": "E1", "source_team": "T8"}, "T8"),
        ({"user_team": "E1", "team": "E1"}, "T1"),
        ({"team": None}, "T1"),
    ],
)
def test_the_asker_s_own_team_is_the_recipient_s(fields: dict[str, Any], team: str) -> None:
    assert asked(mention(**fields)).user_team == team


def test_the_thread_is_named_by_the_installed_workspace() -> None:
    body = mention(user_team="T9", team="T9") | {"team_id": "T9"}
    assert asked(body).thread.team == "T1"
    assert asked(body | {"authorizations": []}).thread.team == "T9"
    assert asked(body | {"authorizations": [{"team_id": None}], "team_id": None}).thread.team == "T9"


# -- what is not for the bot


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({}, "not a message"),
        (event("reaction_added"), "not a message"),
        (event(subtype="message_changed", hidden=True), "subtype message_changed"),
        (event(subtype="message_deleted"), "subtype message_deleted"),
        (event(subtype="channel_join"), "subtype channel_join"),
        (event(hidden=True), "hidden"),
        (mention(edited={"user": "U1", "ts": "2.0"}), "edit"),
        (event(user="U0BOT"), "own message"),
        (event(user=None, bot_id="B0BOT", subtype="bot_message"), "own message"),
        (event(bot_id="B0BOT", streaming_state="in_progress"), "own message"),
        (direct(bot_id="B7"), "another bot"),
        (event(user=None), "no channel, ts or author"),
        (mention(channel=None), "no channel, ts or author"),
        (mention(ts=7), "no channel, ts or author"),
    ],
)
def test_the_rest_is_ignored_with_its_reason(body: dict[str, Any], reason: str) -> None:
    assert reason in ignored(body)


def test_without_a_bot_id_nobody_is_taken_for_the_bot() -> None:
    assert asked(mention(bot_id=""), BotIdentity("U0BOT", "")).user == "U1"


def test_a_reply_without_mention_is_overheard() -> None:
    judged = reading(event(text="production", thread_ts="1600000000.000001"), ME)
    assert isinstance(judged, ThreadReply)
    assert (judged.question.text, judged.question.thread.ts) == ("production", "1600000000.000001")


def test_the_root_of_a_thread_said_again_is_not_a_reply() -> None:
    judged = reading(event(text="hello", thread_ts="1700000000.000100"), ME)
    assert isinstance(judged, ChannelMessage) and not judged.names_others


def test_a_message_outside_of_threads_is_told_apart_also_that_of_a_bot() -> None:
    for said in (event(text="hello all"), event(text="hello all", bot_id="B7")):
        assert isinstance(reading(said, ME), ChannelMessage)
    named = reading(event(text="<@U2> hello"), ME)
    assert isinstance(named, ChannelMessage) and named.names_others


# -- reactions


def reacted(**changes: Any) -> dict[str, Any]:
    item = {"type": "message", "channel": "C1", "ts": "1700000000.000100"}
    return event(
        "reaction_added", **{"reaction": "eyes", "item": item, "channel": None, "ts": None, **changes}
    )


def test_a_reaction_names_its_message_and_who_reacted() -> None:
    reaction = read_reaction(reacted(), ME)
    assert reaction is not None
    found = (reaction.team, reaction.channel, reaction.ts, reaction.emoji, reaction.user)
    assert found == ("T1", "C1", "1700000000.000100", "eyes", "U1")


@pytest.mark.parametrize(
    "body",
    [
        {},
        reacted(user="U0BOT"),
        reacted(user=None),
        reacted(reaction=None),
        reacted(item=None),
        reacted(item={"type": "file", "file": "F1"}),
        reacted(item={"type": "message", "channel": "C1", "ts": "soon"}),
        reacted(item={"type": "message", "ts": "1700000000.000100"}),
    ],
)
def test_reactions_of_the_bot_and_to_other_things_are_none(body: dict[str, Any]) -> None:
    assert read_reaction(body, ME) is None


def test_the_message_of_a_reaction_is_read_as_a_question_of_its_author() -> None:
    reaction = read_reaction(reacted(), ME)
    assert reaction is not None
    message = {"ts": "1700000000.000100", "thread_ts": "1600000000.000001", "user": "U5", "text": "hi"}
    question, author = read_reacted(reaction, {**message, "user_team": "T9", "files": [{"id": "F1"}]})
    assert question.thread == ThreadKey("T1", "C1", "1600000000.000001")
    assert (question.ts, question.user, question.text) == ("1700000000.000100", "U5", "hi")
    assert (author.user, author.teams) == ("U5", frozenset({"T9"}))


# -- stops


def test_a_stop_names_its_thread() -> None:
    body = event("agent_session_stopped", thread_ts="111.222", user="U2")
    stop = read_stop(body)
    assert stop == StopRequest(ThreadKey("T1", "C1", "111.222"), sender(body), "U2", frozenset())
    assert read_stop(event("agent_session_stopped")) is None


# -- whatever comes


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.sampled_from(["U0BOT", "message", "app_mention", "im"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
FIELDS = [
    "type", "subtype", "user", "bot_id", "text", "ts", "thread_ts", "channel", "channel_type", "team",
    "user_team", "source_team", "edited", "hidden",
]  # fmt: skip
bodies = st.fixed_dictionaries(
    {},
    optional={
        "event": values | st.dictionaries(st.sampled_from(FIELDS), values),
        "authorizations": values,
        "team_id": values,
        "user": values,
        "channel": values,
    },
)


@given(values | bodies)
def test_any_json_is_judged(body: object) -> None:
    assert isinstance(reading(body, ME), Question | ThreadReply | Ignored)
    assert isinstance(read_stop(body), StopRequest | None)


@given(st.sampled_from(FIELDS), values)
def test_any_value_in_any_field_of_a_mention_is_judged(field: str, value: object) -> None:
    body = mention()
    body["event"][field] = value
    assert isinstance(reading(body, ME), Question | ThreadReply | Ignored)


# -- markup -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("<@U0BOT> hello", "hello"),
        ("<@U0BOT|slack_bot> hello", "hello"),
        ("<@U0BOT>: hello", "hello"),
        ("  <@U0BOT>, <@U0BOT> hello", "hello"),
        ("hello <@U0BOT>", "hello"),
        ("ask <@U0BOT> about it", "ask about it"),
        ("first\n<@U0BOT> second", "first\n second"),
        ("<@U0BOT>", ""),
        ("<@U0BOTX> hello", "<@U0BOTX> hello"),
        ("<@U1> hello", "<@U1> hello"),
        ("  hello  ", "  hello  "),
    ],
)
def test_only_the_mention_of_that_user_goes(text: str, rest: str) -> None:
    assert without_mention(text, "U0BOT") == rest


def test_nobody_is_mentioned_by_no_name() -> None:
    assert without_mention("<@> hello", "") == "<@> hello"


PIECES = ["<@U0BOT>", "<@U0BOT|bot>", "<@U1>", "<", ">", "|", "&amp;", ":", " ", "\n", "word"]


@given(st.text() | st.lists(st.sampled_from(PIECES)).map("".join))
def test_any_text_can_be_read_and_only_the_mentions_go(text: str) -> None:
    said = to_text(without_mention(text, "U0BOT"))
    assert "<@U0BOT" not in said
    assert said.count("word") == text.count("word")


# -- edits and deletions


def changed(subtype: str = "message_changed", **more: Any) -> dict[str, Any]:
    before = {"type": "message", "user": "U1", "ts": "2.0", "thread_ts": "1.0", "text": "hi"}
    event = {
        "type": "message",
        "subtype": subtype,
        "hidden": True,
        "channel": "C1",
        "channel_type": "channel",
    }
    return {"team_id": "T1", "event": {**event, "ts": "9.0", "previous_message": before, **more}}


def test_an_edit_is_the_new_text_of_a_question() -> None:
    now = {"type": "message", "user": "U1", "ts": "2.0", "text": "<@U0BOT> so &amp; so"}
    thread = ThreadKey("T1", "C1", "1.0")
    expected = MessageChanged("T1:C1:2.0", thread, "U1", "so & so", is_mention=True)
    assert reading(changed(message=now), ME) == expected


@pytest.mark.parametrize(
    ("text", "channel", "is_mention"),
    [("<@U0BOT> so", "C1", True), ("so", "C1", False), ("so", "D1", True)],
)
def test_an_edit_says_whether_it_mentions_the_bot(text: str, channel: str, is_mention: bool) -> None:
    now = {"type": "message", "user": "U1", "ts": "2.0", "text": text}
    edit = reading(changed(message=now, channel=channel), ME)
    assert isinstance(edit, MessageChanged)
    assert edit.is_mention is is_mention


@pytest.mark.parametrize(
    ("text", "channel", "is_for_others"),
    [
        ("<@U2> so", "C1", True),
        ("so, <!here>", "C1", True),
        ("<@U2> <@U0BOT> so", "C1", False),
        ("<#C2> so", "C1", False),
        ("<@U2> so", "D1", False),
    ],
)
def test_an_edit_may_make_a_message_one_for_others(text: str, channel: str, is_for_others: bool) -> None:
    now = {"type": "message", "user": "U1", "ts": "2.0", "text": text}
    edit = reading(changed(message=now, channel=channel), ME)
    assert isinstance(edit, MessageChanged)
    assert edit.names_others is is_for_others


def test_a_deleted_message_has_no_text_also_where_a_tombstone_is_left() -> None:
    gone = MessageChanged("T1:C1:2.0", ThreadKey("T1", "C1", "1.0"), "U1", None)
    assert reading(changed("message_deleted", deleted_ts="2.0"), ME) == gone
    tombstone = {"type": "message", "subtype": "tombstone", "ts": "2.0", "text": "This message was deleted."}
    assert reading(changed(message=tombstone), ME) == gone


@pytest.mark.parametrize(
    "more",
    [
        {"previous_message": {"user": "U0BOT", "ts": "2.0"}},
        {"previous_message": {"user": "U1"}},
        {"previous_message": None},
        {"channel": None},
        {"previous_message": {"user": "U1", "ts": "2.0", "text": "x"}},  # a link was unfurled
    ],
)
def test_a_change_of_the_bot_s_own_message_or_of_no_text_is_ignored(more: dict[str, Any]) -> None:
    assert isinstance(reading(changed(message={"text": "x"}, **more), ME), Ignored)


@pytest.mark.parametrize(
    ("text", "names_others"),
    [("yes", False), ("<@U2> look", True), ("<!here>", True), ("<#C2|ops> <https://a.b>", False)],
)
def test_a_reply_says_whether_it_mentions_somebody_else(text: str, names_others: bool) -> None:
    event = {"type": "message", "channel": "C1", "user": "U1", "ts": "2.0", "thread_ts": "1.0", "text": text}
    read = reading({"team_id": "T1", "event": event}, ME)
    assert isinstance(read, ThreadReply) and read.names_others is names_others
