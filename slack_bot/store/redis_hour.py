"""The questions of the last hour, counted for all replicas together."""

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
"""By Redis' clock. What is not asked for an hour is gone."""


class RedisHour:
    """The count of a `RedisStore`."""

    def __init__(self, store: Store) -> None:
        assert isinstance(store, RedisStore), "only Redis is shared"
        self._store, self._script = store, store.script(_TAKE)

    async def take(self, key: str, limits: Mapping[str, int]) -> Mapping[str, float]:
        """See `HourCounts` of `inbound.access`. Raises StoreError."""
        subjects = {f"{PREFIX}hour:{subject}": subject for subject in limits}
        args = [key, _HOUR, *limits.values()]
        waits = await self._store.call(self._script, list(subjects), args)
        return {subjects[name]: float(seconds) for name, seconds in waits}
