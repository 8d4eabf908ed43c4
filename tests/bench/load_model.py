"""Many who ask at once: what they ask, what each of them then sees, and the figures made of that.

Agent, bot and workspace share one virtual clock, so a minute of load takes seconds and the same seed gives
the same figures. Every answer is a text of its own that names itself, so no answer can pass for another.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from statistics import fmean
from typing import NamedTuple

from slack_bot.clock import Clock
from slack_bot.testing.slack.workspace import Change, Workspace, WorkspaceRules
from slack_bot.testing.tape.tape import Tape

from .figures import percentile
from .running import CHANNEL, StampedAgent, spoken

_WORDS = (
    "the",
    "agent",
    "reads",
    "every",
    "line",
    "of",
    "a",
    "long",
    "report",
    "and",
    "tells",
    "what",
    "matters",
)
_LINE = 14  # words about, from one line end to the next
_NAME = re.compile(r"Answer (\d+):")
_TOKEN = re.compile(rb'"artifactId": ?"streaming_result-(\d+)"')
_SCRIPTED = (
    "internal_error",
    "internal_error!",
    "cut",
    "cut!",
    "http:503",
    "http:503!",
    "timeout!",
    "slow:4",
)
"""How calls fail in a load that asks for it; refusals for rates are the workspace's own."""
_FAILING = ("chat.startStream", "chat.appendStream", "chat.stopStream", "chat.postMessage", "chat.update")
_SCRIPT_LENGTH = 2_000
_LOOK = 1.0  # seconds


@dataclass(frozen=True, slots=True)
class Load:
    """`askers` each ask one question, at once or spread `within` seconds; each answer is `tokens` tokens,
    `a_second` of them a second. `failing` is the part of all writing calls that fail by script."""

    askers: int
    tokens: int
    a_second: float = 20.0
    within: float = 0.0
    failing: float = 0.0

    @property
    def name(self) -> str:
        """As a row of the table."""
        name = f"{self.askers} askers, {self.tokens:,} tokens"
        name += f" at {self.a_second:g}/s" if self.a_second != 20 else ""
        name += f" within {self.within:g} s" if self.within else ""
        return name + (f", {self.failing:.0%} of calls failing" if self.failing else "")


@dataclass(frozen=True, slots=True)
class Report:
    """What came of a load, in seconds and calls.

    `first`: from the question to its first text. `lags`: of every token that came to be seen, from the
    agent's saying it. `stood_still`: for each answer, the longest that text waited while nothing new appeared
    below a first text. `age`: of the oldest unseen character, on average over the time from an answer's first
    token to the last that appeared. `waits`: for each answer, the longest that text waited. `silent`: the
    longest that somebody saw neither text nor a status, by the second. `took`: all of it.
    """

    load: Load
    whole: int
    first: list[float]
    lags: list[float]
    stood_still: list[float]
    age: float
    waits: list[float]
    refused: int
    left_open: int
    silent: float
    took: float

    def cells(self) -> list[str]:
        """As cells of the table."""
        fairness = f"{max(self.waits):.1f} / {min(self.waits):.1f}" if self.waits else "-"
        return [
            f"{self.whole} of {self.load.askers}",
            _pair(self.first),
            _pair(self.lags),
            _pair(self.stood_still),
            f"{self.age:.2f}",
            fairness,
            f"{self.refused:,}",
            str(self.left_open),
            f"{self.silent:.0f}",
            f"{self.took:.0f}",
        ]


def _pair(values: list[float]) -> str:
    return f"{percentile(values, 0.5):.1f} / {max(values):.1f}" if values else "never"


class Sample(NamedTuple):
    """So many visible characters stood in a thread from `at` on."""

    at: float
    chars: int


def _ink(text: str) -> str:
    """What can be seen of a text."""
    return "".join(text.split())


def answer_tokens(number: int, count: int, dice: random.Random) -> list[str]:
    """An answer, a word a token, with line ends and now and then a blank line."""
    tokens = [f"Answer {number}: "]
    for place in range(1, count):
        end = "\n\n" if dice.random() < 0.1 / _LINE else "\n" if dice.random() < 1 / _LINE else " "
        tokens.append(f"{dice.choice(_WORDS)}{place if place % 9 == 0 else ''}{end}")
    tokens[-1] = "end."
    return tokens


