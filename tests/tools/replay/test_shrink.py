"""`replay --shrink`: from a tape on which something is wrong to the smallest one on which it still is."""

from __future__ import annotations

import io
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.cli import main
from slack_bot.testing.tape.builders import answer, chunk, task
from slack_bot.testing.tape.tape import Moment, Tape, read_tape, write_tape
from slack_bot.tools.replay.replay import replayed
from slack_bot.tools.replay.scenario import Scenario
from slack_bot.tools.replay.shrink import (
    Search,
    broken_promise,
    minimal,
    show_progress,
    shrink,
    size_of,
    words_of,
)
from slack_bot.tools.scrub import texts_in
from slack_bot.tools.terminal import LiveLine
from slack_bot.turn import events, machine

TEXT = "First.\nSecond line with more words.\nThird."


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "answer.jsonl").write_text(write_tape(answer(TEXT)), "utf-8")
    assert (
        main(["replay", str(tmp_path / "answer.jsonl"), "--golden", str(tmp_path / "kept"), "--update"]) == 0
    )
    return tmp_path


def shrunk(place: Path, *more: str) -> tuple[int, Tape | None]:
    out = place / "small.jsonl"
    status = main(["replay", str(place / "answer.jsonl"), "--shrink", "-o", str(out), *more])
    if not out.exists():
        return status, None
    tape = read_tape(out.read_bytes(), "small")
    assert isinstance(tape, Tape)
    return status, tape


def test_a_tape_on_which_nothing_is_wrong_is_not_shrunk(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shrunk(place) == (0, None)
    assert shrunk(place, "--golden", str(place / "kept")) == (0, None)
    assert "nothing is wrong with this tape" in capsys.readouterr().out


@pytest.mark.slow
def test_a_line_too_much_is_followed_to_the_events_that_bring_it(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "answer.jsonl").write_text(write_tape(answer(TEXT.replace("more", "other"))), "utf-8")
    status, small = shrunk(place, "--golden", str(place / "kept"))
    assert status == 0
    assert small is not None
    assert words_of(small).strip() == "Second line with other words."
    assert replayed(small).result()["visible"].strip() == "Second line with other words."
    said = capsys.readouterr()
    assert "kept: a line that was not there before: Second line with other words." in said.out
    assert "moments with" in said.out


def test_a_line_that_is_lost_is_followed_too(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    take = machine.Turn._grow

    def forgetful(self: machine.Turn, event: events.AnswerText) -> object:
        lost = machine.replace(event, text="") if "Third" in event.text else event
        return take(self, lost)

    (place / "answer.jsonl").write_text(
        write_tape(answer("First words. \nThird-line. \nFourth words.")), "utf-8"
    )
    main(["replay", str(place / "answer.jsonl"), "--golden", str(place / "kept"), "--update"])
    monkeypatch.setattr(machine.Turn, "_grow", forgetful)
    # or the end would repair it
    monkeypatch.setattr(machine.TurnAnswer, "reconcile", lambda self, text, reason: machine.NoOp(reason))
    golden = place / "kept" / "answer.jsonl.txt"
    assert "Third-line." in golden.read_text("utf-8")
    status, small = shrunk(place, "--golden", str(place / "kept"))
    assert status == 0
    assert small is not None
    assert words_of(small).strip() == "Third-line."
    assert "Third" not in replayed(small).result()["visible"]


def test_a_broken_promise_is_found_without_any_kept_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    take = machine.Turn._grow

    def twice(self: machine.Turn, event: events.AnswerText) -> object:
        both = machine.replace(event, text=event.text * 2) if "stutters" in event.text else event
        return take(self, both)

    monkeypatch.setattr(machine.Turn, "_grow", twice)
    lines = [f"Line number {n} of a long answer.\n" for n in range(6)]
    tape = answer("A-line-that-stutters-because-of-a-defect\n ".join(lines), seconds=2.0)
    found = broken_promise(tape, Scenario())
    assert found is not None
    assert found.description.startswith("nothing_twice fails")
    out = Terminal()
    search = Search(found.shows, report=partial(show_progress, LiveLine(out)))
    small = shrink(tape, search)
    assert not search.is_over
    assert len(small.moments) < 5
    assert "stutters" in words_of(small)
    assert found.shows(small)
    assert replayed(small).result()["outcome"] == replayed(tape).result()["outcome"], (
        "the smaller tape ends as the whole one did"
    )
    assert "replays" in out.getvalue()


def test_the_search_can_be_ended_and_keeps_what_it_has(place: Path) -> None:
    tape = answer(TEXT)
    tries = iter(range(100))

    def shows(smaller: Tape) -> bool:
        if next(tries) == 5:
            raise KeyboardInterrupt
        return "Third" in words_of(smaller)

    search = Search(shows)
    small = shrink(tape, search)
    assert search.is_over
    assert "Third" in words_of(small)
    assert len(small.moments) < len(tape.moments)


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        (None, "no thread of it was kept"),
        ("\n\n", "only blank lines or the order differ"),
        ("a line from elsewhere", "that no event of the tape brings"),
    ],
)
def test_what_cannot_be_followed_is_told(
    place: Path, capsys: pytest.CaptureFixture[str], kept: str | None, said: str
) -> None:
    golden = place / "kept" / "answer.jsonl.txt"
    text = golden.read_text("utf-8")
    if kept is None:
        golden.unlink()
    else:
        golden.write_text(f"{text}{kept}", "utf-8")
    assert (
        main(["replay", str(place / "answer.jsonl"), "--shrink", "-o", "x", "--golden", str(place / "kept")])
        == 2
    )
    assert said in capsys.readouterr().err


