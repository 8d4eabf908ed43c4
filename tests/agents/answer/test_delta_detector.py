"""Texts are deltas, or the whole so far; which of them shows itself."""

from __future__ import annotations

import re
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.agents.answer.delta_detector import ChunkJoiner, DeltaDetector, SnapshotMerger, stored_text
from slack_bot.agents.wire.frames import (
    AgentMessage,
    Artifact,
    ArtifactUpdate,
    Frame,
    MessageReply,
    Part,
    Snapshot,
    StatusUpdate,
    TaskState,
)
from tests.examples import examples

FOX = "The quick brown fox jumps. It is quick."
WORDS = re.findall(r"\S+\s*", FOX)


class Reader:
    """What a reader sees of a source, and how often it was told again."""

    def __init__(self, *, appends: bool = False, max_chars: int = 10_000) -> None:
        self.detector = DeltaDetector(appends=appends, max_chars=max_chars)
        self.text, self.retold = "", 0

    def take(self, *texts: str, by_line: bool = False) -> tuple[str, int]:
        for text in texts:
            more, append = self.detector.take(text, by_line=by_line)
            self.text = self.text + more if append else more
            self.retold += not append
        assert self.text == self.detector.text
        return self.text, self.retold


def appended(*texts: str) -> tuple[str, int]:
    return Reader(appends=True).take(*texts)


def sent(*texts: str) -> tuple[str, int]:
    return Reader().take(*texts)


# -- any source


@pytest.mark.parametrize("appends", [False, True])
def test_deltas_are_added_up(appends: bool) -> None:
    assert Reader(appends=appends).take(*WORDS) == (FOX, 0)
    assert Reader(appends=appends).take("", "a", "") == ("a", 0)


@pytest.mark.parametrize("appends", [False, True])
def test_growing_snapshots_are_the_last_one_and_nothing_is_told_again(appends: bool) -> None:
    assert Reader(appends=appends).take(*accumulate(WORDS)) == (FOX, 0)
    assert Reader(appends=appends).take("你", "你好", "你好啊") == ("你好啊", 0)


@pytest.mark.parametrize("appends", [False, True])
def test_deltas_and_then_the_whole_is_the_whole(appends: bool) -> None:
    assert Reader(appends=appends).take(*WORDS, FOX) == (FOX, 0)
    assert Reader(appends=appends).take(*WORDS[:3], FOX, " Yes.") == (FOX + " Yes.", 0)


@st.composite
def deliveries(draw: st.DrawFn, first: str) -> tuple[str, list[tuple[str, str]]]:
    """A text that begins with `first` and repeats nothing, cut anywhere and sent in any way."""
    numbers = draw(st.lists(st.integers(100, 999), min_size=3, max_size=12, unique=True))
    words = st.sampled_from(["Word", "word", "β", "#", "-", "."])
    text = first + "".join(f"{draw(words)}{number} \n" for number in numbers)
    cuts = sorted(draw(st.sets(st.integers(len(first) + 1, len(text) - 1), max_size=12)))
    found = []
    for start, end in zip([len(first), *cuts], [*cuts, len(text)], strict=True):
        delta, whole = ("append", text[start:end]), ("append", text[:end])
        ways = [[delta], [whole], [whole, whole], [delta, whole], [("replace", text[:end])]]
        found += draw(st.sampled_from(ways))
    return text, found


@examples(1_000)
@given(deliveries("Text: "))
def test_however_a_text_is_cut_and_sent_it_is_the_text(case: tuple[str, list[tuple[str, str]]]) -> None:
    reader = Reader()
    reader.take("Text: ")
    for how, each in case[1]:
        if how == "append":
            reader.take(each)
        else:
            reader.detector.replace(each)
            reader.text = each
    reader.text += reader.detector.take_held()  # as at the end of a stream
    assert (reader.text, reader.retold) == (case[0], 0)


