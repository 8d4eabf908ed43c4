"""The playground's three agents: which one a question goes to, a sign-in with all of its parts, and the files
of those who bring their own settings.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest

from slack_bot.clock import system_clock
from slack_bot.errors import SettingsError
from slack_bot.features.routing.choose import AgentRules, choose
from slack_bot.playground.others.three_agents import PlayedAgents, serve_three
from slack_bot.playground.others.tickets import tickets_card
from slack_bot.playground.others.travel import travel_card
from slack_bot.playground.reference.agent import agent_card
from slack_bot.playground.server import Playground, open_playground
from slack_bot.playground.visitor import CHANNEL, SUGGESTIONS
from slack_bot.settings.config_file import read_agents
from slack_bot.settings.load import Settings
from slack_bot.settings.models import ReferenceSettings
from slack_bot.testing.harness import wait_until
from slack_bot.testing.overrides import with_overrides
from slack_bot.turn.record import Introduction, Skill
from tests.playground.test_server import closed

EXAMPLES = Path(__file__).parents[1] / "examples"
FAST = ReferenceSettings(pace=0)


@pytest.fixture
async def playground() -> AsyncIterator[Playground]:
    async with open_playground(chosen=FAST) as opened:
        yield opened


def introduction(card: Any) -> Introduction:
    skills = [
        Skill(name=each.name, description=each.description, tags=(*each.tags,), examples=(*each.examples,))
        for each in card.skills
    ]
    return Introduction(name=card.name, description=card.description, skills=tuple(skills))


@cache
def rules() -> AgentRules:
    cards = {"guide": agent_card("u"), "travel": travel_card("u"), "tickets": tickets_card("u", "i")}
    skills = {name: introduction(card) for name, card in cards.items()}
    names = list(skills)
    words = {name: name for name in names}
    return AgentRules(words, names, names, default="guide", skills=skills)


def chosen_for(question: str) -> tuple[str, ...]:
    choice = choose(question, rules())
    return choice.near or (choice.agent,)


# -- who is asked


@pytest.mark.parametrize("question", [*SUGGESTIONS, "plan a release", "what is agntcy", "tell me a joke"])
def test_what_a_newcomer_asks_goes_to_the_guide(question: str) -> None:
    assert chosen_for(question) == ("guide",)


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_hardly_any_question_about_the_bot_goes_elsewhere(step: int) -> None:
    """Messages that the guide learned from, by default each seventh. The few are about trips and tickets
    indeed.
    """
    lines = [line for file in EXAMPLES.glob("*.tsv") for line in file.read_text("utf-8").splitlines()]
    questions = [line.partition("\t")[2] for line in lines]
    elsewhere = [each for each in questions[::step] if chosen_for(each) != ("guide",)]
    assert len(questions) > 20_000
    assert len(elsewhere) < len(questions) / step / 200, elsewhere


@pytest.mark.parametrize(
    ("question", "agents"),
    [
        ("Plan a trip to Lisbon", ("travel",)),
        ("Show my tickets", ("tickets",)),
        ("Tickets for Lisbon", ("travel", "tickets")),
    ],
)
def test_the_questions_on_the_page_show_what_they_are_there_for(
    question: str, agents: tuple[str, ...]
) -> None:
    assert chosen_for(question) == agents


async def test_the_answer_of_each_agent_has_its_own_name(playground: Playground) -> None:
    end = await closed(playground, {"type": "say", "channel": CHANNEL, "text": "<@U0BOT> tell me a joke"})
    assert (end["outcome"], look(playground)) == ("answered", {"username": "slack_bot"})
    asked = await closed(
        playground, {"type": "say", "channel": CHANNEL, "text": "<@U0BOT> plan a trip to Lisbon"}
    )
    assert asked["outcome"] == "asked"
    assert look(playground) == {"username": "Travel", "icon_emoji": ":airplane:"}


def look(playground: Playground) -> dict[str, str]:
    found = playground.visitor.feed.snapshot()["messages"][-1]["look"]
    assert isinstance(found, dict)
    return found


# -- a sign-in


async def ask_alone(playground: Playground, user: str = "U0MAYA") -> tuple[str, str]:
    """Ask for tickets. Returns the direct message, and the link to sign in."""
    workspace = playground.workspace
    place = workspace.direct(user)
    order = {"type": "say", "user": user, "channel": place, "text": "show my tickets"}
    said = await playground.visitor.take(order)
    assert said is not None
    await wait_until(lambda: links(playground, place), workspace)
    return place, links(playground, place)[-1]


def links(playground: Playground, channel: str) -> list[str]:
    shown = [each for each in playground.visitor.feed.snapshot()["messages"] if each["channel"] == channel]
    return re.findall(r"'url': '(http[^']+)'", str(shown))


async def sign_in(link: str, account: str, decision: str = "allow") -> str:
    """What the browser shows in the end."""
    async with httpx.AsyncClient(follow_redirects=True, trust_env=False) as browser:
        page = await browser.get(link)
        found = re.search(r'name="request" value="([^"]+)"', page.text)
        assert found is not None, page.text
        issuer = f"{page.url.scheme}://{page.url.netloc.decode()}"
        form = {"request": found[1], "account": account, "decision": decision}
        told = await browser.post(f"{issuer}/authorize", data=form, headers={"Origin": issuer})
    return told.text


def read(playground: Playground, channel: str) -> str:
    messages = playground.visitor.feed.snapshot()["messages"]
    return "\n".join(f"{each['text']} {each['blocks']}" for each in messages if each["channel"] == channel)


async def test_who_signs_in_reads_their_own_tickets_and_is_not_asked_again(playground: Playground) -> None:
    for user, account, own, other in (
        ("U0MAYA", "maya", "T-104", "T-121"),
        ("U0PRIYA", "priya", "T-121", "T-104"),
    ):
        place, link = await ask_alone(playground, user)
        assert "You are signed in" in await sign_in(link, account)
        await wait_until(lambda own=own, place=place: own in read(playground, place), playground.workspace)
        assert other not in read(playground, place)
        await playground.app.threads.idle()
        again = {"type": "say", "user": user, "channel": place, "text": "tickets: T-"}
        assert (await closed(playground, again))["outcome"] == "answered"
        assert len(links(playground, place)) == 1


async def test_the_account_of_another_person_is_refused_and_nothing_is_shown(playground: Playground) -> None:
    place, link = await ask_alone(playground)
    assert "You are not the person who asked in Slack" in await sign_in(link, "jonas")
    await wait_until(lambda: "is not yours" in read(playground, place), playground.workspace)
    assert "open ticket" not in read(playground, place)


async def test_who_refuses_is_told_that_the_question_was_not_asked(playground: Playground) -> None:
    place, link = await ask_alone(playground)
    await sign_in(link, "maya", "refuse")
    await wait_until(lambda: "was not asked" in read(playground, place), playground.workspace)


async def test_in_a_channel_the_asker_alone_reads_where_to_ask(playground: Playground) -> None:
    order = {"type": "say", "user": "U0MAYA", "channel": CHANNEL, "text": "<@U0BOT> show my tickets"}
    await playground.visitor.take(order)
    seen = playground.workspace
    await wait_until(lambda: "direct message" in read(playground, CHANNEL), seen)
    (told,) = [each for each in playground.visitor.feed.snapshot()["messages"] if each["author"] == "U0BOT"]
    assert told["for"] == "U0MAYA"
    assert links(playground, CHANNEL) == []


async def test_somebody_of_another_organisation_is_not_given_a_link(playground: Playground) -> None:
    place = playground.workspace.direct("U0RIVER")
    order = {"type": "say", "user": "U0RIVER", "channel": place, "text": "show my tickets"}
    await playground.visitor.take(order)
    await wait_until(lambda: "tickets" in read(playground, place), playground.workspace)
    await playground.app.threads.idle()
    assert links(playground, place) == []


async def test_what_was_signed_in_ends_with_a_word(playground: Playground) -> None:
    place, link = await ask_alone(playground)
    await sign_in(link, "maya")
    await wait_until(lambda: "T-104" in read(playground, place), playground.workspace)
    await playground.app.threads.idle()
    await playground.visitor.take({"type": "say", "user": "U0MAYA", "channel": place, "text": "sign out"})
    await wait_until(lambda: "signed out" in read(playground, place), playground.workspace)
    assert len({*links(playground, place)}) == 1
    await playground.visitor.take({"type": "say", "user": "U0MAYA", "channel": place, "text": "my tickets"})
    await wait_until(lambda: len({*links(playground, place)}) == 2, playground.workspace)


# -- settings


async def served(usual: Settings, *, has_sign_in: bool = True) -> tuple[PlayedAgents, list[str]]:
    async with serve_three(usual, FAST, system_clock(), has_sign_in=has_sign_in) as agents:
        return agents, [*read_agents(agents.settings).entries]


async def test_where_browsers_are_elsewhere_nobody_is_asked_to_sign_in() -> None:
    agents, names = await served(Settings(), has_sign_in=False)
    assert names == ["guide", "travel"]
    assert list(agents.asked) == ["Plan a trip to Lisbon"]


async def test_a_file_of_channels_counts_with_the_three_agents(tmp_path: Path) -> None:
    (file := tmp_path / "slack_bot.toml").write_text('[channel]\nbusy = "collect"', "utf-8")
    _, names = await served(with_overrides(Settings(), {"config": str(file)}))
    assert names == ["guide", "travel", "tickets"]
    async with open_playground(chosen=FAST, channels=with_overrides(Settings(), {"config": str(file)})) as it:
        assert it.app.policies.of(CHANNEL).busy == "collect"


async def test_a_file_with_agents_of_its_own_keeps_those(tmp_path: Path) -> None:
    (file := tmp_path / "slack_bot.toml").write_text('[agents.ops]\nurl = "http://ops.invalid/"\n', "utf-8")
    agents, names = await served(with_overrides(Settings(), {"config": str(file)}))
    assert names == ["default", "ops"]
    assert agents.asked == {}


async def test_a_file_with_a_mistake_is_named(tmp_path: Path) -> None:
    (file := tmp_path / "mine.toml").write_text('[channel]\nbsy = "collect"\n', "utf-8")
    with pytest.raises(SettingsError, match=re.escape(f"{file}: channel.bsy is not a setting")):
        await served(with_overrides(Settings(), {"config": str(file)}))
