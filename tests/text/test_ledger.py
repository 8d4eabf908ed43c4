"""The ledger: every character once, whatever becomes of a call."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from slack_bot.testing.slack.rendering import rich_text
from slack_bot.text.fit import MessageLimits, utf8_len
from slack_bot.text.ledger import (
    FinishSegment,
    Ledger,
    Segment,
    SegmentsExhausted,
    SendText,
    TextQueue,
    split_into_segments,
)
from slack_bot.text.markdown import MarkdownState, OpenMarks
from tests.bench.reading import compare
from tests.examples import PAUSES, examples, texts
from tests.turn.work import HOSTILE, steps, work

# -- a workspace that loses answers --------------------------------------------------------------------------

OUTCOMES = ["ok", "refused", "sealed", "lost", "landed", "found"]


@dataclass
class Workspace:
    """Messages as a person sees them. What becomes of a call is drawn from `outcomes`, and then "ok"."""

    ledger: Ledger
    outcomes: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    calls: int = 0

    def carry_out(self, now: float, *, final: bool = False, cards: int = 0) -> None:
        """Do all that the ledger wants now."""
        if final:
            self.ledger.release_tables()
        while (step := self.ledger.next(now, final=final, cards=cards)) is not None:
            self.calls += 1
            match step:
                case SendText():
                    self._write(step)
                    cards = 0 if step.cards else cards
                case FinishSegment():
                    self.ledger.closed()
                case SegmentsExhausted():
                    self.ledger.limits = LONG

    def _write(self, show: SendText) -> None:
        ledger = self.ledger
        assert ledger.next(0.0) is None, "nothing goes out while a call is out"
        assert show.begins == (ledger.present is None)
        match self.outcomes.pop(0) if self.outcomes else "ok":
            case "ok":
                self._apply(show)
                ledger.confirmed()
            case "refused":
                ledger.refused()
            case "sealed":
                ledger.refused()
                end(ledger)
            case outcome:
                assert ledger.in_doubt
                assert ledger.next(1e9) is None
                if outcome != "lost":
                    self._apply(show)
                if outcome == "found":
                    ledger.confirmed()
                else:
                    ledger.settled(stands=outcome == "landed")

    def _apply(self, show: SendText) -> None:
        if show.begins:
            self.messages.append("")
        self.messages[-1] += show.text


def add(ledger: Ledger, text: str) -> None:
    """More of the answer, which may be sent at once."""
    ledger.push(text)
    ledger.release(len(text))


def end(ledger: Ledger) -> None:
    """The present message takes no more."""
    if ledger.present is not None:
        ledger.closed()


LONG = MessageLimits(rotate_bytes=240, max_segments=100_000)

CARDS = st.sampled_from([0, 0, 0, 30, 60])
TABLE = "| a | b |\n|---|---|\n| 1 | *2* |\n"
STEPS = st.lists(st.tuples(texts(40) | texts(40).map(lambda text: text + TABLE), PAUSES, CARDS), max_size=6)
LIMITS = st.sampled_from(
    [
        MessageLimits(rotate_bytes=size, max_segments=5, max_call_chars=call, tables_apart=apart)
        for size in (60, 160, 400, 1_000)
        for call in (100, 12_000)
        for apart in (False, True)
    ]
)


@examples(2_000)
@given(STEPS, LIMITS, st.lists(st.sampled_from(OUTCOMES), max_size=30), st.booleans())
def test_every_character_stands_once_whatever_becomes_of_a_call(
    steps: list[tuple[str, float, int]], limits: MessageLimits, outcomes: list[str], all_at_once: bool
) -> None:
    assume(not steps or steps[0][0].strip())  # the buffer sends no white space alone
    ledger = Ledger(limits)
    slack = Workspace(ledger, outcomes)
    pushed, now = "", 0.0
    for text, pause, cards in steps:
        add(ledger, text)
        pushed += text
        if not all_at_once:
            slack.carry_out(now, cards=min(cards, limits.rotate_bytes // 4))
            assert ledger.released.strip() == ""
        now += pause
    slack.carry_out(now, final=True)
    assert [segment.text for segment in ledger.segments] == slack.messages
    confirmed = "".join(segment.body for segment in ledger.segments)
    assert confirmed + ledger.released == pushed == ledger.text
    assert not ledger.released.strip()
    assert all(segment.text.strip() for segment in ledger.segments if segment.text)
    for segment in ledger.segments:
        assert utf8_len(segment.text) <= segment.weight <= max(limits.rotate_bytes, LONG.rotate_bytes)


# -- tables that go apart ------------------------------------------------------------------------------------

CELL = st.sampled_from(["x", "`a` b", "**y**", "1\\|2", "", "[z](https://z.example)"])
ROWS = st.lists(st.lists(CELL, min_size=2, max_size=2), max_size=4)
GRID = ROWS.map(lambda rows: "| h | i |\n|---|:-:|\n" + "".join(f"| {' | '.join(row)} |\n" for row in rows))
WORDS = st.sampled_from(
    ["Hello **there**.\n\n", "- a | b\n\n", "```\n| a | b |\n|---|---|\n```\n", "# T\n", "\n"]
)
PIECES = st.lists(GRID.map(lambda table: (True, table)) | WORDS.map(lambda text: (False, text)), max_size=6)


@examples(500)
@given(PIECES, st.integers(1, 60), st.booleans(), st.sampled_from([0.0, 30.0]))
def test_a_table_goes_alone_and_whole_however_it_comes(
    pieces: list[tuple[bool, str]], size: int, calls_fail: bool, pause: float
) -> None:
    """And everything else goes in its order around it. What comes slowly comes in whole lines, as the buffer
    gives it: a message that ended within a fence's own mark could not close that fence.
    """
    parts = [(True, f"{text}\n") if is_table else (False, text) for is_table, text in pieces]
    text, tables = "".join(part for _, part in parts), [part[:-1] for is_table, part in parts if is_table]
    ledger = Ledger(MessageLimits(tables_apart=True))
    sent: list[SendText] = []

    def carry_out(now: float, *, final: bool = False) -> None:
        while (step := ledger.next(now, final=final)) is not None:
            if isinstance(step, SendText):
                if calls_fail:  # each call once
                    ledger.refused()
                    assert ledger.next(now, final=final) == step
                ledger.confirmed()
                sent.append(step)
            else:
                ledger.closed()

    now, given = 0.0, ""
    at_once = [text[at : at + size] for at in range(0, len(text), size)]
    for piece in text.splitlines(keepends=True) if pause else at_once:
        add(ledger, piece)
        given += piece
        assert ledger.text == given
        carry_out(now)
        now += pause
    ledger.release_tables()
    carry_out(now, final=True)
    assert "".join(segment.body for segment in ledger.segments) + ledger.released == text
    assert [step.text.lstrip("\n") for step in sent if step.is_table] == tables
    assert all(step.text.strip() for step in sent if step.begins)


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        (["One.\n| a | b |\n"], "One.\n"),
        (["One.\n| a | b |\n", "no table"], "One.\n| a | b |\nno table"),
        (["a | b"], ""),
        (["a | b", " c\n", "d"], "a | b c\nd"),
        ([TABLE, "| 3 |"], ""),
        ([TABLE, "\nOn."], f"{TABLE}\nOn."),
        ([TABLE, "# On"], ""),
        ([TABLE, "# On\n"], f"{TABLE}# On\n"),
        (["| a |\n|---|\n", "| x |\n" * 2_000], "| a |\n|---|\n" + "| x |\n" * 2_000),
        (["```\n| a |\n|---|\n"], "```\n| a |\n|---|\n"),
    ],
)
def test_what_may_become_a_table_is_held(pieces: list[str], shown: str) -> None:
    ledger = Ledger(MessageLimits(tables_apart=True, rotate_bytes=100_000))
    for piece in pieces:
        add(ledger, piece)
    assert ledger.released == shown
    assert ledger.text == "".join(pieces)
    ledger.release_tables()
    assert ledger.released == "".join(pieces)


def test_a_table_that_has_no_room_begins_a_message_and_one_larger_than_that_goes_as_text() -> None:
    ledger, rows = Ledger(MessageLimits(rotate_bytes=240, tables_apart=True)), "| 1 | 2 |\n" * 10
    slack = Workspace(ledger)
    add(ledger, "word " * 30 + f"\n\n{TABLE}{rows}\n")
    slack.carry_out(0.0)
    assert [message.startswith("| a | b |") for message in slack.messages] == [False, True]
    add(ledger, f"{TABLE}{rows * 3}\nOn.")
    slack.carry_out(0.0, final=True)
    assert slack.messages[-1].endswith("On.")
    assert all(utf8_len(message) <= 240 for message in slack.messages)


# -- the queue -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reach", [3, 1_000])
def test_a_queue_gives_text_back_in_order(reach: int) -> None:
    queue, text = TextQueue(reach), "one two three four"
    queue.push(text[:5])
    queue.push(text[5:])
    assert (queue.size, queue.front) == (18, text[: max(5, reach)][: len(queue.front)])
    assert (queue.tail(4), queue.tail(10), queue.tail(99)) == ("four", text[-10:], text)
    assert queue.take(9) == text[:9]
    queue.drop_last(5)
    assert (queue.size, queue.tail(9), queue.take(4)) == (4, "hree", "hree")
    assert (queue.size, queue.front) == (0, "")


def test_a_queue_knows_whether_there_is_something_to_be_seen() -> None:
    queue = TextQueue(4)
    queue.push("  \n   x")
    assert [queue.is_visible(count) for count in (0, 4, 7)] == [False, False, True]
    queue.clear()
    assert not queue.is_visible(7)
    queue.push("x")
    assert queue.is_visible(1)


def test_what_is_exactly_a_message_is_one_segment() -> None:
    assert [each.text for each in split_into_segments("a line\n", MessageLimits())] == ["a line\n"]
    assert list(split_into_segments(" ", MessageLimits())) == []


# -- one queue -----------------------------------------------------------------------------------------------

MOVES = st.one_of(
    st.tuples(st.just("push"), texts(40)),
    st.tuples(st.just("release"), st.floats(0, 1)),
    st.tuples(st.just("retract"), st.floats(0, 1)),
    st.tuples(st.just("next"), st.booleans()),
    st.tuples(st.sampled_from(["confirmed", "refused", "settled", "lost", "closed", "rotate", "tables"])),
)


def places(ledger: Ledger) -> list[str]:
    """The text in each place of the ledger: confirmed, sent, released, waiting."""
    sent = ledger._sent[0] if ledger._sent else ""
    waiting = ledger.waiting
    return [
        "".join(segment.body for segment in ledger.segments),
        sent,
        ledger.released + ledger._tables.held,
        waiting.tail(waiting.size or 1),
    ]


def move(ledger: Ledger, name: str, how: Any) -> int:
    """Do one thing, if it may be done now. Returns how many characters were retracted."""
    waiting, is_out = ledger.waiting.size, ledger._sent is not None
    match name:
        case "push":
            ledger.push(how)
        case "release":
            ledger.release(round(how * waiting))
        case "retract":
            ledger.waiting.drop_last(round(how * waiting))
            return round(how * waiting)
        case "next":
            ledger.next(0.0, final=how)
        case "confirmed" | "refused" if is_out:
            getattr(ledger, name)()
        case "settled" | "lost" if is_out:
            ledger.settled(stands=name == "settled")
        case "closed" if not is_out and ledger.present is not None:
            ledger.closed()
        case "rotate":
            ledger.rotate()
        case "tables":
            ledger.release_tables()
    return 0


@examples(1_000)
@given(st.lists(MOVES, max_size=40), st.sampled_from([10, 100]), st.booleans())
def test_every_character_is_in_exactly_one_place_in_order(
    moves: list[tuple[Any, ...]], call: int, apart: bool
) -> None:
    """It waits, is released, was sent or is confirmed; it moves on, or back by one refused call."""
    limits = MessageLimits(rotate_bytes=60, max_segments=5, max_call_chars=call, tables_apart=apart)
    ledger, pushed = Ledger(limits), ""
    for name, *how in moves:
        before = places(ledger)
        pushed += how[0] if name == "push" else ""
        gone = move(ledger, name, *(how or [None]))
        pushed = pushed[: len(pushed) - gone]
        confirmed, sent, released, waiting = places(ledger)
        assert confirmed + sent + released + waiting == pushed
        assert ledger.text == confirmed + sent + released
        assert ledger.waiting.size == len(waiting)
        assert confirmed.startswith(before[0]), "what is confirmed stays"
        assert sent in ("", before[1]) or name == "next", "only `next` gives out text"
        assert not (name == "next" and before[1]) or sent == before[1], "one call at a time"


def test_a_long_text_is_laid_into_messages() -> None:
    code, rows = "x = 1\n" * 50, "| 1 | 2 |\n" * 40
    text = "\n\n".join(f"```py\n{code}```\n\n| a | b |\n|---|---|\n{rows}" for _ in range(9))
    segments = list(split_into_segments(text, MessageLimits(rotate_bytes=900)))
    assert "".join(segment.body for segment in segments) == text
    texts = [segment.text for segment in segments]
    assert all(len(each.encode()) <= 900 for each in texts)
    assert [MarkdownState().then(each).at_end.fence for each in texts] == [""] * len(texts)


# -- messages that look right --------------------------------------------------------------------------------

WORDS = st.lists(
    st.sampled_from(["word", "two words", "Ende.", "中文字", "👩\u200d👧", "שלום", "`code`"]), min_size=1
)
LINE = WORDS.map(" ".join)
BLOCK = st.one_of(
    LINE,
    LINE.map(lambda line: f"## {line}"),
    LINE.map(lambda line: f"so **{line} and *more* of it** there"),
    st.lists(LINE, min_size=1, max_size=12).map(lambda rows: "| a | b |\n|---|---|\n" + _rows(rows)),
    st.lists(LINE, max_size=12).map(lambda lines: "```py\n" + "".join(f"{x}\n" for x in lines) + "```"),
    st.lists(LINE, max_size=9).map(lambda lines: "~~~~\n```\n" + "".join(f"{x}\n" for x in lines) + "~~~~"),
    st.lists(LINE, min_size=1).map(lambda items: "\n".join(f"{n}. {x}" for n, x in enumerate(items, 1))),
    st.lists(LINE, min_size=1).map(lambda items: "- one\n" + "\n".join(f"  - {x}" for x in items)),
    st.lists(LINE, min_size=1).map(lambda lines: "\n".join(f"> {x}" for x in lines)),
    st.lists(LINE).map(lambda lines: "1. do\n   ```sh\n" + "".join(f"   {x}\n" for x in lines) + "   ```"),
)
DOCUMENT = st.lists(BLOCK, min_size=1, max_size=12).map("\n\n".join)


def _rows(cells: list[str]) -> str:
    return "\n".join(f"| {n} | {cell} |" for n, cell in enumerate(cells))


def _parts(text: str, size: int) -> list[str]:
    """`text` as the buffer hands it out: a header row with its separator row, and no half of a fence."""
    parts = re.findall(r"\| a \| b \|\n\|---\|---\|\n|`{3,}|~{3,}|.", text, re.DOTALL)
    return ["".join(parts[at : at + size]) for at in range(0, len(parts), size)]


def _looks_right(text: str) -> None:
    state = MarkdownState().then(text).at_end
    assert replace(state, table="", header="") == OpenMarks(), "something is open at its end"
    lines, in_fence, header = text.split("\n"), "", False
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        fence = re.match(r" *(`{3,}|~{3,})", line)
        if in_fence or fence:
            run = fence.group(1) if fence else ""
            in_fence = "" if in_fence and run.startswith(in_fence) else in_fence or run
        elif line.startswith("|"):
            header = header or below == "|---|---|"
            assert header, f"a row without its table: {line}"
        else:
            header = False
    assert not in_fence


@examples(600)
@given(DOCUMENT, st.integers(1, 400), st.sampled_from([300, 700, 2_000]), st.sampled_from([0, 0.5, 30]))
def test_every_message_looks_right_by_itself(text: str, delta: int, size: int, pause: float) -> None:
    ledger = Ledger(MessageLimits(rotate_bytes=size, max_segments=1_000))
    slack, now = Workspace(ledger), 0.0
    for part in _parts(text, delta):
        add(ledger, part)
        slack.carry_out(now)
        now += pause
    slack.carry_out(now, final=True)
    assert ledger.text == text
    for message in slack.messages:
        assert utf8_len(message) <= size
        if pause == 0:  # when time is up, a message ends where it stands
            _looks_right(message)


@pytest.mark.parametrize("shape", ["{}", "> {}"])
def test_a_mark_that_closes_behind_the_cut_closes(shape: str) -> None:
    """The message ends right before a mark's own partner: what opens it again must not run into that one."""
    for before in range(9):
        text = shape.format("x" * before + " `code`" * 60)
        ledger = Ledger(MessageLimits(rotate_bytes=300, max_segments=1_000))
        slack = Workspace(ledger)
        for part in _parts(text, 3):
            add(ledger, part)
            slack.carry_out(0.0)
        slack.carry_out(0.0, final=True)
        assert compare(text, slack.messages) is None
        for message in slack.messages:
            _looks_right(message)
            assert "``" not in message


