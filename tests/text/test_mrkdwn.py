"""What Slack wraps and escapes, as it was typed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.text.mrkdwn import to_text


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


@given(st.text(alphabet=st.characters(blacklist_characters="<>&")))
def test_text_that_slack_does_not_touch_stays(text: str) -> None:
    assert to_text(text) == text.strip()


def test_people_and_channels_get_the_names_that_are_given() -> None:
    """A label of a channel is Slack's own; that of a person would say a name that is not to be said."""
    said = to_text("<@U1|ada> and <@U2> in <#C1|ops> and <#C2>, <!here>", lambda target: f"{target}!")
    assert said == "@U1! and @U2! in #ops and #C2!, @here"
