"""Text is shown soon and cut well: the buffer on a clock that the test moves."""

import itertools
from dataclasses import dataclass, field
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from slack_bot.text.buffer import StreamBuffer
from slack_bot.text.fit import MessageLimits
from slack_bot.text.ledger import Ledger
from slack_bot.text.markdown import MarkdownState, inside_cluster, sendable_part
from slack_bot.text.masking import MASK
from slack_bot.text.sanitize import StreamSanitizer
from tests.examples import PAUSES, examples, texts
from tests.turn.work import work

EARLY = 1e-6


class Buffer(StreamBuffer):
    """A buffer with a ledger of its own, whose released text a test takes as Slack would."""

    def __init__(
        self, first: float, interval: float, most: int, secrets: tuple[str, ...], unproven: float = 0.0
    ) -> None:
        self.ledger = Ledger(MessageLimits(max_call_chars=most))
        super().__init__(
            self.ledger,
            first_flush_delay=first,
            flush_interval=interval,
            unproven_delay=unproven,
            unproven_calls=3,
            unproven_interval=5.0,
            secrets=secrets,
        )

    def ready(self, now: float, *, is_late: bool = False) -> str:
        """What is released at `now`."""
        count = self.release(now, is_late=is_late)
        text, self.ledger.released = self.ledger.released, ""
        assert len(text) == count
        return text

    def shown(self, now: float) -> str:
        """What is released at `now`, and shown at once."""
        text = self.ready(now)
        self.acknowledge(now)
        return text

    def remaining(self) -> str:
        """What was not released."""
        self.input.settle()
        waiting = self.ledger.waiting
        return waiting.tail(waiting.size) if waiting.size else ""


def new(
    *,
    first: float = 0.4,
    interval: float = 1.0,
    most: int = 12_000,
    secrets: tuple[str, ...] = (),
    unproven: float = 0.0,
) -> Buffer:
    return Buffer(first, interval, most, secrets, unproven)


@dataclass
class Slack:
    """Takes whatever is ready as soon as it is, and writes down when."""

    buffer: Buffer
    sent: list[tuple[float, str]] = field(default_factory=list)
    now: float = 0.0

    def until(self, now: float) -> None:
        """Let the time pass, serving every deadline on the way."""
        while (due := self.buffer.deadline()) is not None and due <= now:
            self.now = max(self.now, due)
            text = self.buffer.shown(self.now)
            if text:
                self.sent.append((round(self.now, 3), text))
        self.now = now

    def push(self, now: float, text: str) -> None:
        self.until(now)
        self.buffer.push(text, now)
        self.until(now)


# -- the oracle's sequences ----------------------------------------------------------------------------------

ORACLE = [
    ("SB-01 newline boundary", 1.0, [(0, "Hello\nWorld")], [(0, "Hello\n")], "World"),
    ("SB-03 no newline, before interval", 10.0, [(0, "Hello")], [], "Hello"),
    ("SB-05 just under interval", 1.0, [(0, "first"), (0.999, "second")], [], "firstsecond"),
    ("SB-07 empty append", 1.0, [(0, "")], [], ""),
    (
        "SB-11 markdown not split",
        1.0,
        [(0, "**bold"), (0.1, " text**\nnext")],
        [(0.1, "**bold text**\n")],
        "next",
    ),
    (
        "SB-15 table rows",
        1.0,
        [(0, "| a | b |\n|---|---|\n| 1 "), (0.3, "| 2 |\n| 3 |"), (0.6, " 4 |\n")],
        [(0, "| a | b |\n|---|---|\n"), (0.3, "| 1 | 2 |\n"), (0.6, "| 3 | 4 |\n")],
        "",
    ),
]


@pytest.mark.parametrize(
    ("interval", "pushes", "sent", "rest"), [case[1:] for case in ORACLE], ids=[c[0] for c in ORACLE]
)
def test_oracle(
    interval: float, pushes: list[tuple[float, str]], sent: list[tuple[float, str]], rest: str
) -> None:
    slack = Slack(new(first=interval, interval=interval))
    for now, text in pushes:
        slack.push(now, text)
    assert slack.sent == sent
    assert slack.buffer.remaining() == rest
    assert slack.buffer.clock.begun is bool(sent)


