"""PURE. What an agent might write: answers of every kind and length, whole and as a stream of events.

Everything is drawn from the `Random` that is given, so the same one gives the same answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from random import Random

from slack_bot.testing.tape.tape import Tape

from .stream import Stream, artifact, status, task

SHORTEST, LONGEST = 100, 60_000
"""Characters of a generated answer."""

_MOST_EVENTS = 500
_SCRIPTS = {
    "latin": "the deployment of our service needs two replicas and a small queue before release",
    "german": "Größenänderungen über mehrere Zeilen müssen überall gleich aussehen, natürlich",
    "cjk": "部署 需要 两个 副本。 回答は 三つの メッセージに 分かれます。 큐가 먼저 필요합니다",
    "rtl": "الخدمة تحتاج إلى نسختين قبل الإصدار שירות צריך שני עותקים לפני שחרור",
    "emoji": "👍🏽 deploys 👨‍👩‍👧‍👦 🇩🇪 fine 🧑🏿‍🚀 ✅ done ⚠️ 1️⃣ 🏳️‍🌈 ok",
    "marks": "e\u0301te\u0301 n\u0303 Z\u0351\u036b\u0343a\u0321\u0353l\u0348 x\u20d7 naïve क्षत्रिय ไทย",
}
_POOLS = {script: words.split() for script, words in _SCRIPTS.items()}
_LANGUAGES = ("python", "", "json", "yaml", "c++", "diff title=x")

Write = Callable[[Random, int], str]


def words(random: Random, count: int, script: str | None = None) -> str:
    """`count` words of one script."""
    pool = _POOLS[script or random.choice(list(_POOLS))]
    return " ".join(random.choice(pool) for _ in range(count))


def _paragraph(random: Random, size: int) -> str:
    script = random.choice([None, "latin", "latin", "german"])
    sentences = [
        f"{words(random, random.randint(3, 14), script)}." for _ in range(max(1, min(size, 600) // 70))
    ]
    return " ".join(sentences)


def _styled(random: Random, size: int) -> str:
    marks = ("**", "*", "_", "~~", "`", "***")
    parts = []
    for _ in range(max(1, min(size, 400) // 60)):
        mark = random.choice(marks)
        parts.append(f"{words(random, 4)} {mark}{words(random, random.randint(1, 25), 'latin')}{mark}")
    link = f"[{words(random, 2, 'latin')}](https://example.org/{random.randint(1, 10**6)}?a=b&c=d)"
    return " ".join([*parts, link, "a < b && c > d, 2 * 3 * 4, snake_case_name, 50 | 60"])


def _heading(random: Random, size: int) -> str:
    del size
    return f"{'#' * random.randint(1, 4)} {words(random, random.randint(1, 6))}"


def _items(random: Random, size: int) -> str:
    numbered = random.random() < 0.4
    lines = []
    for number in range(1, max(2, min(size, 1_500) // 60)):
        bullet = f"{number}." if numbered else random.choice("-*+")
        lines.append(f"{bullet} {words(random, random.randint(2, 12))}")
        if random.random() < 0.3:
            lines.append(f"   - {words(random, 5)}")
    return "\n".join(lines)


def _quote(random: Random, size: int) -> str:
    return "\n".join(f"> {words(random, 9)}" for _ in range(max(1, min(size, 600) // 80)))


def _table(random: Random, size: int) -> str:
    columns = random.randint(2, 6)

    def row() -> str:
        return "| " + " | ".join(words(random, random.randint(1, 4)) for _ in range(columns)) + " |"

    most = 14_000 if random.random() < 0.15 else 1_500
    rows = max(1, min(size, most) // (columns * 25))
    rule = "|" + "|".join(random.choice(("---", ":--", ":-:")) for _ in range(columns)) + "|"
    return "\n".join([row(), rule, *(row() for _ in range(rows))])


def _code(random: Random, size: int) -> str:
    run = random.choice(("```", "```", "```", "~~~", "`````"))
    most = 16_000 if random.random() < 0.15 else 1_500
    lines = []
    for number in range(max(1, min(size, most) // 40)):
        depth = "    " * random.randint(0, 3)
        lines.append(
            f"{depth}{random.choice(('if', 'call', '#', '|', '*', ''))} {words(random, 4)} = {number}"
        )
        if random.random() < 0.1:
            lines.append("")
    return f"{run}{random.choice(_LANGUAGES)}\n" + "\n".join(lines) + f"\n{run}"


def _nested_code(random: Random, size: int) -> str:
    inner = f"```{random.choice(_LANGUAGES)}\n" + "\n".join(
        words(random, 6) for _ in range(max(1, min(size, 3_000) // 50))
    )
    return f"````markdown\n{words(random, 5)}\n{inner}\n```\n{words(random, 5)}\n````"


def _long_line(random: Random, size: int) -> str:
    return words(random, max(20, min(size, 15_000) // 7))


def _no_spaces(random: Random, size: int) -> str:
    if random.random() < 0.5:
        return "".join(random.choice("部署需要两个副本消息分割测试文字") for _ in range(min(size, 12_000)))
    return "".join(
        random.choice("abcdefghijklmnopqrstuvwxyzABCDEF0123456789+/=") for _ in range(min(size, 12_000))
    )


def _hostile(random: Random, size: int) -> str:
    del size
    return random.choice(
        (
            "Ping <!channel> and <@U012AB3CD> in <#C012AB3CD|general> now, @here too.",
            "The token is xoxb-123456789012-abcdefGHIJKL and so on.",
            "\r\nwindows\r\nline ends\r\n\ttabs\tand   spaces",
            "a line\u2028separator and a\u2029paragraph one, \x07bells and \u202eturned\u202c text",
            "---",
            "&amp; &lt;b&gt; &#128512; \\*not bold\\* \\`not code\\`",
            "**never closed and `neither this",
            "~ * _ # |",
            "[half a link](https://example.org/",
            "    four spaces of indentation\n        and eight",
        )
    )


_THEMES: dict[str, Sequence[Write]] = {
    "prose": (_paragraph, _paragraph, _styled, _heading),
    "mixed": (_paragraph, _styled, _heading, _items, _quote, _table, _code, _nested_code, _long_line),
    "code": (_paragraph, _code, _code, _nested_code),
    "tables": (_heading, _table, _table),
    "lists": (_items, _items, _heading, _styled),
    "lines": (_long_line, _paragraph),
    "no spaces": (_no_spaces, _no_spaces, _heading),
    "one line": (_long_line,),
    "hostile": (_hostile, _hostile, _paragraph, _code, _table, _styled),
}


def answer(random: Random) -> str:
    """An answer of SHORTEST to LONGEST characters, every order of magnitude as likely as the others."""
    length = int(math.exp(random.uniform(math.log(SHORTEST), math.log(LONGEST))))
    theme = random.choice(list(_THEMES))
    joint = " " if theme in ("one line", "no spaces") else "\n\n"
    parts: list[str] = []
    size = 0
    while size < length:
        part = random.choice(_THEMES[theme])(random, length - size)
        parts.append(part)
        size += len(part) + len(joint)
    whole = joint.join(parts)[: max(length, SHORTEST)]
    return whole if whole.strip() else "Nothing to say."


def passage(random: Random, size: int) -> str:
    """About `size` characters of an answer that ends where a thing ends, so that more may follow it."""
    theme = _THEMES[random.choice(("prose", "mixed", "code", "tables", "lists"))]
    parts = [random.choice(theme)(random, size)]
    while sum(map(len, parts)) < size:
        parts.append(random.choice(theme)(random, size))
    return "\n\n".join(parts)


def pieces(random: Random, text: str) -> list[str]:
    """`text` as an agent may send it: in letters, words, lines, odd pieces, or at once."""
    manner = random.choice(("odd", "odd", "words", "lines", "letters", "at once"))
    most = max(1, len(text) // _MOST_EVENTS)
    cuts: list[int] = []
    at = 0
    while at < len(text):
        step = {
            "odd": random.randint(1, max(2, 3 * most)),
            "words": _behind(text, " ", at, most),
            "lines": _behind(text, "\n", at, most),
            "letters": most,
            "at once": len(text),
        }[manner]
        at += step
        cuts.append(at)
    return [text[start:end] for start, end in zip([0, *cuts], cuts, strict=False)]


def _behind(text: str, mark: str, at: int, least: int) -> int:
    found = text.find(mark, at + least - 1)
    return (found + 1 if found >= 0 else len(text)) - at


# -- as a stream


def tape(random: Random, text: str) -> tuple[Tape, frozenset[str]]:
    """The stream of an agent that answers `text`, in one of the dialects, on one of the wires.

    The second is the names of the tools that fail in it.
    """
    said = Stream(random, random.choice(("0.3", "0.3", "1.0")))
    said.say(task())
    dialect = random.choice(("tagged", "tagged", "tagged with result", "result only", "artifact"))
    failing = set()
    for number in range(random.choice((0, 0, 1, 3, 8)) if dialect != "artifact" else 0):
        name = f"look_up_{number}"
        said.tool(name, fails=(fails := random.random() < 0.2))
        failing.update([name] if fails else [])
    seconds = how_long(random)
    parts = pieces(random, text) if dialect != "result only" else []
    if dialect == "artifact":
        said.chunks("answer", parts, seconds, {}, goes_on=False)
    else:
        said.chunks("streaming_result", parts, seconds, {"is_final_answer": True})
    if dialect in ("tagged with result", "result only"):
        said.say(artifact("final_result", text, {}, append=False))
    said.say(status("completed"))
    return said.tape(), frozenset(failing)


def how_long(random: Random) -> float:
    """Seconds an agent may take to write an answer."""
    return random.choice((0.1, 2.0, 8.0, 20.0, 60.0, 200.0, random.uniform(240.0, 800.0)))
