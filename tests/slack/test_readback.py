"""A message read back, in Slack's dialect, against what was written."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.slack.blocks import fallback
from slack_bot.slack.readback import (
    Readback,
    ShownRest,
    comparable,
    compare_shown,
    is_ignored,
    own_stream,
    words_of,
)
from slack_bot.testing.slack.rendering import mrkdwn, rich_text
from slack_bot.text.fit import state_of
from slack_bot.text.markdown import MarkdownState, cuts_up_to
from tests.examples import PIECES, examples, texts
from tests.turn.work import HOSTILE, grows_like_its_text

SAMPLES = (
    "**Bold** and _thin_ and ~~gone~~ and `code`.",
    "# Title\n\n1. one\n2. two\n\n- three",
    "See [the docs](https://example.com/a?b=1&c=2) or <https://example.com>.",
    "```python\nif x < 1 and y > 2:\n    pass\n```\n",
    "> quoted & more",
    "漢字とかな。",
    "Costs 5 €. :tada: 🎉",
    "&amp; and &lt;b&gt; and &#128512; as an agent wrote them",
)


@pytest.mark.parametrize("text", [*SAMPLES, "~~~not~~ ", ":<https://example.org/a_b> "])
def test_what_slack_makes_of_a_text_has_the_same_letters(text: str) -> None:
    assert comparable(mrkdwn(text)) == comparable(text)
    assert comparable(text)


@pytest.mark.parametrize("confirmed", SAMPLES)
@pytest.mark.parametrize("sent", SAMPLES)
def test_all_of_it_stands_or_none(confirmed: str, sent: str) -> None:
    confirmed = f"{confirmed}\n"
    shown = {"text": mrkdwn(confirmed + sent), "streaming_state": "completed"}
    assert compare_shown(shown, confirmed, sent) is Readback.ALL
    assert compare_shown({"text": mrkdwn(confirmed)}, confirmed, sent) is Readback.NONE


def test_a_text_full_of_brackets_is_read_in_no_time() -> None:
    """A minute and more, if each bracket were followed to the end of the line."""
    assert comparable("[" * 100_000 + " a") == "a"
    assert comparable("[[a [b](https://example.com) c") == "abc"


def test_the_blocks_are_read_where_the_text_says_nothing() -> None:
    blocks = [{"type": "plan", "title": "Steps"}, rich_text("b", "One **two** [three](https://x.y)")]
    assert compare_shown({"text": "", "blocks": blocks}, "One ", "**two** three") is Readback.ALL
    assert compare_shown({"blocks": blocks}, "One **two** [three](https://x.y)", "four") is Readback.NONE
    written = [{"type": "markdown", "text": "One **two**"}, {"type": "context"}, "odd"]
    assert compare_shown({"text": "One", "blocks": written}, "One ", "**two**") is Readback.ALL


def test_links_without_a_label_are_read_by_their_address() -> None:
    node = {"type": "link", "url": "https://a.b"}
    assert words_of([{"type": "rich_text", "elements": [{"elements": [node, None]}]}]) == "https://a.b"
    assert words_of(None) == ""


@pytest.mark.parametrize(
    ("shown", "confirmed", "sent"),
    [
        ("One two thr", "One ", "two three"),  # neither
        ("Something else", "One ", "two"),
        ("One", "One", "!!! 🎉"),  # nothing to tell it by
        ("", "One ", "two"),
    ],
)
def test_what_is_neither_cannot_be_read(shown: str, confirmed: str, sent: str) -> None:
    assert compare_shown({"text": shown}, confirmed, sent) is Readback.UNREADABLE


def test_an_empty_message_shows_nothing_of_its_first_text() -> None:
    assert compare_shown({"text": "", "blocks": []}, "", "One") is Readback.NONE


def test_what_slack_makes_of_nearly_any_text_has_the_same_letters() -> None:
    """A message that reads otherwise counts as unreadable, and is rewritten."""
    dice = Random(1)
    drawn = ["".join(dice.choices(PIECES, k=dice.randint(0, 12))) for _ in range(2_000)]
    odd = [text for text in drawn if comparable(mrkdwn(text)) != comparable(text)]
    assert len(odd) <= len(drawn) // 200, odd


@examples(1_000)
@given(st.text(max_size=60), st.text(max_size=60))
def test_text_that_may_be_there_is_never_said_to_be_missing(confirmed: str, sent: str) -> None:
    assert compare_shown({"text": confirmed + sent}, confirmed, sent) is not Readback.NONE


CARDS = [
    {"type": "task_card", "title": "Search the docs"},
    {"type": "task_card", "title": "Summarise"},
]
"""As recorded: the text of a message has the titles of its cards (facts: Slack 1.8)."""


@pytest.mark.parametrize("blocks", [CARDS, [{"type": "plan", "title": "Two steps", "tasks": CARDS}]])
@pytest.mark.parametrize(
    "shape",
    [
        "Search the docs\nSummarise\n{text}",
        "{text}\nSearch the docs\nSummarise",
        "Two steps\nSearch the docs\n{text}\nSummarise",
        "{text}",
    ],
)
def test_what_stands_is_known_among_the_titles_of_its_cards(shape: str, blocks: list[Any]) -> None:
    confirmed, sent = "## 1. Findings\n\n- **one**\n", "- two\n"
    shown = {"text": shape.format(text="1. Findings\n\n• *one*"), "blocks": blocks}
    whole = {"text": shape.format(text="1. Findings\n\n• *one*\n• two"), "blocks": blocks}
    if "Two steps" in shape and blocks is CARDS:
        assert compare_shown(whole, confirmed, sent) is Readback.UNREADABLE  # no card is called so
        return
    assert compare_shown(whole, confirmed, sent) is Readback.ALL
    assert compare_shown(shown, confirmed, sent) is Readback.NONE
    assert compare_shown(whole, "", confirmed + sent) is Readback.ALL
    assert compare_shown({**shown, "text": shape.format(text="")}, "", confirmed) is Readback.NONE
    assert compare_shown({**shown, "text": shape.format(text="Else")}, confirmed, sent) is Readback.UNREADABLE
    assert compare_shown({**whole, "blocks": []}, confirmed, sent) is (
        Readback.ALL if shape == "{text}" else Readback.UNREADABLE
    )


def test_a_text_that_may_be_a_title_is_looked_for_in_the_blocks() -> None:
    card = {"type": "task_card", "title": "Search"}
    shown = {"text": "Found it. Search", "blocks": [card]}
    assert compare_shown(shown, "Found it. ", "Search") is Readback.UNREADABLE
    for words, stands in (("Found it.", Readback.NONE), ("Found it. Search", Readback.ALL)):
        blocks = [card, rich_text("b", words)]
        assert compare_shown({**shown, "blocks": blocks}, "Found it. ", "Search") is stands


def test_signs_are_known_among_titles_too() -> None:
    card = {"type": "task_card", "title": "|"}
    assert compare_shown({"text": "Search\na |", "blocks": CARDS}, "a ", "|") is Readback.UNREADABLE
    named = [{"type": "task_card", "title": "Search"}]
    assert compare_shown({"text": "Search\na |", "blocks": named}, "a ", "|") is Readback.ALL
    assert compare_shown({"text": "a |", "blocks": [card]}, "a ", "|") is Readback.UNREADABLE


@pytest.mark.parametrize("count", [50, 1])
def test_as_many_cards_as_slack_shows_are_told_apart_in_no_time(count: int) -> None:
    cards = [{"type": "task_card", "title": f"Step {number}"} for number in range(count)]
    text = "\n".join([*(card["title"] for card in cards), "The answer."])
    assert compare_shown({"text": text, "blocks": cards}, "The ", "answer.") is Readback.ALL
    same = [{"type": "task_card", "title": "a"} for _ in range(count)]
    odd = {"text": "a" * 12_000 + "b", "blocks": same}
    assert compare_shown(odd, "a" * 11_000, "c") is Readback.UNREADABLE


@examples(300)
@given(texts(6), texts(6), st.lists(st.text("abc ", max_size=3), max_size=4), st.booleans())
def test_with_any_titles_a_text_is_never_said_to_be_what_it_is_not(
    confirmed: str, sent: str, titles: list[str], has_sent: bool
) -> None:
    written = confirmed + sent if has_sent else confirmed
    cards = [{"type": "task_card", "title": title} for title in titles]
    text = "\n".join([*titles, mrkdwn(written)])
    wrong = Readback.NONE if has_sent else Readback.ALL
    if comparable(confirmed) != comparable(confirmed + sent):
        assert compare_shown({"text": text, "blocks": cards}, confirmed, sent) is not wrong


def stream(ts: str, text: str = "", **more: object) -> dict[str, object]:
    return {"ts": ts, "text": text, "bot_id": "B1", "streaming_state": "in_progress", **more}


def test_our_stream_is_known_by_its_time_and_what_it_reads() -> None:
    messages = [
        {"ts": "9.0", "text": "One"},
        stream("1.0", "One"),
        stream("6.0", "One", metadata={"event_type": "x"}),
        stream("7.0", "One"),
        stream("8.0", "Other"),
        stream("8.5", "**One**"),
    ]
    found = own_stream(messages, since=5.0, sent="One", known=["7.0"])
    assert found is not None
    assert found["ts"] == "8.5"
    assert own_stream(messages, since=5.0, sent="Two", known=[]) is None
    long = {**stream("9.0"), "text": "A long text of many words, and one odd letter: 1"}
    assert (
        own_stream([long], since=5.0, sent="A long text of many words, and one odd letter: 2", known=[])
        == long
    )
    assert own_stream([stream("8.0")], since=5.0, sent="Two", known=[]) == stream("8.0")


@pytest.mark.parametrize(
    ("text", "sent", "is_ours"),
    [
        ("Search the docs\nSummarise\nOne two", "One two three", True),
        ("Search the docs\nSummarise", "One", True),
        ("Search the docs\nSummarise", "", True),
        ("One two", "One two", True),
        ("Search the docs\nSummarise\nOther", "One two", False),
        ("Other", "One two", False),
    ],
)
def test_our_stream_is_known_behind_the_titles_of_its_cards(text: str, sent: str, is_ours: bool) -> None:
    message = stream("8.0", text, blocks=CARDS)
    assert own_stream([message], since=5.0, sent=sent, known=[]) == (message if is_ours else None)


@pytest.mark.parametrize(
    ("shown", "stands"),
    [
        ("two words \\|", Readback.ALL),
        ("two words", Readback.UNREADABLE),
        ("two words |", Readback.UNREADABLE),
    ],
)
def test_signs_are_known_where_no_dialect_changed_them(shown: str, stands: Readback) -> None:
    assert compare_shown({"text": shown}, "two words ", "\\| ") is stands
    assert compare_shown({"text": "two words"}, "two words ", "\n") is Readback.UNREADABLE
    assert compare_shown({"text": "a &lt; &amp;"}, "a ", "< & ") is Readback.ALL


@pytest.mark.parametrize("piece", [*HOSTILE, "[x](y", "&gt;", ":a:", "<a|b", "> ```"])
def test_reading_takes_linear_time(piece: str) -> None:
    assert grows_like_its_text(comparable, piece)


# -- an answer of Slack that shows nothing new


@pytest.mark.parametrize(
    ("answer", "is_shown"),
    [
        ({}, True),
        ({"message": {"text": "One. Two."}}, True),
        ({"text": "One. ", "message": {"text": "One."}}, False),
        ({"text": "", "message": {"text": "", "blocks": []}}, False),
        ({"text": "One.", "message": {"blocks": [{"type": "markdown", "text": "One."}]}}, False),
        ({"text": "", "message": {"blocks": [{"type": "markdown", "text": "One. Two."}]}}, True),
        ({"text": "", "message": {"blocks": [{"type": "table", "rows": []}]}}, True),  # not to be read
        ({"text": "Something else", "message": "?"}, True),
    ],
    ids=str,
)
def test_only_an_answer_that_reads_as_before_or_empty_shows_that_a_text_is_missing(
    answer: dict[str, Any], is_shown: bool
) -> None:
    assert is_ignored(answer, "One. **Two.**", "One.") is not is_shown
    assert not is_ignored(answer, "One!", "One.")  # nothing that could be missed
    assert not is_ignored(answer, ":tada:", "One.")


LONG = "A **long** text. " * 40


def test_a_notification_that_reads_as_before_tells_nothing_new() -> None:
    more = f"{LONG} And more."
    assert fallback(LONG) == fallback(more) != LONG
    for blocks, is_shown in ((LONG, False), (more, True)):
        shown = {"text": fallback(LONG), "blocks": [{"type": "markdown", "text": blocks}]}
        assert is_ignored({"text": shown["text"], "message": shown}, more, LONG) is not is_shown


def test_the_titles_of_cards_are_no_news() -> None:
    cards = [{"type": "task_card", "title": "Search"}]
    for text, is_shown in (("Search\nOne.", False), ("Search", False), ("Search\nTwo.", True)):
        assert is_ignored({"message": {"text": text, "blocks": cards}}, "Two.", "One.") is not is_shown


def rest(shown: str, known: str) -> ShownRest:
    """Of a message that Slack made of `shown`."""
    return ShownRest.of({"blocks": [rich_text("b", shown)]}, known, state_of(known))


@pytest.mark.parametrize(
    ("known", "more", "follows"),
    [
        ("One line.\n", "Two words ", "and more. And the rest."),
        ("One line.\n", "", "Two."),
        ("It is ", "**very bold** ", "and over."),
        ("It is ", "done \U0001f389 ", "as far as I know."),
        ("See ", "[the report, please](https://example.org/a/b?c=1), ", "or not."),
        ("```python\n", "a = 1\n```\n\n", "That was it."),
        ("1. one\n", "2. two\n", "3. three\n"),
        ("All of ", "it.", ""),
    ],
)
def test_how_far_a_message_shows_the_answer(known: str, more: str, follows: str) -> None:
    assert rest(known + more, known).part_of(more + follows, is_all=False) == (len(more), True)


def test_more_of_the_answer_is_waited_for() -> None:
    shown = rest("One. Two words more. ", "One. ")
    assert shown.part_of("", is_all=False) is None
    assert shown.part_of("Two wor", is_all=False) is None
    assert shown.part_of("Two wor", is_all=True) == (7, False)
    assert shown.part_of("Two words more. Three.", is_all=False) == (16, True)


@pytest.mark.parametrize("shown", ["One. Six other words", "Something else stands", ""])
def test_what_cannot_be_understood_goes_on_to_the_end_of_a_sentence(shown: str) -> None:
    """No fewer letters stand there afterwards, where it can be read."""
    sentence = "Two. Or more words stand here, and others. " if shown else "Two. "
    assert rest(shown, "One. ").part_of("Two words stand here", is_all=False) is None
    assert rest(shown, "One. ").part_of(f"{sentence}Three.", is_all=False) == (len(sentence), False)
    assert rest(shown, "One. ").part_of("Two words", is_all=True) == (9, False)
    endless = "word " * 200
    assert rest(shown, "One. ").part_of(endless, is_all=False) == (len(endless), False)


def test_nothing_is_lost_and_nothing_shown_twice_of_nearly_any_text() -> None:
    """What reads otherwise is rewritten."""
    dice, unread = Random(2), 0
    for _ in range(1_000):
        text = "".join(dice.choices(PIECES, k=dice.randint(2, 12)))
        cuts = [0, *(each.at for each in cuts_up_to(text, len(text), MarkdownState()) if not each.inside)]
        known, shown = sorted(dice.choices(cuts, k=2))
        is_odd = comparable(words_of([rich_text("b", text[:shown])])) != comparable(text[:shown])
        found = rest(text[:shown], text[:known]).part_of(text[known:], is_all=True)
        assert found is not None
        end, is_shown = known + found[0], found[1]
        unread += not is_shown
        if is_shown and not is_odd:
            assert comparable(text[:end]) == comparable(text[:shown]), (text, known, shown)
    assert unread <= 50
