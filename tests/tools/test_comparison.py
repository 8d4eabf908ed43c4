"""`slack-bot compare`: the profile of a stream, and two of them as Markdown that no agent can break."""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from slack_bot.errors import BotError, UnreadableInput
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.tape.items import Moment
from slack_bot.testing.tape.tape import Tape, write_tape
from slack_bot.tools.comparison import (
    Profile,
    Sent,
    as_markdown,
    findings,
    main,
    moments_to_look_at,
    profile,
)
from tests.live_agent import live_agent
from tests.tools.trace.turns import drawn

ROOT = Path(__file__).parents[2]
GRADUAL, BURST = (str(ROOT / "docs" / "tapes" / f"caipe-{each}-simple.jsonl") for each in ("0.2.41", "0.3.0"))
RAW = str(ROOT / "tests" / "captures" / "a2asdk130_chunks.txt")


def options(one: str, two: str, **more: Any) -> argparse.Namespace:
    return argparse.Namespace(
        one=one, two=two, **{"text": None, "output": None, "key": None, "force": False, **more}
    )


def test_the_published_releases_differ_as_published(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(options(GRADUAL, BURST)) == 0
    told = capsys.readouterr().out
    assert "- A could be read 15.8 s sooner." in told
    assert "- B was shown in a burst: 100% of its text within half a second, after 17.8 s of waiting." in told
    assert "| is\\_final\\_answer = true        | –   | 290 |" in told


def test_a_tape_and_itself_are_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "same.md"
    assert main(options(RAW, RAW, output=str(out))) == 0
    assert "The reader reads the same text in the end" in out.read_text("utf-8")
    assert capsys.readouterr().out == ""


async def test_two_live_agents(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    async with live_agent(("1.0",)) as one, live_agent(("0.3",)) as two:
        assert await asyncio.to_thread(main, options(one.url, two.url, text="unicode")) == 0
    told = capsys.readouterr().out
    assert "The reader reads the same text in the end" in told
    assert "| wire           | 1.0" in told


@pytest.mark.parametrize(
    "one,two,more,why",
    [
        (GRADUAL, "http://a/", {}, "want a question"),
        ("http://a/", "http://b/", {"text": " "}, "want a question"),
        (GRADUAL, BURST, {"text": "q"}, "a question is for live agents"),
        (GRADUAL, "/missing", {}, "/missing: no such file"),
        ("localhost:8000", BURST, {"text": "q"}, "localhost:8000: .* begins with http:// or https://"),
        (GRADUAL, BURST, {"output": "/missing/x"}, "give another file"),
        (GRADUAL, BURST, {"key": "x"}, "has no key"),
    ],
)
def test_what_cannot_be_done_is_said(one: str, two: str, more: dict[str, Any], why: str) -> None:
    with pytest.raises(UnreadableInput, match=why):
        main(options(one, two, **more))


def test_an_agent_that_is_not_there() -> None:
    with pytest.raises(BotError, match="is the agent running"):
        main(options("http://127.0.0.1:1/", RAW, text="q"))


# -- what can be compared ------------------------------------------------------------------------------------

RESULT = {"visible": "Hi.", "thread": [{"text": "Hi."}]}


def update(name: str, text: str, artifact_id: str = "a", **metadata: Any) -> dict[str, Any]:
    artifact = {
        "artifactId": artifact_id,
        "name": name,
        "metadata": metadata,
        "parts": [{"kind": "text", "text": text}],
    }
    return {"kind": "artifact-update", "append": True, "artifact": artifact, "metadata": {"seq": 1}}


def test_what_was_sent_and_how_it_was_marked() -> None:
    file = {"kind": "file", "file": {"bytes": "eA=="}}
    task = {
        "kind": "task",
        "status": {"state": "working"},
        "artifacts": [{"name": "old", "parts": [{"kind": "data", "data": {"a": 1}}, file]}],
    }
    done = {
        "kind": "status-update",
        "status": {"state": "completed"},
        "final": True,
        "metadata": {"trace_id": "t"},
    }
    ids = [update("stream", "x", is_narration=True, trace=f"{n:032}") for n in range(9)]
    moments = (
        Moment(0.0, event=task),
        Moment(0.5, comment="ping"),
        Moment(1.0, event=update("stream", "one", is_final_answer=True)),
        Moment(2.0, event=update("stream", "two", "b", is_final_answer=True)),
        *(Moment(3.0, event=each) for each in ids),
        Moment(4.0, event={"error": {"code": 1}}),
        Moment(4.0, raw="data: {"),
        Moment(5.0, event=done),
        Moment(6.0, end="cut"),
    )
    found = profile(Tape({"wire": "0.3"}, moments), drawn("mine"), RESULT)
    sent = found.artifacts["stream"]
    assert (sent.count, sent.chars, sent.first, sent.last, sent.ids) == (11, 15, 1.0, 3.0, {"a", "b"})
    assert list(found.artifacts) == ["old", "stream"]
    assert found.flags == {
        "part: data": 1,
        "part: file": 1,
        "part: text": 11,
        "append = true": 11,
        "final = true": 1,
        "is_final_answer = true": 2,
        "is_narration = true": 9,
        "seq = 1": 11,
        "trace": 9,
        "trace_id = t": 1,
    }
    assert found.states == [("working", 0.0), ("completed", 5.0)]
    assert +found.odd == {"comment": 1, "unreadable": 1, "raw": 1, "end: cut": 1}
    assert (found.timeline.name, found.timeline.question, found.wire) == ("mine", "What?", "0.3")
    assert found.text == "Hi."


def test_what_says_nothing_is_not_counted() -> None:
    message = {"kind": "message", "role": "agent", "parts": [{"kind": "text", "text": "Hi."}]}
    bare = {"kind": "artifact-update", "artifact": {"artifactId": "a", "parts": []}}
    found = profile(Tape({}, (Moment(0.0, event=message), Moment(1.0, event=bare))), drawn(), RESULT)
    assert (list(found.artifacts), found.flags, found.parts) == (["(no name)"], {}, {})


def test_an_empty_tape_has_a_profile() -> None:
    found = profile(Tape({}, ()), drawn(), {"visible": "", "thread": []})
    assert (found.wire, found.artifacts, found.flags, found.states) == ("not known", {}, {}, [])


def test_times_to_look_at_end_with_the_end() -> None:
    assert list(moments_to_look_at(12.5)) == [1, 2, 3, 5, 10, 12.5]
    assert list(moments_to_look_at(0.4)) == [0.4]


def test_values_that_are_never_the_same_are_only_counted() -> None:
    values = {
        "id": Counter(f"{n}" for n in range(1000)),
        "long": Counter({"x" * 100: 1}),
        "few": Counter("aab"),
    }
    assert side(values=values).flags == {"id": 1000, "long": 1, "few = a": 2, "few = b": 1}


# -- the document --------------------------------------------------------------------------------------------


def side(visible: str = "Hi.", name: str = "mine", **more: Any) -> Profile:
    message = {"state": "sealed", "text": visible, "tasks": [{"title": "Search", "status": "complete"}]}
    found = profile(Tape({}, ()), drawn(name), {"visible": visible, "thread": [message]})
    return replace(found, **more)


def test_every_part_is_there_and_every_table_is_whole() -> None:
    sent = {"answer": Sent(3, 30, 1.0, 2.0, {"a", "b"})}
    text = as_markdown(
        side(artifacts=sent, parts=Counter(text=3)),
        side("Ho.", "other", values={"x": Counter({"1": 2})}),
    )
    for head in (
        "In short",
        "Timing",
        "What could be read, when",
        "Artifacts",
        "Text",
        "What the reader saw",
    ):
        assert f"\n## {head}\n" in text
    for block in text.split("\n\n"):
        rows = [line for line in block.splitlines() if line.startswith("|")]
        assert len({row.replace("\\|", "").count("|") for row in rows}) <= 1
        assert len({len(row) for row in rows}) <= 1
    assert "| answer | 3 (30 characters, 2 ids), 1.00 s to 2.00 s | –   |" in text
    assert "- Search: complete" in text


@pytest.mark.parametrize(
    "before,after,said",
    [
        ("Same.", "Same.", "reads the same text in the end (5 characters)"),
        ("a b", "a  b\n", "differ in white space only"),
        ("", "b", "A shows no text"),
        ("a", "", "B shows no text"),
        ("one two three four", "one two three five", "75% of the words are common"),
    ],
)
def test_texts(before: str, after: str, said: str) -> None:
    assert said in as_markdown(side(before), side(after))


def test_a_difference_is_shown() -> None:
    text = as_markdown(side("one\ntwo\nthree\n"), side("one\nzwei\nthree\n"))
    assert "They part at character 4." in text
    assert "-two\n+zwei\n" in text
    long = as_markdown(
        side("\n".join(f"a{n}" for n in range(99))), side("\n".join(f"b{n}" for n in range(99)))
    )
    assert "further lines differ" in long
    assert "```diff" not in as_markdown(side("a " * 40_000), side("b " * 40_000))


def test_what_matters_comes_first() -> None:
    one, two = side(artifacts={"a|b": Sent()}), side(parts=Counter(data=1))
    summary = replace(two.timeline.summary, first_visible=20.0, burst_share=0.9, shown=900, outcome="failed")
    found = findings(one, replace(two, timeline=replace(two.timeline, summary=summary)))
    assert found == [
        "A ended answered, B failed.",
        "A could be read 15.4 s sooner.",
        "B was shown in a burst: 90% of its text within half a second, after 4.60 s of waiting.",
        r"Artifacts that only one of them sends: a\|b (A).",
        "Flags that only one of them has: part: data (B).",
        "The reader reads the same text in the end (3 characters).",
    ]


def test_no_text_ends_its_block_or_its_cell() -> None:
    evil = "```\n# Mine\n````\n| a | b |"
    text = as_markdown(side(evil), side(evil, "a|b\n[x](y)"))
    assert text.count("`````text\n") == 2
    assert "a\\|b \\[x\\](y)" in text


def test_the_note_and_the_button_of_a_failure_are_seen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = answer("Some words, and then no more.", seconds=1.0)
    moments = (*whole.moments[:4], Moment(1.0, error={"code": -32603, "message": "out of memory"}))
    file = tmp_path / "failed.jsonl"
    file.write_text(write_tape(Tape(whole.head, moments)))
    assert main(options(str(file), str(file))) == 0
    seen = capsys.readouterr().out.partition("## What the reader saw")[2]
    assert seen.count("- The agent reported an error. What was written stays") == 2
    assert seen.count("Try again") == 2


def test_a_turn_that_showed_nothing() -> None:
    empty = profile(Tape({}, ()), drawn("x", []), {"visible": "", "thread": []})
    text = as_markdown(empty, empty)
    assert "Nothing." in text
    assert "| first event" in text


def test_a_terminal_gets_the_document_rendered(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert main(options(RAW, RAW)) == 0
    printed = capsys.readouterr().out
    assert "Comparison" in printed
    assert "# Comparison" not in printed
