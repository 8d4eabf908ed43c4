"""The agent's events of an answer are in the store, up to the size that was set."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from slack_bot.store.contracts import KeptEvent
from slack_bot.store.stores import open_admin
from slack_bot.testing.harness import CHANNEL, bot_on_network
from slack_bot.testing.tape.builders import answer
from tests.store import subjects

TAPE = answer("One two three four.", seconds=0.4)
EVENTS = [moment.event for moment in TAPE.moments if moment.event is not None]


async def kept(file: Path, **settings: Any) -> list[KeptEvent]:
    """What is kept of one answered question, once the bot has ended."""
    url = f"sqlite:///{file}"
    async with bot_on_network(TAPE, http=True, **{"store.url": url, **settings}) as (workspace, face, app):
        workspace.say("U1", CHANNEL, f"<@{workspace.bot.user_id}> hi", now=time.time())
        await face.settle()
        await app.threads.idle()
    async with open_admin(subjects.options(url)) as store:
        (key,) = await store.keys()
        return await store.events(key)


async def test_all_events_are_kept_as_they_came(tmp_path: Path) -> None:
    found = await kept(tmp_path / "bot.sqlite", event_bytes=100_000)
    assert [json.loads(each.data) for each in found] == EVENTS
    assert [each.at for each in found] == sorted(each.at for each in found)
    assert found[-1].at > found[0].at


async def test_of_a_long_answer_the_beginning_is_kept(tmp_path: Path) -> None:
    found = await kept(tmp_path / "bot.sqlite", event_bytes=500)
    assert 0 < len(found) < len(EVENTS)
    assert [json.loads(each.data) for each in found] == EVENTS[: len(found)]
    assert sum(len(each.data) for each in found) <= 500


async def test_none_is_kept_if_nobody_asked_for_it(tmp_path: Path) -> None:
    assert await kept(tmp_path / "bot.sqlite") == []
