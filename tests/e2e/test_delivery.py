"""The whole answer, once: any text, any chunking, any clock, any faults, through the whole bot.

What holds for every example: the thread's messages read as the answer, once; the turn is over once; every
stream that was opened is stopped, every card closed. Where a person stops the turn or deletes the thread, the
answer's beginning stands there, once. The judge is the fault run's (`tests/bench`).
"""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from slack_bot.testing.tape.builders import chunk, status, task
from slack_bot.testing.tape.tape import Moment, Tape
from slack_bot.text.sanitize import sanitize
from tests.bench.fault_run import Plan, run
from tests.bench.fault_scripts import NOT_HERE, NOT_THIS_ONE, Script
from tests.bench.verdict import Truth
from tests.examples import examples

FAULTS = """
    ratelimited:2 rate_limited service_unavailable connect timeout timeout! internal_error internal_error!
    fatal_error! request_timeout http:503 http:500! cut cut! slow:5 slow:9! error:nobody_knows_this
"""
POST = "chat.postMessage"
OF_METHOD = {
    "chat.startStream": ["invalid_chunks", "channel_type_not_supported", "messaging_processing_failed!"],
    "chat.appendStream": ["message_not_in_streaming_state", "msg_too_long", "invalid_chunks"],
    "chat.stopStream": ["message_not_in_streaming_state", "invalid_blocks", "messaging_processing_failed!"],
    "chat.update": ["block_mismatch", "invalid_blocks"],
    POST: ["messaging_processing_failed!"],
    "conversations.replies": ["missing_scope"],
}
PIECES = st.sampled_from(
    [
        "word ",
        "two words and more of them, a sentence even. ",
        "\n",
        "\n\n",
        "# A heading\n",
        "- item one\n- item two\n  - below it\n",
        "1. first\n2. second\n",
        "> quoted\n> twice\n",
        "**bold words** and `code` and *more* ",
        "\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n",
        "| 5 | 6 |\n",
        "\n```python\nif x:\n    go()\n```\n",
        "\n````md\n```\ninner\n```\n````\n",
        "部署需要两个副本。",
        "👨‍👩‍👧‍👦 🇩🇪 e\u0301",
        "שלום עולם ",
        "[a link](https://example.org/?a=b) ",
        "<!channel> & <b> ",
        "x" * 700,
        "no spaces but many letters ".replace(" ", "") * 40,
        "A line that goes on for a while and then for a while more. " * 30,
        "\n```\n" + "    code line\n" * 150 + "```\n",
    ]
)
TEXTS = (
    st.lists(PIECES | st.text(max_size=12), min_size=1, max_size=40)
    .map("".join)
    .filter(lambda text: sanitize(text).strip() != "")
)
SIZES = st.sampled_from([1, 7, 60, 1000, 20_000])
TOOLS = st.integers(0, 2)
GAPS = [0.0, 0.0, 0.02, 0.1, 0.5, 1.5, 4.0, 30.0, 130.0]
PAUSES = st.lists(st.sampled_from(GAPS), min_size=1, max_size=5)
SHORT_PAUSES = st.lists(st.sampled_from([gap for gap in GAPS if gap < 5]), min_size=1, max_size=5)