def test_a_list_goes_on_and_a_nested_item_keeps_its_place() -> None:
    text = "".join(f"{n}. step {n}\n" + "".join(f"   - part {k}\n" for k in range(9)) for n in range(1, 9))
    texts = [segment.text for segment in split_into_segments(text, MessageLimits(rotate_bytes=150))]
    assert compare(text, texts) is None
    assert texts[0].endswith("   - part 8\n")
    assert texts[1].startswith("2. step 2\n")
    nested = "- all\n" + "".join(f"  - part {k}\n" for k in range(50))
    texts = [segment.text for segment in split_into_segments(nested, MessageLimits(rotate_bytes=240))]
    assert all(each.startswith("-\n  - part") for each in texts[1:])
    assert compare(nested, texts) is None


# -- time ----------------------------------------------------------------------------------------------------


def told(*texts: str, limits: MessageLimits | None = None) -> Ledger:
    """A ledger whose present message shows `texts`, begun at 0."""
    ledger = Ledger(limits or MessageLimits())
    for text in texts:
        add(ledger, text)
        step = ledger.next(0.0)
        assert isinstance(step, SendText)
        ledger.confirmed()
    return ledger


def test_a_message_ends_in_time_though_no_text_comes() -> None:
    ledger = told("```\ncode\n")
    assert ledger.due(0) == 240
    assert ledger.next(239.9) is None
    assert ledger.next(240) == SendText("```", begins=False, ends=True)
    assert ledger.due(0) is None
    ledger.confirmed()
    assert ledger.next(240) == FinishSegment()
    ledger.closed()
    assert (ledger.present, ledger.due(0), ledger.next(1e9)) == (None, None, None)
    assert (ledger.segments[0].body, ledger.segments[0].closing) == ("```\ncode\n", "```")
    add(ledger, "more\n")
    assert ledger.next(500) == SendText("```\nmore\n", begins=True)