def test_oracle_flush_of_nothing() -> None:
    """SB-09."""
    buffer = new()
    buffer.flush()
    assert buffer.ready(0) == ""
    assert buffer.deadline() is None


# -- when ----------------------------------------------------------------------------------------------------


def test_the_clock_starts_with_the_first_token_and_the_first_flush_is_sooner() -> None:
    buffer = new()
    assert buffer.deadline() is None
    buffer.push("Hello wor", 100)
    assert buffer.deadline() == pytest.approx(100.4)
    assert buffer.ready(100.39) == ""
    assert not buffer.clock.begun
    assert buffer.ready(100.4) == "Hello "
    buffer.acknowledge(100.5)
    assert buffer.clock.begun
    buffer.push("ld and ", 100.6)
    assert buffer.deadline() == pytest.approx(100.8)
    assert buffer.ready(100.8) == "world and "
    buffer.acknowledge(100.9)
    buffer.push(" more and", 109)
    assert buffer.deadline() == pytest.approx(109)


def test_the_pauses_grow_with_the_answer_up_to_the_interval() -> None:
    """A fifth of its age: four fifths of it stand at any time, and a long one costs a call a second."""
    slack = Slack(new())
    for tick in range(100):
        slack.push(tick / 10, "word ")
    times = [at for at, _ in slack.sent]
    pauses = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert times[0] == pytest.approx(0.4)
    assert pauses[0] == pytest.approx(0.4, abs=0.11)
    assert pauses[-1] == pytest.approx(1.0, abs=0.11)
    assert pauses == sorted(pauses) or max(b - a for a, b in itertools.pairwise(pauses)) < 0.31


def test_the_timer_needs_no_further_token() -> None:
    slack = Slack(new())
    slack.push(0, "The last words before a pause")
    slack.until(10)
    assert slack.sent == [(0.4, "The last words before a "), (1.2, "pause")]


def test_what_cannot_be_cut_is_held_one_interval_more() -> None:
    buffer = new()
    buffer.push("**Hello", 0)
    assert buffer.deadline() == pytest.approx(0.4)
    assert not buffer.is_ready(0.4)  # only now is a cut looked for
    assert buffer.deadline() == pytest.approx(0.8)
    assert buffer.ready(0.79) == ""
    assert buffer.ready(0.8) == "**Hello"


def test_when_it_must_go_it_goes_between_words_if_it_can() -> None:
    buffer = new()
    buffer.push("**Hello big wor", 0)
    assert buffer.ready(1.4) == "**Hello big "


def test_a_lone_marker_waits() -> None:
    buffer = new()
    buffer.push("# ", 0)
    assert buffer.ready(0.7) == ""
    buffer.push("Title of", 0.7)
    assert buffer.ready(0.7) == "# Title "


def test_a_rest_waits_from_the_call_that_left_it() -> None:
    buffer = new()
    buffer.push("Hello wor", 0)
    assert buffer.shown(0.4) == "Hello "
    assert not buffer.is_ready(0.8)
    assert buffer.deadline() == pytest.approx(1.2)  # half a word: not before a second pause


def test_what_came_during_a_call_waits_from_its_own_time() -> None:
    buffer = new()
    buffer.push("one two", 0)
    assert buffer.ready(0.4) == "one "
    buffer.push(" three four", 0.5)
    buffer.acknowledge(3.4)  # a slow call
    assert buffer.deadline() == pytest.approx(0.8)
    assert buffer.ready(3.4) == "two three "


def test_a_timer_that_fires_a_rounding_error_early_counts() -> None:
    buffer = new()
    buffer.push("one two", 0.1)
    assert buffer.ready(0.5 - 1e-9) == "one "