@st.composite
def tapes(draw: st.DrawFn) -> tuple[str, Tape]:
    """An answer and the stream that brings it, in pieces of any size with pauses of any length."""
    text = draw(TEXTS)
    most = draw(SIZES)
    size = max(most, len(text) // 150)
    # no agent takes half a minute for a letter, and between the letters of a fence nothing can be mended
    is_slow = size > 7
    parts = re.findall(f"(?s).{{1,{size}}}{'`*' if is_slow else ''}", text)
    pauses = draw(PAUSES if is_slow else SHORT_PAUSES)
    now, moments = 0.1, [Moment(0.1, event=task())]
    for number in range(draw(TOOLS)):
        for event in (_tool("start", number), _tool("end", number)):
            now += pauses[number % len(pauses)]
            moments.append(Moment(now, event=event))
    for number, part in enumerate(parts):
        # the pauses of one round together stay below what an agent may be silent or a turn may last
        now += pauses[number % len(pauses)] if number < 3 * len(pauses) else 0.05
        moments.append(Moment(now, event=chunk(part)))
    moments += [Moment(now + 0.1, event=status("completed")), Moment(now + 0.2, end="closed")]
    return text, Tape({"wire": "0.3"}, tuple(moments))


def _tool(what: str, number: int) -> dict[str, Any]:
    about = {"tool_name": f"tool {number}", "tool_call_id": f"call-{number}"}
    artifact = {
        "artifactId": f"t{number}",
        "name": f"tool_notification_{what}",
        "metadata": about,
        "parts": [],
    }
    return {"kind": "artifact-update", "taskId": "task-1", "contextId": "ctx-1", "artifact": artifact}


def _scripts() -> st.SearchStrategy[dict[str, Script]]:
    """Faults for the first calls of each method; later ones go well."""
    scripts = {}
    for method, names in OF_METHOD.items():
        # a post is the last way there is: refused for good in both its forms, it is an error of the turn
        general = [name for name in FAULTS.split() if (method, name) != (POST, "error:nobody_knows_this")]
        # what nobody can look for is posted again rather than lost: then it may stand twice
        most = 2 if method == "conversations.replies" else 6
        entries = st.lists(st.none() | st.sampled_from([*general, *names]), max_size=most)
        scripts[method] = entries.map(lambda drawn: [*drawn, None])
    return st.fixed_dictionaries(scripts)


FAULT_SCRIPTS = _scripts()


def check(plan: Plan) -> None:
    report = run(plan)
    verdict = report.verdict
    assert verdict.kind == "right", verdict.why
    assert (verdict.open_streams, verdict.open_cards) == (0, 0)
    assert report.closings <= 1


@examples(200)
@given(tapes(), FAULT_SCRIPTS)
def test_the_answer_stands_there_whole_and_once(answer: tuple[str, Tape], scripts: dict[str, Script]) -> None:
    text, tape = answer
    check(Plan(0, "storm", "", tape, Truth(sanitize(text)), scripts))


@examples(100)
@given(tapes())
def test_without_faults_no_message_ends_within_a_fence(answer: tuple[str, Tape]) -> None:
    text, tape = answer
    check(Plan(0, "calm", "", tape, Truth(sanitize(text), closed=True)))


@examples(100)
@given(tapes(), FAULT_SCRIPTS, st.sampled_from(NOT_HERE + NOT_THIS_ONE))
def test_where_nothing_may_be_streamed_the_promises_are_the_same(
    answer: tuple[str, Tape], scripts: dict[str, Script], refusal: str
) -> None:
    text, tape = answer
    check(Plan(0, "no streams", "", tape, Truth(sanitize(text)), scripts | {"chat.startStream": [refusal]}))


@examples(100)
@given(tapes(), FAULT_SCRIPTS, st.floats(0.0, 1.0))
def test_what_stands_after_a_stop_is_the_beginning_once(
    answer: tuple[str, Tape], scripts: dict[str, Script], when: float
) -> None:
    text, tape = answer
    truth = Truth(sanitize(text), frozenset({"answered", "stopped"}), frozenset({"stopped"}))
    check(Plan(0, "stopped", "", tape, truth, scripts, at=when * tape.moments[-1].t))


@examples(50)
@given(tapes(), FAULT_SCRIPTS, st.floats(0.0, 1.0), st.booleans())
def test_a_deleted_thread_is_left_alone(
    answer: tuple[str, Tape], scripts: dict[str, Script], when: float, with_replies: bool
) -> None:
    text, tape = answer
    ends = frozenset({"gone", "failed"})
    truth = Truth(sanitize(text), ends | {"answered"}, ends, may_be_silent=True)
    at = when * tape.moments[-1].t
    check(Plan(0, "gone", "", tape, truth, scripts, at=at, with_replies=with_replies))