def test_within_a_line_its_end_is_waited_for_but_not_for_ever() -> None:
    ledger = told("half a ")
    assert ledger.due(240) == 260
    add(ledger, "line of ")
    assert ledger.next(245) == SendText("line of ", begins=False)
    ledger.confirmed()
    add(ledger, "text\n\nand")
    assert ledger.next(250) == SendText("text\n", begins=False, ends=True)
    late = told("half a ")
    assert late.next(259) is None
    assert late.next(260) == FinishSegment()


def test_the_last_words_need_no_message_of_their_own() -> None:
    ledger = told("a line\n")
    assert ledger.next(245, final=True) is None
    add(ledger, "end.")
    assert ledger.next(245, final=True) == SendText("end.", begins=False)
    ledger.refused()
    assert ledger.next(261, final=True) == FinishSegment()  # too late for that


def test_messages_that_do_not_age() -> None:
    ledger = told("a line\n", limits=MessageLimits(rotate_after=math.inf))
    assert ledger.due(0) is None
    assert ledger.next(1e9) is None


# -- cards, limits, ends -------------------------------------------------------------------------------------


def test_cards_go_along_and_weigh() -> None:
    ledger = Ledger(MessageLimits(rotate_bytes=1_000))
    assert ledger.next(0, cards=300) == SendText("", begins=True, cards=300)
    ledger.confirmed()
    assert ledger.due(0) == 240
    add(ledger, "word " * 100)
    assert ledger.next(0, cards=100) == SendText("word " * 100, begins=False, cards=100)
    ledger.confirmed()
    assert ledger.present is not None
    assert ledger.present.weight == 900
    assert ledger.next(0, cards=100) == FinishSegment()  # no room for them here
    ledger.closed()
    assert ledger.next(0, cards=100) == SendText("", begins=True, cards=100)


