"""PURE. Which pieces make one text, and what each adds to it.

Many servers give each chunk an id of its own. White space within the line, or a word that continues, shows
that; then the following texts of the same name are chunks too. Only a text that comes as it should, under an
id that comes again, shows that the ids are those of texts.
"""

from collections.abc import Iterable, Iterator

from ..wire.frames import Artifact
from .delta_detector import AppendDetector, DeltaDetector
from .keyed_text import KeyedText
from .token_pace import BEFORE, goes_on

_LONGEST_TOKEN = 80  # characters; a longer text that replaces another is no delta


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


class ArtifactPieces:
    """The pieces of artifacts, and the artifacts that they make in `texts`.

    `is_split`: an id came again, so pieces that were joined are the beginnings of several texts.
    """

    def __init__(self, texts: KeyedText) -> None:
        self._texts = texts
        self._joiner = ChunkJoiner()
        self._detectors: dict[str, AppendDetector] = {}
        self._last_name: str | None = ""  # None: the next piece begins a new text
        self._ids_are_reused = False
        self._beginnings: list[tuple[str, str]] = []  # ids and texts of artifacts, until an id comes again
        self._has_joined = self.is_split = False
        self._delta_keys = set[str]()  # artifacts whose texts are deltas, though the agent does not say so

    def find_key(self, artifact_id: str, name: str, text: str, *, append: bool) -> tuple[str, bool]:
        """The key of an artifact's text, and whether `text` appends."""
        texts, key = self._texts, artifact_id or name
        if key in texts:
            if append and not self._ids_are_reused:
                self._ids_are_reused = True
                self.is_split = self._has_joined and bool(text.strip()) and self._beginnings[-1][0] != key
            return key, append
        last, self._last_name = self._last_name, name
        if self._ids_are_reused:
            return key, append
        is_chunk = last is not None and (append or not texts.shown.is_repeated_by(text))
        joins = is_chunk and self._joiner.joins(name, last or "", _end_of(texts), text, over_lines=append)
        self._beginnings.append((key, text))
        self._has_joined |= joins
        return (texts.last_key, True) if joins else (key, append)

    def split(self) -> list[tuple[str, str, str]]:
        """The texts that were joined and should not have been, as an id, no name, and text."""
        beginnings, self._beginnings, self.is_split = self._beginnings, [], False
        return [(key, "", text) for key, text in beginnings]

    def end_text(self) -> None:
        """A tool is called: the next piece begins a new text."""
        self._last_name = None

    def detect(self, key: str, text: str, *, append: bool) -> tuple[str, bool]:
        """What `text` adds, True; or the whole text of `key`, False."""
        detector = self._detectors.get(key)
        if detector is None or not append:
            self._detectors[key] = AppendDetector(text)
            return text, append
        return detector.take(text)

    def restart(self, texts: Iterable[tuple[str, str]]) -> None:
        """The texts of a task, by key, are those that further pieces continue."""
        self._detectors |= {key: AppendDetector(text) for key, text in texts}

    def goes_on(self, artifact: Artifact, text: str, *, says_so: bool) -> bool:
        """`text` is a delta, though not appended: the event `says_so`, or it goes on within a sentence."""
        key = artifact.artifact_id or artifact.name
        if key not in self._delta_keys and (says_so or self._texts.is_cut(key, text, _LONGEST_TOKEN)):
            self._delta_keys.add(key)
        return key in self._delta_keys

    def deltas_of(self, key: str) -> str:
        """The text of an artifact whose deltas came without `append`; its server may keep the last one only.

        Returns "" for any other artifact.
        """
        return self._texts.text_of(key) if key in self._delta_keys else ""

    def join(self, artifacts: list[tuple[str, str, str]]) -> Iterator[tuple[str, str]]:
        """Key and text of a task's artifacts, given as id, name and text, chunks put together."""
        key, last, pieces = "", "", list[str]()
        for artifact_id, name, text in artifacts:
            is_own = self._ids_are_reused or artifact_id in self._texts
            if pieces and (is_own or not self._joiner.joins(name, last, pieces[-1][-BEFORE:], text)):
                yield key, "".join(pieces)
                pieces = []
            key = key if pieces else artifact_id or name
            pieces.append(text)
            last = name
        if pieces:
            yield key, "".join(pieces)


class MessagePieces:
    """The pieces of messages, each message of at most `max_chars`."""

    def __init__(self, max_chars: int) -> None:
        self._max_chars = max_chars
        self._joiner = ChunkJoiner()
        self._detectors: dict[str, DeltaDetector] = {}
        self._last_key = ""

    def take(self, message_id: str, text: str, texts: KeyedText) -> tuple[str, str, bool]:
        """The key of the message in `texts`; what `text` adds, True; or its whole text, False."""
        key = message_id or "message"
        if key not in self._detectors and self._joiner.joins("", "", _end_of(texts), text, over_lines=True):
            key = self._last_key
        self._last_key = key
        if key not in self._detectors:
            self._detectors[key] = DeltaDetector(max_chars=self._max_chars)
        fresh, append = self._detectors[key].take(text)
        return key, fresh, append

    def take_held(self) -> Iterator[tuple[str, str]]:
        """The keys and the texts that were held, when nothing follows."""
        for key, detector in self._detectors.items():
            if rest := detector.take_held():
                yield key, rest


def _end_of(texts: KeyedText) -> str:
    return texts.shown.ending(BEFORE) if texts.has_text else ""
