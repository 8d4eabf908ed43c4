"""Records as JSON. Each type of record has one pydantic adapter, built once because that takes a while."""

from functools import cache
from typing import Any

from pydantic import TypeAdapter

from ..turn.progress import MessageRecord, TurnRecord
from .collection import Collection, R

TURN, MESSAGE = TypeAdapter(TurnRecord), TypeAdapter(MessageRecord)


def read(collection: Collection[R], text: str) -> R:
    """Parse a stored record. Raises ValueError if the JSON does not fit the collection's type."""
    record: R = _adapter(collection).validate_json(text)
    return record


def write(collection: Collection[R], record: R) -> str:
    """Write a record as JSON."""
    # for mappings that cannot be changed; else it warns of them
    return _adapter(collection).dump_json(record, fallback=dict, warnings=False).decode()


@cache
def _adapter(collection: Collection[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(collection.record_type)
