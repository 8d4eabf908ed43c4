"""What is shown while a suite runs."""

from __future__ import annotations

import io

from slack_bot.tools.conform.tally import Tally
from tests.tools.conform.measured import examined


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def tallied(out: io.StringIO | None, verbose: bool = False) -> str:
    tally, case = Tally(verbose, out), examined("one", (True, False), (True, None))
    tally.begin(2)
    for _ in case.runs:
        tally.asking(case.case)
    tally.examined(case)
    return out.getvalue() if out else ""


def test_a_line_a_case_where_there_is_no_terminal() -> None:
    assert tallied(io.StringIO()) == "[2/2] FAIL one 1.0s\n"


def test_a_bar_on_a_terminal_that_is_gone_in_the_end() -> None:
    said = tallied(Terminal())
    assert "[........................] 0/2 one: why | how?" in said
    assert "[############............] 1/2 one: why | how?" in said
    assert said.endswith(" \r")
    assert "FAIL" not in said


def test_where_it_was_when_it_was_stopped() -> None:
    out, case = Terminal(), examined("one", (True,))
    tally = Tally(out=out)
    tally.begin(3)
    tally.asking(case.case)
    assert tally.stopped() == "it was at 1 of 3"
    assert out.getvalue().endswith(" \r")


def test_every_check_where_it_is_asked_for() -> None:
    said = tallied(io.StringIO(), verbose=True)
    assert "    pass live_streamed: detail 0 [2/2 (100%)]\n" in said
    assert "    FAIL no_tools: detail 0\n" in said
    assert "[2/2] FAIL one 1.0s\n" in tallied(Terminal(), verbose=True)


def test_nothing_at_all_without_a_place_for_it() -> None:
    assert tallied(None) == ""
