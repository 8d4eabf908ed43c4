"""PURE. Whether the next text of a source is a delta, or all of the text so far, or another text.

A text that begins with everything known is a snapshot and adds its rest; any other is a delta. But:

- A short text proves little: `### the` may follow `#` or grow from it. If the next text is no snapshot, all
  of them were deltas, and the whole is shown again.
- An agent that says `append` is believed, unless a second snapshot follows (AgentScope Java), or three in a
  row each begin with the one before (snapshots by the letter).
- Without `append`, a text that the last deltas made together is a repetition (ADK). One that has all deltas
  in it, and ends with the last of them, is the whole: others were missed while the connection was cut.
- A text that begins with all of the last one is a snapshot too, whatever came before (an agent that narrates
  token by token and answers in growing texts). Where that last one says little, or a word within a line, the
  texts are held until the chain is long enough, or broken.
- After two snapshots, the last of which ends a sentence, a text that is none begins the agent's next text
  (LangGraph, after a tool).

Many servers give each chunk an id of its own. White space within the line, or a word that continues, shows
that; then the following texts of the same name are chunks too.
"""

from dataclasses import replace

from ...text.compare import normalize
from ..content.parts import extract_answer, is_true
from ..dialects.table import ANSWER_MARKS, NARRATION_MARKS
from ..wire.frames import (
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
from .token_pace import CLOSES, LINE_ENDS, goes_on, has_letters, in_tokens, may_begin_tokens

_FEW_CHUNKS = 2  # say too little to be snapshots

GAP = "\n\n"
_SENTENCE_ENDS = (".", "!", "?", "…", ":")
_FEW_SIGNS = 8  # characters without a letter or digit that a text may begin with by chance
_FEW_LETTERS = 3  # of ASCII; in other scripts one letter says as much
_COMPARABLE = 8  # characters; shorter texts may repeat by chance
_PROVES = 24  # characters that no text ends with by chance as the one before did
_LEAST_LINKS = 2
_UNBOUNDED = 2**62


class DeltaDetector:
    """What deltas and snapshots add up to. `appends`: the agent says so. `steps`: how often it grew."""

    def __init__(self, text: str = "", *, appends: bool = False, max_chars: int = _UNBOUNDED) -> None:
        self._appends, self._max_chars = appends, max_chars
        self.restart(text)

    def restart(self, *deltas: str) -> None:
        self._deltas: list[str] = []
        self._whole, self._joined = "", 0
        self.size = self.steps = 0
        self._snapshots = 0  # in a row, without `append`
        self._doubted: list[str] = []  # the texts as they came, while it is open what they are
        self._last = ""  # the last text as it came, where the agent does not say that it appends
        self._chain: list[str] = []  # texts behind it, not counted yet, that each begin with the one before
        self._is_apart = False  # the first of them may begin another text
        self._series = self._normalized = ""  # the last snapshot, where only snapshots are expected
        self._links = self._worded_links = 0
        for delta in deltas:
            self._grow(delta)

    def replace(self, text: str) -> None:
        steps = self.steps
        self.restart(text)
        self.steps += steps

    @property
    def text(self) -> str:
        if self._joined < len(self._deltas):
            self._whole += "".join(self._deltas[self._joined :])
            self._joined = len(self._deltas)
        return self._whole

    def take(self, text: str, *, by_line: bool = False) -> tuple[str, bool]:
        """Take the next text. Returns the new part, True; or the whole, False.

        `by_line`: a sentence right behind another is a new paragraph.
        """
        size = self.size
        if not text or size >= self._max_chars:
            return "", True
        if not self._series and self._is_next_series(text):
            self._series = self.text
        if self._series:
            return self._take_in_series(text)
        if size and len(text) >= size and text.startswith(self.text):
            if self._is_snapshot(text):
                self._chain = []
                return self._grow(text[size:])
        elif self._doubted:
            return self._retell(*self._doubted, text)
        if self._appends:
            return self._take_appended(text)
        self._snapshots = 0
        return self._take_unsaid(text, by_line=by_line)

    def _take_unsaid(self, text: str, *, by_line: bool) -> tuple[str, bool]:
        """A delta, or a snapshot of what the last text began; the agent does not say that it appends."""
        if self._extends_last(text):
            if not self._is_proven_by(text):
                self._chain.append(text)
                return "", True
            more = GAP + text if self._is_apart else text[len(self._last) :]
            self._chain, self._series = [], text
            return self._grow(more)
        held = self.take_held()
        if self._is_glued(text):
            self._chain, self._is_apart = [text], True
            return held, True
        if self._has_all_in(text):
            self._retell(text)
            self._last = text
            return text, False
        gap = GAP if by_line and self._is_line(text) else ""
        more = "" if self._repeats(text) else gap + text
        self._last = text
        fresh, _ = self._grow(more)
        return held + fresh, True

    def _extends_last(self, text: str) -> bool:
        last = self._chain[-1] if self._chain else self._last
        return bool(last) and len(text) > len(last) and text.startswith(last)

    def _is_proven_by(self, text: str) -> bool:
        """`text`, which extends the last one, does not do so by chance."""
        links = len(self._chain) + (not self._is_apart)
        if links >= _LEAST_LINKS:
            return _is_text(text)
        last = self._chain[-1] if self._chain else self._last
        begins = self._is_apart or self._begins_line()
        return _is_text(last) and not last[0].isspace() and (begins or len(last) >= _PROVES)

    def _begins_line(self) -> bool:
        """The last text follows a sentence or a line end. Within a line a word may well be said twice."""
        left = len(self._last)
        for delta in reversed(self._deltas):  # the whole text may be long
            before = delta[: max(0, len(delta) - left)].rstrip(" ")
            left = max(0, left - len(delta))
            if before:
                return before[-1] == "\n" or before[-1] in LINE_ENDS
        return True

    def _is_glued(self, text: str) -> bool:
        """A token right behind a sentence: no model goes on so, but another text may begin so."""
        end = self._deltas[-1][-1:] if self._deltas else ""
        return end in LINE_ENDS and " " not in text.strip() and _is_beginning(text)

    def take_held(self) -> str:
        """No more comes of the chain: its texts were deltas."""
        chain, self._chain, self._is_apart = self._chain, [], False
        self._last = chain[-1] if chain else self._last
        return "".join(self._grow(each)[0] for each in chain)

    def _grow(self, text: str) -> tuple[str, bool]:
        text = text[: self._max_chars - self.size]
        if text:
            self._deltas.append(text)
            self.size += len(text)
            self.steps += 1
        return text, True

    def _retell(self, *deltas: str) -> tuple[str, bool]:
        self.restart(*deltas)
        return self.text, False

    def _is_snapshot(self, text: str) -> bool:
        """`text`, which begins with all that is known, is a snapshot, at least until the next text."""
        known, self._links, self._worded_links = self.text, 0, 0
        if not self._appends:
            is_open = len(known) <= _FEW_SIGNS and not has_letters(known)
            self._doubted = [*(self._doubted or [known]), text] if is_open else []
            self._snapshots += len(text) > len(known)
            return True
        if self._doubted:
            self._doubted, self._series = [], text
            return True
        if not _says_enough(known):
            return False
        if len(self._deltas) > 1:
            return len(known) >= _COMPARABLE
        self._doubted = [known, text] if len(text) > len(known) else []
        return bool(self._doubted)

    def _take_appended(self, text: str) -> tuple[str, bool]:
        """A delta, or the third in a chain of snapshots that began with too little."""
        last = self._deltas[-1] if self._deltas else ""
        if last and len(text) > len(last) and text.startswith(last):
            self._links += 1
            self._worded_links += has_letters(last)  # marks and white space begin many a delta
        else:
            self._links = self._worded_links = 0
        grown = self._grow(text)
        if self._worded_links < _LEAST_LINKS or len(text) < _COMPARABLE or not _says_enough(text):
            return grown
        grown = self._retell(*self._deltas[: -1 - self._links], text)
        self._series = text
        return grown

    def _take_in_series(self, text: str) -> tuple[str, bool]:
        """Only snapshots came so far, so any other text begins the agent's next one."""
        if self.begins_anew(text):
            self._series, self._normalized = text, ""
            return self._grow(GAP + text)
        if len(text) <= len(self._series):
            return "", True
        more, self._series, self._normalized = text[len(self._series) :], text, ""
        return self._grow(more)

    def begins_anew(self, text: str) -> bool:
        """`text` is the first snapshot of another text that proves to be one.

        Or only snapshots came so far, and it neither goes on with the last one nor repeats it.
        """
        if self._chain and self._is_apart and self._extends_last(text):
            return self._is_proven_by(text)
        last = self._series or (self.text if self._is_next_series(text) else "")
        if not (last and text) or (len(text) > len(last) and text.startswith(last)):
            return False
        self._normalized = self._normalized or normalize(last)
        return not self._normalized.startswith(normalize(text))

    def _is_next_series(self, text: str) -> bool:
        """Behind two snapshots, the last of which ended a sentence, comes what begins another one."""
        if self._snapshots < _LEAST_LINKS or not _is_beginning(text):
            return False
        last = self._deltas[-1][-1:] if self._deltas else ""
        return last in LINE_ENDS and not text.startswith(self.text)

    def _repeats(self, text: str) -> bool:
        """`text` is what two or more of the last deltas made; one delta may well come twice."""
        if len(text) < _COMPARABLE:
            return False
        end, count = len(text), 0
        for delta in reversed(self._deltas):
            if not end or not text.endswith(delta, 0, end):
                break
            end -= len(delta)
            count += 1
        return not end and count > 1

    def _has_all_in(self, text: str) -> bool:
        """`text` has every delta in it, in order, and more; it ends with what the last of them made."""
        if len(self._deltas) < _FEW_CHUNKS or len(text) <= max(self.size, _PROVES):
            return False
        if not text.endswith(self._deltas[-1]):
            return False
        end, at_end, is_at_end = len(text), 0, True
        for delta in reversed(self._deltas):
            is_at_end = is_at_end and text.endswith(delta, 0, end)
            end = end - len(delta) if is_at_end else text.rfind(delta, 0, end)
            if end < 0:
                return False
            at_end += len(delta) if is_at_end else 0
        return at_end >= _PROVES

    def _is_line(self, text: str) -> bool:
        """A sentence follows a sentence with nothing between."""
        last = self._deltas[-1] if self._deltas else ""
        return " " in last and " " in text and text[0].isupper() and last.endswith(_SENTENCE_ENDS)


def _is_beginning(text: str) -> bool:
    """`text` may be the beginning of a sentence, a heading or a list."""
    start = text[:1]
    return not (not start or start.isspace() or start.islower() or start.isdigit() or start in CLOSES)


def _is_text(text: str) -> bool:
    return len(text) >= _COMPARABLE and _says_enough(text)


def _says_enough(text: str) -> bool:
    letters = [char for char in text if char.isalpha()]
    return len(letters) >= _FEW_LETTERS or any(not char.isascii() for char in letters)


class ChunkJoiner:
    """Joins the chunks of one source that come under ids of their own."""

    def __init__(self) -> None:
        self._chunked: str | None = None

    def joins(self, name: str, last_name: str, before: str, text: str, *, over_lines: bool = False) -> bool:
        """`text` continues the text that ends with `before`. Numbers and "" are no names.

        `over_lines`: the agent says that it appends, so a line end may be part of the text.
        """
        if not before or not text:
            return False
        name, last_name = ("" if each.isdecimal() else each for each in (name, last_name))
        if over_lines and (before[-1].isspace() or text[0].isspace()):
            is_chunk = True
        elif self._chunked == name == last_name:  # tokens of a model begin no sentence without a space
            is_chunk = not (before[-1] in ".!?" and text[0].isupper())
        else:
            is_chunk = name == last_name and goes_on(before, text)
        self._chunked = name if is_chunk else self._chunked
        return is_chunk


class SnapshotMerger:
    """What was streamed of one turn's task, and what a polled one brings besides.

    There the chunks of an artifact are added up, and so are their flags; missed messages are in the history.
    `in_statuses`: the task is new and answers in its statuses, so its whole history is of this turn; None:
    it is new, and may answer there.
    """

    def __init__(self, *, in_statuses: bool | None) -> None:
        self._in_statuses = in_statuses
        self._streamed: dict[str, list[tuple[bool, str]]] = {}  # chunks with flags: is it answer, its text
        self._before: dict[str, Artifact] = {}
        self._messages: dict[str, str] = {}
        self._reply: AgentMessage | None = None
        self._reply_text = DeltaDetector()

    def set_baseline(self, task: Snapshot) -> None:
        self._before = {each.artifact_id or each.name: each for each in task.artifacts}
        for message in (*task.history, *([task.message] if task.message else [])):
            self._messages[message.message_id] = message.text

    def is_as_before(self, task: Snapshot) -> bool:
        """`task` waits for what has just been answered: no message of the agent is new since the baseline.

        Some servers move the message that asked into the history as soon as it is answered.
        """
        sent = [*task.history, *([task.message] if task.message else [])]
        of_agent = (each for each in sent if each.role == "agent")
        return all(self._messages.get(each.message_id) == each.text for each in of_agent)

    def on_frame(self, frame: Frame) -> None:
        if isinstance(frame, ArtifactUpdate):
            artifact, metadata = frame.artifact, frame.artifact.metadata
            key = artifact.artifact_id or artifact.name
            if frame.append is not True:
                self._before.pop(key, None)
                self._streamed.pop(key, None)
            is_answer = is_true(metadata, *ANSWER_MARKS)
            if is_answer or key in self._streamed or is_true(metadata, *NARRATION_MARKS):
                self._streamed.setdefault(key, []).append((is_answer, artifact.text))
        elif isinstance(frame, StatusUpdate) and frame.message is not None and frame.message.text:
            self._messages[frame.message.message_id] = frame.message.text
        elif isinstance(frame, MessageReply) and frame.message.role == "agent":
            if self._reply is None or self._reply.message_id != frame.message.message_id:
                self._reply, self._reply_text = frame.message, DeltaDetector()
            self._reply_text.take(frame.message.text)

    def merge(self, task: Snapshot) -> list[Frame]:
        message = task.message
        goes_on = not (task.state.is_terminal or task.state.is_asking)
        missed = self._missed(task.history, message, goes_on=goes_on)
        artifacts = tuple(each for each in map(self._answer_of, task.artifacts) if each is not None)
        if goes_on and message is not None:
            if self._messages.get(message.message_id) == message.text:
                message = None
            elif message.text:
                self._messages[message.message_id] = message.text
        return [*missed, replace(task, artifacts=artifacts, message=message)]

    def _answer_of(self, artifact: Artifact) -> Artifact | None:
        """This turn's answer in `artifact`; None where narration cannot be taken off."""
        key = artifact.artifact_id or artifact.name
        before, chunks = self._before.get(key), self._streamed.get(key, [])
        if before is not None and artifact.text.startswith(before.text):
            rest = artifact.text[len(before.text) :]
            fresh = tuple(each for each in _without_text(artifact) if each not in before.parts)
            if not (rest or fresh):
                return None
            artifact = replace(artifact, parts=(*((Part(text=rest),) if rest else ()), *fresh))
        marks = artifact.metadata
        has_both = is_true(marks, *ANSWER_MARKS) and is_true(marks, *NARRATION_MARKS)
        if not has_both and all(is_answer for is_answer, _ in chunks):
            return artifact
        known = "".join(text for _, text in chunks)
        if not chunks or not chunks[-1][0] or not artifact.text.startswith(known):
            return None
        chunks.append((True, artifact.text[len(known) :]))
        answer = "".join(text for is_answer, text in chunks if is_answer)
        metadata = {key: value for key, value in marks.items() if key not in NARRATION_MARKS}
        shown = Part(text=answer), *_without_text(artifact)
        return replace(artifact, parts=shown, metadata={**metadata, ANSWER_MARKS[0]: True})

    def _missed(
        self, history: tuple[AgentMessage, ...], last: AgentMessage | None, *, goes_on: bool
    ) -> list[Frame]:
        """`last`: the message of the task's status."""
        sent = [each for each in history if each.role == "agent" and each.text]
        if self._reply is not None:
            so_far = self._reply_text.text
            whole = next((each.text for each in reversed(sent) if each.text.startswith(so_far)), so_far)
            self._reply_text.take(whole)
            return [MessageReply(replace(self._reply, parts=(Part(text=whole),)))] if whole != so_far else []
        known = [n for n, each in enumerate(sent) if self._messages.get(each.message_id) == each.text]
        if history and history[-1].role == "user" and not known:
            sent.reverse()  # some servers list the newest first
        is_unseen = not self._messages and self._in_statuses is not False
        is_answer = is_unseen and (self._in_statuses or _in_statuses(sent, last, goes_on=goes_on))
        found = sent[known[-1] + 1 :] if known else sent if is_answer else []
        self._messages |= {each.message_id: each.text for each in found}
        return [StatusUpdate(each.task_id, each.context_id, TaskState.WORKING, each) for each in found]


def _in_statuses(sent: list[AgentMessage], last: AgentMessage | None, *, goes_on: bool) -> bool:
    """What was `sent` is a text in tokens; while the task goes on, with `last`, so few that it may be one."""
    if not sent or len({each.message_id for each in sent}) < len(sent):
        return False
    texts = [each.text for each in sent]
    if goes_on and last is not None and last.text:
        texts.append(last.text)
    # one text says too little: some servers write the pieces of all of it under one id
    return in_tokens(texts) or (goes_on and len(texts) > 1 and may_begin_tokens(texts))


def _without_text(artifact: Artifact) -> tuple[Part, ...]:
    """Its data and files."""
    return tuple(each for each in artifact.parts if each.text is None)


def stored_text(artifact: Artifact) -> str:
    """The text of a task's artifact, whose parts are the chunks that came."""
    texts = [part.text for part in artifact.parts if part.text is not None and not part.metadata]
    text = extract_answer(artifact).text
    if not text or len(texts) != len(artifact.parts) or len(texts) <= _FEW_CHUNKS:
        return text
    detector = DeltaDetector(appends=True)
    for each in texts:
        detector.take(each)
    return detector.text
