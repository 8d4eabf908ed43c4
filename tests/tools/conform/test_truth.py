"""A recording and the text it should lead to: one command, two plays, a verdict for each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from slack_bot.cli import main
from slack_bot.testing.tape.builders import answer, chunk, question, status, task
from slack_bot.testing.tape.tape import Moment, Tape, write_tape
from slack_bot.tools.conform import truth
from slack_bot.tools.conform.truth import TruePlay, TrueRecording, played, plays_of, read_truth
from slack_bot.tools.replay.diff import not_kept
from tests.tools.conform.measured import TEXT, measured

ANSWER = "Streams are opened once. Nothing that was said is said twice, and nothing is left out of it."
LOOK = "Let me look that up in the archive."


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def kept(folder: Path, name: str, tape: Tape, text: str | None = ANSWER) -> str:
    (folder / f"{name}.jsonl").write_text(write_tape(tape), encoding="utf-8")
    if text is not None:
        (folder / f"{name}.truth.txt").write_text(text, encoding="utf-8")
    return f"{name}.jsonl"


def taped(*events: dict[str, Any], every: float = 0.05) -> Tape:
    moments = [Moment(round(every * n, 3), event=each) for n, each in enumerate((task(), *events), 1)]
    end = moments[-1].t
    return Tape(
        {"wire": "0.3"}, (*moments, Moment(end, event=status("completed")), Moment(end, end="closed"))
    )


def in_statuses(*texts: str) -> list[dict[str, Any]]:
    """Deltas in working statuses: an unknown agent's may be narration."""
    events = [status("working", f"{word} ") for text in texts for word in text.split()]
    for number, event in enumerate(events):
        event["status"]["message"]["messageId"] = f"m{number}"
    return events


def whole(text: str) -> dict[str, Any]:
    parts = [{"kind": "text", "text": text}]
    update = {"kind": "artifact-update", "taskId": "task-1", "contextId": "ctx-1", "append": False}
    return {**update, "artifact": {"artifactId": "whole", "name": "response", "parts": parts}}


