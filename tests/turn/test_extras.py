"""Extras have a name that is the same in every process."""

from __future__ import annotations

from slack_bot.turn.extras import Chart, ChartKind, DataTable, OutFile, Series, images_in, key_of


def test_the_key_is_that_of_the_content() -> None:
    table = DataTable(("a",), ((1,),))
    assert key_of(table) == key_of(DataTable(("a",), ((1,),))) == "4da08c912c1f44df16596cee"
    assert key_of(table) != key_of(DataTable(("a",), ((2,),)))
    assert key_of(OutFile("a", "", b"1")) != key_of(OutFile("a", "", b"2"))
    assert key_of(OutFile("a", "", b"1")) != key_of(OutFile("b", "", b"1"))
    assert len(key_of(OutFile("\ud800", "", b""))) == 24


def test_a_chart_as_a_table() -> None:
    chart = Chart(ChartKind.BAR, ("a", "b"), (Series("x", (1, 2)), Series("y", (3, 4))), "T", "day")
    assert chart.as_table() == DataTable(("day", "x", "y"), (("a", 1, 3), ("b", 2, 4)), "T")


def test_the_pictures_of_a_text() -> None:
    text = "![a](https://x.example/a.png) ![](https://x.example/b.png) ![a](https://x.example/a.png)"
    assert [each.url for each in images_in(text)] == ["https://x.example/a.png", "https://x.example/b.png"]
    assert images_in("[a](https://x.example) ![b](http://x.example) ![c](javascript:x) ![d](https://)") == ()
    assert len(images_in("".join(f"![n](https://x.example/{n})" for n in range(30)))) == 10


def test_a_picture_that_is_shown_as_code_is_none() -> None:
    picture = "![a](https://x.example/a.png)"
    for code in (f"~~~\n{picture}\n~~~", f"```md\n{picture}\n```", f"Write `{picture}` there."):
        assert images_in(code) == ()
        assert len(images_in(f"{code}\n{picture}")) == 1
