"""Its contract is run by `test_redis.py`: here only that the store has it as a part."""

from slack_bot.store.redis import RedisStore
from slack_bot.store.redis_outbound import RedisOutbound


def test_the_store_keeps_what_is_to_be_said_in_this_way() -> None:
    assert RedisStore.accept_outbound is RedisOutbound.accept_outbound
    assert RedisStore.unfinished_outbound is RedisOutbound.unfinished_outbound
