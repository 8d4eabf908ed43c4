"""Answer text is shown while it is written: within a second of its first token, nearly all before the end."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from slack_bot.testing.tape.tape import Moment, Tape, read_tape
from slack_bot.tools.replay.replay import replayed

SHARED = Path(__file__).parents[3] / "shared"
CASES = SHARED / "oracle" / "cases.json"
EXECUTOR = SHARED / "captures" / "caipe" / "executor_cfe95d16b.json"

pytestmark = pytest.mark.skipif(
    not CASES.is_file(), reason="the shared captures are not beside this repository"
)


def is_answer(moment: Moment) -> bool:
    metadata = ((moment.event or {}).get("artifact") or {}).get("metadata") or {}
    return metadata.get("is_final_answer") is True


def stretched(tape: Tape, spacing: float) -> Tape:
    """The same events, `spacing` seconds apart."""
    return Tape(tape.head, tuple(replace(moment, t=n * spacing) for n, moment in enumerate(tape.moments)))


def tagged_tapes() -> dict[str, Tape]:
    """Every stream at hand whose answer comes tagged and in more than one piece."""
    if not CASES.is_file():
        return {}
    sources = [(key, json.dumps(events)) for key, events in json.loads(EXECUTOR.read_text("utf-8")).items()]
    oracle = json.loads(CASES.read_text("utf-8"))["slack_cases"]
    sources += [(case["id"], json.dumps(case["events"])) for case in oracle if case["events"]]
    tapes = {name: read_tape(text, name) for name, text in sources}
    return {
        name: tape
        for name, tape in tapes.items()
        if isinstance(tape, Tape) and sum(map(is_answer, tape.moments)) > 1
    }


def tagged_share(tape: Tape) -> float:
    """How much of the answer is tagged at all: some agents keep the last word for the final result."""
    artifacts = [
        moment.event["artifact"] for moment in tape.moments if moment.event and "artifact" in moment.event
    ]
    tagged = sum(
        ink(artifact) for artifact in artifacts if (artifact.get("metadata") or {}).get("is_final_answer")
    )
    finals = [ink(artifact) for artifact in artifacts if artifact["name"] == "final_result"]
    return min(1.0, tagged / finals[-1]) if finals else 1.0


def ink(artifact: dict[str, Any]) -> int:
    return sum(len("".join(part.get("text", "").split())) for part in artifact["parts"])


TAPES = tagged_tapes()


SLOW = [pytest.param(seconds, marks=pytest.mark.slow) for seconds in (2.5, 3.0, 10.0)]


@pytest.mark.parametrize("seconds", [2.0, 5.0, 30.0, *SLOW])
@pytest.mark.parametrize("name", TAPES)
def test_tagged_answers_are_live(name: str, seconds: float) -> None:
    tape = TAPES[name]
    answers = [n for n, moment in enumerate(tape.moments) if is_answer(moment)]
    got = replayed(stretched(tape, seconds / (answers[-1] - answers[0]))).result()
    assert got["first_visible"] <= got["first_answer_event"] + 1.0
    assert got["live_share"] >= 0.8 * tagged_share(tape)


def test_a_quick_answer_is_started_and_appended_all_the_same() -> None:
    result = replayed(TAPES["TL-030S"]).result()
    methods = [call["method"] for call in result["calls"]]
    assert "chat.startStream" in methods and "chat.appendStream" in methods
    assert "chat.postMessage" not in methods


def test_text_never_waits_longer_than_its_pauses() -> None:
    """Between two growths lies at most the longest pause of the agent, plus two flush intervals."""
    for tape in TAPES.values():
        slow = stretched(tape, 0.4)
        times = [moment.t for moment in slow.moments if is_answer(moment)]
        longest = max(later - earlier for earlier, later in pairwise(times))
        assert replayed(slow).result()["longest_gap"] <= longest + 2.0