def test_a_message_can_be_ended_by_will() -> None:
    ledger = told("so **bold")
    ledger.rotate()
    assert ledger.next(0) == SendText("**", begins=False, ends=True)
    ledger.refused()  # Slack was faster
    ledger.closed()
    assert (ledger.present, ledger.segments[0].closing) == (None, "")
    add(ledger, " text")
    assert ledger.next(0) == SendText("**\u2060 text", begins=True)
    empty = Ledger(MessageLimits())
    empty.rotate()
    assert (empty.next(0), empty.segments) == (None, ())


def test_an_answer_takes_no_more_messages_than_it_may() -> None:
    ledger = told("one\n", limits=MessageLimits(max_segments=1))
    ledger.rotate()
    ledger.next(0)
    ledger.closed()
    assert ledger.next(0) is None
    add(ledger, "two\n")
    assert [ledger.next(0), ledger.next(0)] == [SegmentsExhausted(), SegmentsExhausted()]
    ledger.discard()
    assert ledger.text == "one\n"
    ledger.limits = MessageLimits(max_segments=2)
    add(ledger, "two\n")
    assert ledger.next(0) == SendText("two\n", begins=True)


def test_what_is_in_doubt_stops_everything_until_it_is_settled() -> None:
    ledger = told("one\n")
    add(ledger, "two\n")
    ledger.next(0)
    assert ledger.in_doubt
    assert (ledger.next(1e9), ledger.due(0)) == (None, 0)  # to be settled
    ledger.settled(stands=True)
    assert (ledger.segments[0].text, ledger.released, ledger.in_doubt) == ("one\ntwo\n", "", False)
    assert ledger.present is None
    add(ledger, "three\n")
    assert ledger.next(0) == SendText("three\n", begins=True)
    ledger.settled(stands=False)  # it was not begun
    assert (len(ledger.segments), ledger.released) == (1, "three\n")


