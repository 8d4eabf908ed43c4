"""PURE. Whether the next text of a source is a delta, or all of the text so far, or another text.

A text that begins with everything known is a snapshot and adds its rest; any other is a delta. Whether the
agent says `append` (`AppendDetector`) or not (`DeltaDetector`), there are exceptions:

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
"""

from collections.abc import Iterable

from ...text.compare import normalize
from ..content.parts import extract_answer
from ..wire.frames import Artifact
from .token_pace import CLOSES, LINE_ENDS, has_letters

_FEW_CHUNKS = 2  # say too little to be snapshots

GAP = "\n\n"
_SENTENCE_ENDS = (".", "!", "?", "…", ":")
_FEW_SIGNS = 8  # characters without a letter or digit that a text may begin with by chance
_FEW_LETTERS = 3  # of ASCII; in other scripts one letter says as much
_COMPARABLE = 8  # characters; shorter texts may repeat by chance
_PROVES = 24  # characters that no text ends with by chance as the one before did
_LEAST_LINKS = 2
_UNBOUNDED = 2**62


class TextDeltas:
    """What came of one text, piece by piece; at most `max_chars` characters.

    `size`: the characters, `steps`: the pieces, and those of the texts that it replaced.
    """

    __slots__ = ("_deltas", "_joined", "_whole", "last", "max_chars", "size", "steps")

    def __init__(self, texts: Iterable[str] = (), *, max_chars: int = _UNBOUNDED, steps: int = 0) -> None:
        self.max_chars = max_chars
        self._deltas: list[str] = []
        self._whole, self._joined = "", 0  # the first pieces as one string; how many
        self.last = ""
        self.size, self.steps = 0, steps
        for each in texts:
            self.add(each)

    @property
    def text(self) -> str:
        if self._joined < len(self._deltas):
            self._whole += "".join(self._deltas[self._joined :])
            self._joined = len(self._deltas)
        return self._whole

    def add(self, text: str) -> str:
        """Add a piece. Returns what of it fits."""
        text = text[: self.max_chars - self.size]
        if text:
            self._deltas.append(text)
            self.last = text
            self.size += len(text)
            self.steps += 1
        return text

    def merged(self, count: int, text: str) -> "TextDeltas":
        """The same with `text` in place of the last `count` pieces."""
        return TextDeltas([*self._deltas[:-count], text], max_chars=self.max_chars)

    def begins_line(self, size: int) -> bool:
        """The last `size` characters follow a sentence or a line end, or nothing is before them."""
        for delta in reversed(self._deltas):  # the whole text may be long
            before = delta[: max(0, len(delta) - size)].rstrip(" ")
            size = max(0, size - len(delta))
            if before:
                return before[-1] == "\n" or before[-1] in LINE_ENDS
        return True

    def are_repeated_by(self, text: str) -> bool:
        """`text` is what two or more of the last pieces made; one piece may well come twice."""
        if len(text) < _COMPARABLE:
            return False
        end, count = len(text), 0
        for delta in reversed(self._deltas):
            if not end or not text.endswith(delta, 0, end):
                break
            end -= len(delta)
            count += 1
        return not end and count > 1

    def are_all_in(self, text: str) -> bool:
        """`text` has every piece in it, in order, and more; it ends with what the last of them made."""
        if len(self._deltas) < _FEW_CHUNKS or len(text) <= max(self.size, _PROVES):
            return False
        if not text.endswith(self.last):
            return False
        end, at_end, is_at_end = len(text), 0, True
        for delta in reversed(self._deltas):
            is_at_end = is_at_end and text.endswith(delta, 0, end)
            end = end - len(delta) if is_at_end else text.rfind(delta, 0, end)
            if end < 0:
                return False
            at_end += len(delta) if is_at_end else 0
        return at_end >= _PROVES


class SnapshotSeries:
    """Only snapshots are expected: each goes on with the last one, or begins another text.

    `last`: the last snapshot; "": the series has not begun.
    """

    __slots__ = ("_normalized", "last")

    def __init__(self) -> None:
        self.last = self._normalized = ""

    def start(self, snapshot: str) -> None:
        self.last, self._normalized = snapshot, ""

    def begins_anew(self, text: str) -> bool:
        """`text` neither goes on with the last snapshot nor repeats its beginning."""
        last = self.last
        if not (last and text) or (len(text) > len(last) and text.startswith(last)):
            return False
        self._normalized = self._normalized or normalize(last)
        return not self._normalized.startswith(normalize(text))

    def take(self, text: str) -> str:
        """What `text` adds. Another text is a paragraph of its own."""
        if self.begins_anew(text):
            self.start(text)
            return GAP + text
        if len(text) <= len(self.last):
            return ""
        more = text[len(self.last) :]
        self.start(text)
        return more