def test_a_safe_cut_that_is_undone_asks_again_later() -> None:
    buffer = new(first=1.0)
    buffer.push("a ", 0)
    assert buffer.deadline() == 1.0
    buffer.push("| b\n", 0.5)  # now it may be a table's header row
    assert buffer.ready(1.0) == ""
    assert buffer.deadline() == 2.0
    assert buffer.ready(2.0) == "a | b\n"


def test_a_safe_cut_within_a_cluster_was_none() -> None:
    buffer = new(first=1.0)
    buffer.push("a ", 0)
    assert buffer.deadline() == 1.0
    buffer.push("\u0301", 0.5)
    assert buffer.ready(1.0) == ""
    assert buffer.ready(2.0) == "a \u0301"


@pytest.mark.parametrize(("text", "shown"), [("a ", ""), ("one two ", "one ")])
def test_a_cut_that_was_found_is_looked_for_again_when_more_has_come(text: str, shown: str) -> None:
    buffer = new(first=1.0)
    buffer.push(text, 0)
    assert buffer.is_ready(1.0)
    buffer.push("\u0301", 1.0)  # while the writer waited for its slot
    assert buffer.ready(1.0) == shown


@pytest.mark.parametrize(
    ("rest", "also"), [("One more sen", "One more "), ("**bo", ""), ("| a | b |\n", ""), ("", "")]
)
def test_what_waited_for_its_slot_goes_up_to_the_last_safe_cut(rest: str, also: str) -> None:
    buffer = new()
    buffer.push(f"A line.\n{rest}", 0)
    assert buffer.ready(3, is_late=True) == f"A line.\n{also}"
    buffer = new()
    buffer.push(f"A line.\n{rest}", 0)
    assert buffer.ready(3) == "A line.\n"


@pytest.mark.parametrize("rest", ["    ", "        # note", "        "])
def test_what_had_to_wait_is_never_cut_in_the_indentation_of_code(rest: str) -> None:
    buffer = new()
    buffer.push(f"```yaml\n{rest}", 0)
    text = buffer.ready(3, is_late=True)
    assert text == "```yaml\n" or text.strip() == "```yaml\n        #"


def test_a_table_header_waits_for_its_separator_row() -> None:
    slack = Slack(new())
    slack.push(0, "text\n| a | b |\n")
    slack.push(0.1, "|---|---|")
    slack.push(0.2, "\n")
    assert slack.sent == [(0, "text\n"), (0.2, "| a | b |\n|---|---|\n")]


# -- white space ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "pieces", "end"),
    [
        ("", ["``", "`py", "thon"], "\n"),
        ("Look:\n\n", ["`", "``", "c++"], "\n"),
        ("- a\n", ["  - ```", "py"], "\n"),
        ("> a\n", ["> ~~", "~ x y"], "\n"),
        ("```\ncode = 1\n", ["`", "``"], "\n"),
        ("~~~\ncode = 1\n", ["~~", "~"], "\n"),
    ],
)
def test_a_line_that_opens_or_closes_a_fence_is_not_sent_in_part(
    before: str, pieces: list[str], end: str
) -> None:
    slack = Slack(new())
    slack.push(0.0, before)
    for second, piece in enumerate(pieces, start=1):
        slack.push(5.0 * second, piece)
    slack.until(60.0)
    assert "".join(text for _, text in slack.sent) == before
    slack.push(61.0, f"{end}more")
    slack.until(70.0)
    assert "".join(text for _, text in slack.sent) == f"{before}{''.join(pieces)}\nmore"
    assert slack.sent[-2 if before or len(slack.sent) > 1 else 0][1] == f"{''.join(pieces)}\n"


@pytest.mark.parametrize(
    ("header", "pieces"),
    [
        (["| a ", "| b |\n"], ["|", "--", "-|", ":-:", "|"]),
        (["| a | b |", "\n"], ["|---|", "---|"]),
        (["a ", "| b\n"], ["-", "-- |", " -", "--"]),
        (["| a | b |\n|", "-"], ["--|", "---|"]),
    ],
)
def test_the_row_that_makes_a_table_of_the_one_above_is_not_sent_in_part(
    header: list[str], pieces: list[str]
) -> None:
    slack = Slack(new())
    for second, piece in enumerate([*header, *pieces]):
        slack.push(5.0 * second, piece)
    slack.until(60.0)
    above, _, begun = "".join(header).rpartition("\n")
    assert "".join(text for _, text in slack.sent).rstrip("\n") == above
    slack.push(61.0, "\n| 1")
    assert slack.sent[-1][1].lstrip("\n") == f"{begun}{''.join(pieces)}\n"