def test_over_a_message_of_cards_alone_what_is_open_is_carried() -> None:
    ledger = told("```py\none\n")
    ledger.rotate()
    slack = Workspace(ledger, messages=["```py\none\n"])
    slack.carry_out(0.0)
    slack.carry_out(0.0, cards=50)
    ledger.rotate()
    slack.carry_out(0.0)
    add(ledger, "two\n```\n")
    slack.carry_out(0.0)
    assert slack.messages == ["```py\none\n```", "", "```py\ntwo\n```\n"]
    assert ledger.text == "```py\none\ntwo\n```\n"


@pytest.mark.parametrize("call", [Ledger.confirmed, Ledger.refused, Ledger.closed])
def test_what_was_not_asked_for_cannot_have_become_of_it(call: Callable[[Ledger], None]) -> None:
    with pytest.raises(AssertionError):
        call(Ledger(MessageLimits()))


def test_text_on_its_way_cannot_be_taken_back() -> None:
    ledger = Ledger(MessageLimits())
    add(ledger, "one")
    ledger.next(0)
    with pytest.raises(AssertionError, match="on its way"):
        ledger.discard()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("```py\na\n```", "```py\nb\n"),
        ("```py\na\n```", "``"),
        ("a **b**", "**c"),
        ("a\n", "\u2060b"),
        ("- a\n", "-"),
        ("a\u2060b x", "\n  -"),
        ("| a | b |\n", "-"),
    ],
)
def test_nothing_is_inserted_where_nothing_is_open(first: str, second: str) -> None:
    """Not even where the answer itself looks like something that was opened again."""
    ledger = told(first)
    ledger.closed()
    add(ledger, second)
    assert ledger.next(0) == SendText(second, begins=True)


