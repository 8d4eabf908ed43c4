"""Feedback in Redis: a hash of persons for each turn, and a set of what is to be sent, by its time."""

import json
from typing import Any

from ..turn.feedback import FeedbackRecord
from .adapters import FEEDBACK
from .contracts import ChangeFeedback, FeedbackStore
from .redis_calls import RedisCalls
from .redis_format import PREFIX

_DUE = f"{PREFIX}feedback_due"


class RedisFeedback(RedisCalls, FeedbackStore):
    """A part of `RedisStore`. `_feedback_age`: seconds."""

    _feedback_age: int

    async def change_feedback(self, turn: str, user: str, change: ChangeFeedback) -> FeedbackRecord | None:
        key, member = feedback_key(turn), json.dumps([turn, user])

        async def replace_it(pipeline: Any) -> FeedbackRecord | None:
            before = read_feedback(turn, user, await pipeline.hget(key, user))
            after = change(before)
            pipeline.multi()
            if after is not None and after != before:
                pipeline.hset(key, user, FEEDBACK.dump_json(after).decode())
                pipeline.expire(key, self._feedback_age)
                if after.due is None:
                    pipeline.zrem(_DUE, member)
                else:
                    pipeline.zadd(_DUE, {member: after.due})
            return before

        return await self.transact(replace_it, key)

    async def due_feedback(self, now: float, most: int) -> list[FeedbackRecord]:
        found = []
        async with self._calling():
            for member in await self._redis.zrangebyscore(_DUE, "-inf", now, start=0, num=most):
                turn, user = json.loads(member)
                record = read_feedback(turn, user, await self._redis.hget(feedback_key(turn), user))
                if record is None or record.due is None:  # it was erased
                    await self._redis.zrem(_DUE, member)
                else:
                    found.append(record)
        return found


def feedback_key(turn: str) -> str:
    """Names the feedback to a turn in Redis."""
    return f"{PREFIX}feedback:{turn}"


def read_feedback(turn: str, user: str, found: str | None) -> FeedbackRecord | None:
    """What stands in Redis. Older versions wrote the value and its time alone."""
    if found is None:
        return None
    if found.startswith("["):
        value, at = json.loads(found)
        return FeedbackRecord(turn, user, value, at)
    return FEEDBACK.validate_json(found)
