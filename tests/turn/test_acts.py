"""What an agent may do in Slack, as a table, and what holds for whatever it asks."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.text import feature_words as words
from slack_bot.turn.acts import MOST_ACTS, MOST_TEXT, AgentAct, AllowedActs, new_acts, why_not

REACT = AgentAct("react", "eyes")
POST = AgentAct("post", channel="C2", text="Look here.")
ALL = {"react", "post"}


@pytest.mark.parametrize(
    ("act", "allowed", "before", "reason"),
    [
        (REACT, {"react"}, 0, ""),
        (REACT, {"react"}, MOST_ACTS - 1, ""),
        (REACT, {"react"}, MOST_ACTS, words.TOO_MANY_ACTS.format(MOST_ACTS)),
        (REACT, set(), 0, words.ACT_NOT_ALLOWED),
        (AgentAct("topic", "x"), ALL, 0, words.ACT_UNKNOWN),
        (POST, ALL, 0, ""),
        (POST, ALL, MOST_ACTS, words.TOO_MANY_ACTS.format(MOST_ACTS)),
        (POST, {"react"}, 0, words.ACT_NOT_ALLOWED),
        (replace(POST, channel="C3"), ALL, 0, words.POST_NOT_LISTED.format("<#C3>")),
        (replace(POST, channel="general"), ALL, 0, words.NO_CHANNEL),
        (replace(POST, channel="D2"), ALL, 0, words.NO_CHANNEL),
        (replace(POST, text=" "), ALL, 0, words.NO_TEXT),
        (replace(POST, text="a" * MOST_TEXT), ALL, 0, ""),
        (replace(POST, text="a" * (MOST_TEXT + 1)), ALL, 0, words.TEXT_TOO_LONG.format(MOST_TEXT)),
        (AgentAct("react", "+1"), {"react"}, 0, ""),
        (AgentAct("react", "wave::skin-tone-3"), {"react"}, 0, ""),
        (AgentAct("react", "wave::skin-tone-9"), {"react"}, 0, words.NO_EMOJI),
        (AgentAct("react", ""), {"react"}, 0, words.NO_EMOJI),
        (AgentAct("react", "<!channel>"), {"react"}, 0, words.NO_EMOJI),
        (AgentAct("react", "x" * 101), {"react"}, 0, words.NO_EMOJI),
        (AgentAct("react", "eyes\n"), {"react"}, 0, words.NO_EMOJI),
        (AgentAct("react", "eyes", "1700000000.000100"), {"react"}, 0, ""),
        (AgentAct("react", "eyes", "yesterday"), {"react"}, 0, words.NO_MESSAGE),
    ],
)
def test_what_is_done(act: AgentAct, allowed: set[str], before: int, reason: str) -> None:
    assert why_not(act, AllowedActs(allowed, {"C2"}), before) == reason


@given(
    st.builds(AgentAct, st.sampled_from(["react", "post", ""]), st.text(), st.text(), st.text(), st.text()),
    st.sets(st.sampled_from(["react", "post"])),
    st.sets(st.text()),
    st.integers(0, 9),
)
def test_only_names_and_listed_channels_go_to_slack(
    act: AgentAct, allowed: set[str], post_to: set[str], before: int
) -> None:
    if why_not(act, AllowedActs(allowed, post_to), before):
        return
    assert act.kind in allowed and before < MOST_ACTS
    if act.kind == "react":
        assert re.fullmatch(r"[a-z0-9_+':-]+", act.name) and re.fullmatch(r"[0-9.]*", act.ts)
    else:
        assert act.channel in post_to and re.fullmatch(r"[CG][A-Z0-9]+", act.channel)


@given(st.lists(st.builds(AgentAct, st.just("react"), st.sampled_from("abc"))), st.integers(0, 9))
def test_each_act_is_new_once_however_its_events_are_cut(acts: list[AgentAct], cut: int) -> None:
    first = new_acts(acts[:cut], [])
    assert first + new_acts(acts[cut:], first) == list(dict.fromkeys(acts))
