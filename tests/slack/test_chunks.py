"""Chunks, and the book of cards."""

from slack_bot.slack.chunks import MAX_CARDS, CardBook, batch_chunks, card_text, task_chunk, text_chunk
from slack_bot.slack.orders import Batch
from slack_bot.turn.actions import Card, CardState

RUNNING, DONE, ERROR = CardState.RUNNING, CardState.DONE, CardState.ERROR


def test_a_batch_is_title_then_cards_then_text() -> None:
    card = Card("t1", "Search", RUNNING, details="for streams")
    assert batch_chunks(Batch("Hello", (card,), "Plan"), (card,), 256) == [
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
    assert batch_chunks(Batch("Hello"), (), 256) == [text_chunk("Hello")]
    assert batch_chunks(Batch(plan_title="Plan"), (), 256) == [{"type": "plan_update", "title": "Plan"}]


def test_card_values_are_cut_and_guarded() -> None:
    assert card_text("x" * 300, 256) == "x" * 255 + "…"
    assert card_text("\n  indented", 256) == "indented"
    assert card_text("## Title", 256) == "\u200b## Title"
    assert card_text("# Title", 256) == "# Title"
    assert card_text("ask <!channel>", 256) == "ask &lt;!channel>"
    assert len(card_text("#" * 300, 256)) == 256


def test_a_card_without_a_title_is_named_by_its_id() -> None:
    assert task_chunk(Card("t1", " ", DONE, output="found"), 256) == {
        "type": "task_update",
        "id": "t1",
        "title": "t1",
        "status": "complete",
        "output": "found",
    }


def test_cards_that_run_end_as_the_turn_did_and_the_others_as_they_did() -> None:
    book = CardBook()
    cards = (Card("a", "A", RUNNING), Card("b", "B", ERROR), Card("c", "C", DONE))
    book.confirm(book.want(cards))
    assert book.closing(failed=False) == (Card("a", "A", DONE),)
    assert book.closing(failed=True) == (Card("a", "A", ERROR),)


def test_a_card_whose_end_was_never_shown_is_closed_as_it_truly_ended() -> None:
    book = CardBook()
    book.confirm(book.want([Card("a", "A", RUNNING, details="one")]))
    book.want([Card("a", "A failed", ERROR, details="two")])
    assert book.closing(failed=False) == (Card("a", "A failed", ERROR),)
    assert book.ended(failed=False) == (Card("a", "A failed", ERROR, details="one"),)


def test_details_and_output_add_up() -> None:
    book = CardBook()
    book.confirm(book.want([Card("a", "A", RUNNING, details="one ", output="x")]))
    book.confirm(book.want([Card("a", "A", DONE, details="two", output="y")]))
    assert book.ended(failed=False) == (Card("a", "A", DONE, details="one two", output="xy"),)
    assert book.closing(failed=True) == ()


def test_a_card_that_was_never_shown_is_never_closed() -> None:
    book = CardBook()
    book.want([Card("a", "A", RUNNING)])
    assert book.closing(failed=False) == book.ended(failed=False) == ()


def test_a_message_holds_so_many_cards_and_no_more() -> None:
    book = CardBook()
    assert len(book.want(Card(str(n), "x", RUNNING) for n in range(MAX_CARDS + 5))) == MAX_CARDS
    assert book.want([Card("0", "x", DONE), Card("new", "x", DONE)]) == (Card("0", "x", DONE),)
