import asyncio

from slack_bot.playground.reference.heartbeat import Heartbeat
from slack_bot.testing import virtual_clock


async def beats(interval: float, *events: float, until: float) -> list[tuple[float, float]]:
    """When it beat, and what it told, where something is said at `events`."""
    found: list[tuple[float, float]] = []
    loop = asyncio.get_running_loop()

    async def beat(silent: float) -> None:
        found.append((round(loop.time(), 3), silent))

    heart = Heartbeat(interval, beat)
    async with heart.beating():
        for at in events:
            await asyncio.sleep(at - loop.time())
            heart.touch()
        await asyncio.sleep(until - loop.time())
    await asyncio.sleep(1000)
    return found


def test_silence_is_told_as_long_as_it_lasts() -> None:
    assert virtual_clock.run(beats(30, until=95)) == [(30, 30), (60, 60), (90, 90)]


def test_what_is_said_begins_the_silence_anew() -> None:
    assert virtual_clock.run(beats(30, 20, 25, 70, until=110)) == [(55, 30), (100, 30)]


def test_an_interval_of_0_is_never() -> None:
    assert virtual_clock.run(beats(0, until=500)) == []
