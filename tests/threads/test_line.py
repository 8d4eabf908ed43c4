"""What a thread does in which state, read aloud; and what holds however commands follow each other.

A state is built by the commands that lead to it, a row of a table says what is ordered there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.text import words
from slack_bot.threads.commands import (
    AbandonRunning,
    Ask,
    Begin,
    BreakOff,
    CheckMessages,
    Claim,
    ClaimResult,
    Close,
    Command,
    Drop,
    Edit,
    EditElsewhere,
    End,
    EndStored,
    HumanAwaited,
    Interrupt,
    Interrupted,
    LeaseLoss,
    LetGo,
    Mark,
    MergeFailure,
    News,
    Notify,
    Offer,
    Order,
    PassedOn,
    PassOn,
    PushHint,
    PushOffer,
    ReadTask,
    ReportTakeover,
    Respond,
    Reword,
    Save,
    Say,
    StepAside,
    Stop,
    StopAnothers,
    StopFollowing,
    StopForms,
    StopRunning,
    StopTurn,
    StopWatch,
    TakeOver,
    Timer,
    TurnResult,
    Unmark,
    Unwatch,
    Watch,
    WatchFailure,
)
from slack_bot.threads.line import Rules, ThreadLine
from slack_bot.turn.buttons import TurnButton
from slack_bot.turn.progress import Stage, TurnRecord
from slack_bot.turn.record import Outcome

from .thread_world import DONE, LEFT_OVER, ThreadWorld, asked, begun

DELAY = 2.0
ONE_BY_ONE = Rules(collects=False, merges=False)


def stopped(turn: TurnRecord, user: str = "U1") -> TurnRecord:
    return replace(turn, stopped_by=user)


def said(turn: TurnRecord, text: str) -> TurnRecord:
    return replace(turn, question=replace(turn.question, text=text))


MINE, OTHERS, NEXT = asked(1, "U1"), asked(2, "U2"), asked(9, "U1")
LEFT = begun(asked(0.6, "U3"), task_id="t")
WATCHED = begun(MINE, Stage.WATCHED, push_id="p", watched_at=3.0)
BEGIN_AGAIN = (
    Mark(MINE.question, is_shown=True), Unmark(MINE.key), Begin(begun(MINE), (begun(MINE),)),
)  # fmt: skip
EMPTY = asked(1, text="")
STOP = asked(8, "U1", "stop")


# -- states, built by what happened


def tell(line: ThreadLine, *commands: Command, now: float = 0.0) -> list[Order]:
    """What is ordered at the last of them."""
    orders: list[Order] = []
    for command in commands:
        orders = line.handle(command, now)
    return orders


def new(turn: TurnRecord) -> tuple[Command, Command]:
    """It is asked, and the thread is this process's."""
    return Ask(turn), ClaimResult(turn.key, turn)


def over(turn: TurnRecord, outcome: Outcome = Outcome.ANSWERED, at: float = 10.0) -> TurnResult:
    return TurnResult(begun(turn, Stage.ENDED, ended_at=at, outcome=outcome), outcome)


def line_with(*commands: Command, rules: Rules = ONE_BY_ONE) -> ThreadLine:
    line = ThreadLine(rules)
    tell(line, *commands)
    return line


STATES: dict[str, tuple[Command, ...]] = {
    "nothing": (),
    "claiming": (Ask(MINE),),
    "held": new(MINE),  # by the rules of `in_state`
    "running": new(MINE),
    "another's runs": new(OTHERS),
    "waiting": (*new(OTHERS), *new(MINE)),
    "watched": (*new(MINE), TurnResult(WATCHED, Outcome.WATCHED)),
    "ending": new(EMPTY),
    "closing": (*new(MINE), Close(is_durable=True)),
    "lost": (*new(MINE), LeaseLoss()),
}


def in_state(state: str) -> ThreadLine:
    rules = replace(ONE_BY_ONE, collects=True, collect_delay=DELAY) if state == "held" else ONE_BY_ONE
    return line_with(*STATES[state], rules=rules)


NOBODYS = ("nothing", "claiming", "ending")
LOST = "lost"  # something runs, but takes no command
OWN = ("running", "closing")
IDLE, BUSY = (*NOBODYS, "watched"), (*OWN, "another's runs", "waiting")


def each(states: Iterable[str], *orders: Order) -> dict[str, tuple[Order, ...]]:
    return dict.fromkeys(states, orders)


