"""The table in the terminal."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from slack_bot.tools.trace.figures import Summary
from slack_bot.tools.trace.table import MOST_ROWS, Table, figures, figures_of, page
from slack_bot.tools.trace.timeline import Decision, Row
from tests.tools.trace.test_figures import two_turns
from tests.tools.trace.turns import called, closed, drawn, event, opened, usual

LATE = Decision("AnswerText", "after the end", (), "closed", late=True)


def answer(t: float, text: str = "word", chars: int = 4) -> Row:
    done = Decision("AnswerText", "is_final_answer", (("AppendText", "answer grows"),), "answering")
    return Row(t, "agent", "answer", "streaming_result", text, chars, (done,))


def call(t: float) -> Row:
    return Row(t, "slack", "chat.appendStream", "chat.appendStream", "words", 5)


def printed(*rows: Row, width: int = 160, everything: bool = False) -> list[str]:
    table = Table(width, everything=everything)
    lines = [line for row in rows for line in table.add(row)]
    return [*lines, *table.end()]


def test_time_event_decision_and_call() -> None:
    lines = printed(*drawn().rows)
    assert lines[0].split(maxsplit=1) == ["1.000", lines[0].split(maxsplit=1)[1]]
    assert "streaming_result +12 Let me s" in lines[0] and "ShowStatus: narration" in lines[0]
    assert any("FAILED appendStream: ratelimited" in line for line in lines)
    assert any("dropped, it came too late" in line for line in lines)
    assert any("(StreamEnded)" in line and "EndTurn: closed" in line for line in lines)


def test_of_many_alike_the_first_two_and_the_last_are_printed() -> None:
    lines = printed(*(answer(n / 100) for n in range(50)))
    assert len(lines) == 4
    assert lines[2].strip() == "... 47 more events like this, 188 characters"
    assert lines[3].split()[0] == "0.490"


def test_calls_between_do_not_break_the_row_of_events() -> None:
    rows = [row for n in range(50) for row in (answer(n / 100), call(n / 100 + 0.001))]
    lines = printed(*rows)
    assert len(lines) == 8
    assert sum("more calls like this" in line for line in lines) == 1
    assert [line.split()[0] for line in lines[-2:]] == ["0.490", "0.491"]


@pytest.mark.parametrize("width", [40, 60, 99, 100, 160])
def test_no_line_is_longer_than_the_terminal_is_wide(width: int) -> None:
    rows = [row for n in range(50) for row in (answer(n / 100), call(n / 100 + 0.001))]
    lines = [*Table(width).head(), *printed(*drawn().rows, *rows, width=width)]
    assert max(map(len, lines)) <= width
    assert any("append" in line for line in lines) and any("stream" in line for line in lines)


def test_three_alike_are_three() -> None:
    assert len(printed(answer(0.1), answer(0.2), answer(0.3))) == 3


def test_everything_leaves_nothing_out() -> None:
    assert len(printed(*(answer(n / 100) for n in range(50)), everything=True)) == 50


def test_a_silence_is_said() -> None:
    lines = printed(answer(0.1), answer(17.9))
    assert lines[1].strip() == "... 17.8 s of silence ..."


def test_several_decisions_are_several_lines_and_ids_are_not_worth_one() -> None:
    known = Decision("TaskKnown", "named", (("Remember", "named"),), "waiting")
    row = Row(
        0.0, "agent", "result", "final_result", "", 0, (known, LATE, Decision("Narrated", "noise", (), "x"))
    )
    lines = printed(row)
    assert len(lines) == 2
    assert lines[1].strip() == "Narrated: noise"


def test_what_agents_write_moves_no_cursor_and_keeps_the_columns() -> None:
    lines = printed(answer(0.0, "\x1b[2J日本語e\u0301日本語日本語\u202e evil" * 3, 99), width=100)
    assert "\x1b" not in lines[0] and "\u202e" not in lines[0]
    before = lines[0].partition("AppendText")[0].replace("\u0301", "")
    wide = sum(2 if "\u3000" < letter < "\uffff" else 1 for letter in before)
    assert wide == 9 + 34 + 1


def test_the_head_names_the_columns() -> None:
    head, rule = Table(120).head()
    assert head.split("  ")[0].strip() or "time" in head
    assert set(rule) == {"-"}


def test_the_figures() -> None:
    told = figures(drawn().summary)
    assert "first answer event  4.00 s\n" in told
    assert "80% of the text was shown within 0.5 s" in told
    assert "3: assistant.threads.setStatus 1, chat.appendStream 1, chat.startStream 1; 1 failed" in told
    nothing = Summary("failed", "no agent", *[None] * 5, 0.0, 0.0, None, None, 0.0, 0, {}, 0, {}, 0)
    assert "failed (no agent)" in figures(nothing)
    assert "Slack calls  0: none" in figures(nothing)


def look(t: float) -> Row:
    return Row(t, "decision", "look", "task working", asked=True)


def test_the_bots_own_looks_are_counted_only_and_end_no_silence() -> None:
    lines = printed(answer(0.1), *(look(float(t)) for t in range(1, 40)), answer(40.0))
    assert [line.strip() for line in lines[1:3]] == [
        "1.000 ... the task was asked for 39 times until 39.000 s, task working: nothing new",
        "... 39.9 s of silence ...",
    ]
    assert "(asked: task working)" in printed(look(1.0))[0]
    assert len(printed(*(look(float(t)) for t in range(40)), everything=True)) == 40


def test_what_was_kept_back_is_told_before_the_call_that_came_after_it() -> None:
    lines = printed(*(answer(n / 100) for n in range(10)), call(0.2), answer(0.3))
    assert [line.split()[0] for line in lines] == ["0.000", "0.010", "...", "0.090", "0.200", "0.300"]


def test_of_the_same_instant_the_event_stands_before_its_call() -> None:
    rows = [row for n in range(9) for row in (answer(n / 10), call(n / 10))]
    last = printed(*rows)[-2:]
    assert "streaming_result" in last[0] and "appendStream" in last[1]


def test_a_further_question_is_a_line() -> None:
    assert printed(answer(0.1), Row(0.2, "decision", "asking", "U1", "And then?"))[-1].strip() == (
        "0.200 U1: And then?"
    )


def test_each_question_has_its_own_figures() -> None:
    assert figures_of(drawn()) == figures(drawn().summary)
    told = figures_of(two_turns())
    assert [line for line in told.split("\n") if ": " in line and line[0] == "U"] == ["U1: one", "U1: two"]
    assert told.count("burst share") == 2


def test_where_nothing_was_shown_no_share_is_named() -> None:
    nothing = Summary("failed", "no agent", *[None] * 5, 0.0, 0.0, None, None, 0.0, 0, {}, 0, {}, 0)
    assert "burst share  no text was shown\n" in figures(nothing)
    assert "the agent wrote" not in figures(nothing)


def test_what_a_stop_left_unshown_is_no_lateness() -> None:
    stopped = Decision("FinalAnswer", "best of what came", (), "stopping", late=True)
    [line] = printed(Row(0.3, "decision", "bot", "FinalAnswer", decisions=(stopped,)))
    assert "FinalAnswer: not shown, the human had stopped it" in line


# -- the page: one file, nothing loaded, and nothing that an agent wrote is markup ------------------------


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "onload", "onerror")]


def tags(html: str) -> Tags:
    found = Tags()
    found.feed(html)
    return found


def test_a_picture_and_every_row() -> None:
    found = tags(page([drawn(), drawn("another")]))
    assert (found.seen.count("svg"), found.seen.count("table"), found.seen.count("script")) == (1, 2, 1)
    assert found.seen.count("tr") == 2 * (len(drawn().rows) + 1)
    assert found.links == []


def test_what_an_agent_writes_is_text() -> None:
    evil = "</title></svg><script>alert(1)</script><img src=x onerror=alert(1)>\ud800"
    facts = [opened(evil), event(1.0, evil, evil), called(2.0, evil, evil, error=evil), closed(3.0)]
    found = tags(page([drawn(evil, facts)]))
    assert found.seen.count("script") == 1
    assert "img" not in found.seen
    assert found.links == []
    assert page([drawn(evil, facts)]).encode()


def test_a_very_long_trace_says_what_it_leaves_out() -> None:
    many = [opened(), *(event(n / 1000, "x") for n in range(MOST_ROWS + 10)), *usual()[-1:]]
    html = page([drawn("many", many)])
    assert "10 further rows are left out here" in html
    assert tags(html).seen.count("tr") == MOST_ROWS + 1
