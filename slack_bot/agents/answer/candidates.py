"""PURE. Which text is the answer in the end, where the agent named none."""

from ...text.compare import contains_letters, preview
from ..artifact_reader import ArtifactReader
from ..dialects.dialect import ArtifactKind
from ..wire.frames import TaskState
from .answer_sources import ARTIFACT, MESSAGE, STATUS
from .assembler import AnswerAssembler


class Candidates:
    """The texts outside the streams that may be the answer.

    `final`: the one that the agent named, or that was chosen.
    """

    def __init__(self) -> None:
        self.final = ""
        self._results: dict[ArtifactKind, str] = {}
        self._ending = ""  # the message with which the task ended
        self._whole_ending = ""  # with its data and files, where it has any
        self._history = ""

    @property
    def has_final(self) -> bool:
        """The agent named its result, or the partial one with which it gives up."""
        return bool(self.final or self._results.get(ArtifactKind.PARTIAL))

    def name_final(self, text: str) -> None:
        self.final = text

    def keep_result(self, kind: ArtifactKind, text: str) -> None:
        """A result that is not the final one."""
        self._results[kind] = text or self._results.get(kind, "")

    def keep_ending(self, text: str, whole: str) -> None:
        """The terminal status message; `whole`: with what it holds besides text, or ""."""
        self._ending, self._whole_ending = text, whole

    def keep_history(self, text: str) -> None:
        """The last message of the task's history."""
        self._history = text or self._history

    def best(
        self,
        answer: AnswerAssembler,
        reader: ArtifactReader,
        state: TaskState,
        *,
        has_extras: bool,
        asks: bool,
    ) -> tuple[str, str]:
        """The best text and where it is from, or two empty strings. `asks`: the turn ends with a question."""
        texts = self._ranked(answer, reader, state, has_extras=has_extras, asks=asks)
        return next((each for each in texts if each[0].strip()), ("", ""))

    def _ranked(
        self,
        answer: AnswerAssembler,
        reader: ArtifactReader,
        state: TaskState,
        *,
        has_extras: bool,
        asks: bool,
    ) -> list[tuple[str, str]]:
        """The texts, the best first, and where they are from."""
        failed = state.is_terminal and state is not TaskState.COMPLETED
        reason, habits = self._ending if failed else "", answer.habits
        by_settings = answer.text(habits.trusted) if habits.by_settings else ""
        if habits.trusted != ARTIFACT:
            by_settings = without(by_settings, reason)
        ranked = [
            (by_settings, "the source that the settings name"),
            (self._results.get(ArtifactKind.PARTIAL, ""), "partial result"),
            self._with_ending(answer, state),
            (self._results.get(ArtifactKind.COMPLETE, ""), "a sub-agent's result"),
            ("" if failed else self._whole_ending or self._ending, "the terminal status message"),
            (without(answer.text(MESSAGE), reason), "messages"),
        ]
        if has_extras:
            return ranked  # they are the answer: what was said on the way to them is not
        ranked.append((without(answer.text(STATUS), reason), "working-status text"))
        held = without(answer.held_text(failed=failed), reason)
        if (failed or not asks) and not reader.leaks(held):
            ranked.append((held, "text that was held" if failed else "unmarked text"))
        if not failed and not asks:
            ranked.append((self._history, "the task's history"))
        return ranked

    def _with_ending(self, answer: AnswerAssembler, state: TaskState) -> tuple[str, str]:
        """The artifacts' text, with the terminal status message unless it has that already.

        An agent that repeats its texts there knows nothing of the paragraphs that were put between them.
        """
        text, ending = answer.text(ARTIFACT), answer.paragraphs.mend(self._ending)
        is_there = state is TaskState.COMPLETED and text.strip() and ending.strip()
        if not is_there or contains_letters(text, preview(ending)):
            return text, "artifacts"
        if contains_letters(ending, text):
            return ending, "the terminal status message"
        return f"{text.rstrip()}\n\n{ending}", "artifacts and the terminal status message"


def without(text: str, reason: str) -> str:
    """`text` without the reason of a failure at its end; some frameworks send it as working status too."""
    text_end, reason = text.rstrip(), reason.strip()
    return text_end.removesuffix(reason).rstrip() if reason and text_end.endswith(reason) else text