BUTTON = Stop("U1")
NAMED = Stop("U1", frozenset({"5.0"}))
LATE = replace(NAMED, is_about_others=True)
REWORDED, DELETED = Edit(MINE.key, "else?"), Edit(MINE.key, None)
STOP_MINE, STOP_SENT = StopTurn(MINE, "U1"), StopTurn(begun(MINE), "U1")
OVER = begun(asked(0.8), Stage.ENDED)
STOP_WATCHED, STOP_WATCH = StopTurn(WATCHED, "U1"), StopWatch(WATCHED, "U1")
STOP_FOREIGN = StopWatch(WATCHED, "U2")
DROP, DROP_FOREIGN = Drop(MINE, "U1"), Drop(MINE, "U9")

ASK_AGAIN = Offer(MINE.question, "U1", words.QUESTION_REWORDED, {TurnButton.RETRY: words.ASK_AGAIN})


def offer_to_drop(last: TurnRecord) -> Offer:
    labels = {TurnButton.DROP: words.DROP_WAITING.format(1)}
    return Offer(last.question, "U1", words.STOPPED_WAITING_KEPT, labels)


NOT_NEEDED = (LetGo(ends=False),)
DROPPED = (Unmark(MINE.key), End(MINE, Outcome.STOPPED))
TAKEN_OVER = (ReportTakeover(LEFT), Mark(LEFT.question, is_shown=True))
WATCH_STOPPED = (Unwatch(MINE.key), Save(stopped(WATCHED)), Begin(stopped(WATCHED), (stopped(WATCHED),)))

