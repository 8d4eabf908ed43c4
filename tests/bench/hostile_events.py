"""PURE. Events that are dear to read for how they are built: parts, ids, tags and quotes by the thousand.

`CASES` is what `heartbeat` runs behind those of `hostile_data`.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from slack_bot.testing.tape.tape import Tape

from .hostile_answers import MEGABYTE, Case, prose
from .stream import Json, Stream, artifact, data, holding, status, task, words

_MANY = 20_000


def _said(*events: Json, end: str = "completed") -> Tape:
    """A task that says `events`, and ends so if `end` is not empty."""
    stream = Stream(Random(1), "0.3")
    for event in (task(), *events, *([status(end)] if end else [])):
        stream.say(event)
    return stream.tape()


def _enveloped(inside: str) -> Tape:
    """JSON around an answer, with `inside` behind its content."""
    return _said(artifact("answer", f'{{"content": "{prose(2_000)[:-1].strip()}", {inside}', append=False))


def _names(said: str, *, append: bool = False) -> list[Json]:
    return [artifact(f"n{n}x", f"{said} {n}.\n", append=append, key=f"a{n}") for n in range(_MANY)]


def _stored(*artifacts: Json) -> Json:
    return task("working", [each["artifact"] for each in artifacts])


def _calls() -> list[Json]:
    return [
        data({"name": "look", "id": f"{n}"}) | {"metadata": {"adk_type": kind}}
        for kind in ("function_call", "function_response")
        for n in range(_MANY)
    ]


def _snapshots(times: int, size: int) -> list[Json]:
    """The whole so far, again and again."""
    whole = prose(size)
    step = size // times
    return [status("working", words(whole[: step * (n + 1)]), key="m") for n in range(times)]


def _said_twice() -> tuple[Json, Json]:
    values = [f"q{n}" for n in range(_MANY)]
    return words(" ".join(values)), data(values)


def _schema() -> Json:
    names = [f"f{n}" for n in range(_MANY)]
    return {"type": "object", "required": names, "properties": {key: {"type": "string"} for key in names}}


def _deep(depth: int) -> object:
    value: object = "x"
    for _ in range(depth):
        value = [value]
    return value


CASES: Sequence[Case] = (
    Case("1,000,000 quotes in an envelope", lambda: _enveloped('"' * MEGABYTE)),
    Case("1,000,000 brackets in an envelope", lambda: _enveloped("[" * MEGABYTE)),
    Case("an envelope of 300,000 numbers", lambda: _enveloped('"a": [' + "1," * 300_000 + "1]}")),
    Case(
        "1,000,000 backslashes as an envelope's content",
        lambda: _said(artifact("answer", '{"content": "' + "\\" * MEGABYTE, append=False)),
    ),
    Case(
        "60,000 thoughts in tags",
        lambda: _said(artifact("answer", "<think>a</think>" * 60_000 + "Done.", append=False)),
    ),
    Case("100,000 parts in one event", lambda: _said(holding("answer", *[words("word ")] * 100_000))),
    Case("a task of 100,000 parts", lambda: _said(_stored(holding("answer", *[words("word ")] * 100_000)))),
    Case("100,000 parts of data", lambda: _said(holding("answer", *(data(n) for n in range(100_000))))),
    Case("20,000 artifacts, a sentence each", lambda: _said(*_names("Sentence"))),
    Case("20,000 artifacts that append", lambda: _said(*_names("Sentence", append=True))),
    Case("a task of 20,000 artifacts", lambda: _said(_stored(*_names("Sentence")))),
    Case("20,000 tool calls in one event", lambda: _said(holding("answer", *_calls()), artifact(
        "answer", prose(2_000), append=True))),
    Case("100 kB sent whole 200 times", lambda: _said(*_snapshots(200, 100_000))),
    Case("20,000 values that the text says", lambda: _said(holding("answer", *_said_twice()))),
    Case("a schema of 20,000 fields", lambda: _said(status("input-required", data(_schema())), end="")),
    Case("lists 900 deep", lambda: _said(holding("answer", data(_deep(900))))),
    Case("15 MB of numbers", lambda: _said(holding("answer", data(list(range(1_800_000)))))),
)  # fmt: skip
