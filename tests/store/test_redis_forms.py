"""Its contract is run by `test_redis.py`: here only that the store has it as a part."""

from __future__ import annotations

from slack_bot.store.redis import RedisStore
from slack_bot.store.redis_forms import RedisForms


def test_the_store_keeps_forms_in_this_way() -> None:
    assert issubclass(RedisStore, RedisForms)
