"""What a line of Markdown shows: each mark that is closed, and no other."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.text.inline import Words, words_of
from slack_bot.text.markdown import InlineMarks
from tests.examples import examples, texts
from tests.turn.work import work

URL = "https://x.example/y"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", []),
        ("one two", [("one two",)]),
        ("*a*_b_", [("ab", ("italic",))]),
        ("****a**** *****b*****", [("a", ("bold",)), (" ",), ("b", ("bold", "italic"))]),
        ("**a***", [("a", ("bold",)), ("*",)]),
        ("*a **b*", [("*a *",), ("b", ("italic",))]),
        ("~a~ ~~b~~", [("~a~ ",), ("b", ("strike",))]),
        ("` a `` b `` c", [("` a ",), ("b", ("code",)), (" c",)]),
        (r"\`a` b`", [("`a",), (" b", ("code",))]),
        (r"\![a](b) \[c](d)", [("![a](b) [c](d)",)]),
        (f"\\![a]({URL})", [("!",), ("a", (), URL)]),
        (f"![a]({URL}) *[`b` c]({URL})*", [
            ("a", (), URL), (" ",), ("b", ("italic", "code"), URL), (" c", ("italic",), URL),
        ]),
        (f"[a]({URL}?b=(c_d)&e) [f] (g)", [("a", (), f"{URL}?b=(c_d)&e"), (" [f] (g)",)]),
        (f"<{URL}> <{URL} b> <c>", [(URL, (), URL), (f" <{URL} b> <c>",)]),
        ("[a](b *c* d", [("[a](b ",), ("c", ("italic",)), (" d",)]),
        ("[a](ftp://b) **c**", [("[a](ftp://b) ",), ("c", ("bold",))]),
        ("[](https://x.example)", []),
    ],
)  # fmt: skip
def test_the_words_of_a_line(line: str, words: list[tuple[str, ...]]) -> None:
    assert words_of(line) == [Words(*each) for each in words]


# -- the reading that tables had before, which was right where marks stand side by side ----------------------

EARLIER = re.compile(
    r"`+(?P<code>[^`]+)`+|~~(?P<strike>[^~]+)~~"
    r"|\[(?P<label>[^\[\]]+)\]\((?P<url>https?://[^()\s]+)\)"
    r"|\*\*\*(?P<both>[^*]+)\*\*\*|\*\*(?P<bold>(?:[^*]|\*(?!\*))+)\*\*|(?<!\w)__(?P<bold_>[^_]+)__(?!\w)"
    r"|(?<![\w*])\*(?P<italic>[^*\s](?:[^*]*[^*\s])?)\*(?![\w*])"
    r"|(?<!\w)_(?P<italic_>[^_\s](?:[^_]*[^_\s])?)_(?!\w)"
)
STYLES = {"both": ("bold", "italic"), "bold_": ("bold",), "italic_": ("italic",)}


def earlier(text: str, styles: tuple[str, ...] = ()) -> list[Words]:
    words, end = list[Words](), 0
    for found in EARLIER.finditer(text):
        kind = str(found.lastgroup)
        inner = tuple(dict.fromkeys((*styles, *STYLES.get(kind, (kind,)))))
        words.append(Words(text[end : found.start()], styles))
        end = found.end()
        if kind == "url":
            words.append(Words(found["label"], styles, found["url"]))
        elif kind == "code":
            words.append(Words(found["code"], inner))
        else:
            words += earlier(found[kind], inner)
    return [each for each in (*words, Words(text[end:], styles)) if each.text]


PLAIN = ("word", "snake_case", "2 * 3", "a*b", "1.5 %", "(c)", "C#", "5 < 6", "中文", "e\u0301")
MARKED = (
    *("*a*", "_a b_", "**a**", "__a__", "***a***", "~~a~~", "`a`", "`*a* [b]`", f"[a b]({URL}?q=a_b*c)"),
    *("**a *b* c**", "*~~a~~*", f"**[a]({URL})**", "~~a `b` c~~", "_a **b** c_"),
)  # fmt: skip


@examples(500)
@given(st.lists(st.sampled_from(PLAIN + MARKED), max_size=8).map(" ".join))
def test_marks_side_by_side_are_read_as_before(line: str) -> None:
    assert words_of(line) == earlier(line)


# -- whatever the line ---------------------------------------------------------------------------------------


@examples(500)
@given(texts(30))
def test_no_letter_is_lost(text: str) -> None:
    for line in text.split("\n"):
        words = words_of(line)
        left = iter(line)
        assert all(char in left for char in "".join(each.text for each in words))
        letters = re.compile(r"[^\W_]")
        shown = sum(len(letters.findall(each.text)) for each in words)
        assert shown <= len(letters.findall(line))
        if not any(each.url for each in words):
            assert shown == len(letters.findall(line))


@examples(500)
@given(texts(30))
def test_what_is_open_where_a_line_is_cut_is_closed_in_the_whole_one(text: str) -> None:
    """The ledger takes a mark for open; its second half closes it in what is shown as well."""
    line = text.partition("\n")[0]
    for mark in InlineMarks().read(line).runs("`"):
        assert "code" in {style for each in words_of(f"{line}x{mark}") for style in each.styles}


@pytest.mark.parametrize(
    "piece", ["`", "[a](", "<https://", "*a", "**a** ", "[", "](", "`` ` ", "[a](https://b) "]
)
def test_hostile_lines_take_linear_work(piece: str) -> None:
    def read(count: int) -> int:
        return work(lambda: words_of((piece * count)[:10_000]))

    assert read(800) <= 6 * read(200)
