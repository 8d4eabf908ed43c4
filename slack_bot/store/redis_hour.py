"""Counts the questions of the last hour in Redis, for all replicas together."""

from collections.abc import Mapping

from .contracts import Store
from .redis import RedisStore
from .redis_format import PREFIX

_HOUR = 3600

_TAKE = """
local time = redis.call('TIME')
local now, waits = time[1] + time[2] / 1e6, {}
for place, name in ipairs(KEYS) do
  redis.call('ZREMRANGEBYSCORE', name, '-inf', string.format('%.6f', now - ARGV[2]))
  if redis.call('ZSCORE', name, ARGV[1]) then return {} end
end
for place, name in ipairs(KEYS) do
  local most = tonumber(ARGV[place + 2])
  local over = redis.call('ZCARD', name) - most
  if over >= 0 then
    local first = redis.call('ZRANGE', name, over, over, 'WITHSCORES')
    table.insert(waits, {name, string.format('%.6f', first[2] + ARGV[2] - now)})
  end
end
if #waits == 0 then
  for _, name in ipairs(KEYS) do
    redis.call('ZADD', name, string.format('%.6f', now), ARGV[1])
    redis.call('EXPIRE', name, ARGV[2])
  end
end
return waits
"""
"""Uses the clock of Redis. A subject without a question for an hour has no key."""


class RedisHour:
    """The `HourCounts` (`inbound/access.py`) of a bot whose store is Redis."""

    def __init__(self, store: Store) -> None:
        assert isinstance(store, RedisStore), "only Redis is shared"
        self._store, self._script = store, store.script(_TAKE)

    async def take(self, key: str, limits: Mapping[str, int]) -> Mapping[str, float]:
        """Count one question for each subject if no limit is reached.

        Returns, for each subject that is over its limit, the seconds until it may ask again; empty if the
        question was counted. The same `key` counts once. Raises StoreError.
        """
        subjects = {f"{PREFIX}hour:{subject}": subject for subject in limits}
        args = [key, _HOUR, *limits.values()]
        waits = await self._store.call(self._script, list(subjects), args)
        return {subjects[name]: float(seconds) for name, seconds in waits}
