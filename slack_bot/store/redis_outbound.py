"""What the bot is to say without a question, in Redis: each message under its key, and who delivers it."""

from typing import Any

from ..turn.outbound import OutboundRecord, accepted
from .adapters import OUTBOUND
from .contracts import OutboundStore
from .redis_calls import RedisCalls
from .redis_format import UNSENT, outbound_key, outbound_lease_key, put_outbound


class RedisOutbound(RedisCalls, OutboundStore):
    """A part of `RedisStore`. `lease`: seconds; `_replica`: this process's name."""

    _replica: str
    lease: float

    async def accept_outbound(self, new: OutboundRecord) -> OutboundRecord:
        async def change(pipeline: Any) -> OutboundRecord:
            found = await pipeline.get(outbound_key(new.key))
            stored = accepted(OUTBOUND.validate_json(found) if found else None, new)
            pipeline.multi()
            put_outbound(pipeline, stored)
            return stored

        return await self.transact(change, outbound_key(new.key))

    async def save_outbound(self, record: OutboundRecord) -> None:
        async with self._calling():
            if await self._redis.get(outbound_lease_key(record.key)) not in (None, self._replica):
                raise ValueError(f"another replica delivers {record.key}")
            async with self._redis.pipeline() as pipeline:
                put_outbound(pipeline, record)
                await pipeline.execute()

    async def outbound(self, key: str) -> OutboundRecord | None:
        async with self._calling():
            found = await self._redis.get(outbound_key(key))
            return OUTBOUND.validate_json(found) if found else None

    async def unfinished_outbound(self) -> list[OutboundRecord]:
        lease, mine = round(self.lease * 1000), []
        async with self._calling():
            for key in await self._redis.zrange(UNSENT, 0, -1):
                is_new = await self._redis.set(outbound_lease_key(key), self._replica, nx=True, px=lease)
                if is_new or await self._redis.get(outbound_lease_key(key)) == self._replica:
                    await self._redis.pexpire(outbound_lease_key(key), lease)
                    mine.append(OUTBOUND.validate_json(await self._redis.get(outbound_key(key))))
        return [record for record in mine if record.ended_at is None]