def rows(out: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(out)["plays"]
    return found


# -- the verb


def test_one_command_plays_it_as_the_first_and_as_a_later_answer(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept(here, "mine", answer(ANSWER))
    assert main(["conform", "--from-tape", "mine.jsonl", "--truth", "mine.truth.txt", "--json"]) == 0
    found = rows(capsys.readouterr().out)
    assert [(row["play"], row["verdict"], row["why"]) for row in found] == [
        ("first turn", "right", ""),
        ("learned", "right", ""),
    ]
    first = found[0]
    assert (first["recording"], first["outcome"], first["refused"], first["is_paced"]) == (
        "mine", "answered", 0, False,
    )  # fmt: skip
    assert 0.1 < first["first_text"] < 1.0 and first["live_share"] > 0.6 and first["calls"] > 3


def test_another_text_is_wrong_and_exit_1(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept(here, "good", answer(ANSWER))
    kept(here, "bad", answer(ANSWER), ANSWER + " And more.")
    assert main(["conform", "--from-tape", "good.jsonl", "bad.jsonl"]) == 1
    out = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in out[1:5]] == [
        ["right", "good"], ["right", "good"], ["WRONG", "bad"], ["WRONG", "bad"],
    ]  # fmt: skip
    assert out[3].endswith("'nothing' instead of 'Andmore.'")
    assert out[-1] == "2 of 4 plays right: FAIL"


def test_a_folder_is_all_its_recordings_and_texts_may_lie_in_another(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("tapes", "texts"):
        (here / folder).mkdir()
    for name in ("one", "two"):
        kept(here / "tapes", name, answer(ANSWER))
        (here / "tapes" / f"{name}.truth.txt").rename(here / "texts" / f"{name}.truth.txt")
    kept(here / "tapes", "without", answer(ANSWER), None)
    assert main(["conform", "--from-tape", "tapes", "--truth", "texts", "--json"]) == 0
    assert [row["recording"] for row in rows(capsys.readouterr().out)] == ["one", "one", "two", "two"]


def test_recordings_of_one_name_are_told_apart(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in ("a", "b"):
        (here / folder).mkdir()
        kept(here / folder, "one", answer(ANSWER))
    (here / "a" / "one.tape").write_bytes((here / "a" / "one.jsonl").read_bytes())
    for tapes, names in (
        (["a/one.jsonl"], ["one"]),
        (["a/one.jsonl", "a/one.tape"], ["one.jsonl", "one.tape"]),
        (["a/one.jsonl", "b/one.jsonl"], ["a/one.jsonl", "b/one.jsonl"]),
    ):
        assert main(["conform", "--from-tape", *tapes, "--json"]) == 0
        assert [row["recording"] for row in rows(capsys.readouterr().out)][::2] == names


def test_what_was_learned_from_another_answer_counts(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An agent that answers in statuses is live behind an answer of the same kind."""
    told = taped(*in_statuses(ANSWER * 3), whole(ANSWER * 3), every=0.04)
    for name in ("agent_hello", "agent_tool", "other_hello"):
        kept(here, name, told, ANSWER * 3)
    wanted = ["conform", "--from-tape", "agent_tool.jsonl", "--after"]
    assert main([*wanted, "hello", "--json"]) == 0
    by_case = rows(capsys.readouterr().out)[2]
    assert main([*wanted, "other_hello.jsonl", "--json"]) == 0
    by_file = rows(capsys.readouterr().out)[2]
    assert (by_case.pop("play"), by_file.pop("play")) == ("after hello", "after other_hello.jsonl")
    assert by_case == by_file and by_case["live_share"] > 0.8
    assert main([*wanted, "helo"]) == 2
    assert (
        "--after helo: there is no such file, and beside no recording NAME_CASE lies a NAME_helo"
        in capsys.readouterr().err
    )


RAW = b"\n\n".join(
    b"data: " + json.dumps({"result": event}).encode()
    for event in (task(), *map(chunk, ANSWER.split(" ")), status("completed"), {})
)


def test_a_recording_without_times_is_played_at_a_usual_pace_and_that_is_said(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "raw.sse").write_bytes(RAW)
    (here / "raw.truth.txt").write_text(ANSWER.replace(" ", ""), encoding="utf-8")
    assert main(["conform", "--from-tape", "raw.sse"]) == 0
    assert "raw says nothing of time: 35 ms are taken between two events" in capsys.readouterr().out
    assert main(["conform", "--from-tape", "raw.sse", "--json"]) == 0
    assert all(row["is_paced"] for row in rows(capsys.readouterr().out))


def test_a_terminal_gets_a_table(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept(here, "mine", answer(ANSWER))
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert main(["conform", "--from-tape", "mine.jsonl"]) == 0
    out = capsys.readouterr().out
    assert "first text" in out and "2 of 2 plays right: PASS" in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--from-tape", "mine.jsonl"], "mine.truth.txt: no such file; name the text that mine.jsonl"),
        (["--from-tape", "gone.jsonl", "--truth", "empty.txt"], "gone.jsonl: no such file"),
        (["--from-tape", "mine.jsonl", "--truth", "empty.txt"], "empty.txt: there is no text in it"),
        (["--from-tape", "."], ".: no file in this folder has a .truth.txt beside it; write the"),
        (["--from-tape", "mine.jsonl", "--url", "http://a"], "--from-tape asks no agent and runs no suite"),
        (["--from-tape", "mine.jsonl", "-v"], "--from-tape asks no agent and runs no suite"),
        (["--from-tape", "mine.jsonl", "--suite", "caipe"], "--from-tape asks no agent and runs no suite"),
        (["--from-tape", "mine.jsonl", "--limit", "9"], "--from-tape asks no agent and runs no suite"),
        (["--truth", "empty.txt"], "--truth, --after, --cuts and --key belong to --from-tape"),
    ],
)
def test_wrong_usage_is_exit_2(
    here: Path, words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    kept(here, "mine", answer(ANSWER), None)
    (here / "empty.txt").write_text("notes\n--- truth, exactly ---\n \n", encoding="utf-8")
    assert main(["conform", *words]) == 2
    assert f"slack-bot conform: {told}" in capsys.readouterr().err


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_notes_above_the_line_are_not_the_text(tmp_path: Path, end: str) -> None:
    path = tmp_path / "a.truth.txt"
    path.write_bytes(f"question: why{end}--- truth, exactly ---{end}{ANSWER}".encode())
    assert read_truth(path) == ANSWER


def test_a_cut_behind_each_event_is_tried_where_it_is_asked_for(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept(here, "mine", answer("One two three."), "One two three.")
    wanted = ["conform", "--from-tape", "mine.jsonl", "--cuts"]
    assert main(wanted) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[-2:] == ["mine cut behind each of 5 events: 5 right", "7 of 7 plays right: PASS"]
    assert not any("cut at" in line for line in out), "only wrong ones have a line"
    assert main([*wanted, "--json"]) == 0
    assert [row["play"] for row in rows(capsys.readouterr().out)][2:] == [f"cut at {n}" for n in range(1, 6)]
    (here / "mine.truth.txt").write_text("One two four.", encoding="utf-8")
    assert main(wanted) == 1
    assert sum("cut at" in line for line in capsys.readouterr().out.splitlines()) == 5


# -- the figures


def play(tape: Tape, text: str = ANSWER, **profile: str) -> TruePlay:
    return played(TrueRecording("mine", tape, text, is_paced=False), "first turn", profile)


def test_an_answer_that_falls_in_at_the_end_is_not_live_however_long_the_agent_takes_to_end() -> None:
    """It was written token by token, was held, and stood there whole before the task's end."""
    text = " ".join([ANSWER] * 3)
    tape = taped(*in_statuses(text), whole(text))
    slow = replace(tape, moments=(*tape.moments[:-2], *(replace(m, t=m.t + 5) for m in tape.moments[-2:])))
    for each in (tape, slow):
        held = play(each, text, answer_source="hold")
        assert (held.verdict, held.live_share) == ("right", 0.0)
        assert held.first_text is not None and held.first_text > 2.0
        live = play(each, text, answer_source="status")
        assert live.verdict == "right" and live.first_text is not None and live.first_text < 0.6
        assert live.live_share is not None and live.live_share > 0.6


def test_a_question_back_is_the_text_too() -> None:
    assert play(question("Shall I delete it?"), "Shall I delete it?").verdict == "right"
    assert play(question("Shall I?"), "Shall I delete it?").verdict == "WRONG"


def test_of_several_answers_the_last_is_the_one() -> None:
    first, last = answer("Which one do you mean?"), answer(ANSWER, ids="2")
    asked = Moment(9.0, question="that one")
    later = [replace(moment, t=moment.t + 9.5) for moment in last.moments]
    both = Tape({**first.head, "question": "q"}, (*first.moments, asked, *later))
    assert play(both).verdict == "right"
    assert play(both, "Which one do you mean?").verdict == "WRONG"


def test_no_text_where_there_should_be_one_is_a_verdict_of_its_own() -> None:
    found = play(taped(status("working")))
    assert (found.verdict, found.first_text, found.live_share) == ("no text", None, None)


@pytest.mark.parametrize("form", [(), ("--json",), ("--cuts",)])
def test_no_text_beside_a_truth_is_a_failure(
    form: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The agent's answer came in a form that the bot does not read."""
    rows = [{"kind": "task", "id": "t"}, {"kind": "artifact-udpate", "text": ANSWER}, status("completed")]
    (tmp_path / "mine.json").write_text(json.dumps(rows), encoding="utf-8")
    (tmp_path / "mine.truth.txt").write_text(ANSWER, encoding="utf-8")
    assert main(["conform", "--from-tape", str(tmp_path / "mine.json"), *form]) == 1
    out, err = capsys.readouterr()
    if form == ("--json",):
        assert json.loads(out)["verdict"] == "FAIL"
    else:
        assert out.rstrip().endswith("FAIL")
        assert "0 of " in out.splitlines()[-1] and "PASS" not in out
    assert "not understood: mine, item 2 (artifact-udpate)" in err


def test_each_play_learns_from_those_before() -> None:
    recording = TrueRecording("mine", taped(*in_statuses(ANSWER * 3), whole(ANSWER * 3)), ANSWER * 3, False)
    first, later = plays_of(recording)
    assert (first.verdict, later.verdict) == ("right", "right")
    assert later.live_share is not None and later.live_share > 0.5


# -- what must not pass


def judged(*messages: str, looks: Sequence[str] = (), said: Sequence[str] = ("x",), text: str = TEXT) -> str:
    seen = replace(measured(), texts=messages)
    verdict, why = truth._judged(
        seen, text, max((not_kept(each, "".join(messages)) for each in looks), default=0), said
    )
    return f"{verdict}: {why}"


def test_a_changed_thread_is_wrong() -> None:
    assert judged(TEXT) == judged(TEXT[:20], TEXT[20:]) == judged(TEXT.replace("\n", "\n\n")) == "right: "
    assert judged(TEXT, TEXT) == "WRONG: it stands there 2 times"
    assert judged(TEXT[:-5]).startswith("WRONG: ")
    assert judged(TEXT[5:]).startswith("WRONG: ")
    assert judged(LOOK + TEXT).startswith("WRONG: ")
    assert judged("").startswith("WRONG: ")


def test_narration_may_stand_above_where_the_agents_own_result_has_it() -> None:
    own = (truth.visible_chars(LOOK + TEXT),)
    assert judged(LOOK + TEXT, said=own) == "WRONG: its narration is glued to the answer"
    assert judged(f"{LOOK}\n{TEXT}", said=own) == "WRONG: its narration is glued to the answer"
    assert judged(f"{LOOK}\n\n{TEXT}", said=own).startswith("right: its narration stands above")
    assert judged(f"{LOOK}\n\n{TEXT}", said=(truth.visible_chars(TEXT),)).startswith("WRONG: ")


def test_garbage_that_was_taken_back_is_wrong_and_a_paragraph_is_not() -> None:
    assert judged(TEXT, looks=(LOOK, LOOK + TEXT)) == "right: "
    garbage = "".join(TEXT[:n] for n in range(1, len(TEXT)))
    assert judged(TEXT, looks=("", garbage, TEXT)).endswith("characters were shown and taken back")


def test_a_turn_that_is_left_open_or_asked_twice_is_wrong() -> None:
    seen = replace(measured(), texts=(TEXT,))
    assert truth._judged(replace(seen, asked=2), TEXT, 0, ("x",))[0] == "WRONG"
    open_stream = {**seen.thread[0], "state": "streaming"}
    left = replace(seen, result={**seen.result, "thread": [open_stream]})
    assert truth._judged(left, TEXT, 0, ("x",))[1] == "nothing_left_open: left open: 1 streams"
