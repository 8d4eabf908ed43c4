"""What is looked up, and what a thread has besides messages: status, title, prompts, session."""

from __future__ import annotations

from typing import Any

import pytest

from slack_bot.testing.slack.state import ChannelKind

from .scene import Scene, rules, text

ROOT = "<root>"
RULES: list[tuple[str, dict[str, Any], str | None]] = [
    ("auth.test", {}, None),
    ("conversations.replies", {"channel": "C1", "ts": ROOT}, None),
    ("conversations.replies", {"channel": "C1", "ts": "1.2"}, "thread_not_found"),
    ("conversations.replies", {"channel": "C9", "ts": ROOT}, "channel_not_found"),
    ("conversations.replies", {"channel": "C2", "ts": ROOT}, "not_in_channel"),
    ("conversations.replies", {"channel": "C1", "ts": ROOT, "cursor": "x"}, "invalid_cursor"),
    ("conversations.replies", {"channel": "C1", "ts": ROOT, "cursor": "²"}, "invalid_cursor"),
    ("conversations.replies", {"channel": "C1", "ts": ROOT, "oldest": "x"}, "invalid_ts_oldest"),
    ("conversations.replies", {"channel": "C1", "ts": ROOT, "latest": "x"}, "invalid_ts_latest"),
    ("conversations.info", {"channel": "C3"}, None),
    ("conversations.info", {"channel": "C9"}, "channel_not_found"),
    ("conversations.open", {"users": "U1"}, None),
    ("conversations.open", {"channel": "C1"}, None),
    ("conversations.open", {}, "users_list_not_supplied"),
    ("conversations.open", {"users": "U1,U2"}, "invalid_user_combination"),
    ("conversations.open", {"users": "U9"}, "user_not_found"),
    ("users.info", {"user": "U2"}, None),
    ("users.info", {"user": "U9"}, "user_not_found"),
]


@pytest.mark.parametrize(("method", "args", "error"), RULES)
def test_the_rules(method: str, args: dict[str, Any], error: str | None) -> None:
    scene = Scene()
    assert scene.error(method, **{k: scene.root if v == ROOT else v for k, v in args.items()}) == error


@pytest.mark.parametrize("kind", ["group", "mpim", "im"])
@pytest.mark.parametrize(
    ("method", "args"),
    [
        ("conversations.info", {"channel": "G1"}),
        ("conversations.history", {"channel": "G1"}),
        ("conversations.replies", {"channel": "G1", "ts": ROOT}),
        ("chat.postMessage", {"channel": "G1", "text": "t"}),
        ("chat.startStream", {"channel": "G1", "thread_ts": ROOT}),
    ],
)
def test_a_private_conversation_without_the_app_is_not_there_for_it(
    kind: ChannelKind, method: str, args: dict[str, Any]
) -> None:
    scene = Scene()
    scene.workspace.add_channel("G1", kind=kind, with_bot=False)
    assert scene.error(method, **args) == "channel_not_found"
    scene.workspace.state.channels["G1"].members |= {"U1", scene.workspace.bot.user_id}
    assert scene.error(method, **args) != "channel_not_found"


def test_who_the_app_is() -> None:
    answer = Scene().ok("auth.test")
    assert (answer["user_id"], answer["bot_id"], answer["team_id"]) == ("U0BOT", "B0BOT", "T1")


def test_a_thread_is_read_by_its_root_or_by_a_reply() -> None:
    scene = Scene()
    first = scene.post(text="one", metadata={"event_type": "t", "event_payload": {}})
    second = scene.start(text("**two**"))
    for ts in (scene.root, first, second):
        messages = scene.ok("conversations.replies", channel="C1", ts=ts)["messages"]
        assert [m["ts"] for m in messages] == [scene.root, first, second]
    root, one, two = messages
    assert (root["reply_count"], root["latest_reply"]) == (2, second)
    assert (one["bot_id"], one["thread_ts"], "metadata" in one) == ("B0BOT", scene.root, False)
    assert (two["text"], two["streaming_state"]) == ("*two*", "in_progress")
    with_metadata = scene.ok("conversations.replies", channel="C1", ts=scene.root, include_all_metadata=True)
    assert with_metadata["messages"][1]["metadata"]["event_type"] == "t"


def test_pages_follow_each_other() -> None:
    scene = Scene()
    posts = [scene.post(text=str(n)) for n in range(4)]
    seen: list[str] = []
    cursor = ""
    while True:
        page = scene.ok("conversations.replies", channel="C1", ts=scene.root, limit=2, cursor=cursor)
        seen += [m["ts"] for m in page["messages"]]
        cursor = page["response_metadata"]["next_cursor"]
        assert page["has_more"] is bool(cursor)
        if not cursor:
            break
    assert seen == [scene.root, *posts]


