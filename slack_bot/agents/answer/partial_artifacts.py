"""PURE. Artifacts whose pieces come under several ids, where an agent mixes those of tasks that run at once.

ADK for JavaScript remembers one id for each author, whatever the task (facts: A2A 14). Its events say which
are pieces (`adk_partial`); the next event of that author without the flag is the whole, and replaces them.
"""

import re
from collections.abc import Iterable
from dataclasses import replace

from ..content.parts import is_true
from ..wire.frames import ArtifactUpdate

_PARTIAL = re.compile(r"(?:^|_)adk_partial\Z")
_AUTHOR = re.compile(r"(?:^|_)author\Z")
_MOST_PIECES = 50  # ids among which the pieces of one artifact are looked for


class PartialArtifacts:
    """The artifacts that are being written in pieces."""

    def __init__(self) -> None:
        self._open: dict[str, str] = {}  # by author, the id under which its first piece came
        self._ids: dict[str, str] = {}  # by id of a later piece or of the whole, that id

    def under_one_id(self, update: ArtifactUpdate) -> ArtifactUpdate:
        """`update` under the id of the first piece."""
        metadata, own = update.metadata, update.artifact.artifact_id
        flags = [key for key in metadata if _PARTIAL.search(key)]
        if not (flags or self._open):
            return update
        author = next((str(value) for key, value in metadata.items() if _AUTHOR.search(key)), "")
        if any(is_true(metadata, key) for key in flags):
            first = self._open.setdefault(author, own)
        else:
            first = self._open.pop(author, own)
        if first == own:
            return update
        self._ids[own] = first
        return replace(update, artifact=replace(update.artifact, artifact_id=first))

    def in_task(self, texts: Iterable[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
        """The artifacts of a task, as id, name and text. Pieces, and the whole that follows them, are under
        the id of the first piece; the other ids are blank."""
        found, blank = list[tuple[str, str, str]](), list[tuple[str, str, str]]()
        for own, name, text in texts:
            first, whole, count = self._ids.get(own, own), text, _pieces_of(text, found)
            if count:
                first = found[-count][0]
            elif found and found[-1][0] == first:
                whole, count = found[-1][2] + text, 1
            ids = [each for each, _, _ in found[len(found) - count :]]
            del found[len(found) - count :]
            blank += [(each, name, "") for each in {*ids, own} if each != first]
            found.append((first, name, whole))
        return [*found, *blank]


def _pieces_of(whole: str, texts: list[tuple[str, str, str]]) -> int:
    """How many of the last texts are, together, what `whole` begins with."""
    joined, count = "", 0
    for number, (_, _, text) in enumerate(reversed(texts[-_MOST_PIECES:]), start=1):
        joined = text + joined
        if len(joined) > len(whole):
            break
        if whole.startswith(joined):
            count = number
    return count
