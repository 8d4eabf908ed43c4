"""The Home tab as blocks: Slack takes them whatever the agent's card holds, and nothing in them is markup."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slack_sdk.models.views import View

from slack_bot.slack.home import ShownAgent, ShownTurn, home_view, prompts
from slack_bot.testing.slack import blocks as blockkit
from slack_bot.turn.record import Introduction, Skill
from tests.testing.slack.scene import Scene

TURN = ShownTurn(
    "T1:C1:1.0", "What is new?", "C1", "Being answered", "https://acme.slack.com/archives/C1/p10"
)
SKILLS = (
    Skill("Search", "Finds pages.", ("find x", "find y")),
    Skill("Deploy", "", ("deploy it",)),
    Skill("", "has no name"),
)


def read(agent: Introduction | None, *turns: ShownTurn) -> list[str]:
    """The words of the tab, once Slack has taken it."""
    return taken([ShownAgent("", agent)], *turns)


def taken(agents: list[ShownAgent], *turns: ShownTurn) -> list[str]:
    """The same for these agents."""
    view = home_view(agents, turns)
    scene = Scene()
    blockkit.check(scene.workspace.state, view["blocks"], surface="view")
    View(**view).validate_json()
    return [blockkit.plain(block) for block in view["blocks"]]


def test_it_says_who_answers_how_to_ask_and_what_is_under_way() -> None:
    direct = ShownTurn("T1:D1:2.0", "And mine?", "D1", "Waits for the answer before it", "https://x.invalid/")
    words = read(Introduction("Archivist", "Knows the pages.", SKILLS), TURN, direct)
    assert words[:3] == ["Archivist", "Knows the pages.", "How to ask"]
    assert words[words.index("What it can do") + 1].splitlines() == [
        "Search: Finds pages.",
        "“find x” “find y”",
        "Deploy",
        "“deploy it”",
    ]
    assert words[words.index("Your questions") + 1 :] == [
        "What is new?",
        "Being answered · C1 · Open",
        "And mine?",
        "Waits for the answer before it · Open",
    ]


@pytest.mark.parametrize(
    ("icon", "is_shown"),
    [
        ("https://agent.example/icon.png?size=2", True),
        ("https://agent.example:8443/icon.png", True),
        ("", False),
        ("http://agent.example/icon.png", False),
        ("data:image/png;base64,AAAA", False),
        ("https://me:secret@agent.example/icon.png", False),
        ("https://localhost/icon.png", False),
        ("https://10.0.0.1/icon.png", False),
        ("https://[::1]/icon.png", False),
        ("https://2130706433/icon.png", False),
        ("https://аgent.example/icon.png", False),
        ("https://agent.example/a b.png", False),
        ("https://[x/icon.png", False),
        (f"https://agent.example/{'x' * 3_000}.png", False),
    ],
)
def test_the_agents_picture_stands_beside_what_it_is_for(icon: str, is_shown: bool) -> None:
    agent = Introduction("Archivist", "Knows the pages.", icon=icon)
    read(agent)  # Slack takes it
    image = home_view([ShownAgent("", agent)], ())["blocks"][1].get("accessory")
    wanted = {"type": "image", "image_url": icon, "alt_text": "Archivist"}
    assert image == (wanted if is_shown else None)


def test_without_the_agent_and_without_questions_it_says_so() -> None:
    words = read(None)
    assert words[0] == "Your agent"
    assert "cannot reach the agent right now" in words[1]
    assert words[-1] == "You have no question under way."


def test_of_several_agents_it_says_what_each_can_do_who_may_ask_and_lets_the_person_choose() -> None:
    agents = [
        ShownAgent(
            "research", Introduction("Library", "Finds papers.", SKILLS, "https://a.example/i.png"), "All"
        ),
        ShownAgent("ops", Introduction("Operations"), "Some · Away", may_ask=False),
        ShownAgent("default", None, "All", is_chosen=True),
    ]
    words = taken(agents, TURN)
    assert words[:7] == [
        "Agents",
        "Library: Finds papers.",
        "Ask with “research: your question”\nAll\nCan do: Search, Deploy",
        "Operations",
        "Ask with “ops: your question”\nSome · Away",
        "default",
        "Ask with “default: your question”\nAll",
    ]
    select = home_view(agents, ())["blocks"][7]["accessory"]
    assert [option["value"] for option in select["options"]] == ["research", "default"]
    assert select["initial_option"]["value"] == "default"
    assert home_view(agents, ())["blocks"][1]["accessory"]["image_url"] == "https://a.example/i.png"


@given(
    st.text(max_size=300), st.text(max_size=3000), st.lists(st.text(max_size=2000), max_size=30),
    st.integers(0, 60), st.text(min_size=1, max_size=4000),
)  # fmt: skip
def test_slack_takes_it_whatever_a_card_or_a_question_says(
    name: str, about: str, texts: list[str], turns: int, question: str
) -> None:
    skills = tuple(Skill(text, text, (text, text)) for text in texts)
    says, shown = (
        Introduction(name, about, skills),
        [ShownTurn("k", question, "C1", "s", "https://x.invalid/")],
    )
    assert read(says, *shown * turns)
    assert taken([ShownAgent(f"agent{number}", says, "Note") for number in range(30)], *shown * turns)


@pytest.mark.parametrize("text", ["<!channel>", "<@U1>", "*bold* <https://evil.invalid|here>"])
def test_what_a_card_says_is_plain_text(text: str) -> None:
    says = Introduction(text, text, (Skill(text, text, (text,)),))
    several = [ShownAgent("ops", says, text), ShownAgent("default", says)]
    views = home_view([ShownAgent("", says)], []), home_view(several, [])
    blocks = [block for view in views for block in view["blocks"]]
    kinds = {each.get("type") for block in blocks for each in walk(block)}
    texts = {"plain_text", "text", "rich_text", "rich_text_list", "rich_text_section"}
    assert kinds <= {None, "header", "section", "context", "static_select", *texts}


def walk(item: object) -> list[dict[str, object]]:
    if isinstance(item, list):
        return [each for part in item for each in walk(part)]
    if not isinstance(item, dict):
        return []
    return [item, *(each for part in item.values() for each in walk(part))]


def test_more_questions_than_fit_are_counted() -> None:
    assert read(None, *[TURN] * 23)[-1] == "… and 3 more"


def test_prompts_are_the_given_ones_or_examples_one_of_each_skill_first() -> None:
    assert [each["message"] for each in prompts((), SKILLS)] == ["find x", "deploy it", "find y"]
    assert [each["message"] for each in prompts(("Hello?", "Hello?", " "), SKILLS)] == ["Hello?"]
    many = prompts([f"{number} " + "x" * 100 for number in range(9)], ())
    assert len(many) == 4
    assert all(len(each["title"]) == 75 for each in many)
    assert prompts((), ()) == []
