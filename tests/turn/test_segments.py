"""The ledger: every character once, whatever becomes of a call."""

from slack_bot.turn.decoration import joined
from slack_bot.turn.layout import Limits
from slack_bot.turn.segments import lay_out


def test_a_long_text_is_laid_into_messages() -> None:
    text = "\n\n".join(
        f"```py\n{'x = 1\n' * 50}```\n\n| a | b |\n|---|---|\n{'| 1 | 2 |\n' * 40}" for _ in range(9)
    )
    texts = lay_out(text, Limits(rotate_bytes=900))
    assert joined(texts) == text.rstrip("\n") or joined(texts) == text
    assert all(len(each.encode()) <= 900 for each in texts)
