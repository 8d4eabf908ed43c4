import asyncio

import pytest

from slack_bot.playground.reference.agent import load_knowledge
from slack_bot.playground.reference.model import CallPart, Mode, Prompt, Token
from slack_bot.playground.reference.offline import BURST, LocalModel
from slack_bot.playground.reference.search import Library
from slack_bot.testing import virtual_clock


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
