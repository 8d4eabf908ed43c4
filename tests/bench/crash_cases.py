"""PURE. The cases of the crash run: who asks what, where the bot is killed, and what people do meanwhile.

A case follows from its seed and its number alone. A question's text is its orders to the agent:
`TOKEN KIND LINES SECONDS`; each line of its answer has a word of its own, `TOKENw0001`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Literal, TypeAlias

Wire: TypeAlias = Literal["0.3", "1.0", "scripted 0.3", "scripted 1.0"]
KilledKind: TypeAlias = Literal["plain", "untagged", "cards", "asks", "signs", "message"]
"""What is asked in the crash run. `update` asks more."""
Kind: TypeAlias = KilledKind | Literal["chooses", "approves", "fills", "late"]
Play: TypeAlias = Literal["kill", "drain", "kill in drain", "two at once", "second in vain"]

WIRES: tuple[Wire, ...] = ("0.3", "1.0", "0.3", "1.0", "scripted 0.3", "scripted 1.0")
_SDK_KINDS: tuple[Kind, ...] = ("plain", "plain", "plain", "untagged", "cards", "cards", "asks", "message")

MOMENT = "a random moment"
WAITING = "while waiting for a person"
POINTS: dict[str, tuple[tuple[str, ...], tuple[int, ...]]] = {
    "before the question is stored": (("before accept",), (1, 2)),
    "before the ack": (("after accept",), (1, 2)),
    "before the agent is asked": (("before sending",), (1, 2)),
    "about to ask": (("after sending", "before ask"), (1, 2)),
    "asked, no answer yet": (("sent ask",), (1, 2)),
    "asked, no task id yet": (("after ask",), (1, 2)),
    "a reply, no answer yet": (("sent reply", "after reply"), (1,)),
    "task id known, not stored": (("before task",), (1, 2)),
    "task id stored": (("after task",), (1, 2)),
    "stream started, not recorded": (("after chat.startStream", "before message"), (1, 2)),
    "appended, not recorded": (("after chat.appendStream",), (1, 2, 3, 5)),
    "before text is recorded": (("before message",), (2, 3, 4)),
    "after text is recorded": (("after message",), (1, 2, 3)),
    "before the stream is stopped": (("before chat.stopStream",), (1, 2)),
    "stopped, end not stored": (("after chat.stopStream", "before end"), (1, 2)),
    "end stored": (("after end",), (1, 2)),
    "posted, not recorded": (("after chat.postMessage",), (1,)),
}
"""Points of a turn: what the bot is about to do or has just done, and the occurrences at which it dies."""

_ORDER = (*POINTS, *[MOMENT] * 8, *[WAITING] * 2)
_PLAYS: tuple[Play, ...] = (
    "kill", "kill", "kill", "kill", "drain", "kill in drain", "two at once", "second in vain",
)  # fmt: skip

_SECOND = (
    "before conversations.replies", "after conversations.replies", "before message", "after message",
    "after chat.stopStream", "after chat.startStream", "after chat.appendStream", "before get", "after get",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """One question. `after`: seconds since the first one. `behind`: that in whose thread it is put."""

    token: str
    kind: Kind
    lines: int
    seconds: float
    after: float = 0.0
    is_direct: bool = False
    behind: int | None = None
    user: str = "U1"

    @property
    def text(self) -> str:
        return f"{self.token} {self.kind} {self.lines} {self.seconds}"


@dataclass(frozen=True, slots=True)
class Kill:
    """Where a process is killed: at the `nth` occurrence of `probe`, or `seconds` after it was asked."""

    point: str
    probe: str = ""
    nth: int = 1
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Case:
    """One run of a bot that is killed. `down`: seconds until it is started again.

    `again`: where the process dies that took over. `stops`: the question that is stopped while it is down.
    `grace`: seconds that running answers get when the bot is told to end.
    """

    seed: int
    number: int
    wire: Wire
    questions: tuple[Asked, ...]
    kill: Kill
    play: Play = "kill"
    again: Kill | None = None
    down: float = 0.0
    stops: int | None = None
    grace: float = 20.0

    @property
    def point(self) -> str:
        return self.kill.point if self.play == "kill" else f"{self.play}, {self.kill.point}"


def answer_lines(token: str, lines: int) -> list[str]:
    """The answer to a question, line by line."""
    return [f"{token}w{n:04} is line {n} of the answer, and it has an end.\n" for n in range(1, lines + 1)]


def prompt(token: str) -> str:
    """What an agent asks back."""
    return f"Which one do you mean, {token}?"


def plan(seed: int, number: int) -> Case:
    """The case with this number. The kills go through all points, random moments among them."""
    random = Random(f"{seed}:{number}")
    point = _ORDER[number % len(_ORDER)]
    wire = random.choice(WIRES[:2] if _asks_back(point) else WIRES)
    play = random.choice(_PLAYS) if point == MOMENT else "kill"
    questions = _questions(random, number, wire, point)
    again, stops = None, None
    if play == "kill" and random.random() < 0.25:
        probe = random.choice(_SECOND)
        again = Kill(f"again {probe}", probe, random.choice((1, 1, 2)))
    streams = [
        n for n, asked in enumerate(questions) if asked.kind in ("plain", "cards") and asked.seconds > 3
    ]
    if streams and random.random() < 0.15:
        stops = random.choice(streams)
    kill = _kill(random, point, questions)
    grace = 20.0 if play == "kill" else random.choice((0.0, 1.0))
    return Case(seed, number, wire, questions, kill, play, again, random.uniform(0.0, 1.5), stops, grace)


def _asks_back(point: str) -> bool:
    return point == WAITING or "reply" in point


def _questions(random: Random, number: int, wire: Wire, point: str) -> tuple[Asked, ...]:
    found: list[Asked] = []
    for n in range(random.choice((1, 2, 3, 3, 4))):
        kind = "plain" if wire.startswith("scripted") else random.choice(_SDK_KINDS)
        if _asks_back(point) and n == 0:
            kind = "signs" if point == WAITING and random.random() < 0.3 else "asks"
        lines, seconds = random.choice(((8, 1.5), (25, 3.0), (40, 4.0), (260, 5.0)))
        token, after = f"q{number}x{n}", round(random.uniform(0.0, 1.0), 2) if n else 0.0
        asked = Asked(token, kind, lines, seconds, after, random.random() < 0.25, user=f"U{n + 1}")
        roots = [
            at for at, each in enumerate(found) if each.behind is None and each.kind not in ("asks", "signs")
        ]
        if roots and random.random() < 0.3:
            behind = random.choice(roots)
            first = found[behind]
            user = first.user if first.is_direct or random.random() < 0.5 else asked.user
            after, is_direct = first.after + 0.3 + after, first.is_direct
            # what a person writes after an agent's question answers it
            kind = "plain" if kind in ("asks", "signs") else kind
            asked = replace(asked, kind=kind, after=after, is_direct=is_direct, behind=behind, user=user)
        found.append(asked)
    return tuple(found)


def _kill(random: Random, point: str, questions: tuple[Asked, ...]) -> Kill:
    if point in POINTS:
        probes, numbers = POINTS[point]
        return Kill(point, random.choice(probes), random.choice(numbers))
    longest = 0.5 if point == WAITING else max(asked.seconds for asked in questions)
    return Kill(point, seconds=random.uniform(0.05, longest + 0.5))