class SnapshotChain:
    """The last text, and those behind it that each begin with the one before: snapshots, or deltas by chance.

    They are `held` until enough of them came, or another text. `is_apart`: the first of them may begin
    another text. `last`: the last text that is not held.
    """

    __slots__ = ("held", "is_apart", "last")

    def __init__(self) -> None:
        self.last = ""
        self.held: list[str] = []
        self.is_apart = False

    def restart(self, last: str) -> None:
        """Nothing is held; `last` came."""
        self.last = last

    def begin(self, text: str) -> None:
        """Hold `text`, which may begin another text."""
        self.held, self.is_apart = [text], True

    def hold(self, text: str) -> None:
        self.held.append(text)

    def drop(self) -> None:
        """The texts that are held are in a snapshot that came."""
        self.held = []

    def release(self) -> list[str]:
        """The texts that were held: deltas, as no more comes of the chain."""
        held, self.held, self.is_apart = self.held, [], False
        self.last = held[-1] if held else self.last
        return held

    def close(self, text: str) -> str:
        """The texts were snapshots, and `text` is the next one. Returns what they add together."""
        self.held = []
        return GAP + text if self.is_apart else text[len(self.last) :]

    def goes_on_with(self, text: str) -> bool:
        last = self.held[-1] if self.held else self.last
        return bool(last) and len(text) > len(last) and text.startswith(last)

    def is_other_text(self, text: str) -> bool:
        """What is held is apart, and `text` goes on with it."""
        return bool(self.held) and self.goes_on_with(text)

    def is_proven_by(self, text: str, deltas: TextDeltas) -> bool:
        """`text`, with which the chain behind `deltas` goes on, does not do so by chance.

        Within a line a word may well be said twice.
        """
        if len(self.held) + (not self.is_apart) >= _LEAST_LINKS:
            return _is_text(text)
        last = self.held[-1] if self.held else self.last
        begins = self.is_apart or deltas.begins_line(len(self.last))
        return _is_text(last) and not last[0].isspace() and (begins or len(last) >= _PROVES)


class AppendDetector:
    """What the texts add up to of an agent that says `append`, which it may say of snapshots too."""

    __slots__ = ("_deltas", "_doubted", "_links", "_series", "_worded_links")

    def __init__(self, text: str = "") -> None:
        self._start(TextDeltas([text]))

    def _start(self, deltas: TextDeltas) -> None:
        self._deltas, self._series = deltas, SnapshotSeries()
        self._doubted: list[str] = []  # the texts as they came, while it is open what they are
        self._links = self._worded_links = 0  # deltas in a row that begin with the one before

    @property
    def text(self) -> str:
        return self._deltas.text

    def take(self, text: str) -> tuple[str, bool]:
        """Take the next text. Returns the new part, True; or the whole, False."""
        if not text:
            return "", True
        deltas = self._deltas
        if self._series.last:
            return deltas.add(self._series.take(text)), True
        size = deltas.size
        if size and len(text) >= size and text.startswith(deltas.text):
            if self._is_snapshot(text):
                return deltas.add(text[size:]), True
        elif self._doubted:
            return self._retell(TextDeltas([*self._doubted, text]))
        return self._take_delta(text)

    def _retell(self, deltas: TextDeltas) -> tuple[str, bool]:
        self._start(deltas)
        return deltas.text, False

    def _is_snapshot(self, text: str) -> bool:
        """`text`, which begins with all that is known, is a snapshot, at least until the next text."""
        deltas, self._links, self._worded_links = self._deltas, 0, 0
        if self._doubted:
            self._doubted = []
            self._series.start(text)
            return True
        if not _says_enough(deltas.text):
            return False
        if deltas.steps > 1:
            return deltas.size >= _COMPARABLE
        self._doubted = [deltas.text, text] if len(text) > deltas.size else []
        return bool(self._doubted)

    def _take_delta(self, text: str) -> tuple[str, bool]:
        """A delta, or the third in a chain of snapshots that began with too little."""
        last = self._deltas.last
        if last and len(text) > len(last) and text.startswith(last):
            self._links += 1
            self._worded_links += has_letters(last)  # marks and white space begin many a delta
        else:
            self._links = self._worded_links = 0
        fresh = self._deltas.add(text)
        if self._worded_links < _LEAST_LINKS or len(text) < _COMPARABLE or not _says_enough(text):
            return fresh, True
        whole = self._retell(self._deltas.merged(self._links + 1, text))
        self._series.start(text)
        return whole