@dataclass
class Crowd:
    """A workspace full of people with questions, the agent that knows the answers, and what was seen."""

    load: Load
    clock: Clock
    seed: int = 1
    rules: WorkspaceRules = field(default_factory=WorkspaceRules.real)

    def __post_init__(self) -> None:
        self._dice = random.Random(self.seed)
        self.workspace = Workspace(rules=self.rules, faults=self._faults())
        self.workspace.add_channel(CHANNEL)
        load, numbers = self.load, range(1, self.load.askers + 1)
        self._answers = {n: answer_tokens(n, load.tokens, self._dice) for n in numbers}
        self.agent = StampedAgent(*(self._tape(n) for n in numbers), clock=self.clock)
        self.times = sorted(self._dice.random() * load.within for _ in numbers)
        self._asked: dict[str, float] = {}
        self._seen: dict[str, list[Sample]] = {}
        self._silent: dict[str, float] = {}
        self.workspace.listen(self._changed)

    def _faults(self) -> Mapping[str, list[str | None]] | None:
        if not self.load.failing:
            return None
        failing = self.load.failing
        return {
            method: [
                self._dice.choice(_SCRIPTED) if self._dice.random() < failing else None
                for _ in range(_SCRIPT_LENGTH)
            ]
            + [None]
            for method in _FAILING
        }

    def _tape(self, number: int) -> Tape:
        return spoken(self._answers[number], 1 / self.load.a_second, ids=str(number))

    def ask(self, number: int) -> str:
        """Somebody asks, now, in a thread of their own. Returns its ts."""
        user = f"U{number}"
        self.workspace.add_user(user)
        mention = f"<@{self.workspace.bot.user_id}> question {number}"
        root = self.workspace.say(user, CHANNEL, mention, now=self.clock.wall())
        self._asked[root], self._seen[root] = self.clock.monotonic(), []
        return root

    def _changed(self, change: Change) -> None:
        root = change.thread_ts
        if change.kind != "thread" or root not in self._asked:
            return
        chars = len(_ink(self.text(root)))
        samples, now = self._seen[root], self.clock.monotonic()
        if chars != (samples[-1].chars if samples else 0):
            samples.append(Sample(now, chars))

    async def watch(self) -> None:
        """Look every second at who has neither text nor a status. Ends when cancelled."""
        while True:
            await asyncio.sleep(_LOOK)
            now = self.clock.wall()
            for root, samples in self._seen.items():
                if not samples and not self.workspace.status_line(CHANNEL, root, now=now):
                    self._silent[root] = self._silent.get(root, 0.0) + _LOOK

    def text(self, root: str) -> str:
        """What the bot wrote in a thread."""
        thread = self.workspace.thread(CHANNEL, root)
        return "".join(seen.text for seen in thread if seen.is_bot and seen.ephemeral_for is None)

    # -- figures

    def report(self) -> Report:
        """What came of it, now that everything is over."""
        spoken_at = self._spoken()
        found = {root: self._number(root) for root in self._asked}
        first, lags, waits = list[float](), list[float](), list[float]()
        stood_still, ages = list[float](), list[float]()
        for root, number in found.items():
            samples = self._seen[root]
            if samples:
                first.append(samples[0].at - self._asked[root])
            if number is None or not samples:
                continue
            own = list(self._lags(number, samples, spoken_at[number]))
            lags += [lag for _, lag in own]
            waits += [max(lag for _, lag in own)] if own else []
            gaps = list(_gaps(samples, spoken_at[number], self._inks(number)))
            stood_still.append(max((end - begin for begin, _, end in gaps[1:]), default=0.0))
            ages.append(_mean_age(gaps))
        return Report(
            self.load,
            whole=self._whole(found),
            first=first,
            lags=lags,
            stood_still=stood_still,
            age=fmean(ages) if ages else 0.0,
            waits=waits,
            refused=sum(call.limited for call in self.workspace.calls),
            left_open=len(self.workspace.open_streams()),
            silent=max(self._silent.values(), default=0.0),
            took=self.clock.monotonic(),
        )

    def broken(self) -> list[str]:
        """The threads whose text is not an answer, with what stands there."""
        found = {root: self._number(root) for root in self._asked}
        return [self.text(root) for root, number in found.items() if not self._is_whole(root, number)]

    def _whole(self, found: Mapping[str, int | None]) -> int:
        """How many threads show an answer, all of it, once, and none that stands in another thread too."""
        whole = [number for root, number in found.items() if self._is_whole(root, number)]
        return len(set(whole))

    def _is_whole(self, root: str, number: int | None) -> bool:
        return number is not None and _ink(self.text(root)) == _ink("".join(self._answers[number]))

    def _number(self, root: str) -> int | None:
        named = _NAME.search(self.text(root))
        number = int(named.group(1)) if named else 0
        return number if number in self._answers else None

    def _spoken(self) -> dict[int, list[float]]:
        """For each answer, when the agent said each of its tokens."""
        times: dict[int, list[float]] = {number: [] for number in self._answers}
        offset = self.clock.wall() - self.clock.monotonic()
        for at, data in self.agent.sent:
            for token in _TOKEN.finditer(data):
                times[int(token.group(1))].append(at - offset)
        return times

    def _inks(self, number: int) -> list[int]:
        """How many visible characters there are up to each token's end."""
        return list(accumulate(len(_ink(token)) for token in self._answers[number]))

    def _lags(
        self, number: int, samples: list[Sample], spoken_at: list[float]
    ) -> Iterator[tuple[float, float]]:
        """For each token that came to be seen: when it was said, and the seconds until it was seen."""
        rest = iter(samples)
        sample = next(rest, None)
        for at, ink in zip(spoken_at, self._inks(number), strict=False):
            while sample is not None and sample.chars < ink:
                sample = next(rest, None)
            if sample is None:
                return
            yield at, sample.at - at


class Gap(NamedTuple):
    """Text waited, and nothing new appeared: since when, when the oldest of it was said, until when."""

    begin: float
    said: float
    end: float


def _gaps(samples: list[Sample], spoken_at: list[float], inks: list[int]) -> Iterator[Gap]:
    """Between what appeared and what appeared next; the first is before the first text."""
    for before, after in pairwise([Sample(0.0, 0), *samples]):
        said = next((at for at, ink in zip(spoken_at, inks, strict=False) if ink > before.chars), None)
        if said is not None:
            yield Gap(max(before.at, said), said, after.at)


def _mean_age(gaps: list[Gap]) -> float:
    """How long the oldest unseen character had waited, on average."""
    waited = sum((end - begin) * ((begin + end) / 2 - said) for begin, said, end in gaps)
    lasted = gaps[-1].end - gaps[0].begin if gaps else 0.0
    return waited / lasted if lasted else 0.0
