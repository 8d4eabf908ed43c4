import asyncio
import json
from itertools import pairwise

import pytest

from slack_bot.playground.command_line import MODES
from slack_bot.playground.reference.agent import bundled_library as guide
from slack_bot.playground.reference.deploying import think_of_deploying
from slack_bot.playground.reference.local import BURST, PLANNING, LocalModel
from slack_bot.playground.reference.scenarios import CallTool, Thought, WriteMove, think
from slack_bot.playground.reference.toolbox import (
    ASK,
    FETCH,
    PLAN,
    RESPONSE,
    SEARCH,
    ModelFailed,
    Prompt,
    Toolbox,
    ToolCall,
    ToolResult,
)
from slack_bot.settings.models import ReferenceSettings
from slack_bot.testing import virtual_clock

Said = str | ToolCall


async def talk(thought: Thought, settings: ReferenceSettings) -> list[list[tuple[float, Said]]]:
    """All messages, with the time of each piece. Tools take none."""
    loop, model, tools = (
        asyncio.get_running_loop(),
        LocalModel(thought, settings),
        Toolbox(guide(), settings),
    )
    found, returned = list[list[tuple[float, Said]]](), list[tuple[ToolCall, ToolResult]]()
    while True:
        found.append([(loop.time(), said) async for said in model.turn(returned)])
        calls = [said for _, said in found[-1] if isinstance(said, ToolCall)]
        if not calls or calls[-1].tool in (ASK, RESPONSE):
            return found
        returned = [(call, tools.run(call.tool, tools.argument(call))) for call in calls]


def timed(question: str, mode: str, pace: float = 0.0, **settings: object) -> list[list[tuple[float, Said]]]:
    chosen = ReferenceSettings.model_validate({"response_mode": mode, "pace": pace, **settings})
    thought = think_of_deploying(Prompt(question), guide()) or think(question, guide())
    return virtual_clock.run(talk(thought, chosen))


def messages(question: str, mode: str) -> list[list[Said]]:
    return [[said for _, said in message] for message in timed(question, mode)]


def text(said: list[Said]) -> str:
    return "".join(each for each in said if isinstance(each, str))


def called(found: list[list[Said]]) -> list[list[str]]:
    return [list(dict.fromkeys(each.tool for each in said if isinstance(each, ToolCall))) for said in found]


@pytest.mark.parametrize("mode", ["hybrid", "marker"])
def test_it_says_what_it_does_calls_tools_and_marks_its_answer(mode: str) -> None:
    found = messages("what is agntcy", mode)
    assert called(found)[0] == [PLAN, SEARCH]
    assert [FETCH] in called(found)
    whole = "\n".join(map(text, found))
    before, marker, after = whole.partition("[FINAL ANSWER]\n\n")
    assert "I'll search" in before
    assert marker
    assert after.startswith('AGNTCY (say "agency") is')
    assert "[FINAL" not in after


def test_the_marker_itself_comes_in_pieces() -> None:
    (said,) = messages("tell me a joke", "marker")
    assert [each for each in said if isinstance(each, str) and "FINAL" in each] == ["FINAL"]


def test_an_answer_that_goes_on_behind_a_call_is_marked_again() -> None:
    def thought() -> Thought:
        yield WriteMove("One.")
        yield CallTool(SEARCH, "x")
        yield "More. "
        yield WriteMove("Two.")
        yield WriteMove("Three.")

    found = virtual_clock.run(talk(thought(), ReferenceSettings(pace=0)))
    assert [text([said for _, said in message]) for message in found] == [
        "[FINAL ANSWER]\n\nOne.",
        "More. [FINAL ANSWER]\n\nTwo.Three.",
    ]


def test_pauses_are_silence() -> None:
    (said,) = timed("slow 2", "marker", 1000)
    times = [at for at, _ in said]
    gaps = [later - at for at, later in pairwise(times)]
    assert [round(gap, 1) for gap in gaps if gap > 0.5] == [1.0, 1.0, 2.5, 2.0]


def test_structured_it_is_silent_as_long_as_it_writes_and_then_gives_all() -> None:
    *_, last = messages("what is agntcy", "structured")
    begun, *parts = (each for each in last if isinstance(each, ToolCall))
    assert (begun.tool, begun.arguments) == (RESPONSE, "")
    assert len(parts) > 300
    written = json.loads("".join(each.arguments for each in parts))
    assert list(written)[:3] == ["is_task_complete", "require_user_input", "was_task_successful"]
    assert written["content"].startswith('AGNTCY (say "agency") is')


@pytest.mark.parametrize(("mode", "tool"), [("marker", ASK), ("hybrid", ASK), ("structured", RESPONSE)])
def test_it_asks_the_human_by_the_tool_of_its_mode(mode: str, tool: str) -> None:
    (said,) = messages("fill in a form", mode)
    raw = "".join(each.arguments for each in said if isinstance(each, ToolCall) and each.tool == tool)
    found = json.loads(raw)
    fields = found["input_fields"] if tool == ASK else found["metadata"]["input_fields"]
    assert [each["field_name"] for each in fields] == ["environment", "version", "reason"]
    assert found["prompt" if tool == ASK else "content"] == "Please fill in the form for your request."


@pytest.mark.parametrize("mode", MODES)
def test_it_gives_up_with_its_reason(mode: str) -> None:
    with pytest.raises(ModelFailed, match="archive broke"):
        messages("fail late", mode)


async def test_structured_it_breaks_off_in_the_middle_of_its_object() -> None:
    def thought() -> Thought:
        yield WriteMove("One two")
        raise ModelFailed("It broke.")

    said = list[Said]()
    with pytest.raises(ModelFailed, match="It broke"):
        async for each in LocalModel(thought(), ReferenceSettings(response_mode="structured", pace=0)).turn(
            []
        ):
            said.append(each)
    raw = "".join(each.arguments for each in said if isinstance(each, ToolCall))
    assert raw.endswith('"content": "One two')


def test_a_plan_of_its_own_takes_time() -> None:
    planned, own = (
        max(
            at
            for message in timed("what is agntcy", "marker", 30, deterministic_middleware=switch)
            for at, _ in message
        )
        for switch in (True, False)
    )
    assert own - planned == pytest.approx(4 * PLANNING / 30)


def test_tokens_come_at_the_pace() -> None:
    times = [at for at, said in timed("tell me a joke", "marker", 20)[0] if isinstance(said, str)]
    assert len(times) > 30
    assert times[-1] == pytest.approx((len(times) - 1) / 20)


def test_structured_it_bursts_after_as_long_as_the_writing_took() -> None:
    (said,) = timed("tell me a joke", "structured", 20)
    parts = [at for at, each in said if isinstance(each, ToolCall) and each.arguments]
    begun = next(at for at, each in said if isinstance(each, ToolCall))
    assert parts[0] - begun == pytest.approx(len(parts) / 20)
    assert parts[-1] - parts[0] == pytest.approx((len(parts) - 1) / BURST)


@pytest.mark.parametrize("mode", MODES)
def test_without_a_pace_nothing_takes_time(mode: str) -> None:
    assert {at for message in timed("slow 600", mode) for at, _ in message} == {0.0}
