import asyncio
import json

import pytest

from slack_bot.playground.reference.agent import load_knowledge
from slack_bot.playground.reference.local import BURST, LocalModel, LocalTurns
from slack_bot.playground.reference.model import (
    ASK,
    PLAN,
    RESPONSE,
    CallPart,
    Mode,
    ModelFailed,
    ModelSilence,
    Prompt,
    Token,
    ToolCall,
    ToolReturn,
    Utterance,
)
from slack_bot.playground.reference.scenarios import CallTool, GiveUp, Narrate, Thought, WriteMove, think
from slack_bot.playground.reference.search import Library
from slack_bot.playground.reference.toolbox import FETCH, SEARCH, Toolbox, argument_of
from slack_bot.testing import virtual_clock

LIBRARY = Library(load_knowledge())


def messages(
    question: str, mode: Mode, reply: str | None = None, *, plans_itself: bool = False
) -> list[list[Utterance]]:
    turns = LocalTurns(think(question, LIBRARY, reply), mode, plans_itself=plans_itself)
    tools, found, returned = Toolbox(LIBRARY), list[list[Utterance]](), list[ToolReturn]()
    while True:
        found.append(list(turns.turn(returned)))
        calls = [
            ToolCall(each.call, each.tool, each.arguments) for each in found[-1] if isinstance(each, CallPart)
        ]
        if not calls or calls[-1].tool in (ASK, RESPONSE):
            return found
        returned = [
            ToolReturn(call, tools.call(call.tool, argument_of(call.tool, call.arguments))) for call in calls
        ]


def text(said: list[Utterance]) -> str:
    return "".join(each.text for each in said if isinstance(each, Token))


def called(found: list[list[Utterance]]) -> list[list[str]]:
    return [list(dict.fromkeys(each.tool for each in said if isinstance(each, CallPart))) for said in found]


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.MARKER])
def test_it_says_what_it_does_calls_tools_and_marks_its_answer(mode: Mode) -> None:
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
    (said,) = messages("tell me a joke", Mode.MARKER)
    assert [each.text for each in said if isinstance(each, Token) and "FINAL" in each.text] == ["FINAL"]


def test_an_answer_that_goes_on_behind_a_call_is_marked_again() -> None:
    def thought() -> Thought:
        yield WriteMove("One.")
        yield CallTool(SEARCH, "x")
        yield Narrate("More. ")
        yield WriteMove("Two.")
        yield WriteMove("Three.")

    turns = LocalTurns(thought(), Mode.MARKER)
    first = list(turns.turn([]))
    assert [*map(text, [first, list(turns.turn([]))])] == [
        "[FINAL ANSWER]\n\nOne.",
        "More. [FINAL ANSWER]\n\nTwo.Three.",
    ]


def test_pauses_are_silence() -> None:
    (said,) = messages("slow 2", Mode.MARKER)
    assert [each.seconds for each in said if isinstance(each, ModelSilence)] == [1.0, 1.0, 2.5, 2.0]


def test_structured_it_is_silent_as_long_as_it_writes_and_then_gives_all() -> None:
    *_, last = messages("what is agntcy", Mode.STRUCTURED)
    begun, silence, *parts = (each for each in last if not isinstance(each, Token))
    assert isinstance(begun, CallPart)
    assert (begun.tool, begun.arguments) == (RESPONSE, "")
    assert isinstance(silence, ModelSilence)
    assert silence.tokens == len(parts) > 300
    written = json.loads("".join(each.arguments for each in parts if isinstance(each, CallPart)))
    assert list(written)[:3] == ["is_task_complete", "require_user_input", "was_task_successful"]
    assert written["content"].startswith('AGNTCY (say "agency") is')


@pytest.mark.parametrize(
    ("mode", "tool"), [(Mode.MARKER, ASK), (Mode.HYBRID, ASK), (Mode.STRUCTURED, RESPONSE)]
)
def test_it_asks_the_human_by_the_tool_of_its_mode(mode: Mode, tool: str) -> None:
    (said,) = messages("fill in a form", mode)
    raw = "".join(each.arguments for each in said if isinstance(each, CallPart) and each.tool == tool)
    found = json.loads(raw)
    fields = found["input_fields"] if tool == ASK else found["metadata"]["input_fields"]
    assert [each["field_name"] for each in fields] == ["environment", "version", "reason"]
    assert found["prompt" if tool == ASK else "content"] == "Please fill in the form for your request."


@pytest.mark.parametrize("mode", list(Mode))
def test_it_gives_up_with_its_reason(mode: Mode) -> None:
    with pytest.raises(ModelFailed, match="archive broke"):
        messages("fail late", mode)


def test_structured_it_breaks_off_in_the_middle_of_its_object() -> None:
    def thought() -> Thought:
        yield WriteMove("One two")
        yield GiveUp("It broke.")

    said = list[Utterance]()
    with pytest.raises(ModelFailed, match="It broke"):
        for each in LocalTurns(thought(), Mode.STRUCTURED).turn([]):
            said.append(each)
    assert "".join(each.arguments for each in said if isinstance(each, CallPart)).endswith(
        '"content": "One two'
    )


def test_a_plan_of_its_own_takes_time() -> None:
    def planning(plans_itself: bool) -> int:
        found = messages("what is agntcy", Mode.MARKER, plans_itself=plans_itself)
        return sum(each.tokens for said in found for each in said if isinstance(each, ModelSilence))

    assert planning(False) == 0
    assert planning(True) == 4 * LocalTurns.PLANNING


async def timed(question: str, mode: Mode, pace: float) -> list[tuple[float, object]]:
    loop = asyncio.get_running_loop()
    talk = LocalModel(Library(load_knowledge()), pace).converse(Prompt(question, mode))
    return [(loop.time(), said) async for said in talk.turn([])]


def test_tokens_come_at_the_pace() -> None:
    times = [
        at
        for at, said in virtual_clock.run(timed("tell me a joke", Mode.MARKER, 20))
        if isinstance(said, Token)
    ]
    assert len(times) > 30
    assert times[-1] == pytest.approx((len(times) - 1) / 20)


def test_structured_it_bursts_after_as_long_as_the_writing_took() -> None:
    said = virtual_clock.run(timed("tell me a joke", Mode.STRUCTURED, 20))
    parts = [at for at, each in said if isinstance(each, CallPart) and each.arguments]
    begun = next(at for at, each in said if isinstance(each, CallPart))
    assert parts[0] - begun == pytest.approx(len(parts) / 20)
    assert parts[-1] - parts[0] == pytest.approx((len(parts) - 1) / BURST)


@pytest.mark.parametrize("mode", list(Mode))
def test_without_a_pace_nothing_takes_time(mode: Mode) -> None:
    assert {at for at, _ in virtual_clock.run(timed("slow 600", mode, 0))} == {0.0}
