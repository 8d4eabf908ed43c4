"""Chunks, and the book of cards."""

from slack_bot.slack.chunks import (
    CONTINUES,
    MAX_CARDS,
    CardClosing,
    CardTracker,
    all_chunks,
    card_text,
    card_title,
    task_chunk,
    text_chunk,
    weighted_bytes,
)
from slack_bot.turn.actions import LONGEST, CardState, TaskCard

RUNNING, DONE, ERROR = CardState.RUNNING, CardState.DONE, CardState.ERROR


def test_a_batch_is_title_then_cards_then_text() -> None:
    card = TaskCard("t1", "Search", RUNNING, details="for streams")
    assert all_chunks("Hello", (card,), "Plan", 256) == [
        {"type": "plan_update", "title": "Plan"},
        {
            "type": "task_update",
            "id": "t1",
            "title": "Search",
            "status": "in_progress",
            "details": "for streams",
        },
        {"type": "markdown_text", "text": "Hello"},
    ]
    assert all_chunks("Hello", (), "", 256) == [text_chunk("Hello")]
    assert all_chunks("", (), "Plan", 256) == [{"type": "plan_update", "title": "Plan"}]


def test_a_card_whose_title_has_nothing_to_be_seen_is_called_by_its_id_made_harmless() -> None:
    assert card_title(TaskCard("<!channel> call-1", " ", RUNNING), 256) == "&lt;!channel> call-1"
    assert card_title(TaskCard("x" * 300, "\x07", RUNNING), 256) == "x" * 255 + "…"
    assert card_title(TaskCard(" ", "\u202e", RUNNING), 256) == "Step"


def test_card_values_are_cut_and_guarded() -> None:
    assert card_text("x" * 300, 256) == "x" * 255 + "…"
    assert card_text("\n  indented", 256) == "indented"
    assert card_text("## Title", 256) == "\u200b## Title"
    assert card_text("# Title", 256) == "# Title"
    assert card_text("ask <!channel>", 256) == "ask &lt;!channel>"
    assert len(card_text("#" * 300, 256)) == 256


def test_a_card_without_a_title_is_named_by_its_id() -> None:
    assert task_chunk(TaskCard("t1", " ", DONE, output="found"), 256) == {
        "type": "task_update",
        "id": "t1",
        "title": "t1",
        "status": "complete",
        "output": "found",
    }


def test_details_and_output_weigh_twice() -> None:
    card = TaskCard("t1", "Search", RUNNING, details="é", output="abc")
    assert weighted_bytes(all_chunks("Hällo", (card,), "Plan", 256)) == 6 + 6 + 4 + 2 * (2 + 3)


def shown(*cards: TaskCard, number: int = 1) -> CardTracker:
    book = CardTracker(number)
    book.want(cards)
    book.confirm(book.unsent())
    return book


def test_what_slack_has_not_confirmed_is_unsent() -> None:
    book = CardTracker()
    book.want([TaskCard("a", "A", RUNNING, details="one ")])
    assert book.unsent() == (TaskCard("a", "A", RUNNING, details="one "),)
    book.want([TaskCard("a", "A again", DONE, details="two")])
    assert book.unsent() == (TaskCard("a", "A again", DONE, details="one two"),)
    book.confirm(book.unsent())
    assert book.unsent() == ()
    assert not book.is_empty
    book.want([TaskCard("a", "A again", DONE)])
    assert book.unsent() == ()
    book.want([TaskCard("a", "A again", DONE, output="more")])
    assert book.unsent() == (TaskCard("a", "A again", DONE, output="more"),)


def test_cards_that_run_end_as_the_turn_did_and_the_others_as_they_did() -> None:
    book = shown(TaskCard("a", "A", RUNNING), TaskCard("b", "B", ERROR), TaskCard("c", "C", DONE))
    assert book.closing(CardClosing.DONE) == (TaskCard("a", "A", DONE),)
    assert book.closing(CardClosing.FAILED) == (TaskCard("a", "A", ERROR),)
    book.closed(book.closing(CardClosing.FAILED))
    assert book.closing(CardClosing.FAILED) == ()


