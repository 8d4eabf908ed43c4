"""A form is answered once; what was stored of it then stays."""

from __future__ import annotations

from dataclasses import replace

from tests.store.contract import message, opened


def test_the_first_who_takes_it_has_it() -> None:
    form = opened("h1")
    first = form.taken("key-1", "U1", 5.0)
    assert form.is_open
    assert (first.is_open, first.taken_by, first.ended_by, first.ended_at) == (False, "key-1", "U1", 5.0)
    assert first.taken("key-2", "U2", 6.0) is first


def test_it_is_replaced_while_it_is_open() -> None:
    form = opened("h1")
    shown = replace(form, message=message("5.1", "Which?"))
    assert form.put(shown) is shown
    taken = form.taken("key-1", "U1", 5.0)
    assert taken.put(shown) is taken
