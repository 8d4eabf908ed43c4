"""What of a thread goes to the agent: each word once, and what people are called."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from slack_bot.features.context.choosing import (
    Naming,
    QuoteLimits,
    newest,
    plain,
    quotable,
    quoted,
    unheard,
)
from slack_bot.turn.people import PersonKind
from slack_bot.turn.quotes import ThreadMessage, having_heard

ROOT = "100.000000"
LIMITS = QuoteLimits(messages=1000, message_chars=100_000, chars=10_000_000)
NAMING = Naming("U1")


def said(at: int | str, text: str = "words", author: str = "U2", **more: Any) -> ThreadMessage:
    ts = at if isinstance(at, str) else f"{at}.000000"
    return ThreadMessage(ts, author, more.pop("kind", PersonKind.MEMBER), text, **more)


def times(messages: Any) -> list[int]:
    return [int(float(each["ts"] if isinstance(each, dict) else each.ts)) for each in messages]


# -- what has not been heard


def test_it_is_what_was_said_since_and_before_the_question() -> None:
    thread = [said(at) for at in (100, 101, 102, 103, 104)]
    assert times(unheard(thread, (), ["103.000000"])) == [100, 101, 102]
    assert times(unheard(thread, ("101.000000",), ["103.000000"])) == [102]
    assert times(unheard(thread, ("103.000000",), ["103.000000"])) == []


def test_pages_may_overlap_and_come_in_any_order() -> None:
    assert times(unheard([said(102), said(101), said(102)], (), ["103.000000"])) == [101, 102]


def test_messages_that_the_agent_was_asked_are_not_quoted_nor_those_of_the_question() -> None:
    thread = [said(at) for at in (101, 102, 103, 104)]
    assert times(unheard(thread, ("100.000000", "102.000000"), ["104.000000"])) == [101, 103]
    assert times(unheard(thread, (), ["102.000000", "104.000000"])) == [101, 103]


def test_the_bot_s_own_answers_are_news_to_an_agent_that_knows_nothing() -> None:
    thread = [said(101), said(102, is_own=True)]
    assert times(unheard(thread, (), ["103.000000"])) == [101, 102]
    assert times(unheard(thread, (ROOT,), ["103.000000"])) == [101]


def test_a_message_without_words_and_files_is_none() -> None:
    assert times(unheard([said(101, ""), said(102, "", files=("a.txt",))], (), ["103.000000"])) == [102]


class _Model:
    """What one agent was told of a thread, and what it should have been."""

    def __init__(self) -> None:
        self.thread: list[ThreadMessage] = []
        self.heard: tuple[str, ...] = ()
        self.told: set[str] = set()
        self.asked: set[str] = set()
        self.waiting: list[str] = []  # questions that are in the thread and not asked yet

    def ask(self, ts: str, *, with_waiting: bool) -> list[str]:
        """The messages of the question that is asked now."""
        self.thread.append(said(ts, author="U1"))
        waiting, self.waiting = (self.waiting, []) if with_waiting else ([], self.waiting)
        return [*waiting, ts]


STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "say",
                "say",
                "own",
                "wait",
                "read",
                "read",
                "late",
                "refused",
                "unread",
                "partly",
                "lost context",
            ]
        ),
        st.integers(0, 3),
    ),
    max_size=40,
)


@given(STEPS)
def test_over_any_turns_each_word_is_told_once_and_none_is_skipped(steps: list[tuple[str, int]]) -> None:
    """Brute force: all that was said before the question and not told yet, less what was asked."""
    model, now = _Model(), 100
    for step, number in steps:
        now += 1
        ts = f"{now}.000000"
        if step in ("say", "own"):
            model.thread.append(said(ts, is_own=step == "own"))
            continue
        if step == "lost context":
            model.heard, model.told, model.asked = (), set(), set()
            continue
        if step == "wait":
            model.thread.append(said(ts, author="U1"))
            model.waiting.append(ts)
            continue
        if step == "late" and model.waiting:  # it was written before what was asked last
            asked = [model.waiting.pop(0)]
        else:
            asked = model.ask(ts, with_waiting=number > 1)
        ts = asked[-1]
        before = [each for each in model.thread if each.ts < ts]
        expected = [
            each.ts
            for each in before
            if each.ts not in model.told | model.asked | set(asked) and not (model.heard and each.is_own)
        ]
        delta = unheard(model.thread, model.heard, asked)
        assert [each.ts for each in delta] == expected
        if step == "refused":
            continue
        read_to: str | None = ts
        if step == "unread":
            delta, read_to = [], None
        elif step == "partly":
            delta = delta[:number]
            read_to = delta[-1].ts if delta else None
        if not model.heard:  # its own answers until then are known, or will not be told any more
            model.told |= {each.ts for each in before if each.is_own}
        model.heard = having_heard(model.heard, asked, read_to)
        model.told |= {each.ts for each in delta}
        model.asked |= set(asked)


# -- what may be quoted


def test_an_outsider_s_words_are_quoted_to_themselves_only() -> None:
    thread = [said(101), said(102, author="U9", kind=PersonKind.EXTERNAL), said(103, is_own=True)]
    assert times(quotable(thread, "U1", "thread", with_external=False)) == [101, 103]
    assert times(quotable(thread, "U9", "thread", with_external=False)) == [101, 102, 103]
    assert times(quotable(thread, "U1", "thread", with_external=True)) == [101, 102, 103]


def test_only_the_asker_s_words_and_the_bot_s() -> None:
    thread = [said(101), said(102, author="U1"), said(103, is_own=True)]
    assert times(quotable(thread, "U1", "asker", with_external=True)) == [102, 103]


def test_the_root_and_the_newest_are_chosen() -> None:
    thread = [said(at) for at in range(100, 110)]
    assert times(newest(thread, 4, ROOT)) == [100, 107, 108, 109]
    assert times(newest(thread[1:], 4, ROOT)) == [106, 107, 108, 109]
    assert times(newest(thread, 1, ROOT)) == [100]


# -- the limits


def test_what_is_within_the_limits_is_whole() -> None:
    found = quoted([said(100), said(101)], ROOT, LIMITS, NAMING)
    assert (times(found.messages), found.truncated) == ([100, 101], False)


def test_more_messages_than_allowed_are_left_out_and_that_is_said() -> None:
    found = quoted([said(at) for at in range(100, 110)], ROOT, replace(LIMITS, messages=3), NAMING)
    assert (times(found.messages), found.truncated) == ([100, 108, 109], True)


def test_a_long_message_is_cut_and_that_is_said() -> None:
    found = quoted([said(100, "x" * 900)], ROOT, replace(LIMITS, message_chars=800), NAMING)
    assert found.messages[0]["text"] == "x" * 799 + "…"
    assert found.truncated


def test_a_message_that_ends_in_dots_is_not_cut() -> None:
    assert not quoted([said(100, "and so on…")], ROOT, LIMITS, NAMING).truncated


def test_the_root_comes_first_and_then_the_newest_while_there_is_room() -> None:
    thread = [said(at, "x" * 10) for at in range(100, 110)]
    found = quoted(thread, ROOT, replace(LIMITS, chars=40), NAMING)  # each with its author's two
    assert (times(found.messages), found.truncated) == ([100, 108, 109], True)


@given(st.lists(st.tuples(st.text(max_size=60), st.lists(st.text(max_size=40), max_size=12)), max_size=15))
def test_the_limits_hold(drawn: list[tuple[str, list[str]]]) -> None:
    thread = [said(100 + at, text, files=tuple(files)) for at, (text, files) in enumerate(drawn)]
    limits = QuoteLimits(messages=5, message_chars=20, chars=100)
    found = quoted(thread, ROOT, limits, NAMING)
    sizes = [len(each["author"] + each["text"] + "".join(each["files"])) for each in found.messages]
    assert len(sizes) <= 5
    assert sum(sizes) <= 100
    assert all(len(each["text"]) <= 20 for each in found.messages)
    assert found.truncated or len(found.messages) == len(thread)


def test_more_names_of_files_than_allowed_are_left_out_and_that_is_said() -> None:
    found = quoted([said(100, files=tuple("abcdefghijkl"))], ROOT, LIMITS, NAMING)
    assert (len(found.messages[0]["files"]), found.truncated) == (10, True)


# -- what people are called


def item(message: ThreadMessage, **naming: Any) -> dict[str, Any]:
    return Naming(**{"asker": "U1", **naming}).item(message)


def test_by_default_people_have_ids() -> None:
    assert item(said(100, "ask <@U3> in <#C1|ops>, <!here>")) == {
        "ts": "100.000000",
        "author": "U2",
        "author_id": "U2",
        "kind": "person",
        "asker": False,
        "text": "ask @U3 in #ops, @here",
        "files": [],
    }


def test_the_asker_and_the_bot_are_marked() -> None:
    assert item(said(100, author="U1"))["asker"]
    own = item(said(100, author="U0", kind=PersonKind.BOT, is_own=True))
    assert (own["kind"], own["author"]) == ("self", "this bot")


def test_names_stand_where_they_are_known() -> None:
    found = item(said(100, "ask <@U3>, <@U4|dan>"), identity="name", names={"U2": "Ann", "U3": "Bob"})
    assert (found["author"], found["author_id"], found["text"]) == ("Ann", "U2", "ask @Bob, @U4")


def test_without_identity_people_are_counted() -> None:
    found = item(said(100, "ask <@U1>, <@U9>"), identity="none", authors=("U2", "U1"))
    assert (found["author"], found["text"]) == ("person 1", "ask @person 2, @someone")
    assert "author_id" not in found


def test_a_bot_has_the_name_it_goes_by() -> None:
    found = item(said(100, author="B1", kind=PersonKind.BOT, name="Pager"))
    assert (found["author"], found["kind"]) == ("Pager", "bot")
    assert item(said(100, author="B1", kind=PersonKind.BOT))["author"] == "B1"


def test_invisible_characters_go_and_lines_stay() -> None:
    assert plain("a\r\nb\x00\u202ec\u2028d\U000e0041\u200be\tf") == "a\nbc\nde\tf"
