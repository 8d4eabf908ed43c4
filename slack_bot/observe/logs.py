"""Logging: each entry is one line of text or JSON, with the ids of turn, thread and task, and without tokens.

slack_sdk logs whole request headers at debug. The text of messages is logged at debug only.
"""

import asyncio
import json
import logging
import re
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, assert_never

from ..http_client import LOGGERS
from ..text.masking import mask_secrets, spellings
from ..turn.actions import AppendText
from ..turn.events import AnswerText, Narrated
from ..turn.record import WRONG
from . import facts

_IDS = {"team": "team", "turn": "turn", "thread_ts": "thread", "task": "task"}
"""The keys that `extra` may have, and their names in a line; `thread` is a name of logging itself."""
# an agent or a person may have written them: none may begin a line, move the cursor or turn the text around
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_INDENT = "    "  # of the lines of a traceback: what an exception says is not a line of the log

# the last one by itself: it looks at its own level alone, and puts each call into words that nobody reads
_CHATTY = (*LOGGERS, "slack_sdk", "asyncio", "slack_sdk.web.async_base_client")

log = logging.getLogger("slack_bot.turns")


class LogLines(logging.Formatter):
    """Formats entries as `json` or `text`, and masks the values of `secrets` and what looks like a secret.

    In `text` an entry is one line, and its traceback is indented below it.
    """

    def __init__(self, form: str, secrets: tuple[str, ...] = ()) -> None:
        super().__init__()
        self._is_json = form == "json"
        self._secrets = spellings(secrets)

    def format(self, record: logging.LogRecord) -> str:
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        stamp = f"{moment}.{int(record.msecs):03d}Z"
        message, trace = self._without_secrets(record)
        values = {shown: getattr(record, name, None) for name, shown in _IDS.items()}
        ids = {shown: str(value) for shown, value in values.items() if value is not None}
        if "turn" in ids:
            ids["ref"] = facts.reference_of(ids["turn"])  # which the note of a failed turn shows
        if self._is_json:
            level, text = record.levelname.lower(), "\n".join(filter(None, (message, trace)))
            entry = {"time": stamp, "level": level, "logger": record.name, "message": text, **ids}
            return json.dumps(entry, ensure_ascii=False)
        ids_text = " ".join(f"{name}={_escaped(value)}" for name, value in ids.items())
        line = f"{stamp} {record.levelname} {record.name}: {_escaped(message)}"
        rest = [_INDENT + _escaped(each) for each in trace.split("\n")] if trace else []
        return "\n".join((line + (f" [{ids_text}]" if ids_text else ""), *rest))

    def _without_secrets(self, record: logging.LogRecord) -> tuple[str, str]:
        """The message and the traceback, with secrets masked."""
        trace = self.formatException(record.exc_info) if record.exc_info else ""
        return mask_secrets(record.getMessage(), self._secrets), mask_secrets(trace, self._secrets)


def _escaped(text: str) -> str:
    return _CONTROL.sub(lambda control: ascii(control.group())[1:-1], text)


def setup(level: str, form: str, secrets: tuple[str, ...] = ()) -> None:
    """Log to stderr, and replace any earlier setup. `form`: "json" or "text"."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LogLines(form, secrets))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    if root.level > logging.DEBUG:
        for chatty in _CHATTY:
            logging.getLogger(chatty).setLevel(logging.WARNING)


def log_if_broken(task: asyncio.Task[Any], turn: str | None = None) -> None:
    """Log the exception of a task that no code awaits. `turn`: the key of its turn."""
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("a background task broke", exc_info=error, extra={"turn": turn})


def _log_end(fact: facts.TurnEnded, extra: Mapping[str, object]) -> None:
    """Log the end of a turn.

    The agent's own words on its failure may hold words of people: a command shows them.
    """
    how = f"{fact.outcome} ({fact.reason})" if fact.reason else fact.outcome
    if fact.outcome not in WRONG:
        log.info("turn ends: %s", how, extra=extra)
    elif fact.said:
        ref = facts.reference_of(fact.turn)
        log.warning(
            "turn ends: %s; what the agent says of it: slack-bot store show %s", how, ref, extra=extra
        )
    else:
        log.warning("turn ends: %s", how, extra=extra)


def _without_pieces(value: object) -> object:
    """The length in place of a streamed text, because a secret that is cut in two is not recognised."""
    if isinstance(value, AnswerText | Narrated | AppendText):
        return replace(value, text=f"<{len(value.text)} characters>")
    return value


class LogObserver:
    """Logs the beginnings and ends of turns at info, and other facts at debug."""

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
                _log_end(fact, {**extra, "task": fact.task_id})
                self._threads.pop(fact.turn, None)
            case facts.SlackCalled():  # a call that failed is logged as a warning where it failed
                log.debug("%s: %s in %.2f s", fact.method, fact.error or "ok", fact.took, extra=extra)
            case facts.EventHandled():
                actions = tuple(map(_without_pieces, fact.actions))
                log.debug("%s -> %s", _without_pieces(fact.event), actions, extra=extra)
            case facts.AgentEvent():
                log.debug("agent: %s", fact.kind, extra=extra)
            case facts.QuestionStored() | facts.FeedbackSent() | facts.MessageIgnored():
                pass  # it was logged where it happened
            case facts.AgentHeard() | facts.TextShown() | facts.TurnTakenOver() | facts.DoubtSettled():
                pass
            case (
                facts.AgentAsked()
                | facts.AgentLeft()
                | facts.TurnRecorded()
                | facts.FormShown()
                | facts.FormAnswered()
            ):
                pass
            case _:
                assert_never(fact)
