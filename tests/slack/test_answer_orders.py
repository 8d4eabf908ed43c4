"""What an answer orders, and when: one table for each of its parts. No Slack, no loop.

A line of these tables is one order: a call with its words, the typing status, or what is stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from slack_bot.observe.facts import DoubtSettled, Fact, TextShown, referred
from slack_bot.slack.faults import CallResult, Fault, SurfaceKind
from slack_bot.slack.features import FeatureFinding, WorkspaceFeature
from slack_bot.slack.methods import Priority
from slack_bot.slack.model import Batch, Ending
from slack_bot.slack.orders import (
    CallSlack,
    ClearStatus,
    CloseStatus,
    GiveUpWrites,
    Order,
    ReopenStatus,
    Report,
    ReportGone,
    ReportStopped,
    ReserveSlot,
    ReturnSlots,
    ShowTyping,
    StoreForm,
    StoreFormMessage,
    StoreIds,
    StoreMessages,
    Wait,
)
from slack_bot.turn.actions import CardState, SaveIds, ShowExtra, TaskCard
from slack_bot.turn.extras import DataTable
from slack_bot.turn.form import Form, FormKind
from slack_bot.turn.progress import MessageRecord
from slack_bot.turn.record import Outcome
from tests.slack.pure_answer import OK, ZERO, Happening, PureAnswer, failed

Told = list[tuple[float, str]]

SEARCH = TaskCard("a", "Search", CardState.RUNNING)
SIGN_IN = Form("Sign in.", kind=FormKind.AUTH, url="https://login.example/")
TABLE = "| a | b |\n|---|---|\n| 1 | 2 |\n"


def told(pure: PureAnswer, since: int = 0) -> Told:
    """The orders from that one on, as a person would tell them."""
    lines = ((at, line_of(order)) for at, order in pure.orders[since:])
    return [(round(at - ZERO, 3), line) for at, line in lines if line]


def line_of(order: Order[Any]) -> str:
    tell = LINES.get(type(order))
    return tell(order) if tell is not None else ""


def of_fact(fact: Fact) -> str:
    assert isinstance(fact, TextShown | DoubtSettled)
    if isinstance(fact, DoubtSettled):
        return "told: doubt settled"
    return f"told: shown, waited from {fact.since - ZERO:.1f}{', late' if fact.is_late else ''}"


LINES: Mapping[type, Callable[[Any], str]] = {
    CallSlack: lambda call: f"{call.method.rpartition('.')[2]} {words_of(call.args)}".rstrip(" "),
    ShowTyping: lambda order: f"typing: {order.text}",
    ReopenStatus: lambda order: "typing may come again" if order.forget else "typing may come",
    CloseStatus: lambda _: "no typing",
    ClearStatus: lambda _: "typing is cleared",
    StoreIds: lambda order: f"stored: task {order.task_id}",
    StoreForm: lambda order: f"stored: form {order.form.prompt}",
    StoreFormMessage: lambda order: f"stored: form is below {order.message and order.message.text}",
    StoreMessages: lambda order: f"stored: {[record.text for record in order.records]}",
    Report: lambda order: of_fact(order.fact),
    ReportStopped: lambda order: f"told: stopped by {order.by}",
    ReportGone: lambda _: "told: gone",
    GiveUpWrites: lambda _: "writes are given up",
    ReturnSlots: lambda _: "slots are returned",
}


def words_of(args: Mapping[str, Any]) -> str:
    chunks = args.get("chunks") or args.get("blocks") or ()
    words = [each.get("title") or each.get("text") for each in chunks]
    said = [*words, args.get("markdown_text"), args.get("status")]
    return " ".join(each for each in said if isinstance(each, str))


def calls_of(lines: Told) -> list[str]:
    return [line for _, line in lines if not line.startswith(("typing", "no typing", "stored", "told"))]


# -- the loop


def ends(pure: PureAnswer) -> None:
    """The turn ends, and all that came is ready."""
    pure.answer.buffer.end(pure.calls.now)
    pure.answer.end_soon()


def knows_task(pure: PureAnswer) -> None:
    pure.answer.news.ids.append(SaveIds("task-1", None, None, "known"))


def shows_card(pure: PureAnswer) -> None:
    pure.answer.news.add_card(SEARCH)


def shows_plan(pure: PureAnswer) -> None:
    pure.answer.news.set_plan_title("Plan")


def says_status(pure: PureAnswer) -> None:
    pure.answer.news.set_status("is thinking...")


def is_stopped(pure: PureAnswer) -> None:
    pure.calls.are_writes_given_up = True


def is_replaced(text: str) -> Callable[[PureAnswer], None]:
    return lambda pure: pure.answer.replace_text(text, Counter())


STORIES: dict[str, tuple[list[Happening], Told]] = {
    "a line goes at once; nothing is typed any more when it comes": (
        [(0.5, "One.\n"), (0.7, "Two.\n"), (5.0, ends)],
        [
            (0.5, "no typing"),
            (0.5, "startStream One.\n"),
            (0.5, "stored: ['One.\\n']"),
            (0.5, "told: shown, waited from 0.5"),
            (0.7, "appendStream Two.\n"),
            (0.7, "stored: ['One.\\nTwo.\\n']"),
            (0.7, "told: shown, waited from 0.7"),
        ],
    ),
    "the ids come before anything of the task is shown": (
        [(0.0, knows_task), (0.0, "One.\n"), (1.0, ends)],
        [
            (0.0, "stored: task task-1"),
            (0.0, "no typing"),
            (0.0, "startStream One.\n"),
            (0.0, "stored: ['One.\\n']"),
            (0.0, "told: shown, waited from 0.0"),
        ],
    ),
    "cards and the plan go at once, and the text when it is due": (
        [(0.0, shows_card), (1.0, shows_plan), (2.0, "a word "), (2.1, "more "), (2.5, ends)],
        [
            (0.0, "no typing"),
            (0.0, "startStream Search"),
            (0.0, "stored: ['']"),
            (1.0, "appendStream Plan"),
            (1.0, "stored: ['']"),
            (2.4, "appendStream a word more"),
            (2.4, "stored: ['a word more ']"),
            (2.4, "told: shown, waited from 2.0"),
        ],
    ),
    "text that is due goes along with a card": (
        [(0.0, "a word "), (0.3, "more "), (0.4, shows_card), (1.0, ends)],
        [
            (0.4, "no typing"),
            (0.4, "startStream Search a word more"),
            (0.4, "stored: ['a word more ']"),
            (0.4, "told: shown, waited from 0.0"),
        ],
    ),
    "white space alone is no call": ([(0.0, "\n"), (1.0, "\n"), (2.0, ends)], []),
    "a status is seen only where no message is open": (
        [(0.0, says_status), (1.0, "One.\n"), (2.0, says_status), (3.0, ends)],
        [
            (0.0, "typing: is thinking..."),
            (1.0, "no typing"),
            (1.0, "startStream One.\n"),
            (1.0, "stored: ['One.\\n']"),
            (1.0, "told: shown, waited from 1.0"),
        ],
    ),
    "a message that is too old is stopped, and typing says that work goes on": (
        [(0.0, "One.\n"), (300.0, says_status), (301.0, "Two.\n"), (302.0, ends)],
        [
            (0.0, "no typing"),
            (0.0, "startStream One.\n"),
            (0.0, "stored: ['One.\\n']"),
            (0.0, "told: shown, waited from 0.0"),
            (240.0, "stopStream"),
            (240.0, "typing may come again"),
            (240.0, "typing: is still working..."),
            (240.0, "stored: ['One.\\n']"),
            (300.0, "typing: is thinking..."),
            (301.0, "no typing"),
            (301.0, "startStream Two.\n"),
            (301.0, "stored: ['One.\\n', 'Two.\\n']"),
            (301.0, "told: shown, waited from 301.0"),
        ],
    ),
    "of a text that is replaced nothing more is shown": (
        [(0.0, "One.\n"), (1.0, is_replaced("Two.")), (2.0, "Three.\n"), (3.0, shows_card), (4.0, ends)],
        [
            (0.0, "no typing"),
            (0.0, "startStream One.\n"),
            (0.0, "stored: ['One.\\n']"),
            (0.0, "told: shown, waited from 0.0"),
        ],
    ),
    "the end lets out what waits": (
        [(0.0, "One"), (0.1, ends)],
        [
            (0.1, "no typing"),
            (0.1, "startStream One"),
            (0.1, "stored: ['One']"),
            (0.1, "told: shown, waited from 0.0"),
        ],
    ),
    "there is nothing": ([(1.0, ends)], []),
}


@pytest.mark.parametrize("story", STORIES)
def test_what_waits_is_shown_when_it_is_due(story: str) -> None:
    happens, orders = STORIES[story]
    pure = PureAnswer()
    assert pure.write(*happens)
    assert told(pure) == orders


def test_words_are_shown_after_pauses_that_grow() -> None:
    pure = PureAnswer()
    pure.write(*((at / 10, f"{at} ") for at in range(100)), (10.0, ends))
    times = [round(at - ZERO, 1) for at, order in pure.orders if isinstance(order, CallSlack)]
    waits = [order for _, order in pure.orders if isinstance(order, Wait)]
    assert len(waits) <= len(times) + 2  # words that are not due yet do not wake the writer
    assert times == [0.4, 0.8, 1.2, 1.6, 2.0, 2.4, 2.9, 3.5, 4.1, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]


@pytest.mark.parametrize(
    ("fault", "orders"),
    [
        (
            Fault.STOPPED,
            [(1.0, "appendStream Two.\n"), (1.0, "stored: ['One.\\n']"), (1.0, "told: stopped by U1")],
        ),
        (Fault.GONE, [(1.0, "appendStream Two.\n"), (1.0, "stored: ['One.\\n']"), (1.0, "told: gone")]),
    ],
)
def test_a_write_after_which_nothing_more_may_follow(fault: Fault, orders: Told) -> None:
    pure = PureAnswer(OK, failed(fault))
    is_over = pure.write((0.0, "One.\n"), (1.0, "Two.\n"), (2.0, "Three.\n"))
    assert is_over == (fault is Fault.GONE)
    assert told(pure)[4:] == orders


def test_the_end_of_the_messages_is_announced() -> None:
    pure = PureAnswer(rotate_bytes=30, max_segments=1)
    pure.write((0.0, "A line of the answer.\n"), (1.0, "Another line of it.\n"), (2.0, "More.\n"))
    assert told(pure)[4:8] == [
        (1.0, "stopStream"),
        (1.0, "typing may come again"),
        (1.0, "typing: is writing the rest, it comes as a file..."),
        (1.0, "update A line of the answer.\n"),
    ]


# -- slots


def needs_slots(pure: PureAnswer) -> None:
    pure.has_slots = False


def gets_slots(pure: PureAnswer) -> None:
    pure.has_slots = True


SLOTS: dict[str, tuple[list[Happening], Told]] = {
    "one that comes in time": (
        [(0.0, "One.\n"), (10.0, gets_slots), (11.0, ends)],
        [
            (0.0, "typing: is writing..."),
            (10.0, "no typing"),
            (10.0, "startStream One.\n"),
            (10.0, "stored: ['One.\\n']"),
            (10.0, "told: shown, waited from 0.0, late"),
        ],
    ),
    "none in time, and later one for a post": (
        [(0.0, "One.\n"), (10.0, says_status), (25.0, "Two.\n"), (60.0, gets_slots), (61.0, ends)],
        [
            (0.0, "typing: is writing..."),
            (10.0, "typing: is thinking..."),
            (20.0, "slots are returned"),
            (20.0, "typing: is writing; Slack is busy, it follows shortly..."),
            (60.0, "no typing"),
            (60.0, "postMessage One.\nTwo.\n"),
            (60.0, "stored: ['One.\\nTwo.\\n']"),
            (60.0, "told: shown, waited from 0.0, late"),
        ],
    ),
    "none for what goes on: the message is there": (
        [
            (0.0, gets_slots),
            (0.0, "One.\n"),
            (1.0, needs_slots),
            (1.0, "Two.\n"),
            (9.0, "Three"),
            (100.0, gets_slots),
            (110.0, ends),
        ],
        [
            (0.0, "no typing"),
            (0.0, "startStream One.\n"),
            (0.0, "stored: ['One.\\n']"),
            (0.0, "told: shown, waited from 0.0"),
            (100.0, "appendStream Two.\n"),
            (100.0, "stored: ['One.\\nTwo.\\n']"),
            (100.0, "told: shown, waited from 1.0, late"),
            (102.0, "appendStream Three"),
            (102.0, "stored: ['One.\\nTwo.\\nThree']"),
            (102.0, "told: shown, waited from 100.0"),
        ],
    ),
    "the end takes the place in the queue": (
        [(0.0, "One.\n"), (5.0, ends), (6.0, "never read")],
        [(0.0, "typing: is writing...")],
    ),
}


@pytest.mark.parametrize("story", SLOTS)
def test_what_waits_for_a_slot(story: str) -> None:
    happens, orders = SLOTS[story]
    pure = PureAnswer()
    pure.has_slots = False
    pure.answer.begin(20.0)
    assert pure.write(*happens)
    assert told(pure) == orders


def test_an_answer_that_was_taken_over_has_waited_for_its_slot_already() -> None:
    pure = PureAnswer()
    pure.has_slots = False
    pure.write((0.0, "One.\n"))
    assert told(pure) == [
        (0.0, "typing: is writing..."),
        (0.001, "slots are returned"),
        (0.001, "typing: is writing; Slack is busy, it follows shortly..."),
    ]


@pytest.mark.parametrize(
    ("user", "before", "comes", "asked"),
    [
        ("U1", "", "One.\n", ("chat.startStream", Priority.START)),
        ("U1", "One.\n", "Two.\n", ("chat.appendStream", Priority.LATER)),
        ("U1", "One.\n", shows_card, ("chat.appendStream", Priority.CARDS)),
        ("", "", "One.\n", ("chat.startStream", Priority.START)),
        ("", "One.\n", "Two.\n", ("chat.appendStream", Priority.BACKGROUND)),
    ],
)
@pytest.mark.parametrize("can_stream", [True, False])
def test_how_urgent_a_write_is(
    can_stream: bool, user: str, before: str, comes: Any, asked: tuple[str, Priority]
) -> None:
    pure = PureAnswer(user=user, can_stream=can_stream)
    pure.write(*([(0.0, before)] if before else []), (5.0, comes), (6.0, ends))
    orders = [order for _, order in pure.orders if isinstance(order, ReserveSlot) and order.wakes]
    method, priority = asked
    if not can_stream:
        method = "chat.update" if before else "chat.postMessage"
        priority = (Priority.FIRST if user else Priority.BACKGROUND) if not before else priority
    assert (orders[-1].method, orders[-1].priority) == (method, priority)


# -- a question while the turn goes on


def asks_for_the_end(pure: PureAnswer) -> None:
    pure.answer.buffer.flush()
    pure.answer.news.ask_at(SIGN_IN, pure.calls.now + 0.4)


def asks(pure: PureAnswer) -> None:
    asks_for_the_end(pure)
    pure.answer.news.is_awaited = True


def asks_at_once(pure: PureAnswer) -> None:
    pure.answer.news.form, pure.answer.news.form_due = SIGN_IN, pure.calls.now
    pure.answer.news.is_awaited = True


def has_no_sessions(pure: PureAnswer) -> None:
    lacking = str(FeatureFinding(False, pure.calls.wall, "missing_scope"))
    pure.answer.know_workspace({WorkspaceFeature.SESSIONS: lacking}, pure.calls.now)


QUESTIONS: dict[str, tuple[list[Happening], list[CallResult], Told]] = {
    "below the text, which is shown first": (
        [(0.0, "One"), (0.1, asks), (9.0, ends)],
        [],
        [
            (0.1, "no typing"),
            (0.1, "startStream One"),
            (0.1, "stored: ['One']"),
            (0.1, "told: shown, waited from 0.0"),
            (0.5, "stored: form Sign in."),
            (0.5, "stopStream"),
            (0.5, "no typing"),
            (0.5, "postMessage Sign in."),
            (0.5, "typing may come again"),
            (0.5, "postEphemeral"),
            (0.5, "setStatus suspended"),
            (0.5, "stored: form is below Sign in."),
        ],
    ),
    "before any text": (
        [(0.0, asks), (9.0, ends)],
        [],
        [
            (0.4, "stored: form Sign in."),
            (0.4, "no typing"),
            (0.4, "postMessage Sign in."),
            (0.4, "typing may come again"),
            (0.4, "postEphemeral"),
            (0.4, "setStatus suspended"),
            (0.4, "stored: form is below Sign in."),
        ],
    ),
    "text that comes after it": (
        [(0.0, asks), (1.0, "One.\n"), (9.0, ends)],
        [],
        [
            (0.4, "stored: form Sign in."),
            (0.4, "no typing"),
            (0.4, "postMessage Sign in."),
            (0.4, "typing may come again"),
            (0.4, "postEphemeral"),
            (0.4, "setStatus suspended"),
            (0.4, "stored: form is below Sign in."),
            (1.0, "no typing"),
            (1.0, "startStream One.\n"),
            (1.0, "stored: ['One.\\n']"),
            (1.0, "told: shown, waited from 1.0"),
        ],
    ),
    "without sessions": (
        [(0.0, has_no_sessions), (0.0, asks), (9.0, ends)],
        [],
        [
            (0.4, "stored: form Sign in."),
            (0.4, "no typing"),
            (0.4, "postMessage Sign in."),
            (0.4, "typing may come again"),
            (0.4, "postEphemeral"),
            (0.4, "typing: is waiting for you to sign in..."),
            (0.4, "stored: form is below Sign in."),
        ],
    ),
    "a table that may go on is shown first": (
        [(0.0, f"One.\n\n{TABLE}"), (0.1, asks_at_once), (9.0, ends)],
        [],
        [
            (0.0, "no typing"),
            (0.0, "startStream One.\n\n"),
            (0.0, "stored: ['One.\\n\\n']"),
            (0.0, "told: shown, waited from 0.0"),
            (0.1, "stored: form Sign in."),
            (0.1, "appendStream"),
            (0.1, "stopStream"),
            (0.1, "no typing"),
            (0.1, "postMessage Sign in."),
            (0.1, "typing may come again"),
            (0.1, "postEphemeral"),
            (0.1, "setStatus suspended"),
            (0.1, "stored: form is below Sign in."),
        ],
    ),
    "it is for the end": ([(0.0, asks_for_the_end), (9.0, ends)], [], []),
    "after a stop": (
        [(0.0, "One.\n"), (0.1, asks), (0.2, is_stopped), (9.0, ends)],
        [],
        [
            (0.0, "no typing"),
            (0.0, "startStream One.\n"),
            (0.0, "stored: ['One.\\n']"),
            (0.0, "told: shown, waited from 0.0"),
            (0.5, "stored: form Sign in."),
            (0.5, "stored: form is below None"),
        ],
    ),
    "refused": (
        [(0.0, asks), (9.0, ends)],
        [failed(Fault.LATER)],
        [
            (0.4, "stored: form Sign in."),
            (0.4, "no typing"),
            (0.4, "postMessage Sign in."),
            (0.4, "typing may come again"),
            (0.4, "stored: form is below None"),
        ],
    ),
    "the thread is gone": (
        [(0.0, asks), (9.0, ends)],
        [failed(Fault.GONE)],
        [
            (0.4, "stored: form Sign in."),
            (0.4, "no typing"),
            (0.4, "postMessage Sign in."),
            (0.4, "typing may come again"),
            (0.4, "stored: form is below None"),
        ],
    ),
    "nobody may write there": (
        [(0.0, asks), (9.0, ends)],
        [failed(Fault.NO_WRITING)],
        [
            (0.4, "stored: form Sign in."),
            (0.4, "no typing"),
            (0.4, "postMessage Sign in."),
            (0.4, "typing may come again"),
            (0.4, "open"),
            (0.4, "postMessage"),
            (0.4, "stored: form is below None"),
        ],
    ),
    "the thread is gone when the text before it is stopped": (
        [(0.0, "One.\n"), (0.1, asks), (9.0, ends)],
        [OK, failed(Fault.GONE)],
        [
            (0.0, "no typing"),
            (0.0, "startStream One.\n"),
            (0.0, "stored: ['One.\\n']"),
            (0.0, "told: shown, waited from 0.0"),
            (0.5, "stored: form Sign in."),
            (0.5, "stopStream"),
            (0.5, "stored: form is below None"),
        ],
    ),
}


@pytest.mark.parametrize("story", QUESTIONS)
def test_a_question_while_the_turn_goes_on(story: str) -> None:
    happens, results, orders = QUESTIONS[story]
    pure = PureAnswer(*results, tables="no")
    assert pure.write(*happens)
    assert told(pure) == orders


def test_a_question_without_controls_says_the_same_and_has_no_buttons() -> None:
    pure = PureAnswer()
    pure.run(pure.answer.ask(SIGN_IN))
    pure.run(pure.answer.ask(SIGN_IN, "handle"))
    posted: list[Any] = [call.args["blocks"] for call in pure.made if call.method == "chat.postMessage"]
    without, with_controls = posted
    assert [each["type"] for each in without] == ["markdown", "context"]
    assert [each["type"] for each in with_controls] == ["markdown", "actions", "context"]


def test_what_the_bot_says_itself_takes_the_typing_away() -> None:
    pure = PureAnswer()
    pure.run(pure.answer.announce("Hello."))
    assert told(pure) == [(0.0, "no typing"), (0.0, "postMessage Hello."), (0.0, "typing may come again")]


# -- handed over


def waits(pure: PureAnswer, text: str) -> None:
    """`text` may be sent, and waits for its slot."""
    pure.answer.state.add(Batch(text))
    pure.answer.state.ledger.release_tables()


@pytest.mark.parametrize(
    ("shown", "waiting", "is_sure", "reads", "orders"),
    [
        (
            "One.\n",
            "Two.\n",
            True,
            ["One.\nTwo.\n"],
            [
                (0.0, "writes are given up"),
                (0.0, "no typing"),
                (0.0, "stopStream Search (continues below) Search (continues below) Two.\n"),
                (0.0, "setStatus is being restarted and goes on here in a moment..."),
            ],
        ),
        (
            "One.\n",
            "Two.\n",
            False,
            ["One.\n"],
            [
                (0.0, "writes are given up"),
                (0.0, "no typing"),
                (0.0, "stopStream Search (continues below) Search (continues below)"),
                (0.0, "setStatus is being restarted and goes on here in a moment..."),
            ],
        ),
        (
            "One.\n",
            "",
            True,
            ["One.\n"],
            [
                (0.0, "writes are given up"),
                (0.0, "no typing"),
                (0.0, "stopStream Search (continues below) Search (continues below)"),
                (0.0, "setStatus is being restarted and goes on here in a moment..."),
            ],
        ),
        (
            "One.\n",
            TABLE,
            True,
            ["One.\n"],
            [
                (0.0, "writes are given up"),
                (0.0, "no typing"),
                (0.0, "stopStream Search (continues below) Search (continues below)"),
                (0.0, "setStatus is being restarted and goes on here in a moment..."),
            ],
        ),
        (
            "",
            "Two.\n",
            True,
            [],
            [
                (0.0, "writes are given up"),
                (0.0, "no typing"),
                (0.0, "setStatus is being restarted and goes on here in a moment..."),
            ],
        ),
    ],
)
def test_an_answer_that_another_process_goes_on_with(
    shown: str, waiting: str, is_sure: bool, reads: list[str], orders: Told
) -> None:
    pure = PureAnswer(tables="no")
    if shown:
        pure.run(pure.answer.show(Batch(shown, (SEARCH,))))
    waits(pure, waiting)
    since = len(pure.orders)
    is_more = pure.run(pure.answer.hand_over.stop_for_next_process(is_sure=is_sure))
    assert (is_more, pure.texts()) == ("Two" in "".join(reads), reads)
    assert told(pure, since) == orders


@pytest.mark.parametrize(
    ("results", "texts", "orders"),
    [
        # what the message shows is not known
        (
            [ZeroDivisionError()],
            ["One.\n"],
            [
                (0.0, "writes are given up"),
                (0.0, "no typing"),
                (0.0, "setStatus is being restarted and goes on here in a moment..."),
            ],
        ),
        (
            [OK, ZeroDivisionError()],
            ["One.\n", "Two.\n"],
            [
                (0.0, "writes are given up"),
                (0.0, "no typing"),
                (0.0, "stopStream"),
                (0.0, "setStatus is being restarted and goes on here in a moment..."),
            ],
        ),
        # it is stopped already
        (
            [OK, failed(Fault.SEALED)],
            ["One.\n"],
            [
                (0.0, "writes are given up"),
                (0.0, "no typing"),
                (0.0, "stopStream Three.\n"),
                (0.0, "setStatus is being restarted and goes on here in a moment..."),
            ],
        ),
        (
            [OK, failed(Fault.GONE)],
            ["One.\n"],
            [
                (0.0, "writes are given up"),
                (0.0, "no typing"),
                (0.0, "stopStream Three.\n"),
                (0.0, "stopStream"),
                (0.0, "setStatus is being restarted and goes on here in a moment..."),
            ],
        ),
    ],
)
def test_text_that_cannot_go_along_is_left_to_the_next_process(
    results: list[CallResult | Exception], texts: list[str], orders: Told
) -> None:
    pure = PureAnswer(*results)
    for text in texts:
        with suppress(ZeroDivisionError):
            pure.run(pure.answer.show(Batch(text)))
    waits(pure, "Three.\n")
    since = len(pure.orders)
    assert not pure.run(pure.answer.hand_over.stop_for_next_process(is_sure=True))
    assert "Three" not in "".join(pure.texts())
    assert told(pure, since) == orders


@pytest.mark.parametrize("fault", [Fault.GONE, Fault.STOPPED])
def test_what_may_not_be_written_to_is_handed_over_without_text(fault: Fault) -> None:
    pure = PureAnswer(OK, failed(fault))
    pure.run(pure.answer.show(Batch("One.\n")))
    pure.run(pure.answer.show(Batch("Two.\n")))
    since = len(pure.orders)
    assert not pure.run(pure.answer.hand_over.stop_for_next_process(is_sure=True))
    status = [line for line in calls_of(told(pure, since)) if line.startswith("setStatus")]
    assert bool(status) == (fault is Fault.STOPPED)


def test_what_has_ended_is_not_handed_over() -> None:
    pure = PureAnswer()
    pure.run(pure.answer.finish(Ending(Outcome.FAILED, note="It broke.")))
    since = len(pure.orders)
    assert not pure.run(pure.answer.hand_over.stop_for_next_process(is_sure=True))
    assert told(pure, since) == []


def test_where_the_thread_is_gone_the_open_stream_is_stopped() -> None:
    pure = PureAnswer()
    pure.run(pure.answer.show(Batch("One.\n", (SEARCH,))))
    since = len(pure.orders)
    pure.run(pure.answer.hand_over.abandon())
    assert told(pure, since) == [(0.0, "writes are given up"), (0.0, "no typing"), (0.0, "stopStream Search")]


# -- the end


LEFT = "One two three."


@pytest.mark.parametrize(
    ("says", "outcome", "reads"),
    [
        ("One two three. Four.", Outcome.ANSWERED, [LEFT, " Four."]),
        ("One two", Outcome.ANSWERED, [LEFT]),  # the agent kept a part of it
        ("two three.", Outcome.ANSWERED, [LEFT]),
        ("Another one.", Outcome.ANSWERED, ["Another one."]),
        ("One four.", Outcome.ANSWERED, ["One four."]),
        (" \n", Outcome.ANSWERED, [LEFT]),
        ("One two", Outcome.FAILED, [LEFT]),
        ("Another one.", Outcome.FAILED, [LEFT]),
        ("One two three. Four.", Outcome.FAILED, [LEFT, " Four."]),
    ],
)
def test_what_another_process_showed_is_the_answer_or_becomes_it(
    says: str, outcome: Outcome, reads: list[str]
) -> None:
    shown = MessageRecord("100.000003", SurfaceKind.STREAM, body=LEFT)
    pure = PureAnswer(shown=(shown,))
    pure.write((0.0, says), (1.0, ends))
    pure.answer.compare_with_shown(says, LEFT, outcome)
    pure.run(pure.answer.finish(Ending(outcome, note="" if outcome is Outcome.ANSWERED else "It broke.")))
    assert pure.texts() == reads


def test_a_text_that_replaces_the_answer_is_not_compared() -> None:
    pure = PureAnswer(shown=(MessageRecord("100.000003", SurfaceKind.STREAM, body=LEFT),))
    pure.write((0.0, "Another one."), (0.5, is_replaced("The whole.")), (1.0, ends))
    pure.answer.compare_with_shown("Another one.", LEFT, Outcome.ANSWERED)
    pure.run(pure.answer.finish(Ending(Outcome.ANSWERED)))
    assert pure.texts() == ["The whole."]


def is_gone(pure: PureAnswer) -> None:
    pure.run(pure.answer.delivery.apply_fault(failed(Fault.GONE)))


def has_a_table(pure: PureAnswer) -> None:
    list(pure.answer.extras.take(ShowExtra(DataTable(("a",), (("1",),))), ()))


ANSWERED, ASKED, STOPPED = Ending(Outcome.ANSWERED), Ending(Outcome.ASKED), Ending(Outcome.STOPPED)
ENDS: dict[str, tuple[list[Happening], Ending, Outcome, list[str]]] = {
    "all is shown": (
        [(0.0, "One.\n")],
        ANSWERED,
        Outcome.ANSWERED,
        ["no typing", "stopStream", "slots are returned", "no typing"],
    ),
    "text waits for its slot": (
        [(0.0, "One.\n"), (1.0, needs_slots), (2.0, "Two.\n")],
        ANSWERED,
        Outcome.ANSWERED,
        [
            "no typing",
            "appendStream Two.\n",
            "stopStream",
            "slots are returned",
            "no typing",
            "told: shown, waited from 2.0",
        ],
    ),
    "there is no slot": (
        [(0.0, needs_slots), (0.0, "One.")],
        ANSWERED,
        Outcome.ANSWERED,
        [
            "no typing",
            "slots are returned",
            "postMessage One.",
            "slots are returned",
            "no typing",
            "told: shown, waited from 0.0",
        ],
    ),
    "nothing": (
        [],
        ANSWERED,
        Outcome.NO_TEXT,
        [
            "no typing",
            "startStream _The agent finished without writing an answer._",
            "stopStream",
            "slots are returned",
            "no typing",
        ],
    ),
    "white space": (
        [(0.0, " \n")],
        ANSWERED,
        Outcome.NO_TEXT,
        [
            "no typing",
            "startStream _The agent finished without writing an answer._",
            "stopStream",
            "slots are returned",
            "no typing",
        ],
    ),
    "known to be nothing": (
        [],
        Ending(Outcome.NO_TEXT),
        Outcome.NO_TEXT,
        [
            "no typing",
            "startStream _The agent finished without writing an answer._",
            "stopStream",
            "slots are returned",
            "no typing",
        ],
    ),
    "nothing but a table": (
        [(0.0, has_a_table)],
        ANSWERED,
        Outcome.ANSWERED,
        ["no typing", "postMessage", "slots are returned", "no typing", "typing is cleared"],
    ),
    "nothing but a card": (
        [(0.0, shows_card)],
        ANSWERED,
        Outcome.NO_TEXT,
        [
            "no typing",
            "appendStream _The agent finished without writing an answer._",
            "stopStream Search",
            "slots are returned",
            "no typing",
        ],
    ),
    "a card that waits for its slot": (
        [(0.0, "One.\n"), (1.0, needs_slots), (2.0, shows_card)],
        ANSWERED,
        Outcome.ANSWERED,
        ["no typing", "appendStream Search", "stopStream Search", "slots are returned", "no typing"],
    ),
    "replaced": (
        [(0.0, "One.\n"), (1.0, is_replaced("Two."))],
        ANSWERED,
        Outcome.ANSWERED,
        [
            "no typing",
            "stopStream",
            "update Two.",
            "slots are returned",
            "no typing",
            "told: shown, waited from 9.0",
        ],
    ),
    "replaced before anything was shown": (
        [(0.0, is_replaced("Two."))],
        ANSWERED,
        Outcome.ANSWERED,
        [
            "no typing",
            "startStream Two.",
            "stopStream",
            "slots are returned",
            "no typing",
            "told: shown, waited from 9.0",
        ],
    ),
    "replaced by nothing": (
        [(0.0, "One.\n"), (1.0, is_replaced(" "))],
        ANSWERED,
        Outcome.NO_TEXT,
        [
            "no typing",
            "stopStream",
            "update _The agent finished without writing an answer._",
            "slots are returned",
            "no typing",
            "told: shown, waited from 9.0",
        ],
    ),
    "replaced, and text waits": (
        [(0.0, needs_slots), (0.0, "One."), (1.0, is_replaced("Two.")), (9.0, gets_slots)],
        ANSWERED,
        Outcome.ANSWERED,
        [
            "no typing",
            "startStream Two.",
            "stopStream",
            "slots are returned",
            "no typing",
            "told: shown, waited from 9.0",
        ],
    ),
    "failed": (
        [(0.0, "One.")],
        Ending(Outcome.FAILED, note="It broke."),
        Outcome.FAILED,
        ["no typing", "stopStream", "slots are returned", "no typing"],
    ),
    "failed before anything was shown": (
        [],
        Ending(Outcome.FAILED, note="It broke."),
        Outcome.FAILED,
        ["no typing", "postMessage", "slots are returned", "no typing"],
    ),
    "stopped": (
        [(0.0, "One.\n"), (1.0, is_stopped), (1.0, "Two.\n")],
        STOPPED,
        Outcome.STOPPED,
        ["no typing", "stopStream", "slots are returned", "no typing"],
    ),
    "stopped before anything was shown": (
        [(0.0, is_stopped)],
        STOPPED,
        Outcome.STOPPED,
        ["no typing", "postMessage", "slots are returned", "no typing"],
    ),
    "watched": (
        [(0.0, "One.")],
        Ending(Outcome.WATCHED, note="It goes on."),
        Outcome.WATCHED,
        ["no typing", "stopStream", "slots are returned", "no typing"],
    ),
    "asked": (
        [(0.0, "One.")],
        replace(ASKED, form=Form("Which?"), handle="h"),
        Outcome.ASKED,
        [
            "no typing",
            "appendStream \n\nWhich?",
            "stopStream",
            "slots are returned",
            "no typing",
            "stored: form is below One.\n\nWhich?",
        ],
    ),
    "asked before": (
        [(0.0, asks)],
        replace(ASKED, form=SIGN_IN, handle="h"),
        Outcome.ASKED,
        [
            "no typing",
            "slots are returned",
            "no typing",
            "typing is cleared",
            "stored: form is below Sign in.",
        ],
    ),
    "gone": (
        [(0.0, "One.\n"), (0.2, "Two"), (0.3, is_gone)],
        ANSWERED,
        Outcome.ANSWERED,
        ["no typing", "writes are given up", "stopStream"],
    ),
}


@pytest.mark.parametrize("story", ENDS)
def test_how_an_answer_ends(story: str) -> None:
    happens, ending, outcome, orders = ENDS[story]
    pure = PureAnswer()
    pure.answer.begin(60.0)
    pure.write(*happens, (9.0, ends))
    since = len(pure.orders)
    ended = pure.run(pure.answer.finish(ending))
    assert ended.outcome is outcome
    assert [line for _, line in told(pure, since)] == orders


@pytest.mark.parametrize("outcome", Outcome)
def test_only_what_went_wrong_has_a_reference(outcome: Outcome) -> None:
    pure = PureAnswer()
    pure.run(pure.answer.show(Batch("One.\n")))
    ended = pure.run(pure.answer.finish(Ending(outcome, note="Note.")))
    has_reference = outcome in (Outcome.FAILED, Outcome.REFUSED, Outcome.LOST)
    assert ended.note == (referred("Note.", pure.calls.question.key) if has_reference else "Note.")


@pytest.mark.parametrize(
    ("happens", "ending", "is_stopped_now", "is_stopped_then"),
    [
        ([], ANSWERED, False, False),
        ([is_stopped], ANSWERED, True, True),
        ([], STOPPED, False, True),
    ],
)
def test_whether_a_human_stopped_it(
    happens: list[Callable[[PureAnswer], None]],
    ending: Ending,
    is_stopped_now: bool,
    is_stopped_then: bool,
) -> None:
    pure = PureAnswer()
    pure.run(pure.answer.show(Batch("One.\n")))
    for each in happens:
        each(pure)
    assert pure.answer.is_stopped is is_stopped_now
    pure.run(pure.answer.finish(ending))
    assert pure.answer.is_stopped is is_stopped_then
