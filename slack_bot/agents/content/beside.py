"""PURE. What the events of a turn name beside the answer: its sources, the next questions, and what the bot
is to do in Slack.

It must be fast: of thousands of chunks none names any.
"""

from collections.abc import Sequence

from ...turn.acts import AgentAct, new_acts
from ...turn.events import ActsAsked, Event, NextQuestionsFound
from ...turn.extras import NextQuestion, Source
from ..wire.frames import ArtifactUpdate, Frame, MessageReply, Metadata, Part, Snapshot, StatusUpdate
from .acts import act_in
from .sources import Citations, find_sources
from .suggestions import SUGGESTIONS, suggestions_in, suggestions_of


class BesideAnswer:
    """Finds what is new of it. Of next questions the last list counts."""

    def __init__(self) -> None:
        self._citations = Citations()
        self._suggested: tuple[NextQuestion, ...] = ()
        self._acts: list[AgentAct] = []

    def take(self, frame: Frame) -> list[Event]:
        """What this event names for the first time."""
        sources: list[Source] = []
        suggested: tuple[NextQuestion, ...] | None = None
        acts: list[AgentAct] = []
        for metadata, parts in _places(frame):
            find_sources(sources, metadata, parts)
            if metadata and not SUGGESTIONS.isdisjoint(metadata):
                suggested = _later(suggested, suggestions_in(metadata))
            for part in parts:
                if part.has_data or part.metadata:
                    suggested = _later(suggested, suggestions_of(part))
                if part.has_data and (act := act_in(part.data)) is not None:
                    acts.append(act)
        events = self._citations.cite(sources) if sources else []
        if suggested is not None and suggested != self._suggested:
            self._suggested = suggested
            events.append(NextQuestionsFound(suggested, reason="suggested by the agent"))
        if acts and (acts := new_acts(acts, self._acts)):
            self._acts += acts
            events.append(ActsAsked(tuple(acts), reason="asked for by the agent"))
        return events


def _later(
    before: tuple[NextQuestion, ...] | None, found: tuple[NextQuestion, ...] | None
) -> tuple[NextQuestion, ...] | None:
    return before if found is None else found


def _places(frame: Frame) -> list[tuple[Metadata, Sequence[Part]]]:
    """Where an event may name something, in the order in which it counts."""
    match frame:
        case ArtifactUpdate(artifact=artifact, metadata=metadata):
            return [(metadata, ()), (artifact.metadata, artifact.parts)]
        case StatusUpdate(message=message, metadata=metadata):
            within = [] if message is None else [(message.metadata, message.parts)]
            return [(metadata, ()), *within]
        case MessageReply(message=message):
            return [(message.metadata, message.parts)]
        case Snapshot(message=message, artifacts=artifacts, metadata=metadata):
            within = [] if message is None else [(message.metadata, message.parts)]
            return [(metadata, ()), *((each.metadata, each.parts) for each in artifacts), *within]
    return []
