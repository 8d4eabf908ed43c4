"""What the page is told: a snapshot, then changes that add up to the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

from slack_bot.observe.facts import (
    AgentEvent,
    EventHandled,
    MessageIgnored,
    SlackCalled,
    TurnEnded,
    TurnStarted,
)
from slack_bot.playground.feed import Feed, PageUpdate, named, plain
from slack_bot.slack.blocks import buttons
from slack_bot.testing.slack.workspace import BOT_TOKEN, PersonFile, SeenFile, Workspace
from slack_bot.turn.actions import AppendText, CardState, TaskCard, UpdateCard
from slack_bot.turn.events import AnswerText, StreamEnd, StreamEnded, TurnBegun
from slack_bot.turn.record import Outcome


class Stand:
    """A workspace with one thread, its feed, and what was told."""

    def __init__(self) -> None:
        self.workspace = Workspace()
        self.workspace.add_user("U1", "Maya")
        self.workspace.add_user("U9", "Replay")
        self.workspace.add_channel("C1", "general")
        self.feed = Feed(
            self.workspace, now=lambda: 7.5, virtual=["U9"], suggestions=[("A joke", "tell me a joke")]
        )
        self.told: list[PageUpdate] = []
        self.stop = self.feed.listen(self.told.append)
        self.root = self.workspace.say("U1", "C1", "<@U0BOT> hi", now=1.0)

    def call(self, method: str, **args: Any) -> dict[str, Any]:
        is_json = method != "files.getUploadURLExternal"
        answer = self.workspace.call(method, args, now=2.0, token=BOT_TOKEN, is_json=is_json)
        assert answer.body["ok"], answer.body
        return dict(answer.body)

    def stream(self, *chunks: dict[str, Any]) -> str:
        body = self.call(
            "chat.startStream",
            channel="C1",
            thread_ts=self.root,
            recipient_user_id="U1",
            recipient_team_id="T1",
            chunks=list(chunks),
        )
        return str(body["ts"])

    def append(self, ts: str, *chunks: dict[str, Any]) -> None:
        self.call("chat.appendStream", channel="C1", ts=ts, chunks=list(chunks))

    def kinds(self) -> list[str]:
        return [update["type"] for update in self.told]


def text(words: str) -> dict[str, Any]:
    return {"type": "markdown_text", "text": words}


@pytest.fixture
def stand() -> Stand:
    return Stand()


def test_the_snapshot_names_people_places_and_what_may_be_asked(stand: Stand) -> None:
    direct = stand.workspace.direct("U1")
    shot = stand.feed.snapshot()
    assert shot["bot"] == {"user_id": "U0BOT", "name": "slack_bot"}
    assert shot["people"] == [
        {"id": "U1", "name": "Maya", "virtual": False},
        {"id": "U9", "name": "Replay", "virtual": True},
    ]
    general, dm = shot["channels"]
    assert (general["id"], general["kind"]) == ("C1", "channel")
    assert (dm["id"], dm["kind"], dm["members"]) == (direct, "im", ["U0BOT", "U1"])
    assert shot["suggestions"] == [{"label": "A joke", "text": "tell me a joke"}]
    assert [message["text"] for message in shot["messages"]] == ["<@U0BOT> hi"]


def test_a_message_that_grows_is_told_by_what_it_grew_by(stand: Stand) -> None:
    ts = stand.stream(text("Hello"))
    stand.told.clear()
    stand.append(ts, text(" world"))
    assert stand.told == [{"type": "grow", "channel": "C1", "ts": ts, "text": " world"}]


def test_a_message_that_changes_otherwise_is_told_whole(stand: Stand) -> None:
    ts = stand.stream(text("Hello"))
    stand.told.clear()
    stand.append(
        ts, {"type": "task_update", "id": "a", "title": "Search", "status": "in_progress"}, text("!")
    )
    (update,) = [update for update in stand.told if update["type"] == "message"]
    assert update["message"]["text"] == "Hello!"
    assert update["message"]["tasks"][0]["title"] == "Search"
    assert update["message"]["state"] == "streaming"


def test_what_is_told_adds_up_to_the_snapshot(stand: Stand) -> None:
    ts = stand.stream(text("one"))
    for word in (" two", " three"):
        stand.append(ts, text(word))
    stand.call("chat.stopStream", channel="C1", ts=ts)
    stand.call("chat.postMessage", channel="C1", thread_ts=stand.root, text="and a post")
    kept: dict[str, PageUpdate] = {}
    for update in stand.told:
        match update["type"]:
            case "message":
                kept[update["message"]["ts"]] = update["message"]
            case "grow":
                kept[update["ts"]] = {
                    **kept[update["ts"]],
                    "text": kept[update["ts"]]["text"] + update["text"],
                }
    assert list(kept.values()) == stand.feed.snapshot()["messages"]
    assert kept[ts]["text"] == "one two three"
    json.dumps(stand.told)


def test_a_post_with_blocks_is_said_by_its_blocks(stand: Stand) -> None:
    blocks = [{"type": "markdown", "text": "**hi**"}]
    stand.call("chat.postMessage", channel="C1", thread_ts=stand.root, text="hi", blocks=blocks)
    message = stand.feed.snapshot()["messages"][-1]
    assert message["text"] == ""
    assert message["blocks"][0]["text"] == "**hi**"


def test_a_deleted_message_goes(stand: Stand) -> None:
    ts = stand.call("chat.postMessage", channel="C1", thread_ts=stand.root, text="oops")["ts"]
    stand.told.clear()
    stand.call("chat.delete", channel="C1", ts=ts)
    assert {"type": "gone", "channel": "C1", "ts": ts} in stand.told
    assert ts not in [message["ts"] for message in stand.feed.snapshot()["messages"]]


def test_of_a_deleted_root_a_tombstone_stays_as_long_as_there_are_replies(stand: Stand) -> None:
    ts = stand.call("chat.postMessage", channel="C1", thread_ts=stand.root, text="a reply")["ts"]
    stand.workspace.delete_root("C1", stand.root, now=2.0)
    root, reply = stand.feed.snapshot()["messages"]
    assert (root["ts"], root["gone"], root["text"]) == (stand.root, True, "This message was deleted.")
    assert (reply["ts"], reply["gone"]) == (ts, False)
    stand.call("chat.delete", channel="C1", ts=ts)
    assert stand.feed.snapshot()["messages"] == []


def test_a_file_is_told_with_its_size_and_can_be_had(stand: Stand) -> None:
    content = "All of it: ü".encode()
    offer = stand.call("files.getUploadURLExternal", filename="answer.md", length=str(len(content)))
    stand.workspace.receive_file(offer["file_id"], content)
    assert stand.feed.file(offer["file_id"]) is None, "no message has it yet"
    where = {"channel_id": "C1", "thread_ts": stand.root}
    stand.call("files.completeUploadExternal", files=[{"id": offer["file_id"]}], **where)
    message = stand.feed.snapshot()["messages"][-1]
    assert message["files"] == [{"id": offer["file_id"], "name": "answer.md", "size": len(content)}]
    assert {"type": "message", "message": message} in stand.told
    file = stand.feed.file(offer["file_id"])
    assert file is not None
    assert (file.name, file.content) == ("answer.md", content)


def test_a_file_that_a_person_gave_has_its_bytes(stand: Stand) -> None:
    given = PersonFile("in.pdf", b"%PDF")
    stand.workspace.say("U1", "C1", "see", now=1.5, thread_ts=stand.root, files=[given])
    stand.workspace.say("U1", "C1", "well?", now=1.6, thread_ts=stand.root)
    (file,) = stand.feed.snapshot()["messages"][1]["files"]
    assert (file["name"], file["size"]) == ("in.pdf", 4)
    assert stand.feed.file(file["id"]) == SeenFile("in.pdf", content=b"%PDF")
    assert stand.feed.file("F9") is None


def test_the_typing_status_is_told_and_goes_with_the_answer(stand: Stand) -> None:
    stand.call("assistant.threads.setStatus", channel_id="C1", thread_ts=stand.root, status="is thinking...")
    where = {"type": "status", "channel": "C1", "thread_ts": stand.root}
    assert stand.told[-1] == {**where, "text": "is thinking...", "name": ""}
    assert stand.feed.snapshot()["statuses"][0]["text"] == "is thinking..."
    stand.stream(text("Hello"))
    assert {**where, "text": "", "name": ""} in stand.told


def test_a_pressed_control_shows_as_pressed_also_later(stand: Stand) -> None:
    ts = stand.stream(text("Hello"))
    stand.told.clear()
    stand.feed.pressed("C1", ts, "feedback", "positive|x")
    assert stand.told[0]["message"]["pressed"] == {"feedback": "positive|x"}
    stand.append(ts, text(" you"))
    assert stand.told[-1]["type"] == "grow"
    stand.feed.pressed("C1", "9.9", "feedback", "positive|x")  # a message nobody knows
    assert len(stand.told) == 2


def test_a_private_note_said_again_takes_the_place_of_the_first(stand: Stand) -> None:
    def whisper(user: str, words: str) -> None:
        where = {"channel": "C1", "thread_ts": stand.root, "user": user}
        stand.call("chat.postEphemeral", text=words, **where)

    stand.workspace.say("U9", "C1", "me too", now=1.5, thread_ts=stand.root)
    for user, words in (("U1", "Thanks."), ("U9", "Thanks."), ("U1", "Not now."), ("U1", "Thanks.")):
        whisper(user, words)
    private = [message for message in stand.feed.snapshot()["messages"] if message["for"]]
    assert [(message["for"], message["text"]) for message in private] == [
        ("U9", "Thanks."), ("U1", "Not now."), ("U1", "Thanks."),
    ]  # fmt: skip
    assert stand.kinds().count("gone") == 1


def test_a_retry_shows_as_used_once_the_question_is_asked_again(stand: Stand) -> None:
    first = f"T1:C1:{stand.root}"

    def offer(turn: str) -> None:
        stand.call("chat.postMessage", channel="C1", thread_ts=stand.root, text="x", blocks=[buttons(turn)])

    def opened(turn: str) -> list[dict[str, str]]:
        stand.feed(TurnStarted(5.0, turn, "U1", "C1", stand.root, "hi"))
        return [message["pressed"] for message in stand.feed.snapshot()["messages"][1:]]

    offer(first)
    assert opened(first) == [{}]
    assert opened(f"{first}:1") == [{"retry": first}]
    offer(f"{first}:1")
    assert opened(f"{first}:2") == [{"retry": first}, {"retry": f"{first}:1"}]


def test_who_stops_listening_is_told_nothing_more(stand: Stand) -> None:
    stand.stop()
    stand.told.clear()
    stand.stream(text("Hello"))
    assert stand.told == []


def open_turn(turn: str = "t1", at: float = 5.0) -> TurnStarted:
    return TurnStarted(at, turn, "U1", "C1", "1.0", "hi")


def test_facts_are_numbered_named_and_kept(stand: Stand) -> None:
    stand.told.clear()
    feed = stand.feed
    feed(open_turn())
    feed(EventHandled(5.0, "t1", TurnBegun(), (), "waiting"))
    feed(AgentEvent(5.1, "t1", "streaming_result", {"artifact": {"parts": ({"text": "x"},)}}))
    feed(EventHandled(5.1, "t1", AnswerText("x", "why"), (AppendText("x", "grows"),), "answering"))
    feed(SlackCalled(5.2, "t1", "chat.appendStream", {"chunks": [1]}, False, "ratelimited", 0.1))
    feed(EventHandled(5.3, "t1", StreamEnded(StreamEnd.CLOSED), (), "closed", late=True))
    feed(TurnEnded(5.4, "t1", Outcome.ANSWERED, None, "c", "t", "trace", {"answer_begun": True}, 1))
    facts = [update["fact"] for update in stand.told]
    assert [fact["kind"] for fact in facts] == [
        "opened", "decision", "event", "decision", "call", "decision", "closed",
    ]  # fmt: skip
    assert [fact["n"] for fact in facts] == list(range(1, 8))
    assert facts[2]["raw"] == {"artifact": {"parts": [{"text": "x"}]}}
    # What the agent's event led to points to it; the turn's own beginning and end do not.
    assert [fact.get("of") for fact in facts] == [None, None, 3, 3, None, None, None]
    assert facts[3]["actions"] == [{"name": "AppendText", "text": "x", "unproven": False, "reason": "grows"}]
    assert facts[4]["error"] == "ratelimited"
    assert facts[5]["late"] is True
    assert facts[6]["outcome"] == "answered"
    assert stand.feed.snapshot()["facts"] == facts
    json.dumps(facts)


def visible_at(stand: Stand) -> list[float]:
    return [fact["at"] for fact in stand.feed.snapshot()["facts"] if fact["kind"] == "visible"]


@pytest.mark.parametrize("fault", [None, "internal_error!", "timeout!"])
def test_text_is_visible_once_it_stands_whatever_the_call_was_answered(
    stand: Stand, fault: str | None
) -> None:
    stand.call("chat.postMessage", channel="C1", thread_ts=stand.root, text="of the turn before")
    stand.feed(TurnStarted(5.0, "t1", "U1", "C1", stand.root, "hi"))
    ts = stand.stream({"type": "task_update", "id": "a", "title": "Search", "status": "in_progress"})
    stand.workspace.faults.set("chat.appendStream", [fault, None])
    assert visible_at(stand) == []
    args = {"channel": "C1", "ts": ts, "chunks": [text("Hello")]}
    stand.workspace.call("chat.appendStream", args, now=2.0, token=BOT_TOKEN, is_json=True)
    stand.append(ts, text(" world"))
    assert visible_at(stand) == [7.5]
    assert stand.feed.snapshot()["messages"][-1]["text"] == "Hello world"


def test_text_that_was_refused_is_not_visible(stand: Stand) -> None:
    stand.feed(TurnStarted(5.0, "t1", "U1", "C1", stand.root, "hi"))
    ts = stand.stream()
    stand.workspace.faults.set("chat.appendStream", ["internal_error"])
    args = {"channel": "C1", "ts": ts, "chunks": [text("Hello")]}
    stand.workspace.call("chat.appendStream", args, now=2.0, token=BOT_TOKEN, is_json=True)
    stand.call("chat.postEphemeral", channel="C1", thread_ts=stand.root, user="U1", text="for one alone")
    assert visible_at(stand) == []


def test_a_reaction_is_told_when_it_comes_and_when_it_goes(stand: Stand) -> None:
    stand.told.clear()
    where = {"channel": "C1", "timestamp": stand.root, "name": "eyes"}
    stand.call("reactions.add", **where)
    stand.call("reactions.remove", **where)
    told = [update["message"]["reactions"] for update in stand.told if update["type"] == "message"]
    assert told == [{"eyes": ["U0BOT"]}, {}]


def test_a_fact_of_no_known_turn_is_not_told(stand: Stand) -> None:
    stand.told.clear()
    stand.feed(SlackCalled(1.0, "", "auth.test", {}, True, None, 0.1))
    assert stand.told == []


def test_only_the_last_turns_are_kept(stand: Stand) -> None:
    for number in range(40):
        stand.feed(open_turn(f"t{number}"))
    assert [fact["turn"] for fact in stand.feed.snapshot()["facts"]] == [
        f"t{number}" for number in range(10, 40)
    ]


def test_a_message_that_is_left_alone_is_told_with_its_reason(stand: Stand) -> None:
    stand.told.clear()
    why = "a message that does not mention the bot"
    stand.feed(MessageIgnored(5.0, "U1", "C1", stand.root, stand.root, "lunch?", why))
    (update,) = stand.told
    assert update["fact"] == {
        "n": 1,
        "at": 5.0,
        "turn": f"ignored:C1:{stand.root}",
        "kind": "ignored",
        "user": "U1",
        "text": "lunch?",
        "reason": why,
        "channel": "C1",
        "thread_ts": stand.root,
    }
    assert stand.feed.snapshot()["facts"] == [update["fact"]]


def test_the_snapshot_says_when_it_was_made_on_the_clock_of_the_facts(stand: Stand) -> None:
    assert stand.feed.snapshot()["now"] == 7.5


def test_an_event_that_is_nested_a_thousand_deep_is_told_as_far_as_it_can_be_shown(stand: Stand) -> None:
    deep: dict[str, Any] = {}
    for _ in range(2_000):
        deep = {"a": [deep]}
    stand.feed(open_turn("t1"))
    stand.feed(AgentEvent(6.0, "t1", "x", deep))
    told = json.dumps(stand.told[-1])
    assert told.count('{"a": [') == 30
    assert "\\u2026" in told


def test_anything_becomes_plain_json() -> None:
    card = UpdateCard(TaskCard("a", "Search", CardState.RUNNING), "why")
    assert named(card) == {
        "name": "UpdateCard",
        "card": {"id": "a", "title": "Search", "state": "in_progress", "details": "", "sources": []},
        "reason": "why",
    }
    assert named("odd") == {"name": "str", "value": "odd"}
    assert plain({1: (2.5, None, True, {"x"}), "b": b"\x00\xff", "o": object}) == {
        "1": [2.5, None, True, ["x"]],
        "b": "2 bytes",
        "o": "<class 'object'>",
    }


def test_an_alert_is_shown_by_the_words_of_its_attachments() -> None:
    stand = Stand()
    stand.workspace.add_user("UPAGER", "Pager", is_bot=True)
    alert = {"title": "Disk full", "text": "since noon", "fields": [{"title": "Host", "value": "db1"}]}
    stand.workspace.alert("UPAGER", "C1", [alert, {"fallback": "no more is known"}], now=3.0)
    blocks = stand.told[-1]["message"]["blocks"]
    assert [block["text"]["text"] for block in blocks] == [
        "Disk full\nsince noon\nHost: db1",
        "no more is known",
    ]