def test_a_range_leaves_its_borders_out_unless_asked_but_never_the_root() -> None:
    scene = Scene()
    first, second, third = (scene.post(text=str(n)) for n in range(3))
    asked = {"channel": "C1", "ts": scene.root, "oldest": first, "latest": third}
    assert [m["ts"] for m in scene.ok("conversations.replies", **asked)["messages"]] == [scene.root, second]
    inclusive = scene.ok("conversations.replies", **asked, inclusive=True)["messages"]
    assert [m["ts"] for m in inclusive] == [scene.root, first, second, third]


def test_the_history_is_the_roots_newest_first() -> None:
    scene = Scene()
    scene.post(text="a reply")
    second = scene.ok("chat.postMessage", channel="C1", text="a root")["ts"]
    messages = scene.ok("conversations.history", channel="C1")["messages"]
    assert [m["ts"] for m in messages] == [second, scene.root]


def test_a_reply_can_be_shown_in_the_channel_too() -> None:
    scene = Scene()
    ts = scene.post(text="for all", reply_broadcast=True)
    assert [m.ts for m in scene.workspace.history("C1")] == [scene.root, ts]
    shown = scene.ok("conversations.history", channel="C1")["messages"][0]
    assert (shown["ts"], shown["subtype"], shown["root"]["ts"]) == (ts, "thread_broadcast", scene.root)
    replies = scene.ok("conversations.replies", channel="C1", ts=scene.root)["messages"]
    assert [m.get("subtype") for m in replies] == [None, "thread_broadcast"]


def test_a_direct_message_is_opened_once() -> None:
    scene = Scene()
    for user in ("U1", "U2"):
        first, again = (scene.ok("conversations.open", users=user)["channel"] for _ in range(2))
        assert first == again == {"id": scene.workspace.direct(user)}
        whole = scene.ok("conversations.open", users=user, return_im=True)["channel"]
        assert (whole["id"], whole["is_im"], whole["user"]) == (first["id"], True, user)


def test_a_person_is_known_with_the_own_team() -> None:
    user = Scene().ok("users.info", user="U2")["user"]
    assert (user["team_id"], user["name"], user["is_bot"]) == ("T2", "guest", False)


def test_what_slack_says_of_people() -> None:
    scene = Scene()
    scene.workspace.state.enterprise = "E1"
    for user, more in (("U5", {"guest": "multi"}), ("U6", {"guest": "single"}), ("U7", {"team": "T7"})):
        scene.workspace.add_user(user, **more)
    scene.workspace.add_user("U8", team="T8", enterprise="E1")
    said = {user: scene.ok("users.info", user=user)["user"] for user in ("U1", "U5", "U6", "U7", "U8")}
    guests = {
        user: (each.get("is_restricted"), each.get("is_ultra_restricted")) for user, each in said.items()
    }
    assert guests == {
        "U1": (False, False),
        "U5": (True, False),
        "U6": (True, True),
        "U7": (None, None),  # Slack does not say it of other organisations
        "U8": (False, False),
    }
    assert said["U8"]["enterprise_user"]["enterprise_id"] == "E1"
    assert said["U7"]["is_stranger"]
    assert not scene.ok("conversations.info", channel="C1")["channel"]["is_ext_shared"]
    scene.workspace.say("U7", "C1", "hi", now=scene.now)
    assert not scene.ok("users.info", user="U7")["user"]["is_stranger"]  # they share a channel with the app
    assert scene.ok("conversations.info", channel="C1")["channel"]["is_ext_shared"]
    assert scene.ok("auth.test")["enterprise_id"] == "E1"


def test_a_user_group_has_members() -> None:
    scene = Scene()
    scene.workspace.add_group("S1", "U1", "U2")
    assert scene.ok("usergroups.users.list", usergroup="S1")["users"] == ["U1", "U2"]
    assert scene.error("usergroups.users.list", usergroup="S2") == "no_such_subteam"


