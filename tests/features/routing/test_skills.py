"""Which agent's skills fit a question: words alone, and never a guess where two are near."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.features.routing.skills import match_skills, stems
from slack_bot.turn.record import Introduction, Skill

DEPLOYS = Skill(
    "Deploy a service",
    "Rolls a new version out.",
    ("Deploy checkout to staging",),
    ("deployment", "rollback"),
)
INCIDENTS = Skill("Incidents", "Who is on call?", ("Open an incident for checkout",), ("on-call", "incident"))
PAPERS = Skill(
    "Find papers", "Searches publications.", ("What was published about A2A?",), ("research", "papers")
)
MARKETS = Skill("Market research", "Compares products.", ("Compare our prices",), ("market", "research"))
CARDS = {
    "ops": Introduction("Ops", skills=(DEPLOYS, INCIDENTS)),
    "papers": Introduction("Papers", skills=(PAPERS,)),
    "market": Introduction("Market", skills=(MARKETS,)),
    "default": Introduction("Helper", "Helps with everything: research, deployments, incidents."),
}


@pytest.mark.parametrize(
    ("question", "agents"),
    [
        ("please deploy checkout", ("ops",)),
        ("Can you roll back the last deployment?", ("ops",)),
        ("are there incidents now", ("ops",)),
        ("which papers are there about A2A?", ("papers",)),
        ("compare the prices of the market", ("market",)),
        ("do some research", ("papers", "market")),
        ("hello", ()),
        ("what is the weather?", ()),
        ("", ()),
        ("what can you do for me about the and", ()),
    ],
)
def test_who_fits(question: str, agents: tuple[str, ...]) -> None:
    assert set(match_skills(question, CARDS).agents) == set(agents)


def test_the_reason_names_agents_and_points_and_quotes_nobody() -> None:
    match = match_skills("deploy checkout, which has an incident", CARDS)
    assert match.why.startswith("points for words of its skills: ops ")
    assert "checkout" not in match.why and "Deploy" not in match.why
    assert match_skills("hello", CARDS).why == "no agent's skills fit"


def test_a_word_that_all_of_three_have_says_nothing_and_two_are_near() -> None:
    same = {name: Introduction(skills=(Skill("Search documents"),)) for name in ("one", "two", "three")}
    assert match_skills("search documents", same).agents == ()
    del same["three"]
    assert set(match_skills("search documents", same).agents) == {"one", "two"}
    assert match_skills("deploy", {}).agents == ()


def test_endings_and_small_words_do_not_matter() -> None:
    for words in (
        "deploy deploys deployed deploying deployment deployments",
        "query queries",
        "release releases released",
    ):
        assert len(set(stems(words))) == 1, stems(words)
    assert stems("What is the A2A of it?") == ["a2a"]


@given(st.text(max_size=200), st.text(max_size=50), st.text(max_size=50))
def test_any_text_gives_an_answer_and_the_order_of_the_agents_changes_none(
    question: str, one: str, other: str
) -> None:
    cards = {
        "one": Introduction(skills=(Skill(one, other),)),
        "two": Introduction(skills=(Skill(other, "", (one,)),)),
    }
    match = match_skills(question, cards)
    turned = match_skills(question, dict(reversed(cards.items())))
    assert set(match.agents) == set(turned.agents)