@pytest.mark.parametrize(
    ("before", "line"),
    [
        ("| a | b |\n", "| 1 "),  # no table, but rows all the same
        ("| a | b |\n|---|---|\n", "| - "),
        ("a or b\n", "--- "),
        ("```py\n", "x = `q"),  # code goes on live
        ("```py\n", "~~~"),
        ("", "`code"),
        ("", "~ about"),
        ("", "```q` q"),  # a code span
        ("", f"```{'x' * 200}"),
    ],
)
def test_what_is_no_such_line_goes_on_live(before: str, line: str) -> None:
    slack = Slack(new())
    slack.push(0.0, before + line)
    slack.until(10.0)
    assert "".join(text for _, text in slack.sent) == before + line


@pytest.mark.parametrize(
    ("begun", "rest"),
    [(f"```{'z' * 100}", "`"), (f"```{'z' * 197}", "z"), (f"| a | b |\n|{'-' * 300}", "z")],
    ids=["a code span", "too long for a fence", "no separator row"],
)
def test_a_line_that_need_not_wait_for_its_end_any_more_is_shown(begun: str, rest: str) -> None:
    """Also where the character that shows it is the last for a long time."""
    slack = Slack(new())
    slack.push(0.0, begun)
    slack.until(10.0)
    slack.push(10.0, rest)
    slack.until(20.0)
    assert "".join(text for _, text in slack.sent) == begun + rest
    assert slack.buffer.deadline() is None


def test_white_space_alone_is_not_sent_and_not_lost() -> None:
    buffer = new()
    buffer.push("\n\n ", 0)
    buffer.flush()
    assert buffer.deadline() is None
    assert buffer.ready(100) == ""
    assert buffer.remaining() == "\n\n "
    buffer.push("Hello you", 100)
    assert buffer.deadline() == pytest.approx(100.4)
    assert buffer.ready(100.4) == "\n\n Hello "


def test_white_space_at_the_end_stays() -> None:
    buffer = new()
    buffer.push("done", 0)
    buffer.flush()
    assert buffer.shown(0) == "done"
    buffer.push(" \n", 1)
    buffer.flush()
    assert (buffer.ready(9), buffer.deadline(), buffer.remaining()) == ("", None, " \n")


def test_more_white_space_than_a_call_takes_still_ends() -> None:
    buffer = new(most=10)
    buffer.push(" " * 1_000 + "z", 0)
    buffer.flush()
    sent = []
    while text := buffer.shown(0):
        sent.append(text)
    assert "".join(sent) == " " * 1_000 + "z"


def test_half_a_flag_goes_when_nothing_else_is_there() -> None:
    buffer = new()
    buffer.push(" 🇩", 0)
    assert buffer.ready(2) == " 🇩"


# -- flush, limits -------------------------------------------------------------------------------------------


def test_flush_sends_all_that_is_held_whatever_the_cut() -> None:
    buffer = new()
    buffer.push("see **half a wo", 0)
    buffer.flush()
    assert buffer.deadline() == 0
    buffer.push("rd** and mo", 0)
    assert buffer.shown(0) == "see **half a wo"  # what came after the flush waits its own time
    assert buffer.ready(0) == ""
    assert buffer.ready(1) == "rd** and "


def test_a_flush_of_white_space_does_not_hurry_what_follows() -> None:
    buffer = new()
    buffer.push(" ", 0)
    buffer.flush()
    buffer.push("word and", 0)
    assert buffer.ready(0) == ""


