"""A rolling update of three replicas, on a small scale."""

from __future__ import annotations

import asyncio

import pytest

from tests.redis_server import NO_REDIS, REDIS_SERVER

from .rolling import Plan, run, summary


@pytest.mark.slow
@pytest.mark.skipif(REDIS_SERVER is None, reason=NO_REDIS)
def test_a_rolling_update_under_live_answers_loses_nothing_and_doubles_nothing() -> None:
    result = asyncio.run(run(Plan(answers=8, seconds=(6.0, 12.0), span=16.0, grace=2.0, lease=4.0)))
    assert result.wrong == [], summary(result)
    assert {fact.fate for fact in result.facts} == {"whole"}


def test_the_questions_follow_from_the_seed() -> None:
    assert Plan().questions() == Plan().questions()
    assert Plan(seed=2).questions() != Plan().questions()
    asked = Plan().questions()
    assert any(each.is_direct for each in asked)
    assert len({each.user for each in asked}) == len(asked) == 50
