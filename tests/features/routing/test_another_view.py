"""The modal in which a person asks another agent, as Slack takes it."""

from __future__ import annotations

from slack_bot.features.routing.another_view import agent_select, another_view, explained_for


def test_it_has_the_other_agents_and_what_was_asked() -> None:
    view = another_view("h|T1:C1:1.0", "x" * 4_000, {"ops": "Operations " * 20}, "")
    select, words = (block["element"] for block in view["blocks"][1:])
    assert view["private_metadata"] == "h|T1:C1:1.0"
    assert [len(each["text"]["text"]) for each in select["options"]] == [75]
    assert len(words["initial_value"]) == 3_000
    without = another_view("h|t", "", {"ops": "Ops"}, "")
    assert "initial_value" not in without["blocks"][2]["element"]


def test_it_says_before_the_press_what_will_happen() -> None:
    for answer, quoted, carried in (
        ("Four.", "Four.", "and the answer to that."),
        ("Four.", "", "but not the answer to that: it was made with the rights"),
        (" \n", "", "the answer to that had no text."),
    ):
        view = another_view("h|t", "what?", {"ops": "Ops"}, explained_for(answer, quoted))
        said = view["blocks"][0]["elements"][0]["text"]
        assert said.startswith("This begins a new thread here") and carried in said
        assert view["submit"]["text"] == "Ask in a new thread"


def test_the_chosen_one_is_selected_if_it_is_there() -> None:
    agents = {str(number): str(number) for number in range(200)}
    assert len(agent_select(agents)["options"]) == 100
    assert agent_select({"ops": "Ops"}, "ops")["initial_option"]["value"] == "ops"
    assert "initial_option" not in agent_select({"ops": "Ops"}, "gone")