def test_more_than_a_call_takes_goes_at_once_in_good_pieces() -> None:
    slack = Slack(new(most=20))
    slack.push(0, "aaaa bbbb cccc. dddd eeee ffff gggg")
    assert slack.sent[0] == (0, "aaaa bbbb cccc. ")
    slack.until(10)
    assert "".join(text for _, text in slack.sent) == "aaaa bbbb cccc. dddd eeee ffff gggg"


def test_a_long_text_keeps_its_order() -> None:
    text = "".join(f"line {n}\n" for n in range(2_000))
    buffer = new(most=100)
    buffer.push(text[:7], 0)
    buffer.push(text[7:5_000], 0)
    for at in range(5_000, len(text), 3):
        buffer.push(text[at : at + 3], 0)
    buffer.flush()
    assert buffer.remaining() == text
    sent = []
    while part := buffer.shown(0):
        sent.append(part)
    assert "".join(sent) == text
    assert all(part.endswith("\n") for part in sent)


@pytest.mark.parametrize("rest", ["and ", "x" * 500])
def test_in_the_end_all_of_it_is_released_but_for_white_space(rest: str) -> None:
    buffer = new(most=10)
    buffer.push(rest, 0)
    buffer.release_all()
    assert (buffer.ledger.released, buffer.remaining(), buffer.clock.begun) == (rest, "", True)
    buffer.push(" \n", 0)
    buffer.release_all()
    assert (buffer.ledger.released, buffer.remaining()) == (rest, " \n")


def test_a_code_fence_that_stands_is_known() -> None:
    buffer = new()
    buffer.push("```py\n", 0)
    assert buffer.shown(0) == "```py\n"
    buffer.push("if a * b", 0)
    assert buffer.ready(1) == "if a * "


# -- for any text --------------------------------------------------------------------------------------------

DELTA = texts(6).filter(bool)
PAUSE = PAUSES | st.floats(0, 3)
STEPS = st.lists(st.tuples(DELTA, PAUSE, st.booleans(), st.booleans()), max_size=12)


@examples(1_000)
@given(STEPS, st.integers(1, 40))
@example([("a ", 0.0, True, False), ("\u0301", 1.0, True, False)], 10)
@example([("\n~~", 0.0, False, False)], 3)  # a fence may begin there
def test_nothing_is_lost_or_doubled_whatever_comes(
    steps: list[tuple[str, float, bool, bool]], most: int
) -> None:
    buffer, now, pushed, shown = new(most=most), 0.0, "", ""
    sanitizer = StreamSanitizer()
    for delta, pause, answered, flushed in steps:
        buffer.push(delta, now)
        pushed += sanitizer.push(delta)
        if flushed:
            buffer.flush()
        now += pause
        due = buffer.deadline()
        text = buffer.ready(now, is_late=pause > 1)
        assert len(text) <= most
        assert not text or (due is not None and due <= now + EARLY)
        if due is None:  # only a line that waits for its end may wait so
            left, state = buffer.remaining(), MarkdownState().then(shown + text)
            assert not left[: sendable_part(left, state)].strip()
        if answered:
            buffer.acknowledge(now)
        shown += text
        assert shown + buffer.remaining() == pushed
    pushed += sanitizer.end()
    buffer.acknowledge(now)
    buffer.end(now)
    while text := buffer.shown(now):
        assert len(text) <= most
        shown += text
    assert shown + buffer.remaining() == pushed
    assert not buffer.remaining().strip()
    assert buffer.deadline() is None


@examples(2_000)
@given(DELTA.filter(lambda delta: StreamSanitizer().push(delta) == delta), st.floats(0, 5))
@example("\n`````````", 0.0)  # a fence whose line has not ended, known at once for the line end before it
def test_a_deadline_is_kept(delta: str, start: float) -> None:
    """At the deadline there is text, before it there is none, and only a line that waits for its end waits
    longer than two waits.
    """
    buffer, sendable = new(), delta[: sendable_part(delta, MarkdownState())]
    buffer.push(delta, start)
    due = buffer.deadline()
    if due is None:
        assert not sendable.strip()
        return
    if due > start:
        assert buffer.ready(due - 0.01) == ""
    if not buffer.is_ready(due):  # it was too early: no cut but the last resort
        due = buffer.deadline()
        if due is None:
            assert not sendable.strip()
            return
    text = buffer.ready(due)
    assert text.strip()
    assert due <= start + 1.4 + EARLY
    assert text == delta or not inside_cluster(delta, len(text)) or text.strip() in {"🇩"}