TABLE: list[tuple[Command, Mapping[str, tuple[Order, ...]]]] = [
    (
        Ask(NEXT),
        {
            **each(IDLE, Claim(NEXT, with_left=True)),
            **each(("held", LOST, *BUSY), Claim(NEXT, with_left=False)),
            "closing": (),
        },
    ),
    (  # it is known, unless nothing or only the turn of another is here
        Ask(MINE),
        {
            **each(STATES),
            "nothing": (Claim(MINE, with_left=True),),
            "another's runs": (Claim(MINE, with_left=False),),
        },
    ),
    (
        ClaimResult(NEXT.key, NEXT),
        {
            **each(IDLE, Begin(NEXT, (NEXT,))),
            "held": (),
            **each(("running", "another's runs", LOST), Mark(NEXT.question)),
            "waiting": (Mark(NEXT.question), Say(NEXT.question, words.PLACE_IN_LINE.format(2))),
            "closing": (),
        },
    ),
    (ClaimResult(NEXT.key, None), {**each(STATES), "nothing": NOT_NEEDED}),
    (
        TakeOver(LEFT),
        {
            **each(IDLE, *TAKEN_OVER, Unmark(LEFT.key), Begin(LEFT, (LEFT,))),
            "held": (*TAKEN_OVER, Unmark(LEFT.key), Begin(LEFT, (LEFT,)), Mark(MINE.question)),
            **each((LOST, *BUSY), *TAKEN_OVER),
            "closing": (),
        },
    ),
    (
        REWORDED,
        {
            **each((LOST, *IDLE), EditElsewhere(REWORDED)),
            "ending": (Respond(REWORDED, True),),
            "claiming": (),
            **each(("held", "waiting"), Save(said(MINE, "else?")), Respond(REWORDED, True)),
            **each(OWN, Reword("else?"), ASK_AGAIN, Respond(REWORDED, False)),
            "another's runs": (EditElsewhere(REWORDED),),
        },
    ),
    (
        DELETED,
        {
            **each((LOST, *IDLE), EditElsewhere(DELETED)),
            "ending": (Respond(DELETED, True),),
            "claiming": (),
            "held": (End(MINE, Outcome.STOPPED), Respond(DELETED, True)),
            "waiting": (*DROPPED, Respond(DELETED, True)),
            **each((*OWN, "another's runs"), Respond(DELETED, False)),
        },
    ),
    (  # Slack's button: what runs, whoever pressed
        BUTTON,
        {
            **each((*NOBODYS, "held", LOST), PassOn(BUTTON)),
            **each(BUSY, StopRunning("U1"), Respond(BUTTON, True)),
            "waiting": (StopRunning("U1"), offer_to_drop(MINE), Respond(BUTTON, True)),
            "watched": (*WATCH_STOPPED, Respond(BUTTON, True)),
        },
    ),
    (  # it names messages
        NAMED,
        {
            **each((*NOBODYS, "held", LOST), PassOn(NAMED)),
            **each(BUSY, CheckMessages(NAMED)),
            "watched": (*WATCH_STOPPED, Respond(NAMED, True)),
        },
    ),
    (  # they are those of other turns
        LATE,
        {
            **each((*NOBODYS, "held", LOST), PassOn(LATE)),
            **each(BUSY, StopForms(LATE)),
            "watched": (*WATCH_STOPPED, Respond(LATE, True)),
        },
    ),
    (PassedOn(BUTTON, is_passed=True), each(STATES, Respond(BUTTON, True))),
    (PassedOn(BUTTON, is_passed=False), each(STATES, StopForms(BUTTON))),
    (PassedOn(STOP_SENT, is_passed=True), each(STATES, Respond(STOP_SENT, None))),
    (PassedOn(STOP_SENT, is_passed=False), each(STATES, Respond(STOP_SENT, None))),
    (PassedOn(STOP_WATCH, is_passed=True), each(STATES, Respond(STOP_WATCH, None))),
    (PassedOn(STOP_WATCH, is_passed=False), each(STATES, Respond(STOP_WATCH, words.ALREADY_OVER))),
    (PassedOn(DROP, is_passed=True), each(STATES, Respond(DROP, None))),
    (PassedOn(DROP, is_passed=False), each(STATES, Respond(DROP, words.NONE_WAIT))),
    (PassedOn(PushHint("p"), is_passed=True), each(STATES)),
    (PassedOn(PushHint("p"), is_passed=False), each(STATES)),
    (  # the word: what is theirs
        ClaimResult(STOP.key, STOP),
        {
            **each(NOBODYS, Begin(STOP, (STOP,))),
            "held": (End(MINE, Outcome.STOPPED), End(STOP, Outcome.STOPPED, words.DROPPED_WAITING.format(1))),
            **each(OWN, StopRunning("U1"), End(STOP, Outcome.STOPPED)),
            "another's runs": (StopAnothers(STOP),),
            LOST: (Mark(STOP.question),),
            "waiting": (*DROPPED, End(STOP, Outcome.STOPPED, words.DROPPED_WAITING.format(1))),
            "watched": (*WATCH_STOPPED, End(STOP, Outcome.STOPPED)),
            "closing": (),
        },
    ),
    (  # it had not begun when it was looked for
        STOP_MINE,
        {
            **each((LOST, *IDLE), EditElsewhere(DELETED), PassOn(STOP_MINE)),
            "ending": (Respond(STOP_MINE, None),),
            "claiming": (Respond(STOP_MINE, None),),
            **each(OWN, StopRunning("U1"), Respond(STOP_MINE, None)),
            "another's runs": (Respond(STOP_MINE, None),),
            "held": (End(MINE, Outcome.STOPPED), Respond(STOP_MINE, None)),
            "waiting": (*DROPPED, Respond(STOP_MINE, None)),
            "watched": (*WATCH_STOPPED, Respond(STOP_MINE, None)),
        },
    ),
    (  # it had begun: only that one ends
        STOP_SENT,
        {
            **each((LOST, *NOBODYS), PassOn(STOP_SENT)),
            "watched": (*WATCH_STOPPED, Respond(STOP_SENT, None)),
            **each(OWN, StopRunning("U1"), Respond(STOP_SENT, None)),
            "another's runs": (Respond(STOP_SENT, None),),
        },
    ),
    (StopTurn(OVER, "U1"), each(STATES, Respond(StopTurn(OVER, "U1"), None))),
    (
        STOP_WATCHED,
        {
            **each((*NOBODYS, LOST, "another's runs"), PassOn(STOP_WATCH), Respond(STOP_WATCHED, None)),
            **each(OWN, StopRunning("U1"), Respond(STOP_WATCHED, None)),  # it has news
            "watched": (*WATCH_STOPPED, Respond(STOP_WATCHED, None)),
        },
    ),
    (
        STOP_WATCH,
        {
            **each((*NOBODYS, LOST, "another's runs"), PassOn(STOP_WATCH)),
            **each(OWN, StopRunning("U1"), Respond(STOP_WATCH, None)),
            "watched": (*WATCH_STOPPED, Respond(STOP_WATCH, None)),
        },
    ),
    (
        STOP_FOREIGN,
        {
            **each(STATES, Respond(STOP_FOREIGN, words.ALREADY_OVER)),
            "watched": (Respond(STOP_FOREIGN, words.NOT_YOURS_TO_STOP),),
        },
    ),
    (
        DROP,
        {
            **each((LOST, *IDLE), PassOn(DROP)),
            "held": (End(MINE, Outcome.STOPPED), Respond(DROP, words.DROPPED_WAITING.format(1))),
            **each(OWN, StopRunning("U1"), Respond(DROP, words.STOPPED_THE_BEGUN_ONE)),
            "another's runs": (Respond(DROP, words.NONE_WAIT),),
            "waiting": (*DROPPED, Respond(DROP, words.DROPPED_WAITING.format(1))),
        },
    ),
    (
        DROP_FOREIGN,
        {
            **each((LOST, *IDLE), PassOn(DROP_FOREIGN)),
            **each(("held", *BUSY), Respond(DROP_FOREIGN, words.NONE_WAIT)),
        },
    ),
    (over(MINE), {"running": NOT_NEEDED, LOST: (), "closing": (LetGo(ends=True),)}),
    (
        over(OTHERS),
        {"another's runs": NOT_NEEDED, "waiting": (Unmark(MINE.key), Begin(MINE, (MINE,)))},
    ),
    (
        TurnResult(WATCHED, Outcome.WATCHED),
        {"running": (Watch(WATCHED),), "closing": (LetGo(ends=True),), LOST: ()},
    ),
    (TurnResult(begun(MINE)), {"closing": (LetGo(ends=True),), LOST: ()}),  # another goes on
    (PushOffer(replace(WATCHED, push_id="q")), each(STATES)),
    (PushHint("p"), {**each(STATES, PassOn(PushHint("p"))), "watched": (ReadTask(MINE.key),)}),
    (News(WATCHED), {**each(STATES), "watched": (Begin(WATCHED, (WATCHED,)),)}),
    (
        WatchFailure(WATCHED, "why"),
        {**each(STATES), "watched": (BreakOff(WATCHED, "watched no longer", "why"),)},
    ),
    (Timer(), {**each(STATES), "held": (Begin(MINE, (MINE,)),)}),
    (EndStored(EMPTY.key), {"ending": NOT_NEEDED}),
    (
        LeaseLoss(),
        {
            **each(NOBODYS),
            **each((LOST, *BUSY), AbandonRunning()),
            "held": (),
            "waiting": (Unmark(MINE.key, stays=True), AbandonRunning()),
            "watched": (Unwatch(MINE.key),),
        },
    ),
    (
        Close(is_durable=True),
        {**each(STATES), "held": (LetGo(ends=True),), "waiting": (Unmark(MINE.key, stays=True),)},
    ),
    (
        Close(is_durable=False),
        {
            **each(STATES),
            "held": (Notify(MINE.question, words.RESTARTING), LetGo(ends=True)),
            "waiting": (Unmark(MINE.key), Notify(MINE.question, words.RESTARTING)),
        },
    ),
]


