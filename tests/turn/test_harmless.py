"""Cards and forms hold neither secrets nor live mentions."""

from slack_bot.turn.actions import Card, CardState
from slack_bot.turn.form import Field, Form
from slack_bot.turn.harmless import harmless_card, harmless_form
from slack_bot.turn.safety import MASK

SECRET = "s3cret-value"


def test_a_card() -> None:
    card = Card("t1", f"Search {SECRET}", CardState.ERROR, details="<!channel>", output=f"{SECRET}\n")
    shown = Card("t1", f"Search {MASK}", CardState.ERROR, details="&lt;!channel>", output=f"{MASK}\n")
    assert harmless_card(card, (SECRET,)) == shown
    assert harmless_card(Card(f"\ud83d {SECRET}", "Search", CardState.DONE), (SECRET,)).id == f"\ufffd {MASK}"


def test_a_form() -> None:
    field = Field(f"n {SECRET}", f"l {SECRET}", choices=("a", SECRET))
    form = Form(f"p {SECRET}", (field,), "<@U1> asks", is_auth=True)
    shown = Field(f"n {MASK}", f"l {MASK}", choices=("a", MASK))
    assert harmless_form(form, (SECRET,)) == Form(f"p {MASK}", (shown,), "&lt;@U1> asks", is_auth=True)
