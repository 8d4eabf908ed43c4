from __future__ import annotations

import asyncio

import pytest

from slack_bot.errors import StoreError
from slack_bot.store.health import StoreHealth


async def test_a_store_is_broken_after_failures_in_a_row_and_says_the_last_one() -> None:
    health = StoreHealth(3)
    waiting = asyncio.create_task(health.broken())
    for number in range(3):
        assert not health.is_broken
        health.record_failure(StoreError(f"Failure {number}."))
    assert health.is_broken
    assert str(await waiting) == "3 questions in a row could not be stored. Failure 2."


@pytest.mark.parametrize("failures", [2, 3])
async def test_one_success_counts_from_the_beginning(failures: int) -> None:
    health = StoreHealth(3)
    for _ in range(failures):
        health.record_failure(StoreError("Failure."))
    health.record_success()
    assert not health.is_broken
    for _ in range(2):
        health.record_failure(StoreError("Failure."))
    assert not health.is_broken
