"""Outcomes of calls, and when a call is repeated."""

from __future__ import annotations

from itertools import islice

import pytest

from slack_bot.slack.faults import NO_ANSWER, NOT_REFUSED, CallFailed, CallOk, Fault
from slack_bot.slack.orders import CallSlack, Sleep, Step, backoff, call_until_known

OK = CallOk({"ts": "1.2"})
SILENT, LATER = CallFailed(Fault.UNKNOWN, "timeout"), CallFailed(Fault.LATER, "ratelimited")
REFUSED = CallFailed(Fault.WRONG_CALL, "invalid_blocks")
Outcomes = list[CallOk | CallFailed]


def repeated(
    *outcomes: CallOk | CallFailed,
    found: tuple[CallOk | None, ...] = (),
    repeat_on: frozenset[Fault] = NO_ANSWER,
) -> tuple[CallOk | CallFailed, list[float]]:
    """The outcome of calls that end so, where looks find `found`; and when each call was made."""
    now, made, looks, results = 0.0, list[float](), iter(found), iter(outcomes)

    def call() -> Step[CallOk | CallFailed]:
        return iter(CallSlack("chat.postMessage", {}))

    def verify() -> Step[CallOk | None]:
        yield from ()
        return next(looks)

    step = call_until_known(call, verify if found else None, repeat_on=repeat_on)
    try:
        order = next(step)
        while True:
            match order:
                case CallSlack():
                    made.append(now)
                    order = step.send(next(results))
                case Sleep(seconds):
                    now += seconds
                    order = next(step)
    except StopIteration as end:
        return end.value, made


def test_a_known_outcome_is_final() -> None:
    for outcome in (OK, REFUSED, LATER):
        assert repeated(outcome) == (outcome, [0.0])


def test_a_call_without_an_answer_is_repeated_four_times_at_most() -> None:
    assert repeated(SILENT, SILENT, OK) == (OK, [0.0, 1.0, 4.0])
    assert repeated(*[SILENT] * 4) == (SILENT, [0.0, 1.0, 4.0, 13.0])


def test_a_repetition_that_is_refused_leaves_the_first_attempt_in_doubt() -> None:
    result, _ = repeated(SILENT, REFUSED)
    assert result == CallFailed(Fault.WRONG_CALL, "invalid_blocks", in_doubt=True)


def test_what_was_applied_is_not_repeated() -> None:
    assert repeated(SILENT, found=(OK,)) == (OK, [0.0])
    assert repeated(SILENT, SILENT, found=(None, OK)) == (OK, [0.0, 1.0])
    assert repeated(SILENT, OK, found=(None,)) == (OK, [0.0, 1.0])


def test_the_last_attempt_is_looked_for_too() -> None:
    silent = [SILENT] * 4
    assert repeated(*silent, found=(None, None, None, OK)) == (OK, [0.0, 1.0, 4.0, 13.0])
    assert repeated(*silent, found=(None, None, None, None)) == (SILENT, [0.0, 1.0, 4.0, 13.0])


def test_what_only_reads_is_repeated_after_a_limit_too() -> None:
    assert repeated(LATER, SILENT, OK, repeat_on=NOT_REFUSED) == (OK, [0.0, 1.0, 4.0])
    assert repeated(REFUSED, repeat_on=NOT_REFUSED) == (REFUSED, [0.0])


@pytest.mark.parametrize("fault", Fault)
def test_only_a_refusal_is_final(fault: Fault) -> None:
    assert CallFailed(fault, "x").is_final == (fault not in (Fault.LATER, Fault.UNKNOWN))


def test_pauses_grow_and_add_up() -> None:
    assert list(backoff(2.0, 60.0, 180.0)) == [2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 58.0]
    assert list(backoff(2.0, 60.0, 1.0)) == [1.0]
    assert list(backoff(2.0, 60.0, 0.0)) == []
    assert list(islice(backoff(0.5, 15.0), 7)) == [0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 15.0]