ROWS = [
    pytest.param(state, command, orders, id=f"{type(command).__name__}-{number}-{state}")
    for number, (command, table) in enumerate(TABLE)
    for state, orders in table.items()
]


@pytest.mark.parametrize(("state", "command", "orders"), ROWS)
def test_what_is_ordered(state: str, command: Command, orders: tuple[Order, ...]) -> None:
    line = in_state(state)
    if isinstance(command, ClaimResult):  # to whom asked
        tell(line, Ask(STOP if command.key == STOP.key else NEXT))
    now = DELAY if isinstance(command, Timer) else 0.0
    orders_now = [each for each in tell(line, command, now=now) if not is_to_itself(each, command)]
    assert orders_now == list(orders)


def is_to_itself(order: Order, command: Command) -> bool:
    """The line answers what it made of `command`: nobody waits for that."""
    return isinstance(order, Respond) and isinstance(command, StopTurn) and order.command != command


# -- couplings

COLLECTS = Rules(collect_delay=DELAY)
INTERRUPTS = replace(ONE_BY_ONE, interrupts=True)
AGAIN, FORM = asked(4, attempt=1), asked(20, handle="form")


def begins(orders: Iterable[Order]) -> list[Begin]:
    return [each for each in orders if isinstance(each, Begin)]


def texts(orders: Iterable[Order]) -> list[str]:
    return [each.turn.question.text for each in begins(orders)]


def test_collect_joins_what_one_person_wrote_in_the_order_in_which_it_was_written() -> None:
    late, early, other = asked(5, text="b"), asked(4, text="a"), asked(6, "U2")
    line = line_with(TakeOver(LEFT), *new(late), *new(other), *new(early), rules=COLLECTS)
    (begin,) = begins(tell(line, over(LEFT), now=DELAY))
    assert (begin.asked, begin.turn.key) == ((late, early), late.key)
    assert (begin.turn.question.text, begin.turn.question.merged) == ("a\nb", (early.question.ts,))


