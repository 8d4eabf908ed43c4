"""`slack-bot replay`: captures in, the thread and its figures out, always the same."""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

import httpx
import pytest

from slack_bot import cli
from slack_bot.cli import main
from slack_bot.errors import SettingsError, UnreadableInput
from slack_bot.testing import virtual_clock
from slack_bot.testing.agent.scripted import ScriptedAgent, ScriptedTransport
from slack_bot.testing.harness import bot_settings
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.tape.tape import FORMAT, Moment, Tape, read_tape, write_tape
from slack_bot.tools.replay.replay import ReplayQuestions, WatchedLog, observe, print_threads, replayed
from slack_bot.tools.replay.result import Observation, pace_of
from slack_bot.tools.replay.scenario import Scenario, make_scenario

CAPTURES = Path(__file__).parents[2] / "captures"
ROOT = Path(__file__).parents[3]
ANSWER = "Why did the chicken cross the road?\nTo get to the other side.\n"


def update(text: str, name: str = "streaming_result", **metadata: Any) -> dict[str, Any]:
    artifact = {
        "artifactId": name,
        "name": name,
        "metadata": metadata,
        "parts": [{"kind": "text", "text": text}],
    }
    return {
        "kind": "artifact-update",
        "taskId": "t1",
        "contextId": "c1",
        "append": True,
        "artifact": artifact,
    }


def paces(seen: Observation) -> list[str]:
    return list(map(pace_of, seen.log.turns))


TASK = {"kind": "task", "id": "t1", "contextId": "c1", "status": {"state": "submitted"}}
DONE = {
    "kind": "status-update",
    "taskId": "t1",
    "contextId": "c1",
    "status": {"state": "completed"},
    "final": True,
    "metadata": {"trace_id": "trace-9"},
}


def tape(seconds: float = 6.0) -> Tape:
    """A narrated, streamed answer that takes `seconds`."""
    words = ANSWER.split(" ")
    texts = [word + " " * (number < len(words) - 1) for number, word in enumerate(words)]
    step = seconds / len(texts)
    moments = [
        Moment(0.1, event=TASK),
        Moment(1.0, event=update("I'll think.\n", is_narration=True)),
        *(Moment(2 + n * step, event=update(text, is_final_answer=True)) for n, text in enumerate(texts)),
        Moment(2 + seconds, event={**update(ANSWER, "final_result"), "append": False, "lastChunk": True}),
        Moment(2.1 + seconds, event=DONE),
    ]
    return Tape({}, tuple(moments))


def options(*files: Path, **more: Any) -> argparse.Namespace:
    return argparse.Namespace(
        files=list(map(str, files)),
        **{
            "json": True,
            "spans": False,
            "key": None,
            "scenario": None,
            "speed": None,
            "strict": False,
            **more,
        },
    )


def test_an_answer_is_shown_live_and_whole() -> None:
    got = replayed(tape()).result()
    assert got["visible"] == ANSWER
    assert (got["outcome"], got["reason"]) == ("answered", None)
    assert (got["context_id"], got["task_id"], got["trace_id"]) == ("c1", "t1", "trace-9")
    assert got["first_answer_event"] == 2.0
    assert got["first_visible"] <= got["first_answer_event"] + 1
    assert got["live_share"] >= 0.8
    assert got["longest_gap"] <= 2
    assert got["latches"]["answer_begun"] and got["latches"]["final_seen"]
    assert got["dropped"] == {"late": 0}
    assert got["events"]["streaming_result"] == len(ANSWER.split(" ")) + 1
    assert [message["state"] for message in got["thread"]] == ["sealed"]
    assert got["calls"][0]["t"] == 0.0
    assert [call["method"] for call in got["calls"]].count("chat.stopStream") == 1


def test_nothing_is_said_twice_or_left_open() -> None:
    got = replayed(
        tape(), make_scenario({"slack_faults": {"chat.startStream": ["internal_error!"]}})
    ).result()
    assert got["visible"].split() == ANSWER.split()
    assert all(message["state"] != "streaming" for message in got["thread"])


def test_a_bot_as_asker_gets_a_post() -> None:
    got = replayed(tape(), make_scenario({"user": "B123"})).result()
    assert [message["state"] for message in got["thread"]] == ["posted"]
    assert got["visible"].strip() == ANSWER.strip()


