"""The reference agent captured, its tape replayed, and the live thread: three ways to the same text."""

from __future__ import annotations

import io
from typing import Any

import pytest

from slack_bot.playground.command_line import MODES
from slack_bot.playground.reference.agent import AgentApp, adjusted
from slack_bot.settings.models import ReferenceSettings
from slack_bot.testing import virtual_clock
from slack_bot.testing.agent.asgi_transport import AsgiTransport
from slack_bot.testing.harness import AGENT_URL, bot_settings
from slack_bot.testing.tape.json_file import Json
from slack_bot.testing.tape.tape import Recording, Tape, read_tape, turns_of
from slack_bot.tools.capture.capture import CaptureProgress, CaptureRequest, capture
from slack_bot.tools.files import Output, taped
from slack_bot.tools.replay.replay import ReplayQuestions, observe, replayed
from slack_bot.tools.replay.scenario import Scenario

ANSWERED = ("tell me a joke", "unicode 300", "what can you do?")
ASKED_BACK = ("deploy the bot", "yes, do it", "how is the weather in San Francisco?")
FAILED = ("fail late", "tell me a joke")


async def both(mode: str, wire: str, wanted: CaptureRequest) -> tuple[Tape | Recording, Json]:
    """What was captured of the agent, and the thread of the bot that asked another one the same."""
    settings, file = bot_settings({"protocol_version": wire}), Output("tape")
    chosen = adjusted(ReferenceSettings(), 80.0, mode)
    served = [AgentApp(AGENT_URL, chosen) for _ in range(2)]
    try:
        status = await capture(
            wanted, settings, file, CaptureProgress(io.StringIO()), transport=AsgiTransport(served[0].asgi)
        )
        assert status == 0
        seen = await observe(
            Scenario(text=wanted.questions[0]),
            settings,
            virtual_clock.new_clock(),
            AsgiTransport(served[1].asgi),
            asking=ReplayQuestions(wanted.questions[1:]),
        )
    finally:
        for each in served:
            await each.aclose()
    return read_tape(file.data, "tape"), seen.result()


def describe(result: Json) -> tuple[object, ...]:
    """What a person reads: the outcome, and of each message its text, state, cards and buttons."""
    return result["outcome"], [
        (message["text"], message["state"], cards(message["tasks"]), kinds(message["blocks"]))
        for message in result["thread"]
    ]


def cards(tasks: list[Any]) -> list[tuple[object, ...]]:
    return [(task["title"], task["status"], task["details"], task["output"]) for task in tasks]


def kinds(blocks: list[Any]) -> list[str]:
    return [block["type"] for block in blocks]


@pytest.mark.parametrize(
    ("mode", "asked"),
    [
        pytest.param(mode, asked, marks=[pytest.mark.slow] if (at + 1) % 3 != asked else [])
        for at, mode in enumerate(MODES)
        for asked in range(3)
    ],
)
def test_tape_and_live_thread_are_the_same(mode: str, asked: int) -> None:
    """Each mode, and each kind of answer (answered, asked back, failed), on both wires."""
    questions = (ANSWERED, ASKED_BACK, FAILED)[asked]
    wire = ("0.3", "1.0")[(list(MODES).index(mode) + asked) % 2]
    tape, live = virtual_clock.run(both(mode, wire, CaptureRequest(questions)))
    assert isinstance(tape, Tape)
    assert (tape.head["wire"], [text for text, _ in turns_of(tape)]) == (wire, list(questions))
    again = replayed(tape).result()
    assert describe(again) == describe(live)
    assert again["visible"] == live["visible"] != ""
    assert len(live["thread"]) >= len(questions)


@pytest.mark.parametrize(
    "mode", [pytest.param(mode, marks=[pytest.mark.slow] if mode != "hybrid" else []) for mode in MODES]
)
def test_bytes_and_an_answer_in_one_piece_give_the_same_text(mode: str) -> None:
    question = ("unicode 300",)
    recording, live = virtual_clock.run(both(mode, "1.0", CaptureRequest(question, raw=True)))
    assert isinstance(recording, Recording)
    for each in (recording, taped(recording)):
        assert describe(replayed(each).result()) == describe(live)
    whole, _ = virtual_clock.run(both(mode, "0.3", CaptureRequest(question, streaming=False)))
    assert replayed(whole).result()["visible"] == live["visible"]
