"""Words become others of the same shape: equal where they were equal, different where they were different."""

from __future__ import annotations

import tracemalloc
from hashlib import sha256

from hypothesis import given, settings
from hypothesis import strategies as st

from slack_bot.tools.pseudonyms import JSON_KEPT, KEPT, Pseudonyms

TEXT = (
    "# Ärger in Übersee\n\n- See https://intern.example/a1?b=2, **now**; 42 of 100 日本語 😀"
    " `snake_case` x\u0301\n"
)


def test_shape_stays_and_words_go() -> None:
    shown = Pseudonyms().text(TEXT)
    assert len(shown) == len(TEXT)
    assert len(shown.encode()) == len(TEXT.encode())
    for old, new in zip(TEXT, shown, strict=True):
        assert old.isalpha() == new.isalpha()
        assert old.isdigit() == new.isdigit()
        assert old.isupper() == new.isupper()
        assert old.isalnum() or old == new
    assert not [word for word in ("rger", "intern", "example", "now", "42", "日", "snake") if word in shown]
    assert "https://" in shown


def test_it_is_the_same_every_time_and_the_same_for_the_same() -> None:
    assert Pseudonyms().text(TEXT) == Pseudonyms().text(TEXT)
    words = Pseudonyms()
    assert words.text("Berlin") == words.text("Berlin")
    assert words.text("Berlinale").startswith(words.text("Berlin"))
    assert words.text("Bern") != words.text("Bert")


@given(st.text(max_size=40), st.lists(st.integers(0, 40), max_size=5))
@settings(max_examples=100, deadline=None)
def test_where_it_is_cut_does_not_matter(text: str, cuts: list[int]) -> None:
    words = Pseudonyms()
    stream, at, found = words.stream(), 0, ""
    for cut in sorted(cuts):
        found += stream.push(text[at:cut])
        at = max(at, cut)
    assert found + stream.push(text[at:]) == words.text(text)


@given(st.lists(st.text(alphabet="abcABC012é日_", min_size=1, max_size=6), max_size=30))
@settings(max_examples=60, deadline=None)
def test_different_words_stay_different(texts: list[str]) -> None:
    words = Pseudonyms()
    shown = {text: words.text(text) for text in texts}
    assert len(set(shown.values())) == len(shown)


def test_protocol_words_stay() -> None:
    words = Pseudonyms((*KEPT, *JSON_KEPT))
    assert words.text("[FINAL ANSWER]") == "[FINAL ANSWER]"
    boxed = '{"is_task_complete": true, "content": "a\\nSecret \\u00e9 \\"b\\""}'
    shown = words.text(boxed)
    assert shown.startswith('{"is_task_complete": true, "content": "')
    assert "\\n" in shown and "\\u00e9" in shown and '\\"' in shown
    assert "Secret" not in shown


WORDS = st.lists(st.text(alphabet="abcABC012日_", min_size=1, max_size=8), max_size=40)


@given(WORDS, st.integers(1, 60))
@settings(max_examples=100, deadline=None)
def test_what_is_not_remembered_any_more_keeps_its_shape(texts: list[str], most: int) -> None:
    words = Pseudonyms(most=most)
    shown = {text: words.text(text) for text in texts}
    assert shown == {text: words.text(text) for text in texts}
    plain = {text: each for text, each in shown.items() if text.isascii()}
    assert len(set(plain.values())) == len(plain)
    for text, each in shown.items():
        assert len(each.encode()) == len(text.encode())
        assert [a.isalpha() for a in text] == [a.isalpha() for a in each]


def test_words_without_end_do_not_fill_the_memory_and_cannot_be_looked_up() -> None:
    tokens = [sha256(f"{n}".encode()).hexdigest() for n in range(3000)]
    one, other = Pseudonyms(most=1000), Pseudonyms(most=1000)
    other.text("another tape")
    shown = [one.text(token) for token in tokens]
    assert len(set(shown)) == len(tokens)
    assert shown[2000:] != [other.text(token) for token in tokens][2000:]
    assert not [1 for old, new in zip(tokens, shown, strict=True) if old[:8] == new[:8]]
    assert one.text("https and http") == one.text("https and http") != "https and http"
    assert one.text("https://FINAL").startswith("https://FINAL")
    tracemalloc.start()
    for token in tokens:
        one.text(token[::-1])
    grown = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert grown < 100_000


def test_a_pause_begins_a_word() -> None:
    words = Pseudonyms()
    stream = words.stream()
    first = stream.push("end")
    stream.pause()
    assert stream.push("end") == first


def test_more_letters_than_an_alphabet_has() -> None:
    many = "".join(chr(code) for code in range(0x400, 0x480) if chr(code).isalpha())
    words = Pseudonyms()
    assert all(words.text(letter).isalpha() for letter in many)
    assert words.text("\U00020001") != "\U00020001"
