"""A scrubbed tape plays like the one it was made from, and says nothing of it."""

from __future__ import annotations

import argparse
import ast
import json
import math
import re
import string
import tracemalloc
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slack_bot import agents as a2a
from slack_bot.agents.answer.filters import _WRAPPERS, KEYS
from slack_bot.agents.content.data_markdown import _TEXT_KEYS
from slack_bot.agents.content.parts import _IDS, _NAMES, _TOOL_KEYS
from slack_bot.errors import UnreadableInput
from slack_bot.testing.tape.items import INTERRUPTED, Moment
from slack_bot.testing.tape.tape import Tape, interrupted_at, read_tape, write_tape
from slack_bot.tools.files import open_capture, taped
from slack_bot.tools.replay.replay import replayed
from slack_bot.tools.scrub import JSON_KEPT, KEPT, KNOWN_KEYS, Pseudonyms, main, scrubbed
from tests.syntax_trees import syntax_tree

CAPTURES = Path(__file__).parents[1] / "captures" / "a2a"
ANSWER = "# Hello Maya\n\nSee https://wiki.acme.example/x and call 0171 555 1234.\n"


def scrub(tape: Tape) -> Tape:
    head, moments = scrubbed(tape)
    return Tape(head, tuple(moments))


def update(
    text: str, name: str = "streaming_result", *, append: bool = True, **metadata: Any
) -> dict[str, Any]:
    artifact = {
        "artifactId": "a-1",
        "name": name,
        "metadata": metadata,
        "parts": [{"kind": "text", "text": text}],
    }
    return {
        "kind": "artifact-update",
        "taskId": "t1",
        "contextId": "c1",
        "append": append,
        "artifact": artifact,
    }


def tape() -> Tape:
    pieces = [ANSWER[at : at + 3] for at in range(0, len(ANSWER), 3)]
    stamp = {"state": "working", "timestamp": "2026-02-17T10:00:00.5Z"}
    done = {"state": "completed", "timestamp": "2026-02-17T10:00:07.5Z"}
    events = [
        {"kind": "task", "id": "t1", "contextId": "c1", "status": stamp},
        update("Let me ask Maya. ", is_narration=True),
        {
            **update(
                "🔧 Supervisor: Calling Agent Jira...\n",
                "tool_notification_start",
                append=False,
                sourceAgent="jira",
            )
        },
        *(update(piece, is_final_answer=True) for piece in pieces),
        {**update(ANSWER, "final_result", append=False), "lastChunk": True},
        {"kind": "status-update", "taskId": "t1", "contextId": "c1", "status": done, "final": True},
    ]
    tool = events[2]["artifact"]
    assert isinstance(tool, dict)
    tool["description"] = "Tool call started: jira_search"
    moments = (*(Moment(n / 10, event=event) for n, event in enumerate(events)), Moment(9.0, end="closed"))
    head = {
        "format": "slack-bot-tape",
        "version": 1,
        "agent": "https://acme",
        "wire": "0.3",
        "question": "Who is Maya?",
    }
    return Tape({**head, "captured_at": "2026"}, moments)


def test_where_a_capture_was_interrupted_stays_told() -> None:
    moments = (Moment(0.0, event={"kind": "task"}), Moment(1.0, end="cut"), Moment(1.0, comment=INTERRUPTED))
    assert interrupted_at(scrub(Tape({}, moments))) == 1.0


def test_what_http_said_in_place_of_an_answer_stays_what_it_was() -> None:
    error = {
        "http_status": 200,
        "content_type": "text/html; charset=utf-8",
        "message": "<p>Maya, go in",
    }
    (found,) = scrub(Tape({}, (Moment(0.0, error={**error, "retry_after": 5}),))).moments
    assert found.error is not None
    assert {**found.error, "message": ""} == {**error, "message": "", "retry_after": 5}
    assert "Maya" not in found.error["message"] and found.error["message"].startswith("<")