@pytest.mark.parametrize("before", range(16))
def test_rows_keep_their_header_when_a_message_ends_before_a_line_end(before: int) -> None:
    """Letter by letter, and cut right behind a row whose line end comes only then."""
    text = f"{'x' * before}\n\n| a | b |\n|---|---|\n{_rows(['word'] * 40)}\n\nend"
    ledger = Ledger(MessageLimits(rotate_bytes=300, max_segments=1_000))
    slack = Workspace(ledger)
    for part in _parts(text, 1):
        add(ledger, part)
        slack.carry_out(0.0)
    slack.carry_out(0.0, final=True)
    assert len(slack.messages) > 2
    assert compare(text, slack.messages) is None
    for message in slack.messages:
        _looks_right(message)


def test_a_fence_that_is_closed_within_a_line_reads_as_code_in_both_messages() -> None:
    ledger = told("```py\nx = 1")
    ledger.rotate()
    slack = Workspace(ledger, messages=["```py\nx = 1"])
    slack.carry_out(0.0)
    add(ledger, "00\n```\n")
    slack.carry_out(0.0)
    assert slack.messages == ["```py\nx = 1\n```", "```py\n00\n```\n"]


def test_a_header_too_big_to_be_repeated_is_not() -> None:
    table = f"| {'a' * 50} |\n|---|\n| 1 |\n"
    ledger = told(table, limits=MessageLimits(rotate_bytes=200))
    ledger.closed()
    add(ledger, "| 2 |\n")
    assert ledger.next(0) == SendText("| 2 |\n", begins=True)
    fence = told(f"```{'a' * 70}\ncode\n", limits=MessageLimits(rotate_bytes=200))
    fence.rotate()
    assert fence.next(0) == FinishSegment()  # what cannot be opened again is not closed either
    full = told("```\n" + "a" * 17, limits=MessageLimits(rotate_bytes=30))
    full.limits = MessageLimits(rotate_bytes=22)
    full.rotate()
    assert full.next(0) == FinishSegment()  # and what has no room is not written


