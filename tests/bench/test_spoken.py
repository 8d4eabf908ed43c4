"""Messages and schedules while replicas are killed: on a smaller scale."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.redis_server import NO_REDIS, REDIS_SERVER, running_redis

from .spoken import Plan, Spoken, run


@pytest.mark.slow
@pytest.mark.skipif(REDIS_SERVER is None, reason=NO_REDIS)
def test_what_is_posted_and_scheduled_is_said_once_and_none_is_lost(tmp_path: Path) -> None:
    with running_redis(tmp_path / "redis") as redis:
        spoken = asyncio.run(run(Plan(), tmp_path, redis.url))
    assert spoken.wrong == [], spoken.line()
    assert spoken.items + spoken.runs >= 100 and spoken.kills >= 10


def test_the_line_says_what_is_wrong() -> None:
    assert Spoken(2, 3, 4).line().endswith("each once, none lost")
    assert Spoken(2, 3, 4, wrong=["a"]).line().endswith("; a")