@examples(1_000)
@given(deliveries("Here is the text: "))
def test_appended_texts_of_any_kind_are_the_text_once_two_deltas_were_seen(
    case: tuple[str, list[tuple[str, str]]],
) -> None:
    reader = Reader(appends=True)
    reader.take("Here is ", "the text: ", *(each for _, each in case[1]))
    assert (reader.text, reader.retold) == (case[0], 0)


@examples(1_000)
@given(st.lists(st.text("ab \n", min_size=1, max_size=5), max_size=12))
def test_snapshots_of_anything_make_the_last_one(deltas: list[str]) -> None:
    assert sent(*accumulate(deltas)) == ("".join(deltas), 0)


@given(st.lists(st.text("ab .\n", min_size=1, max_size=9), min_size=3, max_size=8))
def test_appended_snapshots_of_anything_said_in_words_add_up(pieces: list[str]) -> None:
    pieces = ["Well, ", *pieces]
    assert appended(*accumulate(pieces))[0] == "".join(pieces)


def test_a_text_with_all_deltas_in_it_is_the_whole_although_some_were_missed() -> None:
    whole = "The first half is fine. It goes on for a while with plain words until it ends."
    seen = [" fine.", " It goes on", " with plain words", " until it ends."]
    assert sent(*seen, whole) == (whole, 1)
    assert sent(" fine.", whole) == (f" fine.{whole}", 0)  # one delta proves nothing
    assert sent(*seen, f"{whole} And more.") == (f"{''.join(seen)}{whole} And more.", 0)


# -- a source that says `append`


def test_appended_snapshots_may_be_repeated() -> None:
    assert appended("The fox", "The fox ran", "The fox ran", "The fox ran.", "The fox") == ("The fox ran.", 0)


def test_an_appended_snapshot_that_begins_again_is_the_next_paragraph() -> None:
    looked = list(accumulate(["Let me ", "look ", "that up."]))
    assert appended(*looked, *accumulate(WORDS)) == (f"Let me look that up.\n\n{FOX}", 0)


def test_an_appended_delta_that_looked_like_a_snapshot_is_one_after_all() -> None:
    assert appended("Haha", "Hahaha", ", well.") == ("HahaHahaha, well.", 1)
    assert appended("Row, ", "Row, row", " the boat", " the boats", "!") == (
        "Row, Row, row the boat the boats!", 1,
    )  # fmt: skip


def test_appended_snapshots_that_begin_with_a_letter_are_found_later() -> None:
    assert appended(*accumulate(FOX)) == (FOX, 1)
    assert appended("So: ", *accumulate(FOX)) == ("So: " + FOX, 1)


def test_a_beginning_that_was_known_counts_too() -> None:
    detector = DeltaDetector("The fox", appends=True)
    assert [detector.take(text) for text in ("The fox ran", "The fox ran.")] == [(" ran", True), (".", True)]


@pytest.mark.parametrize(
    "deltas",
    [
        ["-", "--", "---", "----", "---------", "----------", "-----------"],  # a line that is drawn
        ["1", "10", "100", "1000"],
        ["a", "ab", "abc", "x"],
        ["| a ", "| b ", "| bc "],
        ["one = 1\n", " ", "   ", "    # two", "r"],  # white space and marks begin many a delta
        ["a ", "`", "```", "```markdown\nmore", " text"],
        ["ha", "ha", "haha"],
    ],
)
def test_what_says_too_little_is_no_appended_snapshot(deltas: list[str]) -> None:
    assert appended(*deltas) == ("".join(deltas), 0)


# -- a source without `append`


def test_a_text_may_be_replaced_and_restarted() -> None:
    reader = Reader()
    reader.take("The", "The quick", "The quick fox", " ran")
    reader.detector.replace("new")
    assert (reader.detector.text, reader.detector.steps) == ("new", 5)
    reader.detector.restart()
    assert (reader.detector.text, reader.detector.steps) == ("", 0)


def test_no_more_is_kept_than_may_be() -> None:
    assert Reader(max_chars=3).take("12", "345") == ("123", 0)
    assert Reader(max_chars=0).take("nothing fits") == ("", 0)


