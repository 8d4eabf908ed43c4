"""PURE. The three sources of an agent's texts, and which of them is shown live.

The first source that speaks is live, the others are kept for the end (facts: A2A 8.1). Status text was shown
in vain where artifacts then say something else: they are live from then on.
"""

from ...text.compare import normalize
from ...turn.events import AnswerReplaced, AnswerText, Event, Narrated
from .keyed_text import KeyedText, TextUpdate

ARTIFACT, STATUS, MESSAGE = "artifact", "status", "message"
_MOST_COMPARED = 8  # pieces of artifacts that are compared with status text shown before
_LONGEST_QUESTION = 4_000  # characters


class AnswerSources:
    """The texts of each source, of at most `max_chars`.

    `live`: the source that is shown; "": none yet. `has_narrated`: status text that was shown was no answer.
    """

    def __init__(self, max_chars: int) -> None:
        self.artifacts = KeyedText(max_chars)
        self.statuses = KeyedText(max_chars)
        self.replies = KeyedText(max_chars)
        self.by_name = {ARTIFACT: self.artifacts, STATUS: self.statuses, MESSAGE: self.replies}
        self.live = ""
        self.has_narrated = False
        self._compared = 0  # pieces of artifacts

    @property
    def overflow(self) -> bool:
        return self.artifacts.overflow or self.statuses.overflow or self.replies.overflow

    @property
    def shown_end(self) -> str:
        """The end of what was shown live, in which a question is looked for."""
        return self.by_name[self.live].shown.ending(_LONGEST_QUESTION) if self.live else ""

    def have_artifact(self, text: str) -> bool:
        """`text`, if it is not empty, is somewhere in the artifacts."""
        sought = normalize(text)
        return bool(sought) and sought in self.artifacts.final.normalized

    def show(self, source: str, update: TextUpdate | None, reason: str, *, unproven: bool) -> list[Event]:
        """The update is shown if its source is live. `unproven`: it may yet prove to be narration."""
        if update is None:
            return [nothing(f"nothing new: {reason}")]
        self.live = self.live or source
        if self.live != source:
            return [nothing(f"held, {self.live} text is told: {reason}")]
        if update.replaces:
            return [AnswerReplaced(update.text, reason)]
        return [AnswerText(update.text, reason, unproven=unproven)]

    def keep_live(self, source: str) -> None:
        """What came since `source` was live is not shown."""
        self.live = source

    def prefer_artifacts(self) -> bool:
        """Artifacts that grow are live from now on, as they are not what was shown of the status.

        The beginning or the end of it may be the same.
        """
        if self._compared >= _MOST_COMPARED or not self.artifacts.has_text:
            return False
        self._compared += 1
        status, artifact = self.statuses.shown.normalized, self.artifacts.shown.normalized
        if status.startswith(artifact) or status.endswith(artifact) or artifact.startswith(status):
            return False
        self.live, self.has_narrated = ARTIFACT, True
        self.statuses.set_aside()
        return True

    def end_run(self, status_key: str, *, is_narration: bool, narrates: bool) -> bool:
        """A tool is called, or another text begins. Returns whether what was shown is narration.

        `is_narration`: status text, the last of it under `status_key`, is not the answer; `narrates`: nor are
        artifacts.
        """
        self.has_narrated |= is_narration and status_key in self.statuses
        if narrates:
            self.artifacts.set_aside()
        if narrates or is_narration:
            self.statuses.set_aside()
        return narrates or is_narration


def nothing(reason: str) -> Narrated:
    """Nothing happened that a reader would see."""
    return Narrated("", reason=reason)
