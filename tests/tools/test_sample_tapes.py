"""The tapes that ship are those that the numbers make, and they say what the numbers say."""

from __future__ import annotations

from pathlib import Path

import pytest

from slack_bot.testing.tape.tape import write_tape
from slack_bot.tools.replay.replay import replayed
from tests.tools.sample_tapes import main, tapes

FOLDER = Path(__file__).parents[2] / "docs" / "tapes"


@pytest.mark.parametrize("name", tapes())
def test_the_files_are_what_the_script_makes(name: str) -> None:
    made = write_tape(tapes()[name])
    assert (FOLDER / name).read_text("utf-8") == made, "python -m tests.tools.sample_tapes docs/tapes"


@pytest.mark.parametrize(
    "name,chunks,chars,first,end",
    [
        ("caipe-0.2.41-simple.jsonl", 216, 2098, 2.0, 12.5),
        ("caipe-0.3.0-simple.jsonl", 290, 2571, 17.8, 18.2),
        ("caipe-0.3.0-rag.jsonl", 304, 2870, 114.6, 114.9),
    ],
)
def test_they_keep_the_published_numbers(
    name: str, chunks: int, chars: int, first: float, end: float
) -> None:
    got = replayed(tapes()[name]).result()
    assert got["outcome"] == "answered"
    assert len(got["visible"]) == chars
    assert got["first_answer_event"] == first
    assert (got["events"]["streaming_result"], tapes()[name].moments[-1].t) == (chunks, end)


def test_they_can_be_written_anywhere(tmp_path: Path) -> None:
    main(str(tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == set(tapes())
