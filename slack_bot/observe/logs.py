"""Logging: one line an entry, as text or JSON, with the ids of turn, thread and task, and never a token.

slack_sdk logs whole request headers at debug. Message text is logged at debug only.
"""

import asyncio
import json
import logging
import re
import sys
import time
from typing import Any, assert_never

from . import facts

_IDS = {"turn": "turn", "thread_ts": "thread", "task": "task"}
"""What `extra` may carry, and its name in a line; `thread` itself is logging's own."""
_TOKEN = re.compile(r"\b(xox[a-z](?:\.xox[a-z])?-|xapp-)[\w-]+|\b(Bearer )[\w.~+/=-]+", re.IGNORECASE)

# the last one by itself: it looks at its own level alone, and puts each call into words that nobody reads
_CHATTY = ("httpx", "httpcore", "slack_sdk", "asyncio", "slack_sdk.web.async_base_client")

log = logging.getLogger("slack_bot.turns")


class LogLines(logging.Formatter):
    """Formats entries, as `json` or `text`, without tokens and the exact values of `secrets`."""

    def __init__(self, form: str, secrets: tuple[str, ...] = ()) -> None:
        super().__init__()
        self._is_json = form == "json"
        # the longest first: one may begin another, whose end would be left
        self._secrets = tuple(sorted(filter(None, secrets), key=len, reverse=True))

    def format(self, record: logging.LogRecord) -> str:
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        stamp, said = f"{moment}.{int(record.msecs):03d}Z", self._said(record)
        found = {shown: getattr(record, name, None) for name, shown in _IDS.items()}
        ids = {shown: str(value) for shown, value in found.items() if value is not None}
        if "turn" in ids:
            ids["ref"] = facts.reference_of(ids["turn"])  # which the note of a failed turn shows
        if self._is_json:
            level = record.levelname.lower()
            entry = {"time": stamp, "level": level, "logger": record.name, "message": said, **ids}
            return json.dumps(entry, ensure_ascii=False)
        # an agent chooses the ids of its tasks: none may begin a line
        named = " ".join(f"{name}={id if id.isprintable() else ascii(id)}" for name, id in ids.items())
        return f"{stamp} {record.levelname} {record.name}: {said}" + (f" [{named}]" if named else "")

    def _said(self, record: logging.LogRecord) -> str:
        trace = self.formatException(record.exc_info) if record.exc_info else ""
        text = "\n".join(filter(None, (record.getMessage(), trace)))
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return _TOKEN.sub(lambda found: f"{found[1] or found[2]}***", text)


def setup(level: str, form: str, secrets: tuple[str, ...] = ()) -> None:
    """Log to stderr, in place of whatever was set up before."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LogLines(form, secrets))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    if root.level > logging.DEBUG:
        for chatty in _CHATTY:
            logging.getLogger(chatty).setLevel(logging.WARNING)


def log_if_broken(task: asyncio.Task[Any], turn: str | None = None) -> None:
    """For a task that nobody waits for, when it is done. `turn`: the key of the turn that it is about."""
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("a background task broke", exc_info=error, extra={"turn": turn})


class LogObserver:
    """An observer that logs: beginnings and ends of turns at info, the rest at debug."""

    def __init__(self) -> None:
        self._threads: dict[str, str] = {}

    @property
    def wants_details(self) -> bool:
        return log.isEnabledFor(logging.DEBUG)

    def __call__(self, fact: facts.Fact) -> None:
        if isinstance(fact, facts.TurnStarted):
            self._threads[fact.turn] = fact.thread_ts
        extra: dict[str, object] = {"turn": fact.turn or None, "thread_ts": self._threads.get(fact.turn)}
        match fact:
            case facts.TurnStarted():
                log.info("turn begins", extra=extra)
                log.debug("question: %s", fact.text, extra=extra)
            case facts.TurnEnded():
                reason = f" ({fact.reason})" if fact.reason else ""
                log.info("turn ends: %s%s", fact.outcome, reason, extra={**extra, "task": fact.task_id})
                self._threads.pop(fact.turn, None)
            case facts.SlackCalled():  # a call that failed is logged as a warning where it failed
                log.debug("%s: %s in %.2f s", fact.method, fact.error or "ok", fact.took, extra=extra)
            case facts.EventHandled():
                log.debug("%s -> %s", fact.event, fact.actions, extra=extra)
            case facts.AgentEvent():
                log.debug("agent: %s", fact.kind, extra=extra)
            case facts.QuestionStored() | facts.FeedbackSent() | facts.MessageIgnored():
                pass  # it was logged where it happened
            case facts.AgentHeard() | facts.TextShown() | facts.AgentAsked() | facts.AgentLeft():
                pass
            case facts.DoubtSettled() | facts.TurnTakenOver() | facts.TurnRecorded() | facts.FormAnswered():
                pass
            case _:
                assert_never(fact)
