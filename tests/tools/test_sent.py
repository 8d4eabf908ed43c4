"""When an agent had sent what: pieces, snapshots, and several ways of saying the same."""

from __future__ import annotations

from typing import Any

import pytest

from slack_bot.observe.facts import AgentEvent
from slack_bot.testing.tape.builders import status, task
from slack_bot.tools.sent import all_sayings, sent_curve, visible_chars
from slack_bot.tools.turn_log import AgentOutput, TurnLog

TEXT = "One two three four five six seven eight."
SIZE = len(visible_chars(TEXT))
WORDS = [f"{word} " for word in TEXT.split()]


def outputs(*raw: tuple[float, dict[str, Any]]) -> list[AgentOutput]:
    log = TurnLog(keeps_events=True)
    for at, event in raw:
        log.take(AgentEvent(at, "turn", "event", event))
    return [entry for entry in log.entries if isinstance(entry, AgentOutput)]


def artifact(*parts: dict[str, Any], append: bool | None = None) -> dict[str, Any]:
    said = {"artifactId": "a", "name": "answer", "parts": list(parts)}
    return {"kind": "artifact-update", "append": append, "artifact": said}


def text(said: str) -> dict[str, Any]:
    return {"kind": "text", "text": said}


def data(said: Any) -> dict[str, Any]:
    return {"kind": "data", "data": said}


PIECES = {
    "artifact that grows": [artifact(text(word), append=True) for word in WORDS],
    "artifact without append": [artifact(text(word)) for word in WORDS],
    "status": [status("working", word) for word in WORDS],
    "messages": [
        {"kind": "message", "role": "agent", "messageId": "m", "parts": [text(word)]} for word in WORDS
    ],
    "data that is a text": [artifact(data({"type": "text", "text": word})) for word in WORDS],
    "snapshots": [status("working", "".join(WORDS[: n + 1])) for n in range(len(WORDS))],
}


@pytest.mark.parametrize("way", PIECES)
@pytest.mark.parametrize("before", ["", "Let me look that up first. "])
def test_each_piece_counts_from_when_it_came(way: str, before: str) -> None:
    sent = [(float(n), each) for n, each in enumerate(PIECES[way], 1)]
    narration = [(0.5, status("working", before))] if before else []
    whole = [(20.0, artifact(text(TEXT), append=False)), (21.0, task("completed", text=TEXT))]
    curve = sent_curve(outputs(*narration, *sent, *whole), TEXT)
    sizes = [len(visible_chars("".join(WORDS[: n + 1]))) for n in range(len(WORDS))]
    assert curve == tuple(zip(map(float, range(1, len(WORDS) + 1)), sizes, strict=True))


def test_what_another_event_interrupts_goes_on_behind_it() -> None:
    aside, late = artifact(data({"tool_results": ["nothing of it"]})), TEXT[::-1]
    found = outputs((1, artifact(text(TEXT))), (2, aside), (3, artifact(text(late), append=True)))
    assert sent_curve(found, TEXT + late) == ((1, SIZE), (3, 2 * SIZE))


def test_snapshots_that_begin_again_are_the_answer() -> None:
    said = ["Let me", "Let me look.", "One two", TEXT]
    found = outputs(*((float(n), status("working", each)) for n, each in enumerate(said)))
    assert sent_curve(found, TEXT) == ((2.0, 6), (3.0, SIZE))


def test_what_was_never_sent() -> None:
    assert sent_curve(outputs((1, artifact(text("Something else.")))), TEXT) == ()
    assert sent_curve(outputs((1, {"nonsense": 1})), TEXT) == ()
    assert sent_curve(outputs((1, artifact(text("x"))), (2, {"error": {}})), "") == ()


def test_all_that_was_said_is_there_also_in_data_but_not_the_humans() -> None:
    human = {"kind": "message", "role": "user", "messageId": "m", "parts": [text("mine")]}
    known = {**task("completed", text="said at the end"), "history": [human]}
    events = (artifact(data({"value": ["deep in", {"it": "data"}]})), human, {"nonsense": 1}, known)
    assert list(all_sayings(events)) == ["deepindata", "saidattheend"]
