"""What names an act: the same in each process, another one for each other act."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from slack_bot.features.agent_acts.records import AGENT_ACTS, KeptAct, key_of
from slack_bot.turn.record import ThreadKey

ACTS = st.builds(
    KeptAct,
    at=st.floats(0, 9),
    turn=st.text(),
    thread=st.just(ThreadKey("T1", "C1", "1.0")),
    kind=st.sampled_from(["react", "post"]),
    name=st.text(),
    on=st.text(),
    channel=st.text(),
    text=st.text(),
)


@given(ACTS, st.floats(0, 9), st.text())
def test_how_far_an_act_has_come_does_not_change_its_name(act: KeptAct, at: float, posted: str) -> None:
    assert key_of(replace(act, at=at, due=at, ts=posted, posted=posted, reason=posted)) == key_of(act)


@given(ACTS, st.sampled_from(["turn", "name", "on", "channel", "text"]), st.text(min_size=1))
def test_another_act_has_another_name(act: KeptAct, field: str, more: str) -> None:
    other = replace(act, **{field: getattr(act, field) + more.replace("\0", "x")})
    assert key_of(other) != key_of(act)


@given(ACTS)
def test_an_act_is_about_who_asked(act: KeptAct) -> None:
    about = replace(act, user="U1")
    assert AGENT_ACTS.is_about(key_of(about), about, "U1", "T1")
    assert not AGENT_ACTS.is_about(key_of(act), act, "U1", "T1")