def test_a_model_turn_said_again_after_its_deltas_is_no_delta() -> None:
    reader = Reader()
    whole = "Before. The quick fox"
    assert reader.take("Before. ", "The ", "quick ", "fox", "The quick fox") == (whole, 0)
    assert reader.take("fox") == (whole + "fox", 0), "one delta may well come twice"
    assert reader.detector.steps == 5


def test_signs_that_the_next_delta_begins_with_are_not_lost() -> None:
    """Whether "### the" follows "#" or grew from it, only the text after it tells."""
    reader = Reader()
    assert reader.take("#", "### the") == ("### the", 0)
    assert reader.take(" fox") == ("#### the fox", 1)
    assert reader.take(".") == ("#### the fox.", 1)
    assert sent("#", "# A", "# A fox", "# A fox") == ("# A fox", 0)
    assert sent("#", "##", "###", " A") == ("###### A", 1)
    assert Reader(max_chars=6).take("-", "- a", "bcd", "e") == ("-- abc", 1)


IN_TOKENS = ("Let ", "me ", "look.")


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (
            (*IN_TOKENS, "## ", "## What ", "## What is ", "## What is this"),
            "Let me look.\n\n## What is this",
        ),
        (("a ", "Found it", "Found it today", "Found it today."), "a Found it today."),
        (("a ", "b", "bc", "bcd", "bcd e"), "a bbcbcdbcd e"),
        (("We ", "In", "In ", "dia"), "We InIn dia"),
        ((*IN_TOKENS, "I", "In", "two"), "Let me look.IIntwo"),
        (("| web | ", "running ", "running | ", "3 |"), "| web | running running | 3 |"),
        (("| web | ", "running ", "running | 3", " |"), "| web | running running | 3 |"),
        (("| web |\n", "running ", "running on", "running on 3"), "| web |\nrunning on 3"),
        (("Look.", " ", "Found it", "Found it today"), "Look. Found it today"),
        (("See ", "the pods of all clusters", "the pods of all clusters."), "See the pods of all clusters."),
    ],
)
def test_what_begins_with_all_of_the_last_text_is_a_snapshot_however_the_turn_began(
    texts: tuple[str, ...], told: str
) -> None:
    detector = DeltaDetector()
    taken = [detector.take(text) for text in texts]
    assert all(append for _, append in taken)
    assert "".join(text for text, _ in taken) + detector.take_held() == told == detector.text


def test_another_text_is_announced_when_its_snapshots_prove_to_be_some() -> None:
    detector = DeltaDetector()
    for text in (*IN_TOKENS, "## ", "## What "):
        assert not detector.begins_anew(text)
        detector.take(text)
    assert detector.begins_anew("## What is ")


def test_lines_of_their_own_become_paragraphs_only_where_they_may() -> None:
    lines = ("Reading it.", "Writing it.", "and so on.")
    assert Reader().take(*lines, by_line=True) == ("Reading it.\n\nWriting it.and so on.", 0)
    assert sent(*lines) == ("".join(lines), 0)


# -- chunks under ids of their own


def test_after_one_chunk_all_that_follows_is_a_chunk() -> None:
    joiner = ChunkJoiner()
    assert not joiner.joins("", "", "Oslo", "Bergen")
    assert joiner.joins("", "", "The ", "quick")
    assert joiner.joins("", "", "mill", "Then")
    assert joiner.joins("", "", "mill.", "\n\n")
    assert not joiner.joins("", "", "", "quick")
    assert not joiner.joins("", "", "quick", "")


def test_a_sentence_right_behind_another_is_another_answer() -> None:
    joiner = ChunkJoiner()
    assert joiner.joins("", "", "The ", "quick")
    assert not joiner.joins("", "", "fox.", "Second thoughts")
    assert joiner.joins("", "", "3.", "14")


def test_only_chunks_of_one_name_are_one_text_and_numbers_are_no_names() -> None:
    joiner = ChunkJoiner()
    assert not joiner.joins("details", "summary", "The ", "quick")
    assert joiner.joins("result", "result", "The ", "quick")
    assert not joiner.joins("sources", "result", "brown", " fox")
    assert joiner.joins("12", "11", "The ", "quick")