# -- work ----------------------------------------------------------------------------------------------------


def test_the_work_for_a_call_does_not_grow_with_the_answer() -> None:
    def one_more_call(lines: int) -> int:
        ledger = Ledger(MessageLimits(rotate_bytes=500, max_segments=10_000))
        add(ledger, "A line of text, and more of it.\n" * lines)
        Workspace(ledger).carry_out(0.0)
        add(ledger, "And one more line.\n" * 100)
        return work(lambda: ledger.next(0.0))

    assert one_more_call(2_000) <= 2 * one_more_call(50)


@pytest.mark.parametrize(
    "rest", ["> and more", "- 1 is left", "# of them", "1. is first", "* stars", "+1 for it", "```sh\nls\n"]
)
def test_what_looks_like_a_block_in_the_middle_of_a_line_is_none_in_the_next_message(rest: str) -> None:
    ledger = told("Ping <!channel")
    add(ledger, rest)
    ledger.rotate()
    ledger.next(1.0)
    ledger.closed()
    show = ledger.next(2.0)
    assert isinstance(show, SendText)
    assert (show.text[0] == "\u2060") == (not rest.startswith("+1"))
    assert show.text == ("" if rest.startswith("+1") else "\u2060") + rest
    line = show.text.partition("\n")[0]
    drawn = {"type": "rich_text_section", "elements": [{"type": "text", "text": line}]}
    assert rich_text("b", line)["elements"] == [drawn]


