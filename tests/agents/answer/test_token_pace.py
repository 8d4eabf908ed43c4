"""Tokens are cut within sentences; what a program says of its work comes in sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.agents.answer.token_pace import TokenPace, goes_on, in_tokens, is_cut
from tests.examples import examples


def fed(*pieces: str) -> TokenPace:
    pace = TokenPace()
    for piece in pieces:
        pace.feed(piece)
    return pace


@pytest.mark.parametrize(
    "pieces",
    [
        ("The ", "quick ", "brown "),
        ("The", " quick", " brown"),
        ("# ", "Streams ", "in "),
        ("St", "reams", " in", " sh", "ort"),
        ("Streams bring an answer piece by piece, so nobody waits", " for the whole. It", " goes on"),
        ("你", "好", "世界"),
        ("Let me look that up first.", "## ", "What ", "the "),
    ],
)
def test_tokens(pieces: tuple[str, ...]) -> None:
    assert fed(*pieces).is_tokens
    assert not fed(*pieces[:2]).is_tokens


@pytest.mark.parametrize(
    "pieces",
    [
        ("Searching the docs.", "Reading the first one.", "Reading the second one."),
        ("Searching the docs. ", "Reading the first one. ", "Writing it down. "),
        ("Searching the docs\n", "Reading the first one\n", "Writing it down\n"),
        ("Searching.", ".", "."),
        ("Progress: 10%", "Progress: 20%", "Progress: 30%"),
        ("Thinking", "Searching", "Reading"),
        ("正在搜索资料库的内容", "正在读取第一个文件", "正在整理最终的结果"),
        ("one text of the agent, all at once",),
        ("", "", ""),
    ],
)
def test_sentences_about_the_work(pieces: tuple[str, ...]) -> None:
    assert not fed(*pieces).is_tokens


@pytest.mark.parametrize(
    ("pieces", "start"),
    [
        (("The ", "quick "), 0),
        (("\n\n", "quick "), 0),
        (("Let me look that up.", "## ", "What "), 20),
        (("Let me look that up.", "\n\nIt is ", "here "), 22),
        (("Hi.", "How ", "are "), 0),  # no sentence: a token may well be "Hi."
        (("It is short. ", "It goes on. "), 0),
    ],
)
def test_the_answer_begins_behind_a_sentence_of_its_own(pieces: tuple[str, ...], start: int) -> None:
    assert fed(*pieces).start == start


def test_a_lone_sentence_is_known_until_it_goes_on() -> None:
    assert fed("Let me look that up.").is_sentence
    assert not fed("Let me look that up.", " And ").is_sentence
    assert not fed("Let me look\nthat up.").is_sentence
    assert not fed("Let me look ").is_sentence
    pace = fed("Let me look that up.")
    pace.restart()
    assert (pace.start, pace.is_sentence, pace.is_tokens) == (0, False, False)


def test_a_cut_is_at_a_space_within_a_sentence() -> None:
    assert is_cut("The ", "fox")
    assert is_cut("The", " fox")
    assert not is_cut("The fox. ", "It")
    assert not is_cut("The fox", "\nIt")
    assert not is_cut("The", "fox")
    assert not is_cut("", "fox")
    assert not is_cut("The ", " ")


@examples(500)
@given(st.lists(st.text(alphabet="ab .\n#你。", min_size=1), min_size=1))
def test_the_start_is_a_place_in_the_text_and_whitespace_alone_is_never_lost(pieces: list[str]) -> None:
    pace = fed(*pieces)
    assert 0 <= pace.start <= len("".join(pieces))
    if not any(" " in piece for piece in pieces):
        gaps = [piece for piece in pieces[1:] if piece.startswith("\n\n")]
        assert pace.start == 0 or gaps


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("The ", "quick"),
        ("The", " quick"),
        ("Par", "is"),
        ("a", "1"),
        ("mill", "."),
        ("(", "Oslo"),
        ("**", "Bold"),
        ("##", "Part"),
        ("狐狸", "跑了"),
        ("狐狸", "。"),
    ],
)
def test_text_goes_on(before: str, text: str) -> None:
    assert goes_on(before, text)


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("All is well.", "Nothing broke."),
        ("well.", "nothing"),
        ("Oslo", "Bergen"),
        ("All is well", "nothing broke"),
        ("a line\n", "another"),
        ("a line", "\nanother"),
        ("**Done**", "Next"),
        ("狐狸跑了。", "狗醒了"),
        ("狐狸", "Fox"),
        ("x" * 40, "y"),
    ],
)
def test_text_does_not_go_on(before: str, text: str) -> None:
    assert not goes_on(before, text)


def test_texts_one_after_the_other() -> None:
    assert in_tokens(["The ", "quick ", "brown ", "fox"])
    assert not in_tokens(["Searching the docs.", "It is here."])


@pytest.mark.parametrize(
    ("pieces", "label", "only"),
    [
        (("step 1", "step 2", "step 3"), "step 3", True),
        (("Reading a.txt", "Reading b.txt", "Reading c.txt"), "Reading c.txt", True),
        (("step 1", "step 2"), "", False),
        (("step 1", "step 2", "step 3", "The "), "", False),
        (("The ", "step 1", "step 2", "step 3"), "step 3", False),
        (("the end", " the end", " the end"), "", False),
        (("no", "no", "no"), "", False),
    ],
)
def test_texts_that_begin_alike_say_how_far_the_work_is(
    pieces: tuple[str, ...], label: str, only: bool
) -> None:
    pace = TokenPace()
    for piece in pieces:
        pace.feed(piece)
    assert (pace.label, pace.has_only_labels) == (label, only)
