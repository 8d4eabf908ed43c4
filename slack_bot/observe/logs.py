"""Logging: one line an entry, as text or JSON, with the ids of turn, thread and task, and never a token.

Message text is logged at debug only. Tokens are masked in every entry, also in those of libraries:
slack_sdk logs whole request headers at debug.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import time
from typing import assert_never

from .facts import (
    AgentEvent,
    EventHandled,
    Fact,
    MessageIgnored,
    SlackCalled,
    TurnEnded,
    TurnStarted,
    reference_of,
)

IDS = {"turn": "turn", "thread_ts": "thread", "task": "task"}
"""What `extra` may carry, and its name in a line; `thread` itself is logging's own. A line with a turn has
its `ref` too, which the note of a failed turn shows."""

_TOKEN = re.compile(r"\b(xox[a-z](?:\.xox[a-z])?-|xapp-)[\w-]+|\b(Bearer )[\w.~+/=-]+", re.IGNORECASE)

log = logging.getLogger("slack_bot.turns")


class RedactingFormatter(logging.Formatter):
    """A formatter whose lines hold no token. `secrets` are the exact values that must never appear."""

    def __init__(self, secrets: tuple[str, ...] = ()) -> None:
        super().__init__()
        # the longest first: one may begin another, whose end would be left
        self._secrets = tuple(sorted(filter(None, secrets), key=len, reverse=True))

    def redact(self, text: str) -> str:
        """`text` without tokens."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return _TOKEN.sub(lambda found: f"{found[1] or found[2]}***", text)

    def said(self, record: logging.LogRecord) -> str:
        """The message, and the traceback where there is one."""
        trace = self.formatException(record.exc_info) if record.exc_info else ""
        return self.redact("\n".join(filter(None, (record.getMessage(), trace))))


class TextLines(RedactingFormatter):
    """`2026-11-20T10:00:00Z INFO slack_bot.app: message [turn=... thread=...]`"""

    def format(self, record: logging.LogRecord) -> str:
        """One entry."""
        ids = " ".join(f"{name}={value}" for name, value in _ids(record).items())
        line = f"{_stamp(record)} {record.levelname} {record.name}: {self.said(record)}"
        return f"{line} [{ids}]" if ids else line


class JsonLines(RedactingFormatter):
    """One JSON object an entry: time, level, logger, message, and the ids that are known."""

    def format(self, record: logging.LogRecord) -> str:
        """One entry."""
        entry = {
            "time": _stamp(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self.said(record),
            **_ids(record),
        }
        return json.dumps(entry, ensure_ascii=False)


def setup(level: str, form: str, secrets: tuple[str, ...] = ()) -> LogObserver:
    """Log to stderr, in place of whatever was set up before. Returns the observer that logs turns."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(secrets) if form == "json" else TextLines(secrets))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    if root.level > logging.DEBUG:
        for chatty in ("httpx", "httpcore", "slack_sdk", "aiosqlite", "asyncio"):
            logging.getLogger(chatty).setLevel(logging.WARNING)
    return LogObserver()


class LogObserver:
    """An observer that logs: beginnings and ends of turns at info, the rest at debug."""

    def __init__(self) -> None:
        self._threads: dict[str, str] = {}

    @property
    def wants_details(self) -> bool:
        """Single events are logged."""
        return log.isEnabledFor(logging.DEBUG)

    def __call__(self, fact: Fact) -> None:
        """Log one fact."""
        match fact:
            case TurnStarted():
                self._threads[fact.turn] = fact.thread_ts
                log.info("turn begins", extra=self._extra(fact.turn))
                log.debug("question: %s", fact.text, extra=self._extra(fact.turn))
            case TurnEnded():
                extra = self._extra(fact.turn) | {"task": fact.task_id}
                log.info(
                    "turn ends: %s%s", fact.outcome, f" ({fact.reason})" if fact.reason else "", extra=extra
                )
                self._threads.pop(fact.turn, None)
            case SlackCalled():  # a call that failed is logged as a warning where it failed
                log.debug(
                    "%s: %s in %.2f s",
                    fact.method,
                    fact.error or "ok",
                    fact.took,
                    extra=self._extra(fact.turn),
                )
            case EventHandled():
                log.debug("%s -> %s", fact.event, fact.actions, extra=self._extra(fact.turn))
            case AgentEvent():
                log.debug("agent: %s", fact.kind, extra=self._extra(fact.turn))
            case MessageIgnored():
                pass  # it was logged where it was ignored
            case _:
                assert_never(fact)

    def _extra(self, turn: str) -> dict[str, object]:
        return {"turn": turn or None, "thread_ts": self._threads.get(turn)}


def _ids(record: logging.LogRecord) -> dict[str, str]:
    named = ((shown, getattr(record, name, None)) for name, shown in IDS.items())
    found = {shown: str(value) for shown, value in named if value is not None}
    return {**found, "ref": reference_of(found["turn"])} if "turn" in found else found


def _stamp(record: logging.LogRecord) -> str:
    moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
    return f"{moment}.{int(record.msecs):03d}Z"
