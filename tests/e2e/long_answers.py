"""Long answers whose every word has a number, and a judge who reads the thread as a person does.

The judge shares nothing with the bot: it knows words, fences and tables, and what a message must look like on
its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Any

from slack_bot.testing.slack.workspace import SeenMessage
from slack_bot.testing.tape.builders import chunk, status, task
from slack_bot.testing.tape.tape import Moment, Tape

WORD = re.compile(r"w\d{5}")
HEADER, RULE = "| Name | What | Where |", "| --- | :-- | --: |"
FEEDBACK = "Helpful Not helpful"

Json = dict[str, Any]


class Writer:
    """Writes Markdown out of words that are never used twice."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def words(self, many: int) -> str:
        return " ".join(f"w{next(self._numbers):05}" for _ in range(many))

    def paragraph(self, sentences: int = 5) -> str:
        return " ".join(f"{self.words(9).capitalize()}, **{self.words(2)}**." for _ in range(sentences))

    def bullets(self, many: int = 6) -> str:
        return "\n".join(f"{number}. {self.words(8)}" for number in range(1, many + 1))

    def table(self, rows: int) -> str:
        body = [f"| {self.words(1)} | {self.words(4)} | {self.words(2)} |" for _ in range(rows)]
        return "\n".join([HEADER, RULE, *body])

    def code(self, lines: int, language: str = "python") -> str:
        body = [f"    call({self.words(1)!r})  # {self.words(5)}" for _ in range(lines)]
        return "\n".join([f"```{language}", *body, "```"])

    def report(self, characters: int) -> str:
        """Everything an agent writes, in turn, until there is enough of it."""
        parts: list[str] = []
        kinds = [
            lambda: f"## {self.words(3)}", self.paragraph, self.bullets, lambda: self.table(12),
            self.paragraph, lambda: self.code(20), lambda: f"> {self.words(20)}", self.paragraph,
        ]  # fmt: skip
        while sum(map(len, parts)) < characters:
            parts.append(kinds[len(parts) % len(kinds)]())
        return "\n\n".join(parts)


def pieces(text: str, size: int = 24) -> Iterator[str]:
    """`text` as an agent streams it."""
    return (text[at : at + size] for at in range(0, len(text), size))


def tape(events: Iterable[tuple[float, Json]]) -> Tape:
    """Events at their times, and a good end."""
    moments = [Moment(0.1, event=task()), *(Moment(at, event=event) for at, event in events)]
    end = moments[-1].t
    return Tape(
        {"wire": "0.3"},
        (*moments, Moment(end + 0.1, event=status("completed")), Moment(end + 0.2, end="closed")),
    )


def streamed(text: str, seconds: float, start: float = 0.2) -> list[tuple[float, Json]]:
    """`text` evenly in `seconds`."""
    parts = list(pieces(text))
    return [(start + seconds * number / len(parts), chunk(part)) for number, part in enumerate(parts)]


def answers(thread: Sequence[SeenMessage]) -> list[SeenMessage]:
    """The messages of the bot's that hold words of the answer."""
    return [seen for seen in thread if seen.is_bot and WORD.search(seen.text)]


def faults_of(thread: Sequence[SeenMessage], text: str) -> list[str]:
    """What a reader would complain of; [] if the thread shows `text`, once, in readable pieces."""
    shown = answers(thread)
    complaints = _words(shown, text)
    for number, seen in enumerate(shown, 1):
        complaints += [f"message {number}: {complaint}" for complaint in _looks(seen)]
    signed = [number for number, seen in enumerate(shown, 1) if FEEDBACK in seen.extras]
    if signed != [len(shown)]:
        complaints.append(f"feedback stands on messages {signed} of {len(shown)}")
    return complaints


def _words(shown: Sequence[SeenMessage], text: str) -> list[str]:
    wanted = [word.lower() for word in WORD.findall(text.lower())]
    read = [word for seen in shown for word in WORD.findall(seen.text.lower())]
    if read == wanted:
        return []
    lost, twice = set(wanted) - set(read), len(read) - len(set(read))
    return [f"{len(lost)} words lost, {twice} twice, of {len(wanted)}"]


def _looks(seen: SeenMessage) -> list[str]:
    complaints = []
    if seen.state == "streaming":
        complaints.append("still open")
    if seen.expired:
        complaints.append("sealed by Slack")
    if seen.plan_failed or any(task.status in ("pending", "in_progress") for task in seen.tasks):
        complaints.append("a card is open")
    return complaints + _broken(seen.text.splitlines())


def _broken(lines: Sequence[str]) -> list[str]:
    """Fences that are not closed, rows without a header, code outside of a fence and prose within one."""
    complaints, fence, table = [], False, 0
    for line in lines:
        if line.lstrip().startswith("```"):
            fence, table = not fence, 0
        elif fence and not line.startswith("    call(") and WORD.search(line):
            complaints.append(f"prose in a fence: {line}")
        elif not fence and line.startswith("    call("):
            complaints.append(f"code outside of a fence: {line}")
        elif not fence:
            table = table + 1 if line.startswith("|") else 0
            if (table, line) not in ((0, line), (1, HEADER), (2, RULE)) and table < 3:
                complaints.append(f"a row without its header: {line}")
    return [*complaints, *(["a fence is not closed"] if fence else [])]