def test_what_the_agent_appends_may_go_on_over_a_line_end() -> None:
    assert ChunkJoiner().joins("a", "b", "a line\n", "another", over_lines=True)
    assert not ChunkJoiner().joins("", "", "a line\n", "another")
    assert not ChunkJoiner().joins("a", "b", "All is well.", "Another", over_lines=True)


PHRASES = st.lists(st.text("abc", min_size=1, max_size=5), min_size=2, max_size=9).map(" ".join)


@given(PHRASES, st.sampled_from([r"\S+ ?", r" ?\S+", r"[^ ]{1,3}| "]))
def test_words_cut_anywhere_are_one_text(said: str, cut: str) -> None:
    joiner, text = ChunkJoiner(), ""
    for chunk in re.findall(cut, said):
        assert not text or joiner.joins("n", "n", text[-32:], chunk)
        text += chunk
    assert text == said


ANSWER, NARRATION = {"is_final_answer": True}, {"is_narration": True}
BOTH = {**ANSWER, **NARRATION}


def artifact(text: str, **metadata: Any) -> Artifact:
    return Artifact("a", "streaming_result", parts=(Part(text=text),), metadata=metadata)


def chunk(text: str, *, append: bool = True, **metadata: Any) -> ArtifactUpdate:
    return ArtifactUpdate(artifact(text, **metadata), "t", "c", append)


def said(text: str, message_id: str, role: str = "agent") -> AgentMessage:
    return AgentMessage(message_id, role, (Part(text=text),))


def status(text: str, message_id: str, state: TaskState = TaskState.WORKING) -> StatusUpdate:
    return StatusUpdate("t", "c", state, said(text, message_id))


def task(*artifacts: Artifact, state: TaskState = TaskState.WORKING, **rest: Any) -> Snapshot:
    return Snapshot("t", "c", state, artifacts=artifacts, **rest)


def streamed(*frames: Frame, in_statuses: bool | None = False) -> SnapshotMerger:
    merger = SnapshotMerger(in_statuses=in_statuses)
    for frame in frames:
        merger.on_frame(frame)
    return merger


def artifacts_of(frames: list[Frame]) -> list[tuple[str, dict[str, Any]]]:
    last = frames[-1]
    assert isinstance(last, Snapshot)
    return [(each.text, dict(each.metadata)) for each in last.artifacts]


# -- artifacts


def test_an_artifact_that_says_nothing_of_its_text_is_left_as_it_is() -> None:
    assert artifacts_of(streamed(chunk("one ")).merge(task(artifact("one two")))) == [("one two", {})]


def test_a_pure_answer_is_left_as_it_is() -> None:
    merger = streamed(chunk("one ", **ANSWER))
    assert artifacts_of(merger.merge(task(artifact("one two", **ANSWER)))) == [("one two", ANSWER)]


def test_narration_before_the_answer_is_taken_off_again_and_again() -> None:
    merger = streamed(chunk("hm ", append=False, **NARRATION), chunk("one ", **ANSWER))
    assert artifacts_of(merger.merge(task(artifact("hm one two ", **BOTH)))) == [("one two ", ANSWER)]
    assert artifacts_of(merger.merge(task(artifact("hm one two three", **NARRATION)))) == [
        ("one two three", ANSWER)
    ]


def test_what_nobody_can_tell_apart_is_left_for_the_final_result() -> None:
    mixed = task(artifact("hm one two", **BOTH))
    assert artifacts_of(streamed().merge(mixed)) == []
    assert artifacts_of(streamed(chunk("hm ", **NARRATION)).merge(mixed)) == []
    assert artifacts_of(streamed(chunk("other ", **NARRATION), chunk("o", **ANSWER)).merge(mixed)) == []