def test_a_card_that_goes_on_says_so_and_has_another_id_below() -> None:
    book = shown(TaskCard("a", "A", RUNNING, details="one"), TaskCard("b", "B", DONE))
    assert book.closing(CardClosing.CONTINUES) == (TaskCard("a", "A" + CONTINUES, DONE),)
    below = CardTracker(2, book.carried())
    assert below.unsent() == (TaskCard("a#2", "A", RUNNING),)
    below.confirm(below.unsent())
    below.want([TaskCard("a", "A", DONE, details="two")])
    assert below.unsent() == (TaskCard("a#2", "A", DONE, details="two"),)
    assert below.closing(CardClosing.DONE) == (TaskCard("a#2", "A", DONE),)


def test_a_long_title_still_says_that_it_goes_on() -> None:
    (card,) = shown(TaskCard("a", "x" * 400, RUNNING)).closing(CardClosing.CONTINUES)
    assert card.title.endswith("…" + CONTINUES)
    assert len(card.title) == 256


def test_what_may_stand_there_is_closed_whatever_it_is_known_to_read() -> None:
    book = CardTracker()
    book.want([TaskCard("a", "A", DONE)])
    book.confirm(book.unsent(), unsure=True)
    assert book.closing(CardClosing.DONE) == (TaskCard("a", "A", DONE),)
    book.closed(book.closing(CardClosing.DONE))
    assert book.closing(CardClosing.DONE) == ()


def test_a_card_whose_end_was_never_shown_is_closed_as_it_truly_ended() -> None:
    book = shown(TaskCard("a", "A", RUNNING, details="one"))
    book.want([TaskCard("a", "A failed", ERROR, details="two")])
    assert book.closing(CardClosing.DONE) == (TaskCard("a", "A failed", ERROR),)
    assert book.ended(CardClosing.DONE) == (TaskCard("a", "A failed", ERROR, details="onetwo"),)
    assert book.present() == (TaskCard("a", "A failed", ERROR, details="onetwo"),)


def test_details_and_output_add_up() -> None:
    book = shown(TaskCard("a", "A", RUNNING, details="one ", output="x"))
    book.want([TaskCard("a", "A", DONE, details="two", output="y")])
    book.confirm(book.unsent())
    assert book.ended(CardClosing.DONE) == (TaskCard("a", "A", DONE, details="one two", output="xy"),)
    assert book.closing(CardClosing.FAILED) == ()
    assert book.wanted() == (TaskCard("a", "A", DONE, details="one two", output="xy"),)


def test_a_message_that_is_written_as_a_whole_shows_all_its_cards() -> None:
    book = CardTracker(3)
    book.want([TaskCard("a", "A", RUNNING, details="one")])
    assert book.present() == (TaskCard("a#3", "A", RUNNING, details="one"),)
    assert book.present(CardClosing.FAILED) == (TaskCard("a#3", "A", ERROR, details="one"),)


def test_a_card_that_was_never_shown_is_never_closed_but_goes_on() -> None:
    book = CardTracker()
    book.want([TaskCard("a", "A", DONE)])
    assert book.is_empty
    assert book.closing(CardClosing.DONE) == book.ended(CardClosing.DONE) == ()
    assert book.carried() == (TaskCard("a", "A", DONE),)


def test_a_message_holds_so_many_cards_and_no_more() -> None:
    book = CardTracker()
    book.want(TaskCard(str(n), "x", RUNNING) for n in range(MAX_CARDS + 5))
    assert len(book.unsent()) == MAX_CARDS
    book.confirm(book.unsent())
    assert book.unsent() == ()
    assert book.is_full()
    book.want([TaskCard("0", "x", DONE)])
    assert book.unsent() == (TaskCard("0", "x", DONE),)
    assert len(book.present()) == MAX_CARDS


def test_a_card_that_changes_thousands_of_times_does_not_grow_for_ever() -> None:
    book = CardTracker()
    for _ in range(3_000):
        book.want([TaskCard("a", "Search", CardState.RUNNING, details="one more line\n")])
    for _ in range(3_000):
        book.want([TaskCard("a", "Search", CardState.RUNNING, output="found")])
        book.confirm(book.unsent())
    (card,) = book.present()
    assert LONGEST < len(card.details) < LONGEST + 20
    assert LONGEST < len(card.output) < LONGEST + 20
