"""PURE. Events that are dear to read for what they hold beside text: data, forms, files, lines.

`CASES` is what `heartbeat` runs behind those of `hostile_answers`.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from slack_bot.testing.tape.tape import Recording, Tape

from .hostile_answers import Case
from .stream import Json, Stream, data, file, holding, status, task, words


def _asking(rows: Sequence[Json]) -> Tape:
    """The agent asks for `rows` by a form."""
    stream = Stream(Random(1), "0.3")
    stream.say(task())
    form = {"user_input": True, "input_title": "A few details", "input_fields": list(rows)}
    stream.say(holding("UserInputMetaData", data(form)))
    stream.say(status("input-required", words("Which one?")))
    return stream.tape()


def _answering(value: object) -> Tape:
    """The answer is `value`, as data."""
    stream = Stream(Random(1), "0.3")
    stream.say(task())
    stream.say(holding("final_result", data(value)))
    stream.say(status("completed"))
    return stream.tape()


def _field(number: int, choices: int = 3) -> Json:
    values = [f"value {choice}" for choice in range(choices)]
    about = f"What {number} is"
    return {"field_name": f"f{number}", "field_description": about, "required": True, "field_values": values}


def _row(number: int, chars: int = 100) -> Json:
    return {f"column {at}": f"{number} {at} " + "x" * (chars // 20) for at in range(20)}


def _holding(*parts: Json) -> Tape:
    """The answer is `parts`."""
    stream = Stream(Random(1), "0.3")
    stream.say(task())
    stream.say(holding("answer", *parts))
    stream.say(status("completed"))
    return stream.tape()


def _tables(count: int) -> list[Json]:
    return [data([{"name": f"part {n}", "size": n}, {"name": "rest", "size": 1}]) for n in range(count)]


def _files(count: int) -> list[Json]:
    return [file(f"part {n}.bin", Random(n).randbytes(10_000)) for n in range(count)]


def _by_turns(tables: Sequence[Json], files: Sequence[Json]) -> list[Json]:
    return [part for pair in zip(tables, files, strict=True) for part in pair]


def _lines(count: int) -> Recording:
    """One event of `count` lines, which hold nothing."""
    at_once = 10_000
    chunks = ((0.1, b"data:\n" * at_once),) * (count // at_once)
    heads = {"content-type": "text/event-stream"}
    return Recording(headers=heads, chunks=(*chunks, (0.1, b"\n")), ended=0.2)


CASES: Sequence[Case] = (
    Case("a form of 5,000 fields", lambda: _asking([_field(number) for number in range(5_000)])),
    Case("a form of 20 fields with 5,000 choices", lambda: _asking([_field(n, 5_000) for n in range(20)])),
    Case("a table of 50,000 cells", lambda: _answering([_row(number) for number in range(2_500)])),
    Case("a table that a block holds", lambda: _answering([_row(number, 20) for number in range(199)])),
    Case("a file of 10 MB", lambda: _holding(file("a.bin", Random(1).randbytes(10_000_000)))),
    Case("200,000 list items as data", lambda: _answering({"items": [f"item {n}" for n in range(200_000)]})),
    Case("3,000 small tables", lambda: _holding(*_tables(3_000))),
    Case("12,000 small tables", lambda: _holding(*_tables(12_000))),
    Case("12,000 small tables that are equal", lambda: _holding(*_tables(1) * 12_000)),
    Case("300 tables and 300 files by turns", lambda: _holding(*_by_turns(_tables(300), _files(300)))),
    Case("an event of 2,000,000 lines", lambda: _lines(2_000_000)),
)
