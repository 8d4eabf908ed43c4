import functools
from typing import Any

import pytest

from slack_bot.observe.facts import AgentEvent, Fact
from slack_bot.playground.command_line import MODES
from slack_bot.playground.reference.modes import observe_mode
from slack_bot.settings.load import Settings, load
from slack_bot.tools.replay.scenario import make_scenario
from slack_bot.tools.turn_log import TurnLog


class FactLog(TurnLog):
    """Keeps all facts as they came."""

    def __init__(self) -> None:
        super().__init__()
        self.facts: list[Fact] = []

    def take(self, fact: Fact) -> None:
        super().take(fact)
        self.facts.append(fact)


@functools.cache
def asked(mode: str, text: str, **settings: Any) -> tuple[dict[str, Any], list[tuple[float, dict[str, Any]]]]:
    """The result, and the artifacts as they came, with their times: the same for the same words."""
    log = FactLog()
    scenario = make_scenario({"text": text, "settings": settings})
    seen = observe_mode(mode, scenario, plain(), log)
    raws = [(fact.at - seen.asked_at, fact.raw) for fact in log.facts if isinstance(fact, AgentEvent)]
    updates = [(at, raw.get("artifactUpdate") or raw) for at, raw in raws]
    return seen.result(), [(at, update["artifact"]) for at, update in updates if "artifact" in update]


def plain() -> Settings:
    return load({}, env_file=None, secrets_dir=None)


def test_the_modes_are_three() -> None:
    assert set(MODES) == {"hybrid", "marker", "structured"}


@pytest.mark.parametrize("mode", ["hybrid", "marker"])
def test_text_flows_from_the_first_token_of_the_answer(mode: str) -> None:
    result, _ = asked(mode, "what is agntcy")
    assert result["first_visible"] <= result["first_answer_event"] + 1.0
    assert result["first_visible"] < 5
    assert result["longest_gap"] < 2
    assert result["live_share"] > 0.95


def test_structured_is_silent_and_then_a_burst() -> None:
    result, artifacts = asked("structured", "what is agntcy")
    assert result["first_visible"] > 15
    pieces = [at for at, each in artifacts if each.get("metadata", {}).get("is_final_answer")]
    assert len(pieces) > 100
    assert pieces[-1] - pieces[0] < 1.0


QUESTIONS = (
    "what is agntcy",
    pytest.param("tell me everything about streaming", marks=pytest.mark.slow),
    "tell me a joke",
    "how is the weather in San Francisco?",
    "unicode 500",
    "slow 4",
)


@pytest.mark.parametrize("question", QUESTIONS)
def test_all_modes_end_in_the_same_answer_and_it_is_what_stands_in_the_thread(question: str) -> None:
    answers = set()
    for mode in MODES:
        result, artifacts = asked(mode, question, pace=200)
        final = [each for _, each in artifacts if each["name"] == "final_result"]
        streamed = "".join(
            each["parts"][0]["text"]
            for _, each in artifacts
            if each.get("metadata", {}).get("is_final_answer")
        )
        assert [each["parts"][0]["text"] for each in final] == [streamed], mode
        assert result["visible"].split() == streamed.split()
        assert result["outcome"] == "answered"
        assert "[FINAL" not in streamed
        answers.add(streamed)
    assert len(answers) == 1


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("question", "outcome"),
    [("fail", "failed"), ("fail late", "failed"), ("deploy the bot", "asked"), ("fill in a form", "asked")],
)
def test_other_ends_are_the_same_in_every_mode(mode: str, question: str, outcome: str) -> None:
    result, artifacts = asked(mode, question, pace=200)
    assert result["outcome"] == outcome
    assert ("archive was asked" in result["visible"]) == (question == "fail late")
    assert any(each["name"] == "UserInputMetaData" for _, each in artifacts) == ("form" in question)
    shown = " ".join(message["text"] for message in result["thread"])
    words = {
        "fail": "",
        "fail late": "",
        "deploy the bot": "Which environment",
        "fill in a form": "fill in the form",
    }
    assert shown.count(words[question]) == 1 if words[question] else True


@pytest.mark.parametrize("mode", ["hybrid", "structured"])
def test_structured_output_is_data_and_the_thread_is_the_same(mode: str) -> None:
    text, _ = asked(mode, "tell me a joke", pace=200)
    result, artifacts = asked(mode, "tell me a joke", pace=200, structured_output=True)
    (final,) = (each for _, each in artifacts if each["name"] == "final_result")
    assert final["parts"][0]["data"]["content"].split() == result["visible"].split()
    assert result["visible"] == text["visible"]


# -- the middleware, as a trace shows it ---------------------------------------------------------------------


def shape(question: str, **switches: bool) -> tuple[list[str], float]:
    """What was told, without its text's pieces, and when the answer began."""
    result, artifacts = asked("marker", question, **switches)
    names = [
        f"{each['name']} {each.get('description')}"
        for _, each in artifacts
        if each["name"] != "streaming_result"
    ]
    return names, result["first_answer_event"] or 0.0


START, END = "tool_notification_start Tool call", "tool_notification_end Tool call"


@pytest.mark.parametrize(
    ("name", "question", "event"),
    [
        ("self_service_middleware", "fill in a form", "UserInputMetaData Structured user input"),
        pytest.param(
            "skills_middleware",
            "tell me everything about streaming",
            f"{START} started: [SKILL] deep-research",
            marks=pytest.mark.slow,
        ),
        (
            "file_arg_middleware",
            "what is agntcy, see @cost-and-licence.md",
            f"{END} completed: fetch_document",
        ),
    ],
)
def test_a_part_changes_an_event_and_the_master_wins(name: str, question: str, event: str) -> None:
    usual = shape(question)[0].count(event)
    assert usual > 0
    assert shape(question, **{name: False})[0].count(event) == usual - 1
    assert shape(question, **{name: True}, middleware=False)[0].count(event) == usual - 1


@pytest.mark.parametrize(
    ("name", "sooner"), [("policy_middleware", True), ("deterministic_middleware", False)]
)
def test_a_part_changes_a_time(name: str, sooner: bool) -> None:
    usual = shape("what is agntcy")[1]
    without = shape("what is agntcy", **{name: False})[1]
    assert (without < usual - 0.3) if sooner else (without > usual + 0.3)
    without_all = shape("what is agntcy", middleware=False)[1]
    assert shape("what is agntcy", **{name: True}, middleware=False)[1] == without_all


def test_a_long_silence_is_told() -> None:
    log = FactLog()
    observe_mode("marker", make_scenario({"text": "slow 100", "settings": {"heartbeat": 20}}), plain(), log)
    raws = [str(fact.raw) for fact in log.facts if isinstance(fact, AgentEvent)]
    assert sum("Still working (20 s)" in raw for raw in raws) >= 2
    assert sum("Still working (40 s)" in raw for raw in raws) >= 2
