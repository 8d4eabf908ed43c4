"""PURE. Answers that are dear to read: a megabyte of one sign, one token of three, cards by the thousand.

Each is a whole stream of an agent. `CASES` is what `heartbeat` runs, and then those of `hostile_data`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from slack_bot.testing.tape.tape import Moment, Recording, Tape

from .answers import words
from .running import done, event, spoken
from .stream import Stream, status, task

MEGABYTE = 1_000_000
_PIECE = 4_000  # characters of an event, where an answer comes as a stream
_ANSWERING = {"is_final_answer": True}


@dataclass(frozen=True, slots=True)
class Case:
    """One answer. `tape` makes it anew each time: a table of them would hold a hundred megabytes."""

    name: str
    tape: Callable[[], Tape | Recording]


def whole(text: str) -> Tape:
    """`text` as one event."""
    return spoken([text], 0.0)


def streamed(text: str, size: int = _PIECE, spacing: float = 0.0) -> Tape:
    """`text` in events of `size` characters, one every `spacing` seconds."""
    return spoken([text[at : at + size] for at in range(0, len(text), size)], spacing)


def final(text: str) -> Tape:
    """Some words, and then `text` as the final result, which differs from them."""
    stream = Stream(Random(1), "0.3")
    stream.say(task())
    stream.chunks("streaming_result", ["A beginning ", "that is taken back.\n"], 1.0, _ANSWERING)
    stream.chunks("final_result", [text], 0.0, goes_on=False)
    stream.say(status("completed"))
    return stream.tape()


def prose(size: int) -> str:
    """Ordinary text in every script, with no danger in it."""
    random, found, length = Random(1), [], 0
    while length < size:
        found.append(f"{words(random, 12)}.\n")
        length += len(found[-1])
    return "".join(found)[:size]


def tools(count: int, *, behind: str) -> Tape:
    """`count` tools, one after the other, then the answer."""
    moments = [Moment(0.1, event=task())]
    for number in range(count):
        about = {"tool_name": f"tool {number}", "tool_call_id": f"call-{number}"}
        for word in ("start", "end"):
            moments.append(Moment(0.1 + number * 0.005, event=_notice(word, number, about)))
    last = moments[-1].t
    moments += [Moment(last + 1.0, event=event(behind)), Moment(last + 3.0, event=done())]
    return Tape({"wire": "0.3"}, (*moments, Moment(last + 3.1, end="closed")))


def _notice(word: str, number: int, about: dict[str, str]) -> dict[str, object]:
    artifact = {"artifactId": f"{word}-{number}", "name": f"tool_notification_{word}", "metadata": about}
    return {
        "kind": "artifact-update",
        "taskId": "task-1",
        "contextId": "ctx-1",
        "append": False,
        "artifact": {**artifact, "parts": []},
    }


def _table(rows: int) -> str:
    head = "| name | size | owner |\n|---|---|---|\n"
    return head + "".join(f"| part {row} | {row * 7} kB | team {row % 9} |\n" for row in range(rows))


def _nested(depth: int) -> str:
    quotes = "".join(f"{'> ' * level}level {level}\n" for level in range(1, depth))
    items = "".join(f"{'  ' * level}- level {level}\n" for level in range(depth))
    return f"{quotes}\n{items}\n{'*_' * depth}words{'_*' * depth}\n{'[' * depth}x{'](y)' * depth}\n"


def _signs(name: str, sign: str, size: int = MEGABYTE) -> Sequence[Case]:
    text = (sign * (size // len(sign) + 1))[:size]
    return (
        Case(f"{size:,} of {name}, one event", lambda: whole(text)),
        Case(f"{size:,} of {name}, streamed", lambda: streamed(text)),
    )


CASES: Sequence[Case] = (
    Case("ordinary answer, 8,000 characters", lambda: streamed(prose(8_000), 12, 0.01)),
    *_signs("spaces", " ", 20_000),
    Case("20,000 spaces between words", lambda: streamed(f"One{' ' * 20_000}two.\n" * 3)),
    *_signs("spaces", " "),
    Case("1,000,000 spaces behind a word", lambda: whole(f"One{' ' * MEGABYTE}two.\n")),
    *_signs("<", "<"),
    *_signs("newlines", "\n"),
    Case("1,000,000 newlines behind a word", lambda: whole(f"One{chr(10) * MEGABYTE}two.\n")),
    *_signs("backticks", "`"),
    *_signs("stars", "*"),
    *_signs("underscores", "_"),
    *_signs("bars", "|"),
    *_signs("brackets", "["),
    *_signs("quote signs", ">"),
    *_signs("star and underscore", "*_"),
    *_signs("star and word", "*a "),
    *_signs("backtick and space", "` "),
    *_signs("backslashes", "\\"),
    *_signs("beginnings of tokens", "-eyJ"),
    *_signs("beginnings of keys", "-----BEGIN "),
    *_signs("a word without a space", "x"),
    *_signs("CJK", "部署需要两个副本。"),
    *_signs("emoji and joiners", "\U0001f469\u200d"),
    *_signs("combining marks", "a\u0301\u0327"),
    *_signs("flags", "\U0001f1e9\U0001f1ea"),
    *_signs("halves of surrogate pairs", "\ud800"),
    Case("one token of 3,000,000 characters", lambda: whole(prose(3 * MEGABYTE))),
    Case("a final result of 3,000,000 characters", lambda: final(prose(3 * MEGABYTE))),
    Case("a final result of 1,000,000 combining marks", lambda: final("a" + "\u0301\u0327" * 500_000)),
    Case("1,000,000 mentions, made harmless", lambda: whole("<!here> " * (MEGABYTE // 8))),
    Case("100,000 events of one character", lambda: streamed("word. " * 16_667, 1)),
    Case("100,000 events of a space", lambda: streamed(" " * 100_000, 1)),
    Case("200,000 list items", lambda: whole("".join(f"- item {n}\n" for n in range(200_000)))),
    Case("a table of 20,000 rows", lambda: whole(_table(20_000))),
    Case("a table of 20,000 rows, streamed", lambda: streamed(_table(20_000))),
    Case("a table row of 1,000,000 characters", lambda: whole("|a|b|\n|-|-|\n" + "|cell" * 200_000)),
    Case("a code block of 1,000,000 characters", lambda: whole(f"```\n{'x = 1' * 200_000}\n```\n")),
    Case("nested 1,000 deep", lambda: whole(_nested(1_000))),
    Case("2,000 cards", lambda: tools(2_000, behind=prose(4_000))),
)
