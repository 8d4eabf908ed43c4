"""A message read back, in Slack's dialect, against what was written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.playground.emulated.rendering import mrkdwn
from slack_bot.playground.emulated.richtext import rich_text
from slack_bot.slack.readback import Stands, bare, own_stream, what_stands, words_of
from tests.examples import examples, texts
from tests.turn.effort import HOSTILE, grows_like_its_text

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


@pytest.mark.parametrize("text", SAMPLES)
def test_what_slack_makes_of_a_text_has_the_same_letters(text: str) -> None:
    assert bare(mrkdwn(text)) == bare(text)
    assert bare(text)


@pytest.mark.parametrize("confirmed", SAMPLES)
@pytest.mark.parametrize("sent", SAMPLES)
def test_all_of_it_stands_or_none(confirmed: str, sent: str) -> None:
    confirmed = f"{confirmed}\n"
    shown = {"text": mrkdwn(confirmed + sent), "streaming_state": "completed"}
    assert what_stands(shown, confirmed, sent) is Stands.ALL
    assert what_stands({"text": mrkdwn(confirmed)}, confirmed, sent) is Stands.NONE


def test_a_text_full_of_brackets_is_read_in_no_time() -> None:
    """A minute and more, if each bracket were followed to the end of the line."""
    assert bare("[" * 100_000 + " a") == "a"
    assert bare("[[a [b](https://example.com) c") == "abc"


def test_the_blocks_are_read_where_the_text_says_nothing() -> None:
    blocks = [{"type": "plan", "title": "Steps"}, rich_text("b", "One **two** [three](https://x.y)")]
    assert what_stands({"text": "", "blocks": blocks}, "One ", "**two** three") is Stands.ALL
    assert what_stands({"blocks": blocks}, "One **two** [three](https://x.y)", "four") is Stands.NONE
    written = [{"type": "markdown", "text": "One **two**"}, {"type": "context"}, "odd"]
    assert what_stands({"text": "One", "blocks": written}, "One ", "**two**") is Stands.ALL


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
    assert what_stands({"text": shown}, confirmed, sent) is Stands.UNREADABLE


def test_an_empty_message_shows_nothing_of_its_first_text() -> None:
    assert what_stands({"text": "", "blocks": []}, "", "One") is Stands.NONE


@examples(1_000)
@given(texts(12))
def test_what_slack_makes_of_any_text_has_the_same_letters(text: str) -> None:
    assert bare(mrkdwn(text)) == bare(text)


@examples(1_000)
@given(st.text(max_size=60), st.text(max_size=60))
def test_text_that_may_be_there_is_never_said_to_be_missing(confirmed: str, sent: str) -> None:
    assert what_stands({"text": confirmed + sent}, confirmed, sent) is not Stands.NONE


def stream(ts: str, text: str = "", **more: object) -> dict[str, object]:
    return {"ts": ts, "text": text, "bot_id": "B1", "streaming_state": "in_progress", **more}


def test_our_stream_is_known_by_its_time_and_what_it_reads() -> None:
    messages = [
        "odd",
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
    ("shown", "stands"),
    [
        ("two words \\|", Stands.ALL),
        ("two words", Stands.UNREADABLE),
        ("two words |", Stands.UNREADABLE),
    ],
)
def test_signs_are_known_where_no_dialect_changed_them(shown: str, stands: Stands) -> None:
    assert what_stands({"text": shown}, "two words ", "\\| ") is stands
    assert what_stands({"text": "two words"}, "two words ", "\n") is Stands.UNREADABLE
    assert what_stands({"text": "a &lt; &amp;"}, "a ", "< & ") is Stands.ALL


@pytest.mark.parametrize("piece", [*HOSTILE, "[x](y", "&gt;", ":a:", "<a|b", "> ```"])
def test_reading_takes_linear_time(piece: str) -> None:
    assert grows_like_its_text(bare, piece)