@examples(1_000)
@given(DELTA, DELTA, st.floats(0, 3), st.floats(0, 1))
def test_a_line_that_begins_later_is_not_due_before_the_next_deadline(
    first: str, delta: str, age: float, pause: float
) -> None:
    buffer = new()
    assert buffer.clock.next_due(0.0) is None, "the first text may be due at once"
    buffer.push(f"{first}a\n", 0.0)
    buffer.flush()
    assert buffer.shown(age)
    soon = buffer.clock.next_due(age)
    assert soon is not None
    assert soon > age
    assert buffer.clock.next_due(soon) is None
    buffer.push(delta.replace("\n", " ").replace("\r", " "), age + pause)
    due = buffer.deadline()
    assert due is None or due >= soon


def test_a_pause_of_slack_costs_little() -> None:
    """While a call is out, the text that waits is not read again for each token that joins it."""
    buffer = new()
    buffer.push("**" + "word " * 100, 0)
    reads = 0
    for _ in range(800):
        buffer.push("word ", 0)
        before = buffer._finder.looked
        buffer.deadline()
        reads += buffer._finder.looked != before
    assert reads < 80


@pytest.mark.parametrize("text", ["一个没有换行的很长的句子", "word and more ", "**一个没有换行的", "a [b "])
def test_a_long_line_is_not_read_again_for_each_token(text: str) -> None:
    """While Slack takes nothing, and the writer asks at every token, the work grows with the text alone."""

    def stalled(length: int) -> int:
        buffer, whole = new(), text * (length // len(text))

        def job() -> None:
            for at in range(0, len(whole), 5):
                buffer.push(whole[at : at + 5], 1.0 + at / 100)
                buffer.deadline()

        return work(job)

    assert stalled(10_000) <= 3 * stalled(5_000)


def test_a_long_text_is_cut_the_same_however_it_came() -> None:
    text = "Some words without an end and **more** of them, "
    pieces, whole = new(), new()
    for at in range(0, len(text) * 40, 7):
        pieces.push((text * 40)[at : at + 7], 0)
        pieces.deadline()
    whole.push(text * 40, 0)
    last = pieces.ready(5)
    assert whole.ready(5).startswith(last)
    assert len(last) > 1_500
    assert last.endswith(" ")


def test_what_is_shown_starts_the_reading_anew() -> None:
    buffer = new()
    buffer.push("word " * 100 + "**open", 0)
    assert buffer.shown(1) == "word " * 100
    buffer.push(" and closed** wo", 1)
    assert buffer.ready(2) == "**open and closed** "


# -- taken back ----------------------------------------------------------------------------------------------


def test_what_is_taken_back_leaves_no_trace() -> None:
    slack = Slack(new())
    slack.push(0, "Let me loo")
    slack.buffer.retract()
    slack.until(50)
    assert (slack.sent, slack.buffer.remaining(), slack.buffer.deadline()) == ([], "", None)
    slack.push(50, "Found **it")
    slack.until(50.3)
    assert slack.sent == []
    slack.push(50.3, "** there")
    slack.until(60)
    assert slack.sent[0] == (50.4, "Found **it** ")


@pytest.mark.parametrize("most", [4, 100])
def test_only_the_end_is_taken_back(most: int) -> None:
    buffer = new(most=most)
    buffer.push("one two ", 0.0)
    buffer.input.mark()
    buffer.push("three", 0.0)
    buffer.flush()
    buffer.retract()
    got = ""
    while text := buffer.shown(0.0):
        got += text
    assert got == "one two "


def test_a_secret_that_was_learned_meanwhile_stays_known_where_text_is_taken_back() -> None:
    buffer = new(secrets=HELD)
    buffer.push("one ", 0.0)
    buffer.input.mark()
    buffer.input.learn("a-new-token")
    buffer.push("two", 0.0)
    buffer.retract()
    buffer.push("a-new-", 0.0)
    buffer.push("token\n", 0.0)
    assert buffer.shown(0.0) == f"one {MASK}\n"


def test_text_that_is_under_way_cannot_be_taken_back() -> None:
    buffer = new()
    buffer.push("one\n", 0.0)
    buffer.input.mark()
    buffer.push("two", 0.0)
    assert buffer.ready(0.0) == "one\n"
    assert buffer.input.is_unsent
    buffer.retract()
    buffer.acknowledge(0.1)
    assert buffer.remaining() == ""


def test_what_nobody_has_seen_is_taken_back_to_the_last_mark() -> None:
    buffer = new()
    buffer.push("It stands.\n", 0.0)
    assert buffer.shown(0.0) == "It stands.\n"
    buffer.input.mark()
    assert buffer.input.is_unsent
    buffer.push("Let me look <", 0.0)
    assert buffer.input.is_unsent
    buffer.retract()
    assert buffer.deadline() is None
    buffer.push("Found it.", 5.0)
    buffer.end(5.0)
    assert buffer.ready(5.0) == "Found it."


@pytest.mark.parametrize("front", ["Calling <!chan", "The key xoxb-123456", "A secret e-mail-"])
def test_what_is_dangerous_on_both_sides_of_a_mark_is_found(front: str) -> None:
    buffer = new(secrets=HELD)
    buffer.push(front, 0.0)
    buffer.input.mark()
    buffer.push("nel> or key" if "<" in front else "key or 7890-abcdefghij", 0.0)
    buffer.retract()
    buffer.push("nel> hi" if "<" in front else "7890-abcdefghij ok" if "xoxb" in front else "key ok", 1.0)
    buffer.end(1.0)
    shown = buffer.remaining()
    assert not any(each in shown for each in ("<!channel>", "xoxb-1234567890", "e-mail-key"))
    assert shown.endswith((" hi", " ok"))


def test_what_is_under_way_has_been_seen() -> None:
    buffer = new()
    buffer.push("Let me look.\nThere", 0.0)
    assert buffer.ready(0.0) == "Let me look.\n"
    assert not buffer.input.is_unsent
    buffer.acknowledge(0.0)
    assert not buffer.input.is_unsent
    buffer.input.mark()
    assert buffer.input.is_unsent
    assert buffer.remaining() == "There"


# -- a flush -------------------------------------------------------------------------------------------------

HELD = ("e-mail-key",)  # of what begins so, the first letters are held back


def test_a_flush_shows_no_torn_word() -> None:
    buffer = new(secrets=HELD)
    buffer.push("tell me a jok", 0.0)
    buffer.push("e", 0.0)
    buffer.flush()
    assert buffer.shown(0.0) == "tell me a "
    assert buffer.ready(0.0) == ""
    buffer.end(0.1)
    assert buffer.ready(0.1) == "joke"


def test_without_a_held_letter_a_flush_shows_all_of_it() -> None:
    buffer = new(secrets=("<key>",))
    for text in ("tell me a jok", "e", " <"):
        buffer.push(text, 0.0)
    buffer.flush()
    assert buffer.ready(0.0) == "tell me a joke "


@pytest.mark.parametrize(
    ("text", "goes"),
    [("a jok", "a "), ("jok", ""), ("a joke.", "a joke."), ("笑" * 41, "笑" * 41), ("x\njok", "x\n")],
)
def test_a_flush_within_a_word_leaves_the_word(text: str, goes: str) -> None:
    buffer = new(secrets=HELD)
    buffer.push(f"{text}e", 0.0)
    buffer.flush()
    assert buffer.ready(0.0) == goes


def test_a_flush_leaves_the_rule_of_a_table_whose_end_is_held_back() -> None:
    """`--` may begin a private key."""
    buffer = new()
    buffer.push("| a | b |\n", 0.0)
    buffer.flush()
    assert buffer.shown(0.0) == "| a | b |\n"
    buffer.push("|:--|:", 0.1)
    buffer.push("--", 0.1)
    buffer.flush()
    assert buffer.shown(0.2) == ""
    buffer.end(0.2)
    assert buffer.shown(0.2) == "|:--|:--"


@pytest.mark.parametrize("pieces", [["one two thr"], ["one two ", "t", "h", "r"], ["x" * 20_000, " thr"]])
def test_the_word_that_waits_for_its_end_is_found_however_it_came(pieces: list[str]) -> None:
    buffer = new(secrets=HELD)
    for piece in (*pieces, "e"):
        buffer.push(piece, 0.0)
    buffer.flush()
    shown = ""
    while text := buffer.shown(9.0):
        shown += text
        if buffer.remaining() == "thr":
            break
    assert buffer.remaining().strip() == "thr"
    assert shown + buffer.remaining() == "".join(pieces)


def test_unproven_text_waits_a_moment_longer_also_at_a_line_end_and_can_be_taken_back() -> None:
    buffer = new(unproven=0.8)
    buffer.push("Let me look.\n", 0.0, unproven=True)
    assert (buffer.ready(0.4), buffer.deadline()) == ("", 0.8)
    buffer.retract()
    assert buffer.deadline() is None
    buffer.push("It is ", 1.0)
    assert buffer.shown(1.4) == "It is "
    buffer.push("here ", 1.5, unproven=True)
    buffer.push("and there.\n", 1.6)
    assert buffer.shown(1.6) == "here and there.\n"  # what was shown already cannot be taken back anyway


def test_unproven_text_is_shown_less_often_after_some_calls() -> None:
    slack = Slack(new(unproven=0.8))
    for second in range(20):
        slack.buffer.push(f"line {second}\n", float(second), unproven=True)
        slack.until(second + 0.99)
    assert [round(at, 1) for at, _ in slack.sent] == [0.8, 1.0, 2.0, 7.0, 12.0, 17.0]
    slack.buffer.push("proven\n", 20.0)
    slack.until(30.0)
    slack.buffer.push("live\n", 30.0)
    slack.until(30.1)
    assert slack.sent[-1] == (30.0, "live\n")


def test_unproven_text_is_shown_when_it_is_flushed() -> None:
    buffer = new(unproven=0.8)
    buffer.push("Let me look.", 0.0, unproven=True)
    buffer.flush()
    assert buffer.shown(0.1) == "Let me look."


class Eager(Buffer):
    """Sanitizes each text as it comes."""

    def _may_stay_raw(self, text: str) -> bool:
        del text
        return False


PIECES = (
    "word ",
    "word",
    " ",
    "\n",
    "**",
    "`",
    "x",
    "xox",
    "b-0123456789",
    "s3cret",
    "<",
    "@U1",
    "a | b\n",
    "一",
)


def do(buffer: Buffer, what: str, now: float) -> object:
    """One step of a run, and what came of it."""
    match what:
        case "serve":
            return buffer.shown(now)
        case "flush":
            buffer.flush()
        case "mark":
            buffer.input.mark()
        case "retract" if is_unsent := buffer.input.is_unsent:
            buffer.retract()
            return is_unsent
        case piece:
            buffer.push(piece, now)
    return None


@pytest.mark.parametrize("seed", range(20))
def test_what_is_sanitized_later_is_ready_at_the_same_times(seed: int) -> None:
    random, now = Random(seed), 0.0
    lazy, eager = (kind(0.4, 1.0, 600 + 50 * seed, ("s3cret-s3cret",)) for kind in (Buffer, Eager))
    for _ in range(300):
        now += random.choice((0.0, 0.02, 0.05, 0.3))
        what = random.choice(
            PIECES if random.random() < 0.85 else ("serve", "serve", "flush", "mark", "retract")
        )
        assert do(lazy, what, now) == do(eager, what, now)
        assert lazy.deadline() == eager.deadline()
    lazy.end(now)
    eager.end(now)
    assert lazy.remaining() == eager.remaining()
