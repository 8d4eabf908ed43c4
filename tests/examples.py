"""What the properties draw: how many examples, and texts, pieces, clocks and faults of every kind.

The promises of the delivery contract are asked thousands of times, the same examples each time, so that a
change is judged by what it changed. How often is the profile's to say (`tests/conftest.py`).

The strategies stand ready made: to build one for an example costs more than to draw from it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from hypothesis import settings
from hypothesis import strategies as st

_THOROUGH = 100


def examples(number: int) -> settings:
    """So many examples in a thorough run, a tenth by default, fifty times as many in a long one."""
    return settings(max_examples=number * settings().max_examples // _THOROUGH, deadline=None)


at_each_third = pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.slow)])
"""What is tried at every moment of a turn: at each third by default, at all of them among the slow tests.

The step is odd: what is before a call and what is behind it take turns.
"""

at_each_fifth = pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.slow)])
"""The same for what takes long. Of each eleventh moment, faults of an order of two writes are not found."""

# -- texts ---------------------------------------------------------------------------------------------------

WORDS = (
    *("word", "word ", "two words ", "Ende. ", "Really? ", "snake_case_name ", "2 * 3 * 4 "),
    *("a < b && c > d ", "中文字。", "部署需要两个副本", "三つの メッセージ ", "큐가 먼저 "),
    *("שלום עולם ", "نسختين ", "ไทย", "क्षत्रिय "),
)  # fmt: skip
CLUSTERS = (
    *("e\u0301", "👨\u200d👩\u200d👧\u200d👦", "🇩🇪", "🇩🇪🇫", "👍🏽", "1️⃣", "🏳️\u200d🌈 ", "x\u20d7"),
    *("\u0301", "\u200d"),
)  # fmt: skip
SPACES = (
    *(" ", "  ", "    ", "\n", "\n\n", "\n \n", "\t", "\u00a0", "\u2028", "\u2029", "\u3000"),
    *("\u2060", "\u2060\n"),
)  # fmt: skip
MARKS = ("**", "*", "_", "***", "~~", "`", "``", "[", "](http://a_b)", "\\", "<", ">", "|", "&", "#", "~")
INLINE = (
    *("**bold words** ", "*more* ", "_so_ ", "~~not~~ ", "`code` ", "``a ` b`` ", "***both*** "),
    *("**a *b* c** ", "[a link](https://example.org/?a=b_c&d=(e)) ", "<https://example.org/a_b> "),
    *("https://example.org/a_b_c ", "&amp; ", "&lt;b&gt; ", "&#128512; ", "&nbsp", "\\*not bold\\* "),
    *("\\`not code\\` ", "\\| "),
)  # fmt: skip
LINES = (
    *("# ", "## Title\n", "- one\n", "  - two\n", "    - three\n", "1. first\n", "   2. second\n", "-\n"),
    *("* x\n", "> said\n", "> ", "> > twice\n", "---\n", "    indented\n", "Leads on:\n"),
    *("A line of its own.\n",),
)  # fmt: skip
ROWS = (
    *("| a | b |\n|---|---|\n", "| 1 | 2 |\n", "| 3 ", "| `x` | **y** |\n", "| \\| | & |\n", "| a |\n"),
    *("|-", "|--|\n", "a | b\n---|---\n", "1 | 2\n", "| :-- | :-: |\n", "| " + "wide " * 30 + "| z |\n"),
)  # fmt: skip
FENCES = (
    *("```", "```py\n", "```diff title=x\n", "~~~\n", "````\n", "\n```\n", "   ```sh\n", "      ```\n"),
    *("> ```\n", "- ```\n", "1. ```sh\n", "code = 1\n", "    if x:\n", "````md\n```\ninner\n```\n````\n"),
    *("```py\nx\n```\n",),
)  # fmt: skip
LONG = ("a" * 60, "many words " * 12, "无空格" * 30, "**bold " * 9, "`" * 9, "> " * 9, "[" * 9)
PINGS = (
    *("<!channel>", "<!here|here> ", "<@U012AB3CD> ", "<#C012AB3CD|general>", "<!subteam^S1>", "@here "),
    *("<!date^1^x|y>",),
)  # fmt: skip
SECRETS = (
    "xoxb-123456789012-abcdefGHIJKL",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4",
    "ghp_" + "a1" * 18,
    "Bearer " + "a1b2" * 9,
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEow+/==\n-----END RSA PRIVATE KEY-----",
)
CONTROLS = ("\r\n", "\r", "\x00", "\x07", "\x1b[0m", "\u202e", "\u2066", "\ud83d", "\ude00", "\ufeff")

PIECES = WORDS + CLUSTERS + SPACES + MARKS + INLINE + LINES + ROWS + FENCES + LONG
MARKDOWN = st.sampled_from(PIECES)
"""A piece of what agents write, whole or torn."""

DANGERS = st.sampled_from(PINGS + SECRETS + CONTROLS)
"""A piece of what no reader may be shown as it is."""


def texts(most: int, pieces: st.SearchStrategy[str] = MARKDOWN) -> st.SearchStrategy[str]:
    """Up to `most` pieces, one behind the other, and now and then any characters at all."""
    return st.lists(pieces, max_size=most).map("".join) | st.lists(
        pieces | st.text(max_size=4), max_size=most
    ).map("".join)


# -- pieces and times ----------------------------------------------------------------------------------------


@st.composite
def cut(draw: st.DrawFn, text: str, most: int = 12) -> list[str]:
    """`text` in up to `most` + 1 pieces, cut anywhere: within words, marks and clusters. Some are empty."""
    return parts(text, draw(st.lists(st.integers(0, len(text)), max_size=most)))


def parts(text: str, cuts: Sequence[int]) -> list[str]:
    """`text`, cut at these places."""
    places = sorted(cuts)
    return [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]


PAUSES = st.sampled_from([0.0, 0.0, 0.0, 1e-9, 0.001, 0.1, 0.4, 0.999, 1.0, 3.0, 30.0, 240.0, 260.0, 1e6])
"""Seconds between one thing and the next on an odd clock: none, too few to count, a jump of days."""


# -- faults --------------------------------------------------------------------------------------------------

_PASSING = """
    ratelimited:1 ratelimited:17 rate_limited rate_limited:2 service_unavailable connect timeout timeout! cut
    cut! internal_error internal_error! fatal_error fatal_error! request_timeout request_timeout!
    http:500! http:502 http:502! http:503 slow:5 slow:9!