@pytest.mark.parametrize("piece", HOSTILE)
def test_the_work_for_a_message_does_not_grow_with_the_text_behind_it(piece: str) -> None:
    def longest(size: int) -> int:
        return max(
            steps(
                islice(split_into_segments("x" + (piece * size)[:size], MessageLimits(rotate_bytes=300)), 3)
            )
        )

    assert longest(24_000) < 1.1 * longest(6_000) + 100


def test_a_text_is_laid_out_only_as_far_as_is_asked() -> None:
    pieces = split_into_segments("A line.\n" * 5_000, MessageLimits(rotate_bytes=1_000))
    one = work(lambda: next(pieces))
    assert work(lambda: next(pieces)) < 2 * one
    assert work(lambda: list(pieces)) > 20 * one


def restored(body: str, *parts: tuple[int, bool] | None) -> Ledger:
    """A ledger whose last message, of another process, is looked at as often as there are `parts`."""
    ledger, found = Ledger(MessageLimits()), iter(parts)
    ledger.restore([Segment(0.0, "", body)])
    ledger.held.compare(lambda text, is_all: next(found))
    return ledger


def test_what_another_process_showed_beyond_its_record_is_confirmed() -> None:
    ledger = restored("One.\n", None, (5, True))
    for text in ("One.\nTwo", ".\nThree.\n"):
        ledger.push(text)
        ledger.release(ledger.waiting.size)
        assert ledger.text == "One.\nTwo" or not ledger.held.is_comparing
    assert [segment.body for segment in ledger.segments] == ["One.\nTwo.\n"]
    assert (ledger.released, ledger.held.is_misread) == ("Three.\n", False)


def test_what_is_held_is_not_compared_again_with_each_piece() -> None:
    read: list[int] = []

    def part_of(text: str, is_all: bool) -> tuple[int, bool] | None:
        read.append(len(text))
        return (len(text), True) if is_all else None

    ledger = Ledger(MessageLimits(max_call_chars=100_000))
    ledger.restore([Segment(0.0)])
    ledger.held.compare(part_of)
    for _ in range(5_000):
        ledger.push("piece ")
        ledger.release(ledger.waiting.size)
    ledger.place_held(is_all=True)
    assert sum(read) < 12 * 30_000
    assert read[:4] == [6, 12, 18, 24]
    assert ledger.segments[-1].body == "piece " * 5_000


def test_while_that_is_not_known_nothing_is_given_out() -> None:
    ledger = restored("One.\n", None, (3, False))
    ledger.push("One.\nTwo")
    ledger.release(ledger.waiting.size)
    assert not ledger.has_more
    assert ledger.next(0.0) is None
    ledger.place_held(is_all=True)
    assert ledger.segments[-1].body == "One.\nTwo"
    assert ledger.held.is_misread


def test_a_message_takes_no_more_than_a_call() -> None:
    ledger = restored("One.\n", (20_000, True))
    ledger.push("One.\n" + "x" * 20_000)
    ledger.release(ledger.waiting.size)
    assert ledger.segments[-1].body == "One.\n"
    assert ledger.held.is_misread
    assert len(ledger.released) == 20_000


@pytest.mark.parametrize(
    ("known", "text", "rest"),
    [
        ("One.\n", "One.\n\nTwo.", "\nTwo."),
        ("One.", "One.\n\nTwo.", "\n\nTwo."),
        ("One. ", "One.\nTwo.", "Two."),
        ("One  two", "One two three", " three"),
    ],
)
def test_white_space_behind_what_is_repeated_is_kept(known: str, text: str, rest: str) -> None:
    for size in (1, 2, 100):
        ledger = Ledger(MessageLimits())
        ledger.restore([Segment(0.0, "", known)])
        for at in range(0, len(text), size):
            ledger.push(text[at : at + size])
        assert ledger.release(ledger.waiting.size) == rest
