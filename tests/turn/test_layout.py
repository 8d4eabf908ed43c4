"""How much goes into a message."""

from slack_bot.turn.layout import fitting, weigh


def test_a_text_is_weighed_in_bytes() -> None:
    assert weigh("a中👩") == 8
    assert [fitting("a中👩", room) for room in range(10)] == [0, 1, 1, 1, 2, 2, 2, 2, 3, 3]