@pytest.mark.parametrize(
    "alone",
    [
        pytest.param(TakeOver(begun(asked(4))), id="begun"),
        pytest.param(TakeOver(stopped(asked(4))), id="stopped"),
        pytest.param(AGAIN, id="a retry"),
        pytest.param(FORM, id="an answer to a form"),
        pytest.param(asked(4, "U3"), id="another's"),
    ],
)
def test_collect_joins_only_new_questions_of_the_same_asker(alone: TakeOver | TurnRecord) -> None:
    what = (alone,) if isinstance(alone, TakeOver) else new(alone)
    line = line_with(TakeOver(LEFT), *new(MINE), *what, *new(NEXT), rules=COLLECTS)
    (begin,) = begins(tell(line, over(LEFT), now=DELAY))
    assert begin.asked == (MINE, NEXT)


def test_it_begins_when_its_asker_has_been_still() -> None:
    line = ThreadLine(COLLECTS)
    tell(line, *new(MINE), now=0.0)
    tell(line, *new(OTHERS), now=1.0)
    tell(line, *new(NEXT), now=1.5)
    assert (tell(line, Timer(), now=2.0), line.deadline()) == ([], 1.5 + DELAY)
    (begin,) = begins(tell(line, Timer(), now=1.5 + DELAY))
    assert begin.asked == (MINE, NEXT)


def test_what_has_begun_already_is_not_held() -> None:
    line = line_with(TakeOver(LEFT), TakeOver(WATCHED), News(WATCHED), rules=COLLECTS)
    assert begins(tell(line, over(LEFT))) == [Begin(WATCHED, (WATCHED,))]


def test_others_that_were_not_stored_with_the_first_are_the_next() -> None:
    first, second = asked(3), asked(4)
    line = line_with(TakeOver(LEFT), *new(first), *new(asked(5, "U2")), *new(second), rules=COLLECTS)
    tell(line, over(LEFT), now=DELAY)
    assert tell(line, MergeFailure(), now=DELAY) == [Mark(second.question)]
    assert begins(tell(line, over(first), now=2 * DELAY)) == [Begin(second, (second,))]


def test_who_signs_in_continues_the_task_and_interrupts_nothing() -> None:
    line = line_with(*new(MINE), HumanAwaited(True), rules=INTERRUPTS)
    assert tell(line, *new(NEXT)) == [StepAside(), Mark(NEXT.question)]
    assert tell(line, HumanAwaited(False), *new(asked(10))) == [
        Mark(asked(10).question),
        Say(asked(10).question, words.PLACE_IN_LINE.format(2)),
    ]


def test_what_somebody_else_writes_during_a_sign_in_waits() -> None:
    assert tell(line_with(*new(MINE), HumanAwaited(True)), *new(OTHERS)) == [Mark(OTHERS.question)]


def test_a_new_message_of_the_asker_interrupts_once_and_refers_to_what_it_ended() -> None:
    line = line_with(*new(MINE), rules=INTERRUPTS)
    assert tell(line, *new(NEXT)) == [Mark(NEXT.question), Interrupt(NEXT.question)]
    assert Interrupt(asked(10).question) not in tell(line, *new(asked(10)))
    assert tell(line, Interrupted(MINE.key, NEXT.question, "t")) == [StepAside(interrupted_by="U1")]
    (begin,) = begins(tell(line, over(MINE)))
    assert begin.turn.question.references == ("t",)


@pytest.mark.parametrize("turn", [pytest.param(FORM, id="an answer to a form"), OTHERS])
def test_nothing_else_interrupts(turn: TurnRecord) -> None:
    assert tell(line_with(*new(MINE), rules=INTERRUPTS), *new(turn)) == [Mark(turn.question)]


def test_where_the_agent_refuses_the_message_waits_and_that_is_said() -> None:
    line = line_with(*new(MINE), *new(NEXT), rules=INTERRUPTS)
    assert tell(line, Interrupted(MINE.key, NEXT.question, None)) == [
        Say(NEXT.question, words.NOT_INTERRUPTED)
    ]
    assert begins(tell(line, over(MINE))) == [Begin(NEXT, (NEXT,))]


def test_an_interruption_that_comes_late_is_about_no_other_turn() -> None:
    line = line_with(*new(MINE), *new(NEXT), over(MINE), rules=INTERRUPTS)
    assert tell(line, Interrupted(MINE.key, NEXT.question, "t")) == []