STATUS, TITLE = "assistant.threads.setStatus", "assistant.threads.setTitle"
PROMPTS, SESSION = "assistant.threads.setSuggestedPrompts", "agents.sessions.setStatus"
PROMPT = {"title": "Joke", "message": "Tell me a joke"}
THREAD_RULES: list[tuple[str, dict[str, Any], str | None]] = [
    (STATUS, {"thread_ts": ROOT, "status": "is thinking..."}, None),
    (STATUS, {"thread_ts": ROOT, "status": "", "loading_messages": ["a"] * 10}, None),
    (STATUS, {"thread_ts": ROOT}, "invalid_arguments"),
    (STATUS, {"status": "t"}, "invalid_arguments"),
    (STATUS, {"thread_ts": "1.2", "status": "t"}, "invalid_thread_ts"),
    (STATUS, {"thread_ts": ROOT, "status": "t", "loading_messages": ["a"] * 11}, "invalid_arguments"),
    (STATUS, {"thread_ts": ROOT, "status": "t", "loading_messages": [1]}, "invalid_arguments"),
    (STATUS, {"channel_id": "C2", "thread_ts": ROOT, "status": "t"}, "not_in_channel"),
    (TITLE, {"thread_ts": ROOT, "title": "t"}, None),
    (TITLE, {"thread_ts": "1.2", "title": "t"}, "invalid_thread_ts"),
    (PROMPTS, {"thread_ts": ROOT, "prompts": [PROMPT]}, None),
    (PROMPTS, {"prompts": [PROMPT]}, None),
    (PROMPTS, {"prompts": []}, "invalid_arguments"),
    (PROMPTS, {"prompts": [PROMPT] * 5}, "invalid_arguments"),
    (PROMPTS, {"prompts": [{"title": "t"}]}, "invalid_arguments"),
    (PROMPTS, {"prompts": ["t"]}, "invalid_arguments"),
    (SESSION, {"thread_ts": ROOT, "status": "suspended"}, None),
    (SESSION, {"thread_ts": ROOT, "status": "active", "title": "t", "initiator_user_id": "U1"}, None),
    (SESSION, {"thread_ts": ROOT, "status": "busy"}, "invalid_status"),
    (SESSION, {"status": "active"}, "thread_ts_required"),
    (SESSION, {"thread_ts": "1.2", "status": "active"}, "invalid_thread_ts"),
    (SESSION, {"thread_ts": ROOT, "status": "active", "initiator_user_id": "U9"}, "user_not_found"),
]


@pytest.mark.parametrize(("method", "args", "error"), THREAD_RULES)
def test_the_rules_of_threads(method: str, args: dict[str, Any], error: str | None) -> None:
    scene = Scene()
    filled = {"channel_id": "C1", **{k: scene.root if v == ROOT else v for k, v in args.items()}}
    assert scene.error(method, **filled) == error


def shown(scene: Scene) -> str | None:
    return scene.workspace.status_line("C1", scene.root, now=scene.now)


def think(scene: Scene, status: str = "is thinking...") -> None:
    scene.ok(STATUS, channel_id="C1", thread_ts=scene.root, status=status)


def test_a_status_shows_until_it_is_cleared() -> None:
    scene = Scene()
    assert shown(scene) is None
    think(scene)
    assert shown(scene) == "is thinking..."
    assert scene.workspace.thread("C1", scene.root)[-1].status_line == "is thinking..."
    think(scene, "")
    assert shown(scene) is None


def test_a_status_goes_away_after_two_minutes() -> None:
    scene = Scene()
    think(scene)
    scene.wait(119)
    assert shown(scene) == "is thinking..."
    scene.wait(1)
    assert shown(scene) is None


def test_a_post_in_the_thread_clears_the_status_and_one_elsewhere_does_not() -> None:
    scene = Scene()
    think(scene)
    scene.ok("chat.postMessage", channel="C1", text="elsewhere")
    scene.ok("chat.postEphemeral", channel="C1", user="U1", text="psst", thread_ts=scene.root)
    assert shown(scene) == "is thinking..."
    scene.post(text="t")
    assert shown(scene) is None


def test_a_stream_clears_the_status_and_a_later_status_is_a_second_row() -> None:
    scene = Scene()
    think(scene)
    ts = scene.start(text("a"))
    assert shown(scene) is None
    think(scene, "is responding...")
    think(scene, "")
    assert shown(scene) is None
    assert scene.workspace.status_rows("C1", scene.root) == ["is responding..."]
    scene.stop(ts)
    think(scene, "again")
    assert shown(scene) == "again"


def test_a_status_moves_the_session() -> None:
    scene = Scene()
    assert scene.workspace.session("C1", scene.root) is None
    think(scene)
    assert scene.workspace.session("C1", scene.root) == "processing"
    think(scene, "")
    assert scene.workspace.session("C1", scene.root) == "active"
    scene.ok(SESSION, channel_id="C1", thread_ts=scene.root, status="suspended")
    assert scene.workspace.session("C1", scene.root) == "suspended"


def test_a_session_has_a_title_from_the_beginning_and_works_for_an_hour() -> None:
    scene = Scene()
    place = {"channel_id": "C1", "thread_ts": scene.root}
    assert scene.error(SESSION, **place, status="processing", title="x" * 201) == "invalid_arguments"
    scene.ok(SESSION, **place, status="processing", title="x" * 200)
    scene.ok(SESSION, **place, status="processing", title="later")
    assert scene.workspace.session_title("C1", scene.root) == "x" * 200
    for seconds, status in ((3599, "processing"), (1, "active")):
        scene.now += seconds
        scene.workspace.pass_time(scene.now)
        assert scene.workspace.session("C1", scene.root) == status


def test_a_workspace_without_agent_sessions() -> None:
    scene = Scene(rules=rules(agent_sessions=False))
    assert scene.error(SESSION, channel_id="C1", thread_ts=scene.root, status="active") == "feature_disabled"