def test_it_plays_the_same_and_says_nothing() -> None:
    before, after = tape(), scrub(tape())
    written = repr(after)
    for word in ("Maya", "acme", "wiki", "0171", "1234", "jira", "Jira", "2026", "t1'", "c1'", "a-1"):
        assert word not in written, word
    one, two = replayed(before).result(), replayed(after).result()
    assert two["outcome"] == one["outcome"] == "answered"
    assert [(call["t"], call["method"]) for call in two["calls"]] == [
        (call["t"], call["method"]) for call in one["calls"]
    ]
    assert (two["events"], two["live_share"], two["latches"]) == (
        one["events"],
        one["live_share"],
        one["latches"],
    )
    assert [len(each) for each in two["visible"].split(" ")] == [
        len(each) for each in one["visible"].split(" ")
    ]
    assert [moment.t for moment in after.moments] == [moment.t for moment in before.moments]
    assert scrub(tape()) == after


def test_ids_stay_apart_and_times_their_distance() -> None:
    after = [moment.event for moment in scrub(tape()).moments if moment.event]
    assert after[0]["status"]["timestamp"] == "2000-01-01T00:00:00Z"
    assert after[-1]["status"]["timestamp"] == "2000-01-01T00:00:07Z"
    assert after[0]["id"] == after[-1]["taskId"] != after[0]["contextId"]
    assert after[2]["artifact"]["description"].startswith("Tool call started: ")


@pytest.mark.parametrize(
    "text",
    [
        "Tool call started: composing_answer",
        "⏳ Waiting for Maya",
        "Returning structured response Maya",
        "ping - Maya",
    ],
)
def test_what_tells_a_reader_what_it_is_stays(text: str) -> None:
    event = {"kind": "message", "role": "agent", "description": text, "parts": []}
    found = scrub(Tape({}, (Moment(0.0, event=event), Moment(0.0, comment=text)))).moments
    assert found[0].event is not None
    for shown in (found[0].event["description"], found[1].comment):
        assert shown[:5] == text[:5]
        assert len(shown) == len(text)
        assert "Maya" not in shown


def test_files_numbers_errors_and_what_is_no_event() -> None:
    file = {"kind": "file", "file": {"bytes": "c2VjcmV0", "mimeType": "image/png", "name": "Maya Q3.png"}}
    event = {
        "kind": "message",
        "role": "agent",
        "parts": [file, {"kind": "data", "data": {"phone": 491715551234, "n": 3, "ok": True}}],
    }
    moments = (
        Moment(0.0, event=event),
        Moment(1.0, error={"code": -32603, "message": "Maya failed"}),
        Moment(2.0, raw='event: error\ndata: {"Maya'),
        Moment(3.0, question="Maya?"),
    )
    after = scrub(Tape({}, moments)).moments
    assert "Maya" not in repr(after) and "491715551234" not in repr(after) and "c2Vj" not in repr(after)
    assert after[0].event is not None
    parts = after[0].event["parts"]
    assert parts[0]["file"]["mimeType"] == "image/png"
    phone, small, flag = parts[1]["data"].values()
    assert isinstance(phone, int)
    assert (small, flag) == (3, True)
    assert after[1].error is not None and after[1].error["code"] == -32603
    assert (after[2].raw or "").startswith('event: error\ndata: {"')


def event_with(data: Any, **metadata: Any) -> dict[str, Any]:
    part = {"kind": "data", "data": data, "metadata": metadata}
    return {"kind": "message", "role": "agent", "messageId": "m-1", "parts": [part]}


def data_after(*data: Any) -> list[Any]:
    """What becomes of these data, each in an event of its own."""
    moments = tuple(Moment(0.0, event=event_with(each)) for each in data)
    after = scrub(Tape({}, moments)).moments
    return [moment.event["parts"][0]["data"] for moment in after if moment.event]


