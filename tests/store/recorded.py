"""Stores as the formats before wrote them (`formats/`), and what is in them."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from redis.asyncio import Redis

from slack_bot.store.contracts import Store
from slack_bot.store.knowledge import AgentContext
from slack_bot.turn.feedback import FeedbackRecord
from slack_bot.turn.outbound import OutboundMessage, OutboundRecord
from slack_bot.turn.progress import Stage
from slack_bot.turn.record import ThreadKey
from slack_bot.turn.thread_state import ThreadState

from . import subjects
from .contract import THREAD, message, opened, overheard, turn

FORMATS = Path(__file__).with_name("formats")
AT = float(time.time() // 10 * 10 - 100)
"""What was recorded at 1790000000 is as if it had just been: nothing of it is old."""
ODD = ThreadKey("T'1", 'C"1', "1;--\u2028😀")


def _recorded(name: str) -> str:
    text = (FORMATS / name).read_text("utf-8")
    return text.replace("179000000", f"{AT / 10:.0f}")


def write_sqlite(file: Path) -> None:
    """Format 8."""
    with closing(sqlite3.connect(file)) as writer:
        writer.executescript(_recorded("sqlite_8.sql"))
        with writer:  # what is behind the zero character is not in a dump
            whole = "UPDATE conversations SET context_id = ? WHERE context_id = 'ctx:'"
            writer.execute(whole, ("ctx:\x00run",))


async def write_redis(client: Redis) -> None:
    """Format 1."""
    put: Any = client
    for each in json.loads(_recorded("redis_1.json")):
        name, value = each["key"], each["value"]
        match each["type"]:
            case "string":
                await put.set(name, value)
            case "hash":
                await put.hset(name, mapping=value)
            case "set":
                await put.sadd(name, *value)
            case "zset":
                await put.zadd(name, dict(value))
            case "list":
                await put.rpush(name, *value)
            case "stream":
                for entry, fields in value:
                    await put.xadd(name, fields, id=entry)
        if each["ttl"] > 0:
            await put.expire(name, each["ttl"])


async def check_all(store: Store) -> None:
    """All that was written is there."""
    key = turn("1.0", AT).key
    assert await store.turn(key) == replace(
        turn("1.0", AT), stage=Stage.ENDED, ended_at=AT + 2, messages=(message("5.1", "Hi"),)
    )
    assert await store.unfinished() == [turn("2.0", AT + 1)]
    assert [each.data for each in await store.events(key)] == ['{"n": 1}']
    known = await subjects.conversation(store, "agent", THREAD)
    assert known == AgentContext("ctx", {"U2": "two", "U'1": 'ta"sk'}, ("1.0", "2.0"))
    assert list(known.waits) == ["U2", "U'1"]
    assert await subjects.conversation(store, "a'gent", ODD) == AgentContext("ctx:\x00run")
    assert await subjects.thread_state(store, THREAD) == ThreadState("U1", AT, AT, is_shown=True)
    assert await subjects.profile(store, "agent") == {"wire": "1.0", 'ans"wer': "artifact 😀"}
    ids = "task", "ctx", "trace"
    said = FeedbackRecord(key, "U1", "negative", AT, ("Wrong",), "no 😀", *ids).to_send(("webhook",))
    assert await subjects.due_feedback(store, AT, 9) == [said]
    other = FeedbackRecord(key, 'U"2', "positive", AT)
    assert await subjects.change_feedback(store, key, 'U"2', lambda _: None) == other
    assert await subjects.overheard(store, THREAD) == [overheard(int(AT) + n, f"U{n}") for n in range(2)]
    taken = opened("h2", AT + 1, user="U2").taken("key", "U1", AT + 2)
    assert await subjects.forms_in(store, THREAD) == [opened("h1", AT), taken]
    assert await subjects.open_forms_of(store, "U1", "T1") == [opened("h1", AT)]
    waits = OutboundRecord("waits", OutboundMessage("hi", user="U1"), AT)
    sent = replace(waits, key="said", is_begun=True, posted=("9.0",), link="l", ended_at=AT + 3)
    assert await subjects.outbound(store, "said") == sent
    assert await subjects.unfinished_outbound(store) == [waits]
