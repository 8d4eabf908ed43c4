"""What follows a failed write, walked over the whole table."""

import itertools

import pytest

from slack_bot.slack.fault_policy import AFTER_WRITE, ENDS, Remedy, after_write
from slack_bot.slack.faults import Fault


def test_every_class_of_fault_has_a_step() -> None:
    assert set(AFTER_WRITE) == set(Fault)


@pytest.mark.parametrize(
    ("fault", "step"),
    [
        (Fault.LATER, Remedy.DOWN),
        (Fault.WRONG_CALL, Remedy.PLAIN),
        (Fault.UNKNOWN, Remedy.SETTLE),
        (Fault.SEALED, Remedy.NEXT),
        (Fault.FULL, Remedy.NEXT),
        (Fault.STILL_OPEN, Remedy.SETTLE),
        (Fault.STOPPED, Remedy.STOPPED),
        (Fault.NOT_HERE, Remedy.REMEMBER),
        (Fault.NOT_THIS_ONE, Remedy.DOWN),
        (Fault.NO_WRITING, Remedy.TELL),
        (Fault.GONE, Remedy.LEAVE),
        (Fault.DEAD, Remedy.DEAD),
    ],
)
def test_the_contract(fault: Fault, step: Remedy) -> None:
    assert after_write(fault, opens=False, is_plain=False) is step


def test_no_form_is_tried_for_ever_and_no_message_is_opened_in_vain() -> None:
    for fault, opens in itertools.product(Fault, (False, True)):
        assert after_write(fault, opens=opens, is_plain=True) is not Remedy.PLAIN
        assert after_write(fault, opens=True, is_plain=opens) is not Remedy.NEXT
    assert after_write(Fault.SEALED, opens=True, is_plain=False) is Remedy.DOWN


def test_only_where_nothing_may_be_written_any_more_does_a_turn_end() -> None:
    ends = {fault for fault in Fault if after_write(fault, opens=True, is_plain=True) in ENDS}
    assert ends == {Fault.STOPPED, Fault.NO_WRITING, Fault.GONE, Fault.DEAD}


@pytest.mark.parametrize("fault", list(Fault))
def test_what_may_have_been_applied_before_is_looked_at_unless_the_turn_ends(fault: Fault) -> None:
    step = after_write(fault, opens=False, is_plain=True, in_doubt=True)
    assert step is Remedy.SETTLE or (step in ENDS and step is AFTER_WRITE[fault])
