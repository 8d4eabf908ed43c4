"""Which agent a question is for: the rules in their order, and the names in front of a question."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.features.routing.choose import AgentChoice, AgentRules, Obstacle, Reason, choose, name_in

AGENTS = ("default", "research", "ops")
WORDS = {"r": "research", "default": "default", "research": "research", "ops": "ops"}


def rules(**known: object) -> AgentRules:
    base = {"words": WORDS, "here": AGENTS, "for_asker": AGENTS, "default": "default"}
    return AgentRules(**{**base, **known})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("research: what is it?", ("research", "what is it?")),
        ("Research: what is it?", ("research", "what is it?")),
        ("  r : what is it?", ("research", "what is it?")),
        ("/r what is it?", ("research", "what is it?")),
        ("/research: what is it?", ("research", "what is it?")),
        ("research:\nwhat is it?", ("research", "what is it?")),
        ("research", ("research", "")),
        ("/r", ("research", "")),
        ("research the market", (None, "research the market")),
        ("what does research: say?", (None, "what does research: say?")),
        ("note: buy milk", (None, "note: buy milk")),
        ("r://host", (None, "r://host")),
        ("/etc/hosts is empty", (None, "/etc/hosts is empty")),
        ("/r/x", (None, "/r/x")),
        (":wave: hello", (None, ":wave: hello")),
        ("", (None, "")),
    ],
)
def test_a_name_counts_only_in_front_and_only_marked(text: str, found: tuple[str | None, str]) -> None:
    assert name_in(text, WORDS) == found


@pytest.mark.parametrize(
    ("text", "known", "choice"),
    [
        ("why?", {}, AgentChoice("default", "why?", Reason.DEFAULT)),
        ("why?", {"channel": "ops"}, AgentChoice("ops", "why?", Reason.CHANNEL)),
        ("why?", {"person": "ops"}, AgentChoice("ops", "why?", Reason.PERSON)),
        ("why?", {"channel": "ops", "person": "research"}, AgentChoice("ops", "why?", Reason.CHANNEL)),
        ("r: why?", {"channel": "ops"}, AgentChoice("research", "why?", Reason.NAMED)),
        ("why?", {"thread": "ops", "channel": "research"}, AgentChoice("ops", "why?", Reason.THREAD)),
        ("ops: why?", {"thread": "ops"}, AgentChoice("ops", "why?", Reason.THREAD)),
        ("r: why?", {"thread": "ops"}, AgentChoice("research", "why?", Reason.NAMED, Obstacle.OTHER_THREAD)),
        ("why?", {"thread": "sales"}, AgentChoice("sales", "why?", Reason.THREAD, Obstacle.GONE)),
        ("r: why?", {"thread": "sales"}, AgentChoice("sales", "why?", Reason.THREAD, Obstacle.GONE)),
        ("r: why?", {"here": ("ops",)}, AgentChoice("research", "why?", Reason.NAMED, Obstacle.NOT_HERE)),
        ("why?", {"here": ("ops",)}, AgentChoice("ops", "why?", Reason.DEFAULT)),
        ("why?", {"here": ("ops",), "person": "research"}, AgentChoice("ops", "why?", Reason.DEFAULT)),
        (
            "r: why?",
            {"for_asker": ("ops", "default")},
            AgentChoice("research", "why?", Reason.NAMED, Obstacle.NOT_FOR_ASKER),
        ),
        (
            "why?",
            {"channel": "ops", "for_asker": ("default",)},
            AgentChoice("ops", "why?", Reason.CHANNEL, Obstacle.NOT_FOR_ASKER),
        ),
        (
            "why?",
            {"thread": "ops", "for_asker": ("default",)},
            AgentChoice("ops", "why?", Reason.THREAD, Obstacle.NOT_FOR_ASKER),
        ),
    ],
)
def test_the_first_rule_that_says_something_counts(
    text: str, known: dict[str, object], choice: AgentChoice
) -> None:
    assert choose(text, rules(**known)) == choice


_NAMES = st.sampled_from(["", "research: ", "/ops ", "r: ", "note: "])


@given(
    _NAMES,
    st.text(max_size=20),
    st.sampled_from([None, *AGENTS, "gone"]),
    st.sampled_from([None, *AGENTS]),
    st.sampled_from([None, *AGENTS]),
    st.sets(st.sampled_from(AGENTS), min_size=1),
    st.sets(st.sampled_from(AGENTS)),
)
def test_nobody_asks_an_agent_that_they_may_not_ask_and_no_thread_changes_its_agent(
    front: str,
    words: str,
    thread: str | None,
    channel: str | None,
    person: str | None,
    here: set[str],
    for_asker: set[str],
) -> None:
    known = rules(
        thread=thread, channel=channel, person=person, here=sorted(here), for_asker=sorted(for_asker)
    )
    choice = choose(front + words, known)
    if choice.obstacle is None:
        assert choice.agent in for_asker
        assert choice.agent in {*here, thread, channel}
        assert thread in (None, choice.agent)
    assert (front + words).endswith(choice.text)
