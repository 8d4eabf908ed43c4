"""Checks of what stands in the thread, each with a thread that it must not let pass."""

from __future__ import annotations

from dataclasses import replace

from slack_bot.tools.conform.measures import Measures, Sample
from slack_bot.tools.replay.result import Shown
from tests.tools.conform.measured import FIRST, TEXT, measured, verdict

SEEN = measured()


def looked(*texts: str, final: str = TEXT) -> Measures:
    looks = tuple(Sample(n, text) for n, text in enumerate((*texts, final)))
    return replace(SEEN, looks=looks, texts=(final,), result={**SEEN.result, "visible": final})


def test_the_text_is_the_agents() -> None:
    assert verdict("text_equals_final", SEEN).ok
    assert verdict("text_equals_final", replace(SEEN, texts=(FIRST.rstrip(), TEXT[len(FIRST) :]))).ok
    short = verdict("text_equals_final", replace(SEEN, texts=(FIRST,)))
    assert short.ok is False
    assert "'nothing' instead of 'Thesecondlinesaystha'" in short.detail
    assert verdict("text_equals_final", replace(SEEN, final=None)).ok is None


def test_the_text_is_what_the_case_says() -> None:
    assert verdict("text_is", SEEN, text=TEXT).ok
    assert (
        "after 3: 'firstlinesaysthis.Th' instead of 'last.'"
        in verdict("text_is", SEEN, text="The last.").detail
    )


def test_text_is_looked_for_everywhere_and_kept_out_of_the_answer() -> None:
    block = {"type": "actions", "number": 1, "elements": [{"text": {"text": "Try again"}}]}
    with_block = replace(SEEN, thread=(*SEEN.thread, Shown("9.0", "", "posted", blocks=(block,))))
    assert verdict("text_has", with_block, texts=("Try again", "first line", "Search")).ok
    assert (
        verdict("text_has", SEEN, texts=("Try again", "xx", "zz")).detail
        == "missing: 'Try again', 'xx' and 1 more"
    )
    assert verdict("text_lacks", SEEN, texts=("Try again",)).ok
    assert verdict("text_lacks", SEEN, texts=("first line",)).ok is False


def test_a_marker_may_not_even_be_seen_for_a_moment() -> None:
    assert verdict("no_marker", SEEN).ok
    assert verdict("no_marker", looked("[FINAL ANSWER] Hm")).ok is False
    assert verdict("no_marker", looked(final="So [FINAL_ANSWER] is it")).ok is False


def test_narration_may_not_even_be_seen_for_a_moment() -> None:
    assert verdict("no_narration", SEEN).ok
    assert verdict("no_narration", looked("I will look it up first. The")).ok is False
    quoted = replace(looked("I will look it up first."), final="I will look it up first.")
    assert verdict("no_narration", quoted).ok, "the agent's answer says it itself"
    assert verdict("no_narration", replace(SEEN, narration=())).ok is None


def test_nothing_stands_there_twice() -> None:
    long = "A line that is long enough to be known again.\n"
    assert verdict("nothing_twice", replace(looked(final=long), final=long)).ok
    assert verdict("nothing_twice", replace(looked(long + long, final=long), final=long)).ok is False
    wrote = replace(looked(final=long + long), final=long + long)
    assert verdict("nothing_twice", wrote).ok, "the agent wrote it twice"
    assert verdict("nothing_twice", replace(SEEN, result={**SEEN.result, "visible": ""})).ok is None


def test_the_answer_grows_at_its_end() -> None:
    assert verdict("only_grows", SEEN).ok
    assert verdict("only_grows", looked("```\nThe first\n```")).ok, "markup is closed where a message ends"
    assert verdict("only_grows", looked("The last")).ok is False
    assert verdict("only_grows", replace(SEEN, result={**SEEN.result, "visible": ""})).ok is None


def test_words_are_whole() -> None:
    assert verdict("whole_words", SEEN).ok
    assert verdict("whole_words", looked("The fi")).ok is False
    assert verdict("whole_words", looked("Something else")).ok, "that is for another check"
    assert verdict("whole_words", replace(SEEN, texts=())).ok is None
