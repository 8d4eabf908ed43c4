"""Streams as real agents send them, written as frames, and what a reader gets out of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slack_bot.agents.parser import EventParser
from slack_bot.agents.wire.frames import (
    AgentMessage,
    Artifact,
    ArtifactUpdate,
    Frame,
    MessageReply,
    Part,
    Snapshot,
    StatusUpdate,
    TaskState,
)
from slack_bot.turn.actions import AppendText, RewriteAnswer, ShowForm, UpdateCard
from slack_bot.turn.events import StreamEnd, StreamEnded, TurnBegun
from slack_bot.turn.machine import Turn

FOX = "The quick brown fox"
WORDS = ("The ", "quick ", "brown ", "fox")


def text(value: str, **metadata: Any) -> tuple[Part, ...]:
    """One text part."""
    return (Part(text=value, metadata=metadata),)


def data(value: Any, **metadata: Any) -> tuple[Part, ...]:
    """One data part."""
    return (Part(data=value, has_data=True, metadata=metadata),)


def working(*parts: Part, message_id: str = "m", **metadata: Any) -> StatusUpdate:
    """A status update that says something."""
    message = AgentMessage(message_id, parts=parts) if parts else None
    return StatusUpdate("t", "c", TaskState.WORKING, message, metadata=metadata)


def artifact(
    parts: tuple[Part, ...], key: str = "a", append: bool | None = None, name: str = "", **metadata: Any
) -> ArtifactUpdate:
    """A chunk of an artifact, or all of it."""
    return ArtifactUpdate(Artifact(key, name, parts=parts, metadata=metadata), "t", "c", append)


def reply(value: str, message_id: str = "m") -> MessageReply:
    """A message."""
    return MessageReply(AgentMessage(message_id, parts=text(value)))


SUBMITTED = Snapshot("t", "c", TaskState.SUBMITTED)
COMPLETED = StatusUpdate("t", "c", TaskState.COMPLETED)


class Told:
    """What stands in the thread in the end, and what stood there before the end."""

    def __init__(self, parser: EventParser, *frames: Frame) -> None:
        machine = Turn()
        self.live = ""
        self.shown = ""
        self.asked = ""
        self.cards: dict[str, str] = {}
        self._take(machine.handle(TurnBegun()))
        for frame in frames:
            for event in parser.feed(frame):
                self._take(machine.handle(event))
        self.live = self.shown
        for event in [*parser.finish(), StreamEnded(StreamEnd.CLOSED)]:
            self._take(machine.handle(event))
        self.learned = parser.profile_updates()

    def _take(self, actions: list[Any]) -> None:
        for action in actions:
            match action:
                case AppendText(more):
                    self.shown += more
                case RewriteAnswer(new):
                    self.shown = new
                case ShowForm(form):
                    self.asked = form.as_markdown()
                case UpdateCard(card):
                    self.cards[card.title] = str(card.state)
                case _:
                    pass


def tell(*frames: Frame, profile: Mapping[str, str] | None = None, **settings: str) -> Told:
    """The frames of one turn, told."""
    return Told(EventParser(profile=profile, **settings), *frames)  # type: ignore[arg-type]  # all are strings


def twice(*frames: Frame, **settings: str) -> tuple[Told, Told]:
    """A first turn, and the same again with what the first one taught."""
    first = tell(*frames, **settings)
    return first, tell(*frames, profile=first.learned, **settings)
