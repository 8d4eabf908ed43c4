"""Which start an event about a stream belongs to."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from slack_bot.slack.stream_starts import StreamStart, StreamStartTracker

THREAD = ("C1", "10.0")


def stream_starts(threads_kept: int = 9) -> StreamStartTracker:
    return StreamStartTracker(_never, threads_kept)


def _never(work: Coroutine[Any, Any, None]) -> asyncio.Future[None]:
    raise AssertionError(work)


def doubtful(seen: StreamStartTracker, after: str = "11.0") -> StreamStart:
    start = seen.expect(*THREAD, after)
    seen.settle(start, in_doubt=True)
    return start


def test_an_event_names_the_stream_of_a_start_without_an_answer() -> None:
    seen, told = stream_starts(), []
    start = doubtful(seen)
    start.tell = lambda: told.append(start.ts)
    assert seen.saw(*THREAD, "12.0")
    assert (start.ts, told) == ("12.0", ["12.0"])
    assert not seen.saw(*THREAD, "12.0")
    assert seen.known(*THREAD) == {"12.0"}
    assert seen.known("C1", "other") == frozenset()


def test_what_stood_there_before_or_stands_elsewhere_is_not_it() -> None:
    seen = stream_starts()
    first = seen.expect(*THREAD, "11.0")
    seen.settle(first, "14.0")
    start = doubtful(seen)
    for thread, ts in ((THREAD, "10.5"), (THREAD, "13.0"), (THREAD, "14.0"), (("C2", "10.0"), "15.0")):
        assert not seen.saw(*thread, ts)
    assert start.ts is None
    assert seen.saw(*THREAD, "15.0")


def test_an_event_waits_for_the_answer_to_the_call_under_way() -> None:
    seen, told = stream_starts(), []
    start = seen.expect(*THREAD, "11.0")
    start.tell = lambda: told.append(start.ts)
    assert seen.saw(*THREAD, "12.0")
    assert not seen.saw(*THREAD, "12.0")
    assert seen.saw(*THREAD, "12.5")
    assert told == [None]
    seen.settle(start, in_doubt=True)
    assert start.ts == "12.5"


def test_what_the_newer_start_does_not_claim_is_the_older_ones() -> None:
    for settle in ("named", "refused"):
        seen = stream_starts()
        older, newer = doubtful(seen), seen.expect(*THREAD, "11.5")
        assert seen.saw(*THREAD, "12.0")
        if settle == "named":
            assert seen.saw(*THREAD, "13.0")
            seen.settle(newer, "13.0")
        else:
            seen.settle(newer)
        assert (older.ts, newer.ts) == ("12.0", None)


def test_a_stream_between_two_questions_is_the_earlier_ones() -> None:
    seen = stream_starts()
    older, newer = doubtful(seen), seen.expect(*THREAD, "20.0")
    assert seen.saw(*THREAD, "12.0")
    assert (older.ts, newer.ts) == ("12.0", None)


def test_a_stream_that_was_found_in_the_thread_is_not_missing_any_more() -> None:
    seen = stream_starts()
    start = doubtful(seen)
    seen.settle(start, "12.0")
    assert not seen.saw(*THREAD, "12.0")
    assert not seen.saw(*THREAD, "13.0")


def test_what_is_no_time_does_no_harm() -> None:
    seen = stream_starts()
    start = doubtful(seen, "yesterday")
    assert not seen.saw(*THREAD, "soon")
    assert seen.saw(*THREAD, "12.0")
    assert start.ts == "12.0"


def test_the_oldest_threads_are_forgotten() -> None:
    seen = stream_starts(threads_kept=1)
    start = seen.expect("C1", "1.0", "1.0")
    seen.expect("C1", "2.0", "2.0")
    assert not seen.saw("C1", "1.0", "5.0")
    seen.settle(start, in_doubt=True)
    seen.settle(start, "5.0")
    assert start.ts is None


MOMENTS = st.lists(st.sampled_from(["doubt", "name", "refuse", "see"]), max_size=30)


@given(MOMENTS, st.randoms())
def test_a_stream_has_one_owner_and_never_an_earlier_question_s(moments: list[str], random: Any) -> None:
    """Whatever comes in whatever order: no two starts have one name, and each is newer than its question."""
    seen, starts, named, now = stream_starts(), list[StreamStart](), dict[StreamStart, str](), 10
    for moment in moments:
        now += 1
        if moment == "see":
            seen.saw(*THREAD, f"{random.randint(10, now)}.0")
            continue
        start = seen.expect(*THREAD, f"{random.randint(10, now)}.0")
        starts.append(start)
        for _ in range(random.randint(0, 2)):
            seen.saw(*THREAD, f"{random.randint(10, now + 2)}.0")
        if moment == "name":
            now += 3
            named[start] = f"{now}.0"
            seen.settle(start, named[start])
        elif moment == "doubt":
            seen.settle(start, in_doubt=True)
        else:
            seen.settle(start)
    names = [*named.values(), *(start.ts for start in starts if start.ts is not None)]
    assert len(names) == len(set(names))
    assert all(start.ts is None or float(start.ts) > start.after for start in starts)
    assert not any(start.ts for start in named)