class DeltaDetector:
    """What the texts add up to of an agent that does not say `append`. `steps`: how often the whole grew."""

    __slots__ = ("_chain", "_deltas", "_doubted", "_max_chars", "_series", "_snapshots")

    def __init__(self, *, max_chars: int = _UNBOUNDED) -> None:
        self._max_chars = max_chars
        self.restart()

    def restart(self, *texts: str, steps: int = 0) -> None:
        """Forget all, and begin with these texts. `steps` were made before."""
        self._deltas = TextDeltas(texts, max_chars=self._max_chars, steps=steps)
        self._snapshots = 0  # in a row
        self._doubted: list[str] = []  # the texts as they came, while it is open what they are
        self._chain, self._series = SnapshotChain(), SnapshotSeries()

    def replace(self, text: str) -> None:
        self.restart(text, steps=self.steps)

    @property
    def text(self) -> str:
        return self._deltas.text

    @property
    def steps(self) -> int:
        return self._deltas.steps

    def take(self, text: str, *, by_line: bool = False) -> tuple[str, bool]:
        """Take the next text. Returns the new part, True; or the whole, False.

        `by_line`: a sentence right behind another is a new paragraph.
        """
        deltas = self._deltas
        size = deltas.size
        if not text or size >= deltas.max_chars:
            return "", True
        if self._is_in_series(text):
            return deltas.add(self._series.take(text)), True
        if size and len(text) >= size and text.startswith(deltas.text):
            self._note_snapshot(text)
            self._chain.drop()
            return deltas.add(text[size:]), True
        if self._doubted:
            self.restart(*self._doubted, text)
            return self.text, False
        self._snapshots = 0
        return self._take_delta(text, by_line=by_line)

    def _note_snapshot(self, text: str) -> None:
        """`text` begins with all that is known. Few signs are no proof that it is a snapshot."""
        known = self.text
        is_open = len(known) <= _FEW_SIGNS and not has_letters(known)
        self._doubted = [*(self._doubted or [known]), text] if is_open else []
        self._snapshots += len(text) > len(known)

    def _take_delta(self, text: str, *, by_line: bool) -> tuple[str, bool]:
        """A delta, or a snapshot of what the last text began."""
        deltas, chain = self._deltas, self._chain
        if chain.goes_on_with(text):
            if not chain.is_proven_by(text, deltas):
                chain.hold(text)
                return "", True
            self._series.start(text)
            return deltas.add(chain.close(text)), True
        held = self.take_held() if chain.held or chain.is_apart else ""
        if self._is_glued(text):
            chain.begin(text)
            return held, True
        if deltas.are_all_in(text):
            self.restart(text)
            self._chain.restart(text)
            return text, False
        gap = GAP if by_line and self._is_line(text) else ""
        more = "" if deltas.are_repeated_by(text) else gap + text
        chain.restart(text)
        return held + deltas.add(more), True

    def take_held(self) -> str:
        """The texts that were held, when nothing follows: they were deltas."""
        return "".join(map(self._deltas.add, self._chain.release()))

    def begins_anew(self, text: str) -> bool:
        """`text` is the first snapshot of another text that proves to be one.

        Or only snapshots came so far, and it neither goes on with the last one nor repeats it.
        """
        if self._chain.is_apart and self._chain.is_other_text(text):
            return self._chain.is_proven_by(text, self._deltas)
        return self._is_in_series(text) and self._series.begins_anew(text)

    def _is_in_series(self, text: str) -> bool:
        """Only snapshots are expected. A series begins where two of them came, the last of which ended a
        sentence, and `text` may begin another one."""
        if self._series.last:
            return True
        if self._snapshots < _LEAST_LINKS or not _is_beginning(text):
            return False
        if self._deltas.last[-1:] not in LINE_ENDS or text.startswith(self.text):
            return False
        self._series.start(self.text)
        return True

    def _is_glued(self, text: str) -> bool:
        """A token right behind a sentence: no model goes on so, but another text may begin so."""
        return self._deltas.last[-1:] in LINE_ENDS and " " not in text.strip() and _is_beginning(text)

    def _is_line(self, text: str) -> bool:
        """A sentence follows a sentence with nothing between."""
        last = self._deltas.last
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


def stored_text(artifact: Artifact) -> str:
    """The text of a task's artifact, whose parts are the chunks that came."""
    texts = [part.text for part in artifact.parts if part.text is not None and not part.metadata]
    text = extract_answer(artifact).text
    if not text or len(texts) != len(artifact.parts) or len(texts) <= _FEW_CHUNKS:
        return text
    detector = AppendDetector()
    for each in texts:
        detector.take(each)
    return detector.text
