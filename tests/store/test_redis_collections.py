"""Sets of keys by which records are found hold no longer than the records, and mislead nobody."""

from __future__ import annotations

from dataclasses import replace

from slack_bot.store.collection import Ages
from slack_bot.store.knowledge import FORMS
from slack_bot.store.redis import open_redis
from slack_bot.store.redis_collections import record_key
from slack_bot.store.redis_connection import connect
from slack_bot.turn.feedback import FeedbackRecord
from tests.redis_server import RedisServer

from . import subjects
from .contract import THREAD, opened


async def test_a_record_that_is_gone_or_is_about_others_now_is_not_found(redis_server: RedisServer) -> None:
    store, client = await open_redis(redis_server.url, Ages(), patience=60.0), connect(redis_server.url)
    for handle in ("h1", "h2"):
        await subjects.open_form(store, opened(handle))
    await client.delete(record_key(FORMS, ("h1",)))
    await subjects.open_form(store, opened("h2", user="U2"))
    assert [each.handle for each in await subjects.forms_in(store, THREAD)] == ["h2"]
    assert await subjects.open_forms_of(store, "U1", "T1") == []
    assert [each.handle for each in await subjects.open_forms_of(store, "U2", "T1")] == ["h2"]
    await subjects.open_form(store, opened("h2", user="U2", thread=replace(THREAD, ts="9.0")))
    assert await subjects.forms_in(store, THREAD) == []
    await client.aclose()
    await store.close()


async def test_what_was_erased_is_no_longer_due(redis_server: RedisServer) -> None:
    store, client = await open_redis(redis_server.url, Ages(), patience=60.0), connect(redis_server.url)
    for turn in ("T1:C1:1.0", "T1:C1:2.0"):
        said = FeedbackRecord(turn, "U1", "positive", 1.0).to_send(("log",))
        await subjects.change_feedback(store, turn, "U1", lambda _, said=said: said)  # type: ignore[misc]
    (first, *_) = await client.keys("*record:feedback:*1.0*")
    await client.delete(first)
    assert [each.turn for each in await subjects.due_feedback(store, 2.0, 9)] == ["T1:C1:2.0"]
    (due,) = await client.keys("*due:feedback")
    assert await client.zcard(due) == 1
    await client.aclose()
    await store.close()


async def test_a_set_forgets_the_keys_of_old_records(redis_server: RedisServer) -> None:
    store, client = (
        await open_redis(redis_server.url, Ages(form_days=1.0), patience=60.0),
        connect(redis_server.url),
    )
    for handle, at in (("old", 1000.0), ("new", 1000.0 + 86_400)):
        await subjects.open_form(store, opened(handle, at))
    for name in await client.keys("*of_*:forms:*"):
        assert await client.zrange(name, 0, -1) == ['["new"]']
        assert 0 < await client.ttl(name) <= 86_400
    await client.aclose()
    await store.close()