def test_a_direct_message_is_answered_too() -> None:
    assert replayed(tape(), make_scenario({"channel": "D1"})).result()["visible"] == ANSWER


def test_a_stop_ends_the_text() -> None:
    got = replayed(tape(60), make_scenario({"stop_at": 20})).result()
    assert got["outcome"] == "stopped"
    assert ANSWER.startswith(got["visible"].rstrip()) and len(got["visible"]) < len(ANSWER)
    assert got["latches"]["stop_asked"]


def test_a_stop_after_the_end_changes_nothing() -> None:
    assert replayed(tape(), make_scenario({"stop_at": 500})).result() == replayed(tape()).result()


def test_after_a_cut_the_answer_goes_on() -> None:
    got = replayed(tape(), make_scenario({"cut_after": 5})).result()
    assert (got["outcome"], got["visible"].split()) == ("answered", ANSWER.split())
    assert got["events"]["task"] == 1, "what the bot asks for is no event of the agent's"


EMPTY = {"tape": f'{{"format": "{FORMAT}", "version": 1}}\n', "list": "[]", "object": '{"events": []}'}


@pytest.mark.parametrize("text", EMPTY.values(), ids=EMPTY)
def test_an_agent_that_fails_before_any_event_shows_its_error(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The reader of such a turn saw a sentence; that is the thread to show."""
    file, around = tmp_path / "empty", tmp_path / "around.json"
    file.write_text(text, "utf-8")
    around.write_text('{"agent_error": {"after": 0, "message": "boom"}}', "utf-8")
    assert print_threads(options(file, scenario=str(around), json=False)) == 0
    thread = capsys.readouterr().out
    assert "The agent reported an error." in thread
    assert "-- failed (the agent answered with error -32603: boom)" in thread
    with pytest.raises(UnreadableInput, match="there are no events in it"):
        print_threads(options(file))


def test_the_scenario_in_the_head_of_a_tape_without_events_counts_too() -> None:
    head = {"format": FORMAT, "version": 1, "scenario": {"agent_error": {"after": 0, "message": "boom"}}}
    got = replayed(read_tape(json.dumps(head), "empty")).result()
    (message,) = got["thread"]
    assert got["outcome"] == "failed"
    assert "The agent reported an error." in json.dumps(message["blocks"])


def test_an_agent_that_fails_at_once() -> None:
    got = replayed(tape(), make_scenario({"agent_error": {"after": 0, "message": "boom"}})).result()
    assert got["outcome"] == "failed"
    assert got["visible"] == "" and got["thread"]
    assert "boom" not in json.dumps(got["thread"])


def test_a_deleted_thread_gets_nothing() -> None:
    got = replayed(
        tape(), make_scenario({"slack_faults": {"chat_startStream": ["invalid_thread_ts"]}})
    ).result()
    assert (got["outcome"], got["thread"], got["visible"]) == ("gone", [], "")


def test_a_known_context_is_used() -> None:
    assert (
        replayed(Tape({}, tape().moments[1:2]), make_scenario({"context_id": "old"})).result()["context_id"]
        is not None
    )


def test_settings_of_a_scenario_count() -> None:
    fast = replayed(
        tape(), make_scenario({"settings": {"flush_interval": 0.1, "first_flush_delay": 0.0}})
    ).result()
    assert len(fast["calls"]) > len(replayed(tape()).result()["calls"])
    with pytest.raises(SettingsError, match="flush_intervall is not a setting; did you mean"):
        replayed(tape(), make_scenario({"settings": {"flush_intervall": 1}})).result()


def test_the_environment_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = replayed(tape()).result()
    monkeypatch.setenv("SLACK_BOT_STREAM__FLUSH_INTERVAL", "0.1")
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-real")
    assert replayed(tape()).result() == wanted


@pytest.mark.parametrize("name,outcome", [("a2asdk130_chunks", "answered"), ("fasta2a061_stream", "failed")])
def test_raw_recordings_are_served_as_they_came(name: str, outcome: str) -> None:
    got = replayed(read_tape((CAPTURES / f"{name}.txt").read_bytes(), name)).result()
    assert got["outcome"] in (outcome, "refused" if outcome == "failed" else outcome)
    assert got["thread"]


def test_json_is_one_object_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "events.json"
    file.write_text(json.dumps([moment.event for moment in tape().moments]))
    assert print_threads(options(file, CAPTURES / "a2asdk130_chunks.txt")) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["outcome"] for line in lines] == ["answered", "answered"]


@pytest.mark.parametrize("final", ["", "Not that.\n\n"])
def test_what_was_added_at_a_border_is_named_and_the_rest_is_the_answer(final: str) -> None:
    """Streamed, and rewritten at the end."""
    code = "".join(f"call({number})  # line {number}\n" for number in range(40))
    text = f"Look at **this\n\n```python\n{code}```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    pieces = [text[at : at + 30] for at in range(0, len(text), 30)]
    moments = [
        Moment(0.1, event=TASK),
        *(Moment(1 + n / 10, event=update(piece, is_final_answer=True)) for n, piece in enumerate(pieces)),
        Moment(9.0, event={**update(final + text, "final_result"), "append": False, "lastChunk": True}),
        Moment(9.1, event=DONE),
    ]
    result = replayed(Tape({}, tuple(moments)), make_scenario({"settings": {"rotate_bytes": 400}})).result()
    own = ""
    for message in result["thread"]:
        opening, closing = message.get("opening", ""), message.get("closing", "")
        assert message["text"].startswith(opening)
        assert message["text"].endswith(closing)
        own += message["text"].removeprefix(opening).removesuffix(closing)
    assert own.split() == (final + text).split()
    assert [message.get("opening") for message in result["thread"][1:]].count("```python\n") >= 2


def test_a_thread_is_printed_for_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "events.json"
    file.write_text(json.dumps([moment.event for moment in tape().moments]))
    assert print_threads(options(file, json=False)) == 0
    text = capsys.readouterr().out
    assert text.startswith("U123: q\n\nbot (streamed):\nWhy did the chicken")
    assert text.rstrip().splitlines()[-1].startswith("-- answered, first visible text after")
    assert print_threads(options(file, file, json=False)) == 0
    assert capsys.readouterr().out.count(f"== {file}\n") == 2


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match=r"missing\.json: no such file"):
        print_threads(options(tmp_path / "missing.json"))
    broken = tmp_path / "scenario.json"
    broken.write_bytes(b"\xff")
    with pytest.raises(UnreadableInput, match=r"scenario\.json: not UTF-8 text"):
        print_threads(options(CAPTURES / "a2asdk130_chunks.txt", scenario=str(broken)))
    broken.write_text('{"chanel": "C1"}')
    with pytest.raises(UnreadableInput, match="did you mean 'channel'"):
        print_threads(options(CAPTURES / "a2asdk130_chunks.txt", scenario=str(broken)))


def test_two_processes_print_the_same_bytes(tmp_path: Path) -> None:
    file = tmp_path / "events.json"
    file.write_text(json.dumps([moment.event for moment in tape().moments]))
    files = [str(file), str(CAPTURES / "a2a" / "a2asdk130_input.txt")]
    program = (
        "import argparse, sys; from slack_bot.tools.replay.replay import print_threads;"
        f"print_threads(argparse.Namespace(files={files!r}, json=True, spans=False, "
        "key=None, scenario=None, speed=None, strict=False))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii"},
            capture_output=True,
            check=True,
            timeout=60,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1, "a form's buttons are told apart by random words"
    answered, asked = map(json.loads, outputs.pop().splitlines())
    assert answered["visible"] == ANSWER
    assert '"value": "form-1"' in json.dumps(asked["thread"])


def test_the_questions_of_a_tape_are_asked_one_after_the_other() -> None:
    again = (
        *tape().moments,
        Moment(9.0, question="And now?"),
        *(replace(m, t=m.t + 10) for m in tape(1).moments),
    )
    got = replayed(Tape({"question": "First?"}, again)).result()
    assert [message["text"] for message in got["thread"]] == [ANSWER, ANSWER]
    assert got["visible"] == ANSWER * 2


def test_a_tape_says_how_its_answer_is_read_and_a_scenario_weighs_more() -> None:
    plain = [Moment(1.0 + n / 10, event=update(word + " ")) for n, word in enumerate(ANSWER.split())]
    told = Tape(
        {"settings": {"dialect": "caipe-0.2", "bearer_token": "x"}}, (*plain, Moment(9.0, event=DONE))
    )
    assert replayed(told).result()["live_share"] > 0.5
    assert replayed(told, make_scenario({"settings": {"dialect": "caipe"}})).result()["live_share"] == 0


# -- against time, and in the surroundings in which a tape was made


def test_in_real_time_it_takes_as_long_as_it_took(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "tape.jsonl"
    file.write_text(write_tape(tape(seconds=1.0)), "utf-8")
    before = monotonic()
    assert print_threads(options(file, speed=2.0)) == 0
    took = monotonic() - before
    length = max(moment.t for moment in tape(seconds=1.0).moments)
    assert took >= length / 2
    found = json.loads(capsys.readouterr().out)
    assert found["visible"] == replayed(tape(seconds=1.0)).result()["visible"]
    assert found["first_visible"] < length


def test_a_tapes_head_says_in_which_scenario_it_was_made() -> None:
    faults = {"chat.appendStream": [None, "internal_error!", None]}
    made = Tape({**tape().head, "scenario": {"slack_faults": faults}}, tape().moments)
    errors = [
        call["error"] for call in replayed(made).result()["calls"] if call["method"] == "chat.appendStream"
    ]
    assert "internal_error" in errors
    other = make_scenario({"slack_faults": {"chat.startStream": ["ratelimited:1", None]}})
    errors = [
        call["error"]
        for call in replayed(made, other).result()["calls"]
        if call["method"] == "chat.appendStream"
    ]
    assert "internal_error" not in errors, "who says otherwise is heard"


def test_a_head_that_holds_no_scenario_is_told() -> None:
    with pytest.raises(UnreadableInput, match="the tape's head: 'cuts' is not a key of a scenario"):
        replayed(Tape({"scenario": {"cuts": 3}}, tape().moments)).result()


def test_what_the_tape_asked_is_shown(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "tape.jsonl"
    file.write_text(write_tape(Tape({"question": "why?"}, tape().moments)), "utf-8")
    assert print_threads(options(file, json=False)) == 0
    assert capsys.readouterr().out.startswith("U123: why?")


def said(number: int, text: str, state: str = "working") -> dict[str, Any]:
    message = {"messageId": f"m{number}", "role": "agent", "parts": [{"kind": "text", "text": text}]}
    status = {"state": state, "message": {"kind": "message", **message}}
    return {"kind": "status-update", "taskId": "t1", "contextId": "c1", "status": status}


def in_statuses(*, narrates: bool) -> Tape:
    """The same answer to two questions, said in working-status texts and once more at the end."""
    lines = [f"Line {n} of the answer says something else.\n" for n in range(12)]
    moments: list[Moment] = []
    for turn in range(2):
        start = 20.0 * turn
        moments += [Moment(start, question="once more")] if turn else []
        moments.append(Moment(start + 0.1, event=TASK))
        texts = ["Looking it up...", *lines] if narrates else lines
        moments += [Moment(start + 0.5 + n, event=said(100 * turn + n, text)) for n, text in enumerate(texts)]
        done = said(100 * turn + 99, "".join(lines), "completed")
        moments += [Moment(start + 15, event=done), Moment(start + 15.1, end="closed")]
    return Tape({"question": "tell me"}, tuple(moments))


LIVE = re.compile(r"(\d+)% live")


def test_what_the_first_answer_taught_makes_the_second_one_live() -> None:
    first, second = paces(replayed(in_statuses(narrates=False)))
    assert "100% of it within half a second, 0% live" in first
    assert "half a second" not in second and float(LIVE.findall(second)[0]) > 80


def test_narration_among_the_answers_pieces_teaches_nothing() -> None:
    """Who believed such an agent would show its narration as answer text (delivery.md 2)."""
    assert [LIVE.findall(pace) for pace in paces(replayed(in_statuses(narrates=True)))] == [["0"], ["0"]]


def test_a_further_question_stands_where_it_was_asked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "two.jsonl"
    file.write_text(write_tape(in_statuses(narrates=False)), "utf-8")
    assert (
        print_threads(
            argparse.Namespace(
                files=[str(file)], scenario=None, key=None, json=False, spans=False, speed=None, strict=False
            )
        )
        == 0
    )
    told = capsys.readouterr().out
    places = [told.index(each) for each in ("U123: tell me", "-- answered", "U123: once more")]
    assert places == sorted(places)
    assert told.count("-- answered") == 2
    assert "first visible text after 15.1 s, 100% of it within half a second, 0% live" in told


def test_a_dead_agent_is_nothing_that_was_heard() -> None:
    moments = [*tape().moments[:5], Moment(3.0, end="cut")]
    seen = replayed(Tape(tape().head, tuple(moments)), make_scenario({"settings": {"poll_timeout": 60}}))
    [pace] = paces(seen)
    assert pace.startswith("watched")
    assert seen.result()["events"] == {"task": 1, "streaming_result": 4}
    assert float(re.findall(r"([\d.]+) s without anything new", pace)[0]) > 50


def test_what_is_assumed_behind_a_broken_connection_is_told_on_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = answer("One two three.", seconds=1.0)
    file = tmp_path / "broken.jsonl"
    file.write_text(write_tape(Tape(whole.head, (*whole.moments[:3], Moment(0.9, end="cut")))), "utf-8")
    for verb in ("replay", "trace", "explain"):
        assert cli.main([verb, str(file)]) == 0
        assert f"note: {file}: the capture breaks off at 0.900 s" in capsys.readouterr().err


@pytest.fixture
def tape_file(tmp_path: Path) -> str:
    file = tmp_path / "one.jsonl"
    file.write_text(write_tape(answer("First answer.")), "utf-8")
    return str(file)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--update"], "--update belongs to --golden"),
        (["--golden", "x", "--update", "--shrink", "-o", "y"], "--update belongs to --golden"),
        (["--golden", "x", "--json"], "--golden prints its own report"),
        (["--golden", "x", "--play"], "--golden prints its own report"),
        (["--golden", "x", "--speed", "1"], "--speed is for looking on"),
        (["--shrink", "-o", "y", "--speed", "1"], "--speed is for looking on"),
        (["--speed", "0"], "--speed must be above 0"),
        (["--play", "--speed", "inf"], "--speed must be above 0"),
        (["--shrink"], "--shrink wants -o FILE"),
        (["other.jsonl", "--shrink", "-o", "y"], "--shrink takes one FILE"),
        (["-o", "x.jsonl"], "--output is where --shrink writes"),
    ],
)
def test_wrong_usage_is_told_with_the_remedy(
    tape_file: str, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    assert main(["replay", tape_file, *options]) == 2
    error = capsys.readouterr().err
    assert error.startswith("slack-bot replay: ")
    assert said in error


def test_each_face_is_its_own(tape_file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", tape_file]) == 0
    assert "First answer." in capsys.readouterr().out
    assert main(["replay", tape_file, "--golden", str(tmp_path / "kept"), "--update"]) == 0
    assert capsys.readouterr().out == "kept    one.jsonl.txt\n"
    assert main(["replay", tape_file, "--shrink", "-o", str(tmp_path / "small.jsonl")]) == 0
    assert "nothing is wrong" in capsys.readouterr().out


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_is_told_what_can_be_read_by_now() -> None:
    out = Terminal()
    log = WatchedLog(out)
    log.look(10.0, "One")
    log.look(12.5, "One two")
    assert "0.0 s  3 characters can be read  ...One" in out.getvalue()
    assert "2.5 s  7 characters can be read  ...One two" in out.getvalue()
    log.line.wipe()
    assert out.getvalue().endswith("\x1b[2K"), "the line is gone"
    assert [change.chars for change in log.turns[0].changes] == [3, 7]


def test_a_file_is_told_nothing() -> None:
    out = io.StringIO()
    log = WatchedLog(out)
    log.look(10.0, "One")
    log.line.wipe()
    assert out.getvalue() == ""


class Dies(httpx.AsyncBaseTransport):
    """Its agent cannot be reached any more after its first answer."""

    def __init__(self, agent: ScriptedAgent) -> None:
        self._inner, self._is_dead = ScriptedTransport(agent), False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if self._is_dead:
            raise httpx.ConnectError("gone")
        self._is_dead = request.method == "POST"
        return await self._inner.handle_async_request(request)


def test_an_agent_that_died_is_named_where_its_end_was_not_waited_for() -> None:
    transport, settings = Dies(ScriptedAgent(answer("one two three", seconds=9), cut_after=3)), bot_settings()
    asking = ReplayQuestions(limit=40.0)
    seen = virtual_clock.run(
        observe(Scenario(), settings, virtual_clock.new_clock(), transport, asking=asking)
    )
    assert seen.result()["outcome"] == "interrupted"
    assert seen.result()["reason"] == (
        "nobody waited longer than 40.00 s for its end; the agent could not be asked for its task"
    )