def test_a_key_that_is_no_word_of_the_protocol_is_replaced_as_a_text_is() -> None:
    first, second = data_after(
        {"alice@acme.example": 1, "Maya Q3": {"maya_phone": ["x"]}, "name": "alice@acme.example"},
        {"people": [{"alice@acme.example": 2}, {"alice@acme.example": 3}]},
    )
    written = json.dumps([first, second])
    for word in ("alice", "acme", "Maya", "maya", "phone", "people"):
        assert word not in written, word
    (mail, name, _), inner = first, next(iter(second.values()))
    assert first["name"] == mail  # the same for the same, key or text
    assert [list(row) for row in inner] == [[mail], [mail]]
    assert re.fullmatch(r"[a-z]{5}@[a-z]{4}\.[a-z]{7}", mail)
    assert re.fullmatch(r"[A-Z][a-z]{3} [A-Z][0-9]", name)


def test_keys_stay_apart_and_are_never_taken_for_the_protocols() -> None:
    names = [a + b for a in string.ascii_lowercase for b in string.ascii_lowercase]
    (found,) = data_after({name: number for number, name in enumerate(names)})
    assert list(found.values()) == list(range(len(names)))
    assert not [name for name in found if name in KNOWN_KEYS and name not in names]


def test_what_a_key_says_of_its_value_stays() -> None:
    metadata = {
        "adk_type": "function_call",
        "adk_is_long_running": True,
        "kagent_alice": 1,
        "maya_thought": True,
    }
    (moment,) = scrub(Tape({}, (Moment(0.0, event=event_with({}, **metadata)),))).moments
    assert moment.event is not None
    kept = list(moment.event["parts"][0]["metadata"])
    assert kept[:2] == ["adk_type", "adk_is_long_running"]
    assert kept[2].startswith("kagent_") and kept[3].endswith("_thought")
    assert "alice" not in str(kept) and "maya" not in str(kept)


def test_an_id_is_the_same_as_a_key() -> None:
    events = ({"kind": "task", "id": "t-1"}, event_with({"t-1": 1}))
    task, message = (
        moment.event for moment in scrub(Tape({}, tuple(Moment(0.0, event=e) for e in events))).moments
    )
    assert task is not None and message is not None
    assert list(message["parts"][0]["data"]) == [task["id"]]


def keys_read(path: Path) -> Iterator[str]:
    """The keys that a module looks for: `x.get("key")`, `x["key"]`, `"key" in x`, `is_true(x, "key")`."""
    for node in ast.walk(syntax_tree(path)):
        asked: list[ast.expr] = []
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            listed = [each.elts if isinstance(each, ast.Tuple) else [each] for each in node.args[1:]]
            keys = [key for each in listed for key in each] if name in ("is_true", "first_text") else []
            asked = node.args[:1] if name == "get" else keys
        elif isinstance(node, ast.Subscript):
            asked = [node.slice]
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In):
            asked = [node.left]
        yield from (
            each.value for each in asked if isinstance(each, ast.Constant) and isinstance(each.value, str)
        )


READERS = (  # but for `replies.py`, which writes
    "content/*.py",
    "answer/*.py",
    "parser.py",
    "wire/frames.py",
)


def test_every_key_that_the_bot_reads_is_known() -> None:
    folder = Path(a2a.__file__).parent
    paths = [path for pattern in READERS for path in folder.glob(pattern) if path.name != "replies.py"]
    read = {key for path in paths for key in keys_read(path)}
    read |= {*_TOOL_KEYS, *_NAMES, *_IDS, *_TEXT_KEYS, *KEYS, *_WRAPPERS}
    assert len(read) > 70
    assert sorted(key for key in read if key not in KNOWN_KEYS and key.isidentifier()) == []


def test_odd_parts_are_left_in_their_places() -> None:
    parts = ["odd", {"kind": "data", "data": 1}, {"kind": "text", "text": "Maya"}]
    event = {"kind": "artifact-update", "artifact": {"name": "answer", "parts": parts}}
    (found,) = scrub(Tape({}, (Moment(0.0, event=event),))).moments
    assert found.event is not None
    shown = found.event["artifact"]["parts"]
    assert (shown[1], len(shown[2]["text"])) == (parts[1], 4)
    assert "Maya" not in repr(found)


