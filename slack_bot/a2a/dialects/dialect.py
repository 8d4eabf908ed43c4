"""PURE. The shape of a dialect's table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ..wire.frames import Metadata

_REMEMBERED = 200  # names; a table lives as long as the bot
_LONGEST_REMEMBERED = 200  # characters of a name


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

    `exact`, then `patterns` (first match) give the kind of an artifact name, `default` is for all others.
    `append_by_default`: what an absent `append` means. `live`: untagged streaming text is the answer.
    `paragraph_after_tools`: answer text after a tool begins a new paragraph.
    `noise`: untagged text that is not worth keeping; `leak`: raw machine text that must never be shown.
    `announcements`: tool names that are no tools but say what comes next. `signs`: beginnings of metadata
    keys that only this dialect uses. `answer_source`: where its answer is; what was learned counts more.
    `narrates_before_tools`: text before a tool call is no part of the answer. `errors`: metadata keys of a
    message with the text of an exception.
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
        """The table has an entry for this artifact name."""
        return self._named(name) is not None

    def is_signed(self, metadata: Metadata) -> bool:
        """`metadata` has a key that only this dialect uses."""
        return bool(metadata and self.signs) and any(key.startswith(self.signs) for key in metadata)

    def is_error(self, metadata: Metadata) -> bool:
        """A message with this metadata holds the text of an exception."""
        return any(key in metadata for key in self.errors)

    def kind(self, name: str) -> ArtifactKind:
        """What an artifact called `name` is."""
        return self._named(name) or self.default

    def _named(self, name: str) -> ArtifactKind | None:
        """The entry for `name`, cached for the chunks of an answer."""
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
        """`text` is not worth keeping."""
        return self.noise is not None and self.noise.search(text) is not None

    def is_leak(self, text: str) -> bool:
        """`text` is raw machine text, streamed by mistake."""
        return self.leak is not None and self.leak.search(text) is not None

    def is_announcement(self, tool: str) -> bool:
        """`tool` is not a tool but says what comes next."""
        return self.announcements is not None and self.announcements.search(tool) is not None

    def is_sub_agent(self, metadata: Metadata) -> bool:
        """The artifact was passed on from another agent."""
        return self.sub_agent_key is not None and metadata.get(self.sub_agent_key) == self.sub_agent_value