def full() -> ThreadLine:
    waiting = [command for at in range(3, 13) for command in new(asked(at, "U2"))]
    return line_with(*new(MINE), *waiting)


def test_of_more_than_ten_that_wait_the_next_is_turned_away() -> None:
    turn = asked(13)
    assert tell(full(), *new(turn)) == [End(turn, Outcome.REFUSED, words.TOO_MANY_WAIT)]


@pytest.mark.parametrize("command", [ClaimResult(FORM.key, FORM), TakeOver(asked(14, "U3"))])
def test_answers_to_forms_and_what_was_left_are_never_turned_away(command: Command) -> None:
    line = full()
    tell(line, Ask(FORM))
    assert not any(isinstance(each, End) for each in tell(line, command))
    assert len(line.waiting) == 11


def test_a_place_is_told_from_the_second_on_and_not_to_what_is_joined() -> None:
    line = line_with(TakeOver(LEFT), rules=COLLECTS)
    told = [tell(line, *new(asked(at, user)))[1:] for at, user in ((3, "U1"), (4, "U1"), (5, "U3"))]
    assert told == [[], [], [Say(asked(5, "U3").question, words.PLACE_IN_LINE.format(2))]]


def test_to_drop_what_waits_is_offered_once_for_the_same_last_question() -> None:
    line = line_with(*new(OTHERS), *new(MINE))
    assert offer_to_drop(MINE) in tell(line, BUTTON)
    assert tell(line, BUTTON) == [StopRunning("U1"), Respond(BUTTON, True)]
    tell(line, *new(NEXT))
    assert any(isinstance(each, Offer) for each in tell(line, BUTTON))


def test_dropping_also_stops_what_has_begun_since_but_nothing_newer() -> None:
    line = line_with(*new(OTHERS), *new(MINE), BUTTON, over(OTHERS), *new(NEXT))
    assert tell(line, DROP) == [
        StopRunning("U1"),
        offer_to_drop(NEXT),
        Respond(DROP, words.STOPPED_THE_BEGUN_ONE),
    ]
    line = line_with(*new(OTHERS), *new(MINE), BUTTON, over(OTHERS), over(MINE), *new(NEXT))
    assert tell(line, DROP) == [Respond(DROP, words.NONE_WAIT)]


def test_the_last_word_on_a_question_that_is_claimed_counts() -> None:
    line, again = line_with(Ask(MINE), REWORDED), Edit(MINE.key, "third?")
    changed = said(MINE, "third?")
    assert tell(line, again) == [Respond(REWORDED, True)]
    assert tell(line, ClaimResult(MINE.key, MINE)) == [
        Save(changed), Respond(again, True), Begin(changed, (changed,)),
    ]  # fmt: skip


def test_a_deleted_question_that_is_claimed_is_not_asked() -> None:
    orders = tell(line_with(Ask(MINE), DELETED), ClaimResult(MINE.key, MINE))
    assert orders == [End(MINE, Outcome.STOPPED), Respond(DELETED, True)]


def test_a_change_of_a_question_that_is_another_process_s_is_passed_on() -> None:
    orders = tell(line_with(Ask(MINE), REWORDED), ClaimResult(MINE.key, None))
    assert orders == [EditElsewhere(REWORDED), *NOT_NEEDED]


def test_a_change_while_closing_is_stored_for_the_next_process() -> None:
    line = line_with(Ask(MINE), REWORDED, Close(is_durable=True))
    orders = tell(line, ClaimResult(MINE.key, MINE))
    assert orders == [Save(said(MINE, "else?")), Respond(REWORDED, True), LetGo(ends=True)]


def test_to_ask_again_is_offered_once_because_it_asks_what_the_message_says_then() -> None:
    line, third = line_with(*new(MINE), REWORDED), Edit(MINE.key, "third?")
    assert tell(line, REWORDED) == [Respond(REWORDED, False)]
    assert tell(line, third) == [Reword("third?"), Respond(third, False)]
    assert tell(line_with(*new(MINE)), Edit(MINE.key, "what?")) == [Respond(Edit(MINE.key, "what?"), False)]


def test_one_of_several_that_are_asked_together_is_not_offered_again() -> None:
    line = line_with(TakeOver(LEFT), *new(MINE), *new(NEXT), rules=COLLECTS)
    tell(line, over(LEFT), now=DELAY)
    assert tell(line, REWORDED) == [Respond(REWORDED, False)]


