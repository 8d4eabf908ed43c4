"""Puts what requests want into the store, once, and says how far it has come."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

from ...clock import Clock
from ...inbound.access import HourlyQuestions
from ...store.contracts import Store
from ...store.outbound import accept_outbound, outbound
from ...turn.failure import program_in_words, why_failed
from ...turn.outbound import FAILED, OutboundMessage, OutboundRecord
from ...turn.progress import Stage
from .answers import Problem, RequestRefused

_log = logging.getLogger(__name__)

Sender = tuple[str, str]
"""What sends, `key` or `hook`, and its name."""


class Outbox:
    """The messages of requests. All methods raise StoreError. `secrets` must never be shown."""

    def __init__(
        self, store: Store, hourly: HourlyQuestions, clock: Clock, secrets: tuple[str, ...] = ()
    ) -> None:
        self._store, self._hourly, self._secrets = store, hourly, secrets
        self._clock = clock

    async def put(
        self, sender: Sender, message_id: str, message: OutboundMessage, rate: int, fingerprint: str = ""
    ) -> OutboundRecord:
        """Keep a message, once by its id. `fingerprint`: of what was sent; another one is a conflict.

        "": what is sent later with the same id says nothing new. Raises RequestRefused.
        """
        key = _key_of(sender, message_id)
        message = replace(message, program=f"{sender[0]}:{sender[1]}")
        known = await outbound(self._store, key)
        if known is None:
            kind, name = sender
            wait = await self._hourly.seconds_until(f"{kind}:{name}", rate, key)
            if wait:
                words = f"There were {rate} messages in this hour, which is the rate of [{kind}s.{name}]."
                raise RequestRefused(Problem.TOO_MANY, words, wait)
            if message.is_question:
                await self._check_limits(message, key)
        elif fingerprint and known.fingerprint != fingerprint:
            raise _conflict()
        new = OutboundRecord(key, message, self._clock.wall(), fingerprint=fingerprint)
        record = await accept_outbound(self._store, new)
        if fingerprint and record.fingerprint != fingerprint:
            raise _conflict()
        _log_taken(record, is_again=known is not None)
        return record

    async def _check_limits(self, message: OutboundMessage, key: str) -> None:
        """Raises RequestRefused where the limits of the channel, of all or of the day are reached."""
        refusal = await self._hourly.refusal_of_program(message.program, message.channel, message.team, key)
        if refusal is not None:
            raise RequestRefused(Problem.TOO_MANY, refusal.sentence, refusal.wait)

    async def find(self, sender: Sender, message_id: str) -> OutboundRecord | None:
        """The message with this id; None if it has none, or is forgotten."""
        return await outbound(self._store, _key_of(sender, message_id))

    def shown(self, record: OutboundRecord) -> dict[str, Any]:
        """What is said of a message that was taken."""
        return {"id": record.key.rpartition(":")[2], "state": record.state}

    async def state(self, record: OutboundRecord) -> dict[str, Any]:
        """How far a message has come. `answer`: what became of the question, if it is one."""
        first = record.posted[0] if record.posted else None
        about: dict[str, Any] = {**self.shown(record), "ts": first, "permalink": record.link or None}
        if record.error is not None:
            about["error"] = record.error
        if record.message.is_question:
            turn = None if record.turn is None else await self._store.turn(record.turn)
            is_over = turn is not None and turn.stage is Stage.ENDED
            about["answer"] = str(turn.outcome) if turn is not None and is_over else "running"
            if reason := why_failed(turn, self._secrets):
                about |= {"state": FAILED, "error": reason}
        return about


def _key_of(sender: Sender, message_id: str) -> str:
    return f"{sender[0]}:{sender[1]}:{message_id}"


def _log_taken(record: OutboundRecord, *, is_again: bool) -> None:
    """One line with the ids, and nothing that was written."""
    said, message_id = record.message, record.key.rpartition(":")[2]
    what, where = "question" if said.is_question else "text", said.channel or said.user
    came = f"came again and is {record.state}" if is_again else "is taken"
    extra = {"turn": record.key, "team": said.team or None, "thread_ts": said.thread_ts or None}
    who = program_in_words(said.program)
    _log.info("a %s of %s for %s %s: id %s", what, who, where, came, message_id, extra=extra)


def _conflict() -> RequestRefused:
    words = "This Idempotency-Key was used before, with another body: give each message its own."
    return RequestRefused(Problem.CONFLICT, words)
