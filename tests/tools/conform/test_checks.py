"""Each check, with a thread that passes it and one that does not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slack_bot.tools.conform.measures import Measures
from tests.tools.conform.measured import FIRST, TEXT, measured, verdict

MEASURES = measured()


# -- the CAIPE suite -----------------------------------------------------------------------------------------

ENDED = f"{len(TEXT)} characters delivered, and then the turn ended as failed (None)"


@pytest.mark.parametrize(
    ("name", "params", "detail"),
    [
        ("content_delivered", {"over": 20}, f"{len(TEXT)} characters delivered"),
        ("stream_opened", {}, "opened"),
        (
            "live_streamed",
            {},
            f"{len(TEXT)} characters by appendStream, {len(FIRST)} of them with startStream",
        ),
        ("no_duplicate", {}, f"appendStream={len(TEXT)}c, stopStream=0c"),
        ("final_answer_latched", {}, "True"),
        ("tools_used", {}, "tools: {'search': 1}"),
        ("multi_chunk", {}, "2 chunks"),
    ],
)
def test_what_holds(name: str, params: dict[str, Any], detail: str) -> None:
    found = verdict(name, MEASURES, **params)
    assert (found.ok, found.detail) == (True, detail)


@pytest.mark.parametrize(
    ("name", "changed", "params", "detail"),
    [
        (
            "content_delivered",
            {},
            {"over": 200},
            f"{len(TEXT)} characters delivered; more than 200 are wanted",
        ),
        ("content_delivered", {"outcomes": ("asked", "failed")}, {}, ENDED),
        ("live_streamed", {"streamed": 0, "begun": 0}, {}, "0 characters by appendStream"),
        ("no_duplicate", {"stopped": 3}, {}, f"appendStream={len(TEXT)}c, stopStream=3c"),
        ("no_tools", {}, {}, "tools: {'search': 1}"),
        ("tools_used", {}, {"any": ("fetch_document",)}, "tools: {'search': 1}; wanted: fetch_document"),
        ("tools_used", {"tools": {}}, {}, "none; wanted: search or fetch_document"),
        ("multi_chunk", {"final_chunks": 1}, {}, "1 chunks; more than 1 are wanted"),
    ],
)
def test_what_does_not(name: str, changed: Any, params: dict[str, Any], detail: str) -> None:
    found = verdict(name, replace(MEASURES, **changed), **params)
    assert (found.ok, found.detail) == (False, detail)


def test_a_stream_that_was_refused_was_not_opened_and_no_answer_is_no_latch() -> None:
    calls = [{**call, "ok": False} for call in MEASURES.result["calls"]]
    refused = replace(MEASURES, result={**MEASURES.result, "calls": calls, "latches": {}})
    assert verdict("stream_opened", refused).detail == "never opened"
    assert verdict("final_answer_latched", refused).ok is False
    assert verdict("no_tools", replace(MEASURES, tools={})).ok is True


# -- text ----------------------------------------------------------------------------------------------------


def looked(*texts: str, final: str = TEXT) -> Measures:
    looks = (*texts, final)
    return replace(
        MEASURES, looks=looks, own_looks=looks, texts=(final,), result={**MEASURES.result, "visible": final}
    )


def test_the_text_is_the_agents() -> None:
    assert verdict("text_equals_final", MEASURES).ok
    assert verdict("text_equals_final", replace(MEASURES, texts=(FIRST.rstrip(), TEXT[len(FIRST) :]))).ok
    short = verdict("text_equals_final", replace(MEASURES, texts=(FIRST,)))
    assert short.ok is False
    assert "'nothing' instead of 'Thesecondlinesaystha'" in short.detail
    assert verdict("text_equals_final", replace(MEASURES, final=None)).ok is None


def test_the_text_is_what_the_case_says() -> None:
    assert verdict("text_is", MEASURES, text=TEXT).ok
    assert (
        "after 3: 'firstlinesaysthis.Th' instead of 'last.'"
        in verdict("text_is", MEASURES, text="The last.").detail
    )


def test_text_is_looked_for_everywhere_and_kept_out_of_the_answer() -> None:
    block = {"type": "actions", "number": 1, "elements": [{"text": {"text": "Try again"}}]}
    with_block = with_message(blocks=[block], state="posted")
    assert verdict("text_has", with_block, texts=("Try again", "first line", "Search")).ok
    assert (
        verdict("text_has", MEASURES, texts=("Try again", "xx", "zz")).detail
        == "missing: 'Try again', 'xx' and 1 more"
    )
    assert verdict("text_lacks", MEASURES, texts=("Try again",)).ok
    assert verdict("text_lacks", MEASURES, texts=("first line",)).ok is False


def test_a_marker_may_not_even_be_seen_for_a_moment() -> None:
    assert verdict("no_marker", MEASURES).ok
    assert verdict("no_marker", looked("[FINAL ANSWER] Hm")).ok is False
    assert verdict("no_marker", looked(final="So [FINAL_ANSWER] is it")).ok is False


def test_narration_may_not_even_be_seen_for_a_moment() -> None:
    assert verdict("no_narration", MEASURES).ok
    assert verdict("no_narration", looked("I will look it up first. The")).ok is False
    quoted = replace(looked("I will look it up first."), final="I will look it up first.")
    assert verdict("no_narration", quoted).ok, "the agent's answer says it itself"
    assert verdict("no_narration", replace(MEASURES, narration=())).ok is None


def test_nothing_stands_there_twice() -> None:
    long = "A line that is long enough to be known again.\n"
    assert verdict("nothing_twice", replace(looked(final=long), final=long)).ok
    assert verdict("nothing_twice", replace(looked(long + long, final=long), final=long)).ok is False
    wrote = replace(looked(final=long + long), final=long + long)
    assert verdict("nothing_twice", wrote).ok, "the agent wrote it twice"
    assert verdict("nothing_twice", replace(MEASURES, result={**MEASURES.result, "visible": ""})).ok is None


def test_the_answer_grows_at_its_end() -> None:
    assert verdict("only_grows", MEASURES).ok
    assert verdict("only_grows", looked("```\nThe first\n```")).ok, "markup is closed where a message ends"
    changed = verdict("only_grows", looked("The *last* of them"))
    assert (changed.ok, "'The *last* of them' was shown" in changed.detail) == (False, True)
    assert verdict("only_grows", replace(MEASURES, result={**MEASURES.result, "visible": ""})).ok is None


def test_words_are_whole() -> None:
    assert verdict("whole_words", MEASURES).ok
    assert verdict("whole_words", looked("The fi")).ok is False
    assert verdict("whole_words", looked("Something else")).ok, "that is for another check"
    assert verdict("whole_words", replace(MEASURES, texts=())).ok is None


# -- time ----------------------------------------------------------------------------------------------------


def timed(**figures: Any) -> Measures:
    return replace(MEASURES, summary=replace(MEASURES.summary, **figures))


def resulted(**figures: Any) -> Measures:
    return replace(MEASURES, result={**MEASURES.result, **figures})


def test_the_first_text_is_seen_soon_after_the_question() -> None:
    assert verdict("first_visible_text", MEASURES).detail == "after 1.30 s"
    late = verdict("first_visible_text", replace(timed(first_visible=17.8), sent=((17.6, 9),)))
    assert (late.ok, late.detail.endswith("the agent's wait")) == (False, True)
    bots = verdict("first_visible_text", replace(timed(first_visible=17.8), sent=((2.0, 9),)))
    assert bots.detail == "after 17.80 s instead of 8 s; the agent began to write it after 2.00 s"
    assert verdict("first_visible_text", replace(timed(first_visible=9.0), sent=())).ok is False
    assert verdict("first_visible_text", timed(first_visible=None)).ok is False


def test_the_first_text_is_seen_soon_after_it_was_written() -> None:
    assert verdict("shown_soon", MEASURES).detail == "0.30 s after the agent's first word"
    assert verdict("shown_soon", timed(first_visible=2.5)).ok is False
    assert verdict("shown_soon", timed(first_visible=None)).ok is False
    assert verdict("shown_soon", replace(MEASURES, sent=())).ok is None


def test_no_text_waits_for_long() -> None:
    assert verdict("never_lags", MEASURES, within=0.5, but=0).ok
    assert verdict("never_lags", MEASURES, within=0.1, but=0).ok is False
    assert verdict("never_lags", replace(MEASURES, sent=())).ok is None


def test_a_burst_says_whether_the_agent_burst() -> None:
    assert verdict("burst_share", MEASURES, most=0.9).ok
    burst = timed(burst_share=0.94)
    agents, bots, unknown = (
        verdict("burst_share", replace(burst, agent_burst_share=share)) for share in (0.95, 0.08, None)
    )
    assert agents.ok is bots.ok is unknown.ok is False
    assert agents.detail == (
        "94% within half a second; the agent itself wrote 95% within half a second; at most 50% may"
    )
    assert "; it was held: the agent wrote only 8% within half a second; " in bots.detail
    assert unknown.detail == "94% within half a second; at most 50% may"
    assert verdict("burst_share", timed(burst_share=None)).ok is None


def test_most_stands_there_before_the_result_and_nothing_stands_still() -> None:
    assert verdict("ends_in_time", MEASURES).ok
    assert verdict("ends_in_time", MEASURES, within=1).detail == "after 3.20 s"
    assert verdict("live_share", MEASURES).ok
    assert verdict("live_share", replace(MEASURES, live_share=0.2)).ok is False
    assert verdict("live_share", replace(MEASURES, live_share=None)).ok is None
    near = verdict("live_share", replace(MEASURES, live_share=0.798)).detail
    assert near.startswith("79.8% stood there ") and near.endswith("; at least 80% should")
    assert verdict("no_long_gap", MEASURES).ok
    assert verdict("no_long_gap", resulted(longest_gap=9.0)).ok is False
    assert verdict("no_long_gap", resulted(longest_gap=None)).ok is None


# -- the turn ------------------------------------------------------------------------------------------------

CARD = {"id": "c", "title": "Look", "details": "", "output": ""}


def with_message(**changed: Any) -> Measures:
    usual = {"text": "", "state": "sealed", "blocks": [], "tasks": [], "status_line": None}
    return resulted(thread=[*MEASURES.thread, {**usual, **changed}])


def test_how_the_turns_ended() -> None:
    assert verdict("outcomes", MEASURES).detail == "answered"
    failed = replace(
        MEASURES, outcomes=("asked", "failed"), result={**MEASURES.result, "reason": "task failed"}
    )
    assert verdict("outcomes", failed, are=("asked", "answered")).detail == "asked, failed (task failed)"
    assert verdict("outcomes", replace(MEASURES, outcomes=())).ok is False


@pytest.mark.parametrize(
    ("changed", "left"),
    [
        ({"state": "streaming"}, "left open: 1 streams"),
        ({"tasks": ({**CARD, "status": "in_progress"},)}, "left open: 1 cards"),
        ({"status_line": "is thinking..."}, "left open: the status 'is thinking...'"),
    ],
)
def test_what_is_left_open(changed: dict[str, Any], left: str) -> None:
    assert verdict("nothing_left_open", MEASURES).ok
    found = verdict("nothing_left_open", with_message(**changed))
    assert (found.ok, found.detail) == (False, left)


def test_silence_and_text_in_the_stop() -> None:
    assert verdict("no_silence", MEASURES).ok
    assert (
        verdict("no_silence", resulted(thread=[{**MEASURES.thread[0], "text": " ", "tasks": []}])).ok is False
    )
    assert verdict("stop_has_no_text", MEASURES).ok
    assert verdict("stop_has_no_text", replace(MEASURES, stopped=4)).ok is False


def test_cards_messages_calls() -> None:
    assert verdict("cards", MEASURES, complete=1).detail == "1 complete, 0 error, 0 open"
    assert verdict("cards", MEASURES, error=1).ok is False
    assert verdict("messages", MEASURES).ok
    assert verdict("messages", MEASURES, least=2, most=3).ok is False
    assert verdict("calls_accepted", MEASURES).ok
    calls = [{"method": "chat.update", "ok": False, "error": "ratelimited"}, *MEASURES.result["calls"]]
    refused = replace(MEASURES, result={**MEASURES.result, "calls": calls})
    assert verdict("calls_accepted", refused).detail == "1 refused; first chat.update: ratelimited"
    assert verdict("calls_accepted", refused, but=1).ok


def test_each_question_is_sent_once() -> None:
    assert verdict("asked_once", MEASURES).ok
    assert verdict("asked_once", replace(MEASURES, asked=2)).ok is False
    assert verdict("asked_once", replace(MEASURES, asked=None)).ok is None


def test_each_file_arrives() -> None:
    result = {**MEASURES.result, "visible": "`a.log`: its SHA-256 is `77`"}
    arrived = replace(MEASURES, result=result, files={"a.log": "77"})
    assert verdict("files_arrived", MEASURES).ok is None
    assert verdict("files_arrived", arrived).ok
    assert verdict("files_arrived", replace(arrived, files={"a.log": "78"})).ok is False
    lost = verdict("files_arrived", replace(arrived, files={"a.log": "77", "b.log": "77"}))
    assert (lost.ok, lost.detail) == (False, "1 of 2, not b.log")


def test_the_sources_are_shown() -> None:
    told = {**MEASURES.result, "thread": [{"blocks": [{"text": "1. <https://x.example/a|A>"}], "text": ""}]}
    shown = replace(MEASURES, result=told, sources=("https://x.example/a",))
    assert verdict("sources_shown", MEASURES).ok is None
    assert verdict("sources_shown", shown).ok
    lost = verdict("sources_shown", replace(shown, sources=("https://x.example/a", "https://x.example/b")))
    assert (lost.ok, lost.detail) == (False, "2 named, not shown: https://x.example/b")


def test_a_capped_tool_stops_no_other() -> None:
    capped = replace(MEASURES, said="limit reached: search may be called 2 times", tool_order=("search",) * 3)
    assert verdict("cap_stops_no_other", MEASURES).ok is None
    assert verdict("cap_stops_no_other", capped).detail == "after search: no tool"
    assert verdict("cap_stops_no_other", replace(capped, tool_order=("search", "search", "fetch"))).ok
    assert verdict("cap_stops_no_other", replace(capped, tool_order=())).ok is False
