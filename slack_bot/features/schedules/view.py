"""The schedules on the Home tab."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from ...slack.blocks import Block, actions, context, plain, shorten
from ...text.home_words import (
    HOME_MORE_QUESTIONS,
    HOME_SCHEDULE_FAILED,
    HOME_SCHEDULE_FORMAT,
    HOME_SCHEDULE_GO_ON_LABEL,
    HOME_SCHEDULE_NEXT,
    HOME_SCHEDULE_RUN_LABEL,
    HOME_SCHEDULE_STOP_LABEL,
    HOME_SCHEDULE_STOPPED,
    HOME_SCHEDULES_TITLE,
)
from ...turn.buttons import TurnButton
from .records import ScheduleStatus

_MOST = 15  # each needs two blocks
_TITLE = 150  # characters


def schedules_section(shown: Sequence[ScheduleStatus], *, can_change: bool) -> list[Block]:
    """The part of the Home tab; empty without any. `can_change`: with buttons."""
    if not shown:
        return []
    head: Block = {"type": "header", "text": plain(HOME_SCHEDULES_TITLE)}
    blocks = [head, *(block for each in shown[:_MOST] for block in _schedule(each, can_change=can_change))]
    if len(shown) > _MOST:
        blocks.append(context(HOME_MORE_QUESTIONS.format(len(shown) - _MOST)))
    return blocks


def _schedule(shown: ScheduleStatus, *, can_change: bool) -> Iterator[Block]:
    """Slack shows the name of a channel only to who may know it."""
    schedule, title = shown.schedule, shorten(shown.schedule.headline, _TITLE)
    words = [{**_text(shown.name), "style": {"bold": True}}, _text(f": {title} · " if title else " · ")]
    if schedule.channel is not None:
        words.append({"type": "channel", "channel_id": schedule.channel})
    else:
        words.append({"type": "user", "user_id": schedule.user})
    is_stopped = bool(shown.paused_by)
    words.append(_text(f" · {HOME_SCHEDULE_STOPPED if is_stopped else HOME_SCHEDULE_NEXT}"))
    if not is_stopped:
        words.append(_date(int(shown.next_at)))
    if shown.last is not None and shown.last.failure:
        words.append(_text(f" · {HOME_SCHEDULE_FAILED}"))
    yield {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": words}]}
    if can_change:
        switch = (
            {TurnButton.SCHEDULE_GO_ON: HOME_SCHEDULE_GO_ON_LABEL}
            if is_stopped
            else {TurnButton.SCHEDULE_STOP: HOME_SCHEDULE_STOP_LABEL}
        )
        yield actions({**switch, TurnButton.SCHEDULE_RUN: HOME_SCHEDULE_RUN_LABEL}, shown.name)


def _date(at: int) -> Block:
    """Slack writes it in the language and the time zone of the person."""
    fallback = f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC"
    return {"type": "date", "timestamp": at, "format": HOME_SCHEDULE_FORMAT, "fallback": fallback}


def _text(text: str) -> Block:
    return {"type": "text", "text": text}