def test_short_ids_do_not_run_into_each_other() -> None:
    events = tuple(Moment(0.0, event={"kind": "task", "id": str(n)}) for n in range(30))
    ids = [moment.event["id"] for moment in scrub(Tape({}, events)).moments if moment.event]
    assert len(set(ids)) == 30


@pytest.mark.parametrize("name", sorted(path.stem for path in CAPTURES.glob("*chunks*.txt")))
def test_recordings_of_real_servers_keep_their_shape(name: str) -> None:
    before = taped(open_capture(CAPTURES / f"{name}.txt"))
    after = scrub(before)
    one, two = replayed(before).result(), replayed(after).result()
    assert (one["outcome"], one["events"], one["live_share"]) == (
        two["outcome"],
        two["events"],
        two["live_share"],
    )
    assert len(one["visible"]) == len(two["visible"])
    assert json.dumps(one["visible"]) != json.dumps(two["visible"]) or not one["visible"].strip()


# -- the verb ------------------------------------------------------------------------------------------------


def test_a_capture_becomes_a_tape_to_give_away(tmp_path: Path) -> None:
    path = tmp_path / "tape"
    args = argparse.Namespace(
        file=str(CAPTURES.parent / "a2asdk130_chunks.txt"), output=str(path), key=None, force=False
    )
    assert main(args) == 0
    assert isinstance(read_tape(path.read_bytes(), "tape"), Tape)


def test_numbers_that_are_no_json_are_scrubbed_too(tmp_path: Path) -> None:
    before, after = tmp_path / "before.sse", tmp_path / "after.sse"
    event = json.dumps({"result": event_with({"mean": math.nan, "most": math.inf})})
    before.write_text(f"data: {event}\n\ndata: {event.replace('Infinity', '1e999')}\n\n")
    assert main(argparse.Namespace(file=str(before), output=str(after), key=None, force=False)) == 0
    found = read_tape(after.read_bytes(), "after")
    assert isinstance(found, Tape)
    kept = [moment.event["parts"][0]["data"] for moment in found.moments if moment.event]
    assert [sorted(map(type, each.values()), key=str) for each in kept] == [[str, str]] * 2


def test_what_cannot_be_read_or_written_is_said(tmp_path: Path) -> None:
    source = str(CAPTURES.parent / "a2asdk130_chunks.txt")
    for file, output in ((str(tmp_path / "no"), "x"), (source, str(tmp_path / "no" / "x"))):
        with pytest.raises(UnreadableInput):
            main(argparse.Namespace(file=file, output=output, key=None, force=False))


def test_a_long_tape_is_not_held_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slack_bot.testing.tape.tape.LONG", 1)
    monkeypatch.setattr("slack_bot.tools.files.LONG", 1)
    event = {"kind": "artifact-update", "artifact": {"artifactId": "a", "parts": [{"text": "word " * 100}]}}
    tape, out = tmp_path / "tape", tmp_path / "out"
    tape.write_text(write_tape(Tape({}, [Moment(float(n), event=event) for n in range(1000)])))
    tracemalloc.start()
    try:
        assert main(argparse.Namespace(file=str(tape), output=str(out), key=None, force=False)) == 0
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(out.read_text().splitlines()) == 1001
    assert peak < tape.stat().st_size / 3


def test_a_tape_is_not_written_over_itself(tmp_path: Path) -> None:
    tape = tmp_path / "tape"
    tape.write_text("kept")
    with pytest.raises(UnreadableInput, match="this file is read"):
        main(argparse.Namespace(file=str(tape), output=str(tape), key=None, force=False))
    assert tape.read_text() == "kept"


TEXT = (
    "# Ärger in Übersee\n\n- See https://intern.example/a1?b=2, **now**; 42 of 100 日本語 😀"
    " `snake_case` x\u0301\n"
)


def test_shape_stays_and_words_go() -> None:
    shown = Pseudonyms().text(TEXT)
    assert len(shown) == len(TEXT)
    assert len(shown.encode()) == len(TEXT.encode())
    for old, new in zip(TEXT, shown, strict=True):
        assert old.isalpha() == new.isalpha()
        assert old.isdigit() == new.isdigit()
        assert old.isupper() == new.isupper()
        assert old.isalnum() or old == new
    assert not [word for word in ("rger", "intern", "example", "now", "42", "日", "snake") if word in shown]
    assert "https://" in shown


