"""PURE. The shape of a dialect's table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ..wire.frames import Metadata

_REMEMBERED = 200  # names; an agent that makes up more is asked about again
_LONGEST_REMEMBERED = 200  # characters of a name: the tables live as long as the bot


class ArtifactKind(StrEnum):
    """What an artifact is, before its flags are read. The values are what `replay` counts events by."""

    ANSWER = "artifact"  # its text is the answer
    STREAM = "streaming_result"  # flags decide: answer, narration or untagged
    FINAL = "final_result"
    PARTIAL = "partial_result"
    COMPLETE = "complete_result"  # a sub-agent's result
    TOOL_START = "tool_notification_start"
    TOOL_END = "tool_notification_end"
    PLAN = "execution_plan"
    FORM = "form"
    THOUGHT = "thought"  # what the model thinks
    TOOL = "tool"  # calls and results, told by its data parts
    OTHER = "other_artifact"


@dataclass(frozen=True, slots=True)
class Dialect:
    """One dialect.

    `exact` and then `patterns` (first match) name the kind of an artifact, `default` is for all others.
    `append_by_default`: what an absent `append` means. `live`: untagged streaming text is the answer.
    `paragraph_after_tools`: answer text that goes on after a tool begins a new paragraph.
    `noise`: untagged text that is not worth keeping; `leak`: raw machine text that must never be shown.
    `announcements`: tool names that are no tools but say what comes next. `signs`: beginnings of metadata
    keys that only this dialect uses. `answer_source`: where its answer stands, as far as that is known; it
    counts less than what was learned. `narrates_before_tools`: text before a tool call says what the agent
    is about to do, so it is no part of the answer in the end. `errors`: metadata keys of a message that holds
    the text of an exception.
    """

    name: str
    default: ArtifactKind
    exact: Mapping[str, ArtifactKind] = field(default_factory=dict)
    patterns: tuple[tuple[re.Pattern[str], ArtifactKind], ...] = ()
    append_by_default: bool = False
    live: bool = False
    paragraph_after_tools: bool = False
    replies_are_fallback: bool = False
    noise: re.Pattern[str] | None = None
    leak: re.Pattern[str] | None = None
    announcements: re.Pattern[str] | None = None
    sub_agent_key: str | None = None
    sub_agent_value: str = ""
    signs: tuple[str, ...] = ()
    answer_source: str = ""
    narrates_before_tools: bool = False
    errors: tuple[str, ...] = ()
    _kinds: dict[str, ArtifactKind | None] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def knows(self, name: str) -> bool:
        """`name` is an artifact name that only this dialect gives a meaning to."""
        return self._named(name) is not None

    def is_signed(self, metadata: Metadata) -> bool:
        """`metadata` has a key that only this dialect uses."""
        return bool(metadata and self.signs) and any(key.startswith(self.signs) for key in metadata)

    def is_error(self, metadata: Metadata) -> bool:
        """A message with this metadata holds the text of an exception: nothing of it is the answer."""
        return any(key in metadata for key in self.errors)

    def kind(self, name: str) -> ArtifactKind:
        """What an artifact called `name` is."""
        return self._named(name) or self.default

    def _named(self, name: str) -> ArtifactKind | None:
        """What the table says about `name`, remembered: every chunk of an answer asks."""
        try:
            return self._kinds[name]
        except KeyError:
            pass
        matching = next((kind for pattern, kind in self.patterns if pattern.search(name)), None)
        kind = self.exact.get(name) or matching
        if len(name) <= _LONGEST_REMEMBERED:
            if len(self._kinds) >= _REMEMBERED:
                self._kinds.clear()
            self._kinds[name] = kind
        return kind

    def is_noise(self, text: str) -> bool:
        """`text` says nothing that a reader would miss."""
        return self.noise is not None and self.noise.search(text) is not None

    def is_leak(self, text: str) -> bool:
        """`text` is the agent's inner machinery, written into its stream by mistake."""
        return self.leak is not None and self.leak.search(text) is not None

    def is_announcement(self, tool: str) -> bool:
        """`tool` is not a tool but says what comes next."""
        return self.announcements is not None and self.announcements.search(tool) is not None

    def is_sub_agent(self, metadata: Metadata) -> bool:
        """The artifact was passed on from another agent: its text is that agent's, not the answer."""
        return self.sub_agent_key is not None and metadata.get(self.sub_agent_key) == self.sub_agent_value
