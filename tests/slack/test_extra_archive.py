from __future__ import annotations

import io
import zipfile

from slack_bot.slack.extra_archive import pack
from slack_bot.turn.extras import Chart, ChartKind, DataTable, LinkedFile, OutFile, Series

TABLE = DataTable(("a",), (("=1+1",), (2,)), "T/1")
CHART = Chart(ChartKind.BAR, ("Mon",), (Series("web", (3,)),), "Visits")
FILE = OutFile("a.bin", "", b"x" * 100)
LINK = LinkedFile("https://files.example/a.pdf", "a.pdf")


def inside(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_everything_is_in_it_and_a_line_tells_what() -> None:
    rest = pack([(TABLE, 0), (TABLE, 1), (CHART, 0), (FILE, 0), (LINK, 0)], 1_000)
    assert inside(rest.content) == {
        "0001 1.csv": b"a\r\n'=1+1\r\n2\r\n",
        "0002 1.csv": b"a\r\n'=1+1\r\n2\r\n",
        "0003 Visits.csv": b",web\r\nMon,3\r\n",
        "0004 a.bin": b"x" * 100,
        "links.txt": b"a.pdf https://files.example/a.pdf",
    }
    says = "The rest of this answer, 2 tables, 1 chart, 1 file and 1 link, is in more.zip."
    assert rest.line() == says


def test_it_has_the_same_key_in_every_process_and_another_for_other_things() -> None:
    assert pack([(TABLE, 0)], 1_000) == pack([(TABLE, 0)], 1_000)
    assert pack([(TABLE, 1)], 1_000).key != pack([(TABLE, 0)], 1_000).key


def test_what_makes_it_too_large_is_named() -> None:
    rest = pack([(FILE, number) for number in range(14)] + [(TABLE, 0)], 150)
    assert list(inside(rest.content)) == ["0001 a.bin", "0015 1.csv"]
    names = ", ".join(["a.bin"] * 10)
    assert rest.line() == (
        f"The rest of this answer, 1 table and 1 file, is in more.zip. Too large for it: {names} and 3 more."
    )
    nothing = pack([(FILE, 0)], 1)
    assert (nothing.content, nothing.line()) == (b"", "Too large for it: a.bin.")


def test_without_it_the_line_tells_what_stands_as_text_and_what_is_not_shown() -> None:
    rest = pack([(TABLE, 0), (CHART, 0), (FILE, 0)], 1_000)
    says = "Slack did not take more.zip (x). Its 1 table and 1 chart stand above as text. Not shown: 1 file."
    assert rest.line("x") == says
    assert rest.tables == "1\na\r\n'=1+1\r\n2\r\n\nVisits\n,web\r\nMon,3\r\n"