def test_it_is_the_same_every_time_and_the_same_for_the_same() -> None:
    assert Pseudonyms().text(TEXT) == Pseudonyms().text(TEXT)
    words = Pseudonyms()
    assert words.text("Berlin") == words.text("Berlin")
    assert words.text("Berlinale").startswith(words.text("Berlin"))
    assert words.text("Bern") != words.text("Bert")


@given(st.text(max_size=40), st.lists(st.integers(0, 40), max_size=5))
@settings(max_examples=100, deadline=None)
def test_where_it_is_cut_does_not_matter(text: str, cuts: list[int]) -> None:
    words = Pseudonyms()
    stream, at, found = words.stream(), 0, ""
    for cut in sorted(cuts):
        found += stream.push(text[at:cut])
        at = max(at, cut)
    assert found + stream.push(text[at:]) == words.text(text)


@given(st.lists(st.text(alphabet="abcABC012é日_", min_size=1, max_size=6), max_size=30))
@settings(max_examples=60, deadline=None)
def test_different_words_stay_different(texts: list[str]) -> None:
    words = Pseudonyms()
    shown = {text: words.text(text) for text in texts}
    assert len(set(shown.values())) == len(shown)


def test_protocol_words_stay() -> None:
    words = Pseudonyms((*KEPT, *JSON_KEPT))
    assert words.text("[FINAL ANSWER]") == "[FINAL ANSWER]"
    boxed = '{"is_task_complete": true, "content": "a\\nSecret \\u00e9 \\"b\\""}'
    shown = words.text(boxed)
    assert shown.startswith('{"is_task_complete": true, "content": "')
    assert "\\n" in shown and "\\u00e9" in shown and '\\"' in shown
    assert "Secret" not in shown


WORDS = st.lists(st.text(alphabet="abcABC012日_", min_size=1, max_size=8), max_size=40)


@given(WORDS, st.integers(1, 60))
@settings(max_examples=100, deadline=None)
def test_what_is_not_remembered_any_more_keeps_its_shape(texts: list[str], most: int) -> None:
    words = Pseudonyms(most=most)
    shown = {text: words.text(text) for text in texts}
    assert shown == {text: words.text(text) for text in texts}
    plain = {text: each for text, each in shown.items() if text.isascii()}
    assert len(set(plain.values())) == len(plain)
    for text, each in shown.items():
        assert len(each.encode()) == len(text.encode())
        assert [a.isalpha() for a in text] == [a.isalpha() for a in each]


def test_words_without_end_do_not_fill_the_memory_and_cannot_be_looked_up() -> None:
    tokens = [sha256(f"{n}".encode()).hexdigest() for n in range(900)]
    one, other = Pseudonyms(most=1000), Pseudonyms(most=1000)
    other.text("another tape")
    shown = [one.text(token) for token in tokens]
    assert len(set(shown)) == len(tokens)
    assert shown[600:] != [other.text(token) for token in tokens][600:]
    assert not [1 for old, new in zip(tokens, shown, strict=True) if old[:8] == new[:8]]
    assert one.text("https and http") == one.text("https and http") != "https and http"
    assert one.text("https://FINAL").startswith("https://FINAL")
    tracemalloc.start()
    for token in tokens:
        one.text(token[::-1])
    grown = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert grown < 100_000


def test_a_pause_begins_a_word() -> None:
    words = Pseudonyms()
    stream = words.stream()
    first = stream.push("end")
    stream.pause()
    assert stream.push("end") == first


def test_more_letters_than_an_alphabet_has() -> None:
    many = "".join(chr(code) for code in range(0x400, 0x480) if chr(code).isalpha())
    words = Pseudonyms()
    assert all(words.text(letter).isalpha() for letter in many)
    assert words.text("\U00020001") != "\U00020001"