def test_a_thread_is_held_until_the_end_is_stored() -> None:
    line = line_with(*new(EMPTY), *new(NEXT))
    assert tell(line, over(NEXT)) == []
    assert tell(line, EndStored(EMPTY.key)) == list(NOT_NEEDED)


def test_what_is_being_ended_is_not_found_as_left() -> None:
    line = line_with(*new(MINE), *new(STOP), over(MINE))
    assert tell(line, Ask(NEXT), ClaimResult(NEXT.key, NEXT, (STOP,))) == [Begin(NEXT, (NEXT,))]


def test_what_was_left_comes_first_but_nothing_that_is_being_claimed() -> None:
    line = line_with(Ask(MINE), Ask(NEXT))
    orders = tell(line, ClaimResult(MINE.key, MINE, (LEFT, NEXT)))
    assert [each.turn for each in begins(orders)] == [LEFT]
    tell(line, ClaimResult(NEXT.key, NEXT))
    assert [begins(tell(line, over(turn)))[0].turn for turn in (LEFT, MINE)] == [MINE, NEXT]


def test_what_is_found_as_left_twice_is_there_once() -> None:
    line = line_with(Ask(NEXT))
    assert tell(line, TakeOver(NEXT)) == []
    assert begins(tell(line, ClaimResult(NEXT.key, NEXT))) == [Begin(NEXT, (NEXT,))]
    assert tell(line, TakeOver(NEXT)) == []
    assert tell(line, over(NEXT)) == list(NOT_NEEDED)


def test_a_turn_that_too_many_processes_had_is_given_up_but_a_watched_one_never() -> None:
    line, often = ThreadLine(ONE_BY_ONE), begun(MINE, takeovers=3)
    assert tell(line, TakeOver(often)) == [
        ReportTakeover(often, is_given_up=True),
        BreakOff(often, "the bot was restarted too often meanwhile", words.GIVEN_UP),
    ]
    watched = replace(WATCHED, takeovers=9)
    assert tell(ThreadLine(ONE_BY_ONE), TakeOver(watched)) == [Watch(watched)]


@pytest.mark.parametrize("stop", [BUTTON, STOP_SENT, Ask(STOP)])
def test_a_stop_that_comes_when_a_turn_has_left_its_task_ends_the_task(stop: Command) -> None:
    line = line_with(*STATES["running"], stop, ClaimResult(STOP.key, STOP))
    orders = tell(line, *new(OTHERS), TurnResult(WATCHED, Outcome.WATCHED))
    assert begins(orders) == [Begin(stopped(WATCHED), (stopped(WATCHED),))]
    assert line.watched == {}
    assert [each.turn for each in begins(tell(line, over(MINE, Outcome.STOPPED)))] == [OTHERS]


def test_a_watch_that_was_stopped_is_not_watched_by_who_takes_it_over() -> None:
    turn = stopped(WATCHED)
    assert begins(tell(ThreadLine(ONE_BY_ONE), TakeOver(turn))) == [Begin(turn, (turn,))]


def test_a_stop_of_a_watch_while_closing_is_left_to_the_next_process() -> None:
    line = line_with(*STATES["watched"], Close(is_durable=True))
    assert tell(line, STOP_WATCH) == [
        Unwatch(MINE.key), Save(stopped(WATCHED)), Respond(STOP_WATCH, None), LetGo(ends=True),
    ]  # fmt: skip


def test_news_waits_for_what_runs_and_a_stop_of_it_is_kept() -> None:
    line = line_with(*STATES["watched"], *new(OTHERS))
    assert tell(line, News(WATCHED)) == [Mark(WATCHED.question)]
    assert tell(line, STOP_WATCH) == [Save(stopped(WATCHED)), Respond(STOP_WATCH, None)]
    assert [each.turn for each in begins(tell(line, over(OTHERS)))] == [stopped(WATCHED)]


@pytest.mark.parametrize("command", [ClaimResult(STOP.key, STOP), DROP])
def test_what_has_begun_is_stopped_at_its_place_and_not_dropped(command: Command) -> None:
    line = line_with(*STATES["watched"], *new(OTHERS), News(WATCHED), Ask(STOP))
    assert Save(stopped(WATCHED)) in tell(line, command)
    assert [each.turn for each in begins(tell(line, over(OTHERS)))] == [stopped(WATCHED)]


