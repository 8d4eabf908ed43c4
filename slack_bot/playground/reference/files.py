"""Files that come with a question: what the playground's agent says of them."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from a2a.types import Message

from .scenarios import Thought, WriteMove

_FIRST_LINE = 200  # characters that are quoted


@dataclass(frozen=True, slots=True)
class ReceivedFile:
    """A file as it arrived. `url`: where it lies, if its bytes did not come."""

    name: str
    media_type: str
    content: bytes = b""
    url: str = ""

    def as_markdown(self) -> str:
        """What it is, so that a person can tell whether it arrived as it was sent."""
        name = self.name.replace("`", "'") or "a file without a name"
        if self.url:
            return f"`{name}` lies at {self.url}: I was given its address only.\n"
        about = f"`{name}`: {len(self.content):,} bytes of {self.media_type or 'no kind'}.\n"
        digest = f"Its SHA-256 is `{hashlib.sha256(self.content).hexdigest()}`.\n"
        return f"{about}{self._first_line()}{digest}"

    def _first_line(self) -> str:
        try:
            line = next((each for each in self.content.decode("utf-8").splitlines() if each.strip()), "")
        except UnicodeDecodeError:
            return ""
        shown = line.replace("`", "'")[:_FIRST_LINE]
        return f"It begins with `{shown}`.\n" if shown.isprintable() and shown else ""


def received_files(message: Message | None) -> list[ReceivedFile]:
    """The files of a message, in their order."""
    parts = [] if message is None else message.parts
    return [
        ReceivedFile(part.filename, part.media_type, part.raw, part.url)
        for part in parts
        if part.WhichOneof("content") in ("raw", "url")
    ]


def look_at(files: Sequence[ReceivedFile]) -> Thought:
    """The moves that answer a question with files."""
    yield "I look at what you sent."
    for number, file in enumerate(files):
        yield WriteMove(("\n" if number else "") + file.as_markdown())


def described(question: str, files: Sequence[ReceivedFile]) -> str:
    """`question` for a model that reads text only."""
    return "\n\n".join([question, *(each.as_markdown() for each in files)])
