"""Files that come with a question: what the playground's agent says of them."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from a2a.types import Message

from .scenarios import Thought, WriteMove

_LINES, _LINE = 5, 200  # lines that are quoted, and characters of each
_CHECKSUM = re.compile(r"\b(checksum|digest|hash|sha)", re.IGNORECASE)
_NOT_TEXT = "It is not text, so I cannot read it.\n"


@dataclass(frozen=True, slots=True)
class ReceivedFile:
    """A file as it arrived. `url`: where it lies, if its bytes did not come."""

    name: str
    media_type: str
    content: bytes = b""
    url: str = ""

    def as_markdown(self, question: str = "") -> str:
        """What it is and how it begins. Its SHA-256 too, where `question` asks for that: so a person, or a
        test, can tell whether it arrived as it was sent.
        """
        name = self.name.replace("`", "'") or "a file without a name"
        if self.url:
            return f"`{name}` lies at {self.url}: I was given its address only.\n"
        about = f"`{name}`: {len(self.content):,} bytes of {self.media_type or 'no kind'}.\n"
        if not _CHECKSUM.search(question):
            return about + self._beginning()
        return f"{about}Its SHA-256 is `{hashlib.sha256(self.content).hexdigest()}`.\n"

    def _beginning(self) -> str:
        if self.media_type.startswith("image/"):
            return "It is a picture, and I cannot see pictures.\n"
        try:
            lines = self.content.decode("utf-8").splitlines()
        except UnicodeDecodeError:
            return _NOT_TEXT
        first = [line[:_LINE].replace("`" * 3, "'" * 3) for line in lines if line.strip()][:_LINES]
        if not all(line.replace("\t", " ").isprintable() for line in first):
            return _NOT_TEXT
        if not first:
            return "There is nothing in it.\n"
        count = f"{len(lines)} line{'' if len(lines) == 1 else 's'}"
        return "\n".join([f"It has {count} and begins:\n\n```text", *first, "```\n"])


def received_files(message: Message | None) -> list[ReceivedFile]:
    """The files of a message, in their order."""
    parts = [] if message is None else message.parts
    return [
        ReceivedFile(part.filename, part.media_type, part.raw, part.url)
        for part in parts
        if part.WhichOneof("content") in ("raw", "url")
    ]


def look_at(question: str, files: Sequence[ReceivedFile]) -> Thought:
    """The moves that answer a question with files."""
    yield "I look at what you sent."
    for number, file in enumerate(files):
        yield WriteMove(("\n" if number else "") + file.as_markdown(question))


def described(question: str, files: Sequence[ReceivedFile]) -> str:
    """`question` for a model that reads text only."""
    return "\n\n".join([question, *(each.as_markdown() for each in files)])