"""
PASSING = tuple(_PASSING.split())
"""What befalls a call of any method and passes: said again, it goes well."""

NOT_WITH_BLOCKS = frozenset({"block_mismatch", "invalid_blocks", "msg_blocks_too_long"})
"""What a call is refused for that carries blocks: it goes without them, and they are missing."""

_UNSURE = "messaging_processing_failed messaging_processing_failed!"
_REFUSED = {
    "chat.startStream": f"""{_UNSURE} invalid_arguments invalid_chunks error:nobody_knows_this missing_scope
        channel_type_not_supported unknown_method feature_disabled user_not_found team_not_found""",
    "chat.appendStream": f"""{_UNSURE} message_not_in_streaming_state msg_too_long invalid_chunks
        invalid_arguments streaming_mode_mismatch error:nobody_knows_this unknown_method""",
    "chat.stopStream": f"""{_UNSURE} message_not_in_streaming_state invalid_blocks msg_blocks_too_long
        error:nobody_knows_this""",
    "chat.update": f"{_UNSURE} block_mismatch invalid_blocks streaming_state_conflict",
    "chat.postMessage": f"{_UNSURE} invalid_blocks",
    "conversations.replies": "",  # a refusal is final: what stands is then not known, and may stand twice
    "assistant.threads.setStatus": "missing_scope error:nobody_knows_this",
    "chat.delete": "cant_delete_message",
}

Scripts = dict[str, list[str | None]]


def scripts(most: int) -> st.SearchStrategy[Scripts]:
    """For each method, what befalls its first calls, up to `most`; later ones go well.

    Of every class of faults that a whole answer can survive (delivery contract, section 5).
    """
    return st.fixed_dictionaries(
        {
            method: st.lists(st.sampled_from((None, *PASSING, *names.split())), max_size=most).map(
                _ending_well
            )
            for method, names in _REFUSED.items()
        }
    )


def _ending_well(entries: Sequence[str | None]) -> list[str | None]:
    return [*entries, None]


def lose_blocks(scripts: Scripts) -> bool:
    """Some call may be refused for its blocks."""
    return any(entry in NOT_WITH_BLOCKS for entries in scripts.values() for entry in entries)


@contextmanager
def unheard() -> Iterator[None]:
    """Nothing is logged: a thousand examples that fail on purpose would say so a thousand times."""
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)
