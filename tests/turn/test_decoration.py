"""What is added at a cut, and that it is found again."""

import pytest

from slack_bot.turn.decoration import closer, joined, last_line, opener, seam
from slack_bot.turn.markdown import Standing, open_at_end


@pytest.mark.parametrize(
    ("before", "closing", "reopening"),
    [
        ("plain text", "", ""),
        ("```py\nx = 1\n", "```", "```py\n"),
        ("```py\nx = 1", "\n``` ", "```py\n"),
        ("> ~~~\n> a\n", "> ~~~", "> ~~~\n"),
        ("1. ```sh\n   a\n", "   ```", "```sh\n"),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n", "", ""),
        ("**a *b", "***", "***"),
        ("**a _b", "_**", "**_"),
        ("**a b ", "\u2060**", "**"),
        ("*a `b", "`*", "*`"),
        ("`b ", "`", "`"),
        ("- one\n- two\n", "", ""),
    ],
)
def test_what_is_open_is_closed_and_opened_again(before: str, closing: str, reopening: str) -> None:
    standing = Standing().then(before)
    assert closer(standing, before[-1:]) == closing
    assert opener(standing, last_line(before), "and more") == reopening
    assert seam(before + closing, reopening + "and more") == (len(closing), len(reopening))
    assert joined([before + closing, reopening + "and more"]) == before + "and more"
    if closing:
        assert open_at_end(before + closing).fence == ""
        assert open_at_end(before + closing).emphasis == ()
