"""Open forms in Redis: each under its handle, and a set of handles for each thread and each person."""

import json
from typing import Any

from ..turn.open_form import OpenForm
from ..turn.record import ThreadKey
from .adapters import FORM
from .contracts import FormStore
from .redis_calls import RedisCalls
from .redis_format import PREFIX, name_of


class RedisForms(RedisCalls, FormStore):
    """A part of `RedisStore`. `_form_age`: seconds."""

    _form_age: int

    async def open_form(self, form: OpenForm) -> None:
        async def change(pipeline: Any) -> None:
            known = _read(await pipeline.get(form_key(form.handle)))
            pipeline.multi()
            stored = form if known is None else known.put(form)
            pipeline.set(form_key(form.handle), FORM.dump_json(stored).decode(), ex=self._form_age)
            for name in (_thread_forms(form.thread), forms_of_key(form.user, form.thread.team)):
                pipeline.sadd(name, form.handle)
                pipeline.expire(name, self._form_age)

        await self.transact(change, form_key(form.handle))

    async def form(self, handle: str) -> OpenForm | None:
        async with self._calling():
            return _read(await self._redis.get(form_key(handle)))

    async def forms_in(self, thread: ThreadKey) -> list[OpenForm]:
        return await self._in_set(_thread_forms(thread))

    async def open_forms_of(self, user: str, team: str) -> list[OpenForm]:
        return [form for form in await self._in_set(forms_of_key(user, team)) if form.is_open]

    async def _in_set(self, name: str) -> list[OpenForm]:
        async with self._calling():
            handles = await self._redis.smembers(name)
            found = await self._redis.mget(list(map(form_key, handles))) if handles else []
        forms = [form for data in found if (form := _read(data)) is not None]
        return sorted(forms, key=lambda form: (form.opened_at, form.handle))

    async def take_form(self, handle: str, by: str, user: str, at: float) -> OpenForm | None:
        async def change(pipeline: Any) -> OpenForm | None:
            known = _read(await pipeline.get(form_key(handle)))
            pipeline.multi()
            if known is None:
                return None
            taken = known.taken(by, user, at)
            pipeline.set(form_key(handle), FORM.dump_json(taken).decode(), keepttl=True)
            return taken

        return await self.transact(change, form_key(handle))


def form_key(handle: str) -> str:
    """Names the form in Redis."""
    return f"{PREFIX}form:{handle}"


def forms_of_key(user: str, team: str) -> str:
    """Names the set of the forms that a person was asked."""
    return f"{PREFIX}forms_of:{json.dumps([team, user])}"


def _thread_forms(thread: ThreadKey) -> str:
    return f"{PREFIX}forms:{name_of(thread)}"


def _read(found: str | None) -> OpenForm | None:
    return None if found is None else FORM.validate_json(found)