TAPE = answer("one two three four five six seven eight", seconds=2.0)


@given(st.sets(st.integers(0, 60), max_size=5), st.integers(0, 61))
def test_what_is_needed_is_exactly_what_stays(needed: set[int], count: int) -> None:
    items = list(range(count))
    wanted = needed & set(items)
    assert set(minimal(items, lambda kept: wanted <= set(kept))) == wanted


@given(st.lists(st.integers(0, 3), max_size=30))
def test_nothing_more_can_be_left_out(items: list[int]) -> None:
    def shows(kept: list[int]) -> bool:
        return sum(kept) >= sum(items) // 2

    left = minimal(items, lambda kept: shows(list(kept)))
    assert shows(left)
    assert not any(shows(left[:at] + left[at + 1 :]) for at in range(len(left)))


def test_events_go_first_and_then_words() -> None:
    search = Search(lambda tape: "five" in words_of(tape), most=1_000)
    small = shrink(TAPE, search)
    assert words_of(small).strip() == "five"
    assert len(small.moments) == 1
    assert small.head == TAPE.head
    assert not search.is_over


def test_a_word_that_stands_alone_is_found_in_one_long_text() -> None:
    tape = Tape({}, (Moment(0.0, event=task()), Moment(1.0, event=chunk("so many words " * 20 + "here"))))
    small = shrink(tape, Search(lambda each: "here" in words_of(each), most=1_000))
    assert words_of(small) == "here"


def test_a_tape_without_anything_that_came_is_not_tried() -> None:
    tried = []
    shrink(TAPE, Search(lambda tape: bool(tried.append(tape)) or True, most=1_000))
    assert tried
    assert all(any(moment.event for moment in tape.moments) for tape in tried)


def test_the_search_ends_when_it_may_go_on_no_longer() -> None:
    told = list[int]()
    search = Search(lambda tape: "five" in words_of(tape), 5, lambda search: told.append(search.asked))
    small = shrink(TAPE, search)
    assert search.is_over
    assert told == [1, 2, 3, 4, 5]
    assert "five" in words_of(small)


def test_texts_are_found_wherever_they_stand_and_only_they_change() -> None:
    event = chunk("a b")
    assert list(texts_in(event)) == ["a b"]
    small = shrink(Tape({}, (Moment(0.0, event=event),)), Search(lambda tape: True, most=100))
    assert small.moments[0].event == chunk("")
    assert event == chunk("a b")


def test_a_size_is_told_in_words() -> None:
    assert size_of(Tape({}, (Moment(0.0, event=chunk("abc")), Moment(1.0, end="closed")))) == (
        "2 moments with 3 characters"
    )