@pytest.mark.parametrize("stop", [STOP_MINE, STOP_SENT])
def test_the_button_of_a_turn_that_has_begun_and_waits_stops_it_at_its_place(stop: StopTurn) -> None:
    line = line_with(*new(OTHERS), TakeOver(begun(MINE)))
    turn = stopped(begun(MINE))
    assert tell(line, stop) == [Save(turn), Respond(stop, None)]
    assert [each.turn for each in begins(tell(line, over(OTHERS)))] == [turn]


def test_a_message_of_what_has_begun_changes_nothing_any_more() -> None:
    line = line_with(*STATES["watched"], *new(OTHERS), News(WATCHED))
    assert tell(line, DELETED) == [Respond(DELETED, False)]


@pytest.mark.parametrize(
    ("written", "orders"),
    [
        (11.0, (End(asked(11, text="stop"), Outcome.STOPPED, words.STOP_TOO_LATE),)),
        (15.0, (End(asked(15, text="stop"), Outcome.STOPPED, words.STOP_TOO_LATE),)),
        (15.5, (Begin(asked(15.5, text="stop"), (asked(15.5, text="stop"),)),)),
    ],
)
def test_shortly_after_an_answer_the_word_is_about_it(written: float, orders: tuple[Order, ...]) -> None:
    line = line_with(*new(MINE), over(MINE, at=10.0))
    assert (line.is_over(15.0), line.is_over(15.5)) == (False, True)
    assert tell(line, *new(asked(written, text="stop"))) == list(orders)


@pytest.mark.parametrize("outcome", [None, Outcome.ASKED])
def test_where_the_agent_waits_or_nothing_has_ended_the_word_is_a_question(outcome: Outcome | None) -> None:
    line = line_with(*new(MINE), replace(over(MINE), outcome=outcome))
    assert texts(tell(line, *new(asked(11, text="stop")))) == ["stop"]


def test_the_word_of_another_ends_nothing_of_theirs() -> None:
    assert texts(tell(line_with(*new(MINE), over(MINE)), *new(asked(11, "U2", "stop")))) == ["stop"]


def test_stop_listening_ends_that_where_the_bot_reads_along() -> None:
    turn = asked(4, text="Stop listening.")
    assert tell(ThreadLine(ONE_BY_ONE), *new(turn)) == [StopFollowing(turn)]
    assert begins(tell(ThreadLine(replace(ONE_BY_ONE, follows=False)), *new(turn)))


def test_nothing_asked_is_answered_by_a_hint_for_all() -> None:
    orders = tell(ThreadLine(ONE_BY_ONE), *new(EMPTY))
    assert orders == [End(EMPTY, Outcome.REFUSED, words.HOW_TO_ASK, is_public=True)]


def test_what_is_being_claimed_is_not_taken_over_also() -> None:
    line = line_with(Ask(MINE), DELETED)
    assert tell(line, TakeOver(MINE)) == []
    assert tell(line, ClaimResult(MINE.key, MINE)) == [End(MINE, Outcome.STOPPED), Respond(DELETED, True)]


@pytest.mark.parametrize(
    ("turn", "orders"),
    [(WATCHED, (Watch(WATCHED),)), (begun(MINE), (ReportTakeover(begun(MINE)), *BEGIN_AGAIN))],
)
def test_what_another_process_had_begun_is_no_new_question(
    turn: TurnRecord, orders: tuple[Order, ...]
) -> None:
    assert tell(ThreadLine(ONE_BY_ONE), Ask(MINE), ClaimResult(MINE.key, turn)) == list(orders)


# -- whatever follows what


RULES = st.builds(
    Rules,
    collects=st.booleans(),
    merges=st.booleans(),
    interrupts=st.booleans(),
    collect_delay=st.sampled_from([0.0, DELAY]),
    max_waiting=st.sampled_from([2, 10]),
)


@given(st.data(), RULES, st.sampled_from([None, True, False]))
def test_each_question_ends_once_whatever_follows_what(
    data: st.DataObject, rules: Rules, is_durable: bool | None
) -> None:
    """Asked in one turn, ended with a reason, or another process's; one turn at a time, begun while this
    process has the thread; marks go, what people did is answered once, and the thread is let go in the end.
    """
    world = ThreadWorld(data.draw, rules)
    for steps in (data.draw(st.integers(0, 40)), data.draw(st.integers(0, 10))):
        for _ in range(steps):
            world.pick(world.possible())()
        if is_durable is not None and not world.is_closing:
            world.close(is_durable=is_durable)
    world.come_to_rest()
    assert set(world.where.values()) <= {DONE, LEFT_OVER}
    assert (world.open, world.marks, world.running, world.line.is_needed) == ([], set(), None, False)
