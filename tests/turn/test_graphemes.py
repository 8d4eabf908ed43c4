"""What must not be cut apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.turn.graphemes import cluster_cut, inside_cluster
from tests.examples import examples

FAMILY = "👩\u200d👩\u200d👧"
TRICKY = st.text(
    st.sampled_from("a \r\n\u0301\u200d\ufe0f👩🏽🇩🇪\U000e0067\U000e007f中") | st.characters(), max_size=40
)


@pytest.mark.parametrize(
    "cluster",
    [
        "e\u0301",
        "👍🏽",
        FAMILY,
        "🇩🇪",
        "❤\ufe0f",
        "🏴\U000e0067\U000e0062\U000e007f",
        "\ud83d\ude00",
        "\r\n",
        "น้ำ"[:2],
    ],
)
def test_a_cluster_is_whole(cluster: str) -> None:
    text = f"a{cluster}b"
    inner = range(2, 1 + len(cluster))
    assert all(inside_cluster(text, at) for at in inner)
    assert not inside_cluster(text, 1)
    assert not inside_cluster(text, 1 + len(cluster))


def test_flags_go_by_two() -> None:
    text = "🇩🇪🇫🇷"
    assert [inside_cluster(text, at) for at in range(5)] == [False, True, False, True, False]


@pytest.mark.parametrize(
    ("text", "waits"), [("👩\u200d", True), ("\ud83d", True), ("🇩", True), ("🇩🇪", False), ("a", False)]
)
def test_an_end_that_wants_a_partner_is_inside(text: str, waits: bool) -> None:
    assert inside_cluster(text, len(text)) is waits


def test_outside_of_the_text_nothing_is_inside() -> None:
    assert not inside_cluster("", 0)
    assert not inside_cluster("a", 2)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\u2028"])
def test_nothing_is_drawn_onto_a_lines_end(end: str) -> None:
    assert not inside_cluster(f"a{end}\u0301b", 1 + len(end))
    assert inside_cluster("a\r\n", 2)


def test_a_flag_half_before_another_letter_is_a_border() -> None:
    assert not inside_cluster("🇩x", 1)


@pytest.mark.parametrize(
    ("text", "limit", "at"),
    [("abc", 2, 2), ("abc", 9, 3), ("ab\u0301c", 2, 1), (FAMILY, 3, 3), (f"x{FAMILY}", 3, 1), ("", 4, 0)],
)
def test_cluster_cut(text: str, limit: int, at: int) -> None:
    assert cluster_cut(text, limit) == at


@examples(1_000)
@given(TRICKY, st.integers(1, 50))
def test_cluster_cut_makes_progress_and_keeps_the_limit(text: str, limit: int) -> None:
    at = cluster_cut(text, limit)
    assert at <= limit
    assert at > 0 or not text
    assert not inside_cluster(text, at) or at == min(limit, len(text))
