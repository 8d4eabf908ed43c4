"""Its contract is run by `test_redis.py`: here only that the store has it as a part."""

from __future__ import annotations

from slack_bot.store.redis import RedisStore
from slack_bot.store.redis_forms import FORM, RedisForms

from .contract import opened


def test_the_store_keeps_forms_in_this_way() -> None:
    assert issubclass(RedisStore, RedisForms)
    assert FORM.validate_json(FORM.dump_json(opened("h1"))) == opened("h1")
