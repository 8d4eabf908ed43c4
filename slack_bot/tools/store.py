"""`slack-bot store`: what an operator does with the bot's store, also while the bot runs."""

import argparse
import asyncio
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from ..settings.load import load
from ..store.admin import StoreSummary, open_admin
from ..store.contracts import Erased, PersonRecords
from ..turn.progress import TurnRecord


def main(args: argparse.Namespace) -> int:
    """The verb. `args`: what, and the options of that. Returns 0. Raises StoreError and SettingsError."""
    sys.stdout.write(asyncio.run(_output(args)))
    return 0


async def _output(args: argparse.Namespace) -> str:
    async with open_admin(load().store.url) as store:
        match args.what:
            case "show":
                summary = await store.summary()
                return _as_json(StoreSummary, summary) if args.json else "\n".join(_shown(summary)) + "\n"
            case "export":
                return _as_json(PersonRecords, await store.person(args.user, args.team))
            case "erase":
                return _said(args.user, await store.erase(args.user, args.team))
            case _:
                await store.backup(Path(args.file), overwrite=args.force)
                return f"Copied to {args.file}.\n"


def _as_json(kind: Any, value: object) -> str:
    """Times are seconds since 1970 (UTC)."""
    return TypeAdapter(kind).dump_json(value, indent=2).decode() + "\n"


def _shown(summary: StoreSummary) -> Iterator[str]:
    yield f"{summary.file}: format {summary.format}, {summary.bytes:,} bytes"
    for each in summary.counts:
        ages = f"  {_day(each.oldest)} to {_day(each.newest)}" if each.number else ""
        yield f"{each.kind:<20}{each.number:>8,}{ages}"
    for turn in summary.unfinished:
        yield f"unfinished  {turn.key}  {turn.stage} since {_day(_since(turn))}  task {turn.task_id or '-'}"


def _since(turn: TurnRecord) -> float:
    """When it came to its stage."""
    return turn.watched_at or turn.sent_at or turn.accepted_at


def _day(at: float | None) -> str:
    return datetime.fromtimestamp(at or 0.0, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def _said(user: str, erased: Erased) -> str:
    said = (
        f"Erased of {user}: {erased.turns} turns, {erased.feedback} entries of feedback,"
        f" {erased.waits} questions of an agent."
    )
    if erased.running:
        said += f" Left because a turn runs: {', '.join(erased.running)}; erase again when it has ended."
    return f"{said}\n"
