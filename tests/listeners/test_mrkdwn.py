from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.listeners.mrkdwn import to_text, without_mention


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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a &lt; b &amp;&amp; c &gt; d", "a < b && c > d"),
        ("&amp;lt;", "&lt;"),
        ("see <https://a.example/x?a=1&amp;b=2>", "see https://a.example/x?a=1&b=2"),
        ("see <https://a.example|a.example>", "see https://a.example"),
        ("see <https://a.example|the page>", "see the page (https://a.example)"),
        ("<mailto:a@b.example|a@b.example>", "a@b.example"),
        ("<tel:+4912|+4912>", "+4912"),
        ("in <#C1|general> and <#C2>", "in #general and <#C2>"),
        ("<@U1|ada> and <@U2>", "@ada and <@U2>"),
        ("<!here> <!subteam^S1|@ops>", "@here @ops"),
        ("<!date^1^{date}|yesterday>", "yesterday"),
        ("if a &lt;b&gt; then `x &lt; y`", "if a <b> then `x < y`"),
        ("a < b > c", "a < b > c"),
        (" padded ", "padded"),
    ],
)
def test_slack_s_wrapping_comes_off(text: str, said: str) -> None:
    assert to_text(text) == said


PIECES = ["<@U0BOT>", "<@U0BOT|bot>", "<@U1>", "<", ">", "|", "&amp;", ":", " ", "\n", "word"]


@given(st.text() | st.lists(st.sampled_from(PIECES)).map("".join))
def test_any_text_can_be_read_and_only_the_mentions_go(text: str) -> None:
    said = to_text(without_mention(text, "U0BOT"))
    assert "<@U0BOT" not in said
    assert said.count("word") == text.count("word")


@given(st.text(alphabet=st.characters(blacklist_characters="<>&")))
def test_text_that_slack_does_not_touch_stays(text: str) -> None:
    assert to_text(text) == text.strip()
