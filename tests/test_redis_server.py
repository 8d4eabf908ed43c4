"""The Redis that tests use: what it keeps, what it loses, and that it ends."""

from __future__ import annotations

import pytest
import redis

from .redis_server import RedisServer


def test_what_was_answered_outlives_a_kill_unless_the_memory_is_lost(redis_server: RedisServer) -> None:
    client = redis.Redis.from_url(redis_server.url, decode_responses=True)
    client.set("kept", "yes")
    redis_server.kill()
    with pytest.raises(redis.ConnectionError):
        client.get("kept")
    redis_server.start()
    assert client.get("kept") == "yes"
    redis_server.kill()
    redis_server.forget()
    redis_server.start()
    assert client.get("kept") is None
    client.close()


def test_a_frozen_one_keeps_its_connections_and_answers_later(redis_server: RedisServer) -> None:
    client = redis.Redis.from_url(redis_server.url, socket_timeout=0.2, retry=None)
    client.set("kept", "yes")
    with redis_server.frozen(), pytest.raises(redis.TimeoutError):
        client.get("kept")
    assert client.get("kept") == b"yes"
    client.close()
