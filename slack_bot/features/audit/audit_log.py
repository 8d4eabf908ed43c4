"""The audit: one line of JSON for each turn, with asker, agent, outcome and approvals.

A line is written once the store has the end of the turn, by the process that stored it.
"""

import json
import logging
import os
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, TextIO

from ...agents.content.usage import TokenUsage
from ...clock import Clock
from ...errors import SettingsError
from ...observe import facts
from ...observe.findings import Diagnosis, ok
from ...settings.load import Settings
from ...settings.observe import AuditSettings
from ...turn.progress import TurnRecord
from ..feature import Feature, SettingsCheck

_log = logging.getLogger(__name__)

_STDOUT = "-"
_HEAD, _TAIL = "audit-", ".jsonl"
_MOST = 10_000  # turns whose tokens are counted at once


class AuditLog:
    """An observer that writes the lines. Raises SettingsError if its folder cannot be written."""

    wants_details, wants_events = False, True

    def __init__(self, settings: AuditSettings) -> None:
        self._settings, self._usage = settings, dict[str, TokenUsage]()
        self._file: TextIO | None = None
        self._day: date | None = None
        self._is_away = False
        path = settings.path or ""
        if not (self._is_stdout or (os.access(path, os.W_OK | os.X_OK) and Path(path).is_dir())):
            raise SettingsError(
                f"SLACK_BOT_AUDIT__PATH is {path!r}, which is no folder that the bot may write: create it for"
                " the bot's user"
            )

    @property
    def _is_stdout(self) -> bool:
        return self._settings.path == _STDOUT

    def __call__(self, fact: facts.Fact) -> None:
        match fact:
            case facts.TurnStarted():
                self._usage.setdefault(fact.turn, TokenUsage())
                if len(self._usage) > _MOST:  # of turns that another process has now
                    del self._usage[next(iter(self._usage))]
            case facts.AgentEvent() if fact.turn in self._usage:
                self._usage[fact.turn].take(fact.raw)
            case facts.TurnRecorded():
                usage = self._usage.pop(fact.turn, TokenUsage())
                line = line_of(fact.agent, fact.record, usage, has_text=self._settings.text)
                self._write(json.dumps(line), fact.record.ended_at or 0.0)
            case _:
                pass

    def _write(self, line: str, at: float) -> None:
        """Write a line. A failure is logged once and does not disturb the answer."""
        try:
            out = sys.stdout if self._is_stdout else self._file_of(datetime.fromtimestamp(at, UTC).date())
            out.write(f"{line}\n")
            out.flush()
        except OSError as error:
            if not self._is_away:
                _log.error("the audit is not written, its lines are lost meanwhile: %s", error)
            self._is_away = True
            self._day = None  # open it anew
        else:
            self._is_away = False

    def _file_of(self, day: date) -> TextIO:
        if self._file is None or self._day != day:
            self.close()
            folder = Path(self._settings.path or "")
            path, flags = (
                folder / f"{_HEAD}{day}{_TAIL}",
                os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC,
            )
            self._file = os.fdopen(os.open(path, flags, 0o600), "a", encoding="ascii")
            self._day = day
            self._remove_old(folder, day)
        return self._file

    def _remove_old(self, folder: Path, today: date) -> None:
        for path in folder.glob(f"{_HEAD}*{_TAIL}"):
            with suppress(ValueError):  # a file of somebody else
                day = date.fromisoformat(path.name.removeprefix(_HEAD).removesuffix(_TAIL))
                if (today - day).days > self._settings.days:
                    path.unlink(missing_ok=True)

    def close(self) -> None:
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._file = None


def line_of(agent: str, record: TurnRecord, usage: TokenUsage, *, has_text: bool = False) -> dict[str, Any]:
    """The line for a turn. Unknown and empty values are left out. `has_text`: with question and answer."""
    question, thread, ended_at = (
        record.question,
        record.question.thread,
        record.ended_at or record.accepted_at,
    )
    line = {
        "turn": record.key,
        "ref": facts.reference_of(record.key),
        "team": thread.team,
        "channel": thread.channel,
        "thread": thread.ts,
        "user": question.user,
        "user_team": question.user_team,
        "is_bot": question.asker_is_bot,
        "cause": question.cause,
        "agent": agent,
        "agent_reason": record.agent_reason,
        "accepted_at": _time(record.accepted_at),
        "ended_at": _time(ended_at),
        "seconds": round(ended_at - record.accepted_at, 3),
        "outcome": record.outcome,
        "stopped_by": record.stopped_by,
        "task": record.task_id,
        "context": record.context_id,
        "agent_trace": record.trace_id,
        "merged": question.merged,
        "form": _form(record),
        "files_in": len(question.files),
        "files_out": sum(bool(each.file_id) for each in record.extras),
        "messages": len(record.messages),
        "takeovers": record.takeovers,
        "tokens": usage.as_json() if usage.calls else None,
        **({"question": question.text, "answer": record.text} if has_text else {}),
    }
    return {name: value for name, value in line.items() if value not in (None, "", (), 0, False)}


def _form(record: TurnRecord) -> dict[str, Any] | None:
    """Who answered which form. For an approval, the names of the calls and the decision, but no arguments."""
    question = record.question
    if question.form is None:
        return None
    verdict = None if question.answer is None else question.answer.verdict
    by, calls = question.answered_by or question.user, [call.name for call in question.form.calls]
    return {"kind": question.form.kind, "by": by, "verdict": verdict, "calls": calls}


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@asynccontextmanager
async def _written(settings: AuditSettings) -> AsyncIterator[AuditLog]:
    audit = AuditLog(settings)
    try:
        yield audit
    finally:
        audit.close()


def observe(settings: Settings, _: Clock) -> AbstractAsyncContextManager[AuditLog] | None:
    """The audit as an observer; None if the settings name no place for it. Raises SettingsError."""
    return _written(settings.audit) if settings.audit.path else None


async def check(settings: Settings) -> AsyncIterator[Diagnosis]:
    """Check that the audit can be written. Raises SettingsError."""
    if settings.audit.path:
        AuditLog(settings.audit)
        yield ok("audit", f"it is written to {settings.audit.path}")


FEATURE = Feature("audit", observe=observe, check=SettingsCheck(check, ("path",)))