def test_an_artifact_that_was_begun_anew_is_what_was_heard_since() -> None:
    merger = streamed(chunk("hm ", **NARRATION), chunk("one ", append=False, **ANSWER))
    assert artifacts_of(merger.merge(task(artifact("one two", **ANSWER)))) == [("one two", ANSWER)]


# -- statuses


def test_a_status_message_that_was_heard_is_not_said_again() -> None:
    merger = streamed(status("one ", "1"))
    assert merger.merge(task(message=said("one ", "1"))) == [task()]
    assert merger.merge(task(message=said("two ", "2"))) == [task(message=said("two ", "2"))]
    assert merger.merge(task(message=said("two ", "2"))) == [task()]


def test_the_last_word_of_a_task_is_always_said() -> None:
    merger = streamed(status("one ", "1"))
    for state in (TaskState.COMPLETED, TaskState.INPUT_REQUIRED):
        over = task(message=said("one ", "1"), state=state)
        assert merger.merge(over) == [over]


def test_what_was_said_between_stands_in_the_history() -> None:
    merger = streamed(status("one ", "1"))
    history = (said("hi", "q", "user"), said("one ", "1"), said("two ", "2"), said("three ", "3"))
    found = merger.merge(task(history=history, message=said("four", "4")))
    assert [frame.message.text for frame in found if isinstance(frame, StatusUpdate) and frame.message] == [
        "two ",
        "three ",
    ]
    assert merger.merge(task(history=history, message=said("four", "4"))) == [task(history=history)]


def test_a_history_is_no_status_where_none_was_heard() -> None:
    whole = task(history=(said("one ", "1"),))
    assert streamed().merge(whole) == [whole]
    assert streamed(status("other", "9")).merge(whole) == [whole]
    found = streamed(in_statuses=True).merge(whole)
    assert [type(frame) for frame in found] == [StatusUpdate, Snapshot]


def test_tokens_in_the_history_of_a_new_task_were_its_status_whatever_the_order() -> None:
    def texts(*history: AgentMessage) -> list[str]:
        frames = streamed(in_statuses=None).merge(task(history=history))
        return [frame.message.text for frame in frames if isinstance(frame, StatusUpdate) and frame.message]

    asked = said("q", "0", "user")
    tokens = [said(word, word) for word in ("The ", "quick ", "brown ", "fox")]
    assert texts(asked, *tokens) == texts(*reversed(tokens), asked) == ["The ", "quick ", "brown ", "fox"]
    assert texts(asked, said("Searching the docs.", "1"), said("It is here.", "2")) == []


@pytest.mark.parametrize("seen", [1, 2, 3, 4])
def test_a_task_that_is_read_at_its_first_tokens_loses_none_of_them(seen: int) -> None:
    tokens = [said(word, word) for word in ("The ", "quick ", "brown ", "fox ", "it ", "is.")]

    def texts(*history: AgentMessage, **rest: Any) -> list[str]:
        *statuses, last = merger.merge(task(history=history, **rest))
        assert isinstance(last, Snapshot)
        told = [each.message for each in (*statuses, last) if isinstance(each, StatusUpdate | Snapshot)]
        return [message.text for message in told if message is not None]

    merger = streamed(in_statuses=None)
    first = texts(*tokens[: seen - 1], message=tokens[seen - 1])
    assert [*first, *texts(*tokens)] == [each.text for each in tokens]


def test_a_first_word_alone_may_be_the_beginning_of_a_message_that_grows() -> None:
    """agno: the pieces of one message have one id, and the task holds what there is of it."""
    merger = streamed(in_statuses=None)
    first = task(history=(said("The ", "1"),))
    assert merger.merge(first) == [first]


def test_a_narration_behind_another_one_is_told_at_once() -> None:
    merger, searching = streamed(in_statuses=None), said("Searching the docs.", "1")
    reading = task(history=(searching,), message=said("Reading them.", "2"))
    assert merger.merge(reading) == [reading]


# -- messages


def reply(text: str, message_id: str = "m") -> MessageReply:
    return MessageReply(said(text, message_id))


