"""Which events brought a text that was put together in the end."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from slack_bot.tools.replay.sources import Cause, Sources

BOT = Cause(9.0, None, "FinalAnswer", "the missing rest")


def heard(*texts: str) -> Sources:
    found = Sources()
    for number, text in enumerate(texts, 1):
        found.hear(text, Cause(float(number), number, "event", ""))
    return found


def told(sources: Sources, text: str) -> list[tuple[str, int | None]]:
    return [(piece, cause.number) for piece, cause in sources.of(text, BOT)]


def test_one_event_said_all_of_it() -> None:
    sources = heard("The answer. P.S. done.", "The answer. P.S. done.", "bye")
    assert told(sources, "\n\nP.S. done.") == [("\n\nP.S. done.", 2)]
    [(_, cause)] = sources.of("P.S. done.", BOT)
    assert (cause.at, cause.reason) == (2.0, "the missing rest")


def test_it_came_in_pieces() -> None:
    assert told(heard("So ", "it ", "is."), "\nit is.") == [("\nit ", 2), ("is.", 3)]


def test_two_events_put_together() -> None:
    sources = heard("noise", "Sources: here and there", "The answer itself.")
    assert told(sources, "The answer itself.\n\nSources: here and there") == [
        ("The answer itself.", 3),
        ("\n\n", 3),
        ("Sources: here and there", 2),
    ]


def test_what_nobody_said_is_the_bots() -> None:
    assert told(heard("something else"), "my own") == [("my own", None)]
    assert told(heard(), "") == [("", None)]
    assert told(heard("The answer itself."), "Well. The answer itself.") == [
        ("Well. ", None),
        ("The answer itself.", 1),
    ]


@given(st.lists(st.text("ab \n", max_size=15), max_size=8), st.text("ab \n", max_size=40))
@settings(max_examples=60, deadline=None)
def test_nothing_is_lost(texts: list[str], text: str) -> None:
    assert "".join(piece for piece, _ in heard(*texts).of(text, BOT)) == text