def test_a_message_in_pieces_is_whole_in_the_history() -> None:
    merger = streamed(reply("one "), reply("two "))
    history = (said("one two three", "other"),)
    assert merger.merge(task(history=history)) == [reply("one two three"), task(history=history)]
    assert merger.merge(task(history=history)) == [task(history=history)]


def test_a_message_that_is_said_ever_longer() -> None:
    merger = streamed(reply("one "), reply("one two "), reply("one two "))
    assert merger.merge(task(history=(said("one two three", "m"),)))[0] == reply("one two three")


def test_another_message_is_another() -> None:
    merger = streamed(reply("one", "1"), reply("two ", "2"), MessageReply(said("mine", "3", "user")))
    assert merger.merge(task(history=(said("two three", "2"),)))[0] == reply("two three", "2")
    assert streamed(reply("one")).merge(task(history=(said("two", "m"),))) == [
        task(history=(said("two", "m"),))
    ]


# -- a task that was there before


def test_what_stood_there_before_the_turn_is_not_said_again() -> None:
    merger = streamed()
    merger.set_baseline(task(artifact("before "), history=(said("hm", "1"),), message=said("Which?", "2")))
    whole = task(artifact("before "), history=(said("hm", "1"), said("Which?", "2")))
    assert artifacts_of(merger.merge(whole)) == []
    assert len(merger.merge(whole)) == 1
    assert artifacts_of(merger.merge(task(artifact("before and since")))) == [("and since", {})]
    assert artifacts_of(merger.merge(task(artifact("replaced")))) == [("replaced", {})]


def test_data_that_came_with_or_without_text_to_what_stood_there_before_is_kept() -> None:
    old, new = Part(data=[1], has_data=True), Part(data=[2], has_data=True)

    def stored(*parts: Part, **metadata: Any) -> Snapshot:
        return task(Artifact("a", "answer", parts=parts, metadata=metadata))

    def parts_of(whole: Snapshot) -> list[Part]:
        return [
            part
            for each in merger.merge(whole)
            if isinstance(each, Snapshot)
            for part in each.artifacts[0].parts
        ]

    merger = streamed()
    merger.set_baseline(stored(Part(text="before "), old))
    assert parts_of(stored(Part(text="before "), old, new)) == [new]
    assert parts_of(stored(Part(text="before "), old, Part(text="since"), new)) == [Part(text="since"), new]
    merger = streamed(chunk("hm ", is_narration=True), chunk("yes", is_final_answer=True))
    whole = stored(Part(text="hm yes"), new, is_narration=True, is_final_answer=True)
    assert parts_of(whole) == [Part(text="yes"), new]


def test_what_was_said_anew_is_this_turn_s_though_it_is_the_same() -> None:
    merger = streamed()
    merger.set_baseline(task(artifact("same")))
    merger.on_frame(chunk("same", append=False))
    assert artifacts_of(merger.merge(task(artifact("same")))) == [("same", {})]


def test_a_status_message_without_text_is_left_as_it_is() -> None:
    silent = task(message=said("", "1"))
    assert streamed().merge(silent) == [silent]


# -- the text of an artifact


def part(value: str, **metadata: Any) -> Part:
    return Part(text=value, metadata=metadata)


@pytest.mark.parametrize(
    ("artifact", "said"),
    [
        (Artifact(parts=(part("a "), part("b"))), "a b"),
        (Artifact(parts=(part("The "), part("fox "), part("ran."))), "The fox ran."),
        (Artifact(parts=(part("The "), part("The fox "), part("The fox ran."))), "The fox ran."),
        (Artifact(parts=(part("a"), part("ab"))), "aab"),
        (Artifact(parts=(part("hm", thought=True), part("Yes"))), "Yes"),
        (Artifact(parts=(part("hm"),), metadata={"type": "thinking"}), ""),
        (Artifact(parts=(Part(has_data=True, data={"x": 1}),)), "- **x**: 1"),
    ],
)
def test_an_artifact_as_a_task_holds_it(artifact: Artifact, said: str) -> None:
    assert stored_text(artifact) == said
