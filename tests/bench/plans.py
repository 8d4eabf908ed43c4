"""What happens in each turn of the fault run: what the agent says, how, and what befalls it.

The same seed and number give the same turn, whatever was planned before it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from random import Random

from slack_bot.testing.tape.recording import read_recording
from slack_bot.testing.tape.tape import Recording, Tape
from slack_bot.text.sanitize import sanitize
from slack_bot.tools.replay.replay import replayed

from . import agent_behaviours, answers, away, fault_scripts
from .agent_behaviours import Said
from .verdict import Truth

CAPTURES = Path(__file__).parents[3] / "shared" / "captures" / "a2a"

_MESSAGES, _FEW = 20, 2  # messages an answer may take before the rest goes into a file
_SIGN_IN = (b"auth-required", b"TASK_STATE_AUTH_REQUIRED")
_SIGNING_IN = 60.0  # seconds; the captures take a few
_LONG = 12_000  # characters that no single message takes
KINDS: Mapping[str, tuple[int, str]] = {
    "storm": (34, "Slack fails one call in ten; so it does in all kinds but the calm one"),
    "calm": (6, "nothing fails"),
    "cut": (8, "the agent's stream is cut somewhere; its task goes on"),
    "no streams": (5, "Slack refuses streams here"),
    "not this one": (3, "Slack refuses this stream"),
    "stopped": (5, "somebody presses Stop, or writes it"),
    "gone": (4, "the thread is deleted"),
    "dead": (3, "the bot's token is taken away"),
    "archived": (3, "the channel is archived"),
    "asked back": (8, "the agent asks: in words, by a form, for a sign-in; then it is answered"),
    "rewritten": (8, "the agent takes back what it wrote: replaced, shortened, another result"),
    "planned": (7, "narration, a plan, tools that fail, then the answer or the task's failure"),
    "repeated": (6, "the answer comes several times, in several ways, on mixed wires"),
    "away": (7, "the stream is cut, and the agent forgets, refuses, hangs, or comes back"),
    "stopped late": (5, "Stop, just when the answer goes on in another message"),
    "queued": (7, "more questions in the thread while the first is being answered"),
}
"""Each kind of turn: its share, and what happens in it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What happens in a turn.

    `at` is when a person or Slack steps in, in seconds from the question; `page` waits for that many messages
    before. `then` are the further questions, each `at` seconds after the one before, or when that is
    answered. `way` is how the agent is after the cut. `by_word`: the stop is written, not pressed.
    `messages`: after so many the whole answer is given as a file. `given`: the files of the first question;
    `made`: those of its answer.
    """

    number: int
    kind: str
    about: str
    source: Tape | Recording
    truth: Truth
    scripts: Mapping[str, fault_scripts.Script] = field(default_factory=dict)
    at: float = 0.0
    cut_after: int | None = None
    with_replies: bool = False
    messages: int = _MESSAGES
    then: tuple[Said, ...] = ()
    way: str = ""
    page: int = 0
    by_word: bool = False
    given: tuple[bytes, ...] = ()
    made: tuple[bytes, ...] = ()

    @property
    def said(self) -> tuple[Said, ...]:
        """What is said to each question."""
        return (Said(self.about, self.source, self.truth), *self.then)


def plan(seed: int, number: int) -> Plan:
    """The turn `number` of the run `seed`."""
    random = Random(f"{seed}:{number}")
    kind = random.choices(list(KINDS), [share for share, _ in KINDS.values()])[0]
    said, *then = _said(kind, random)
    own = Random(f"{seed}:{number}:files")
    has_files = kind in ("storm", "calm") and own.random() < 0.15
    said = agent_behaviours.with_files(own) if has_files else said
    planned = Plan(
        number,
        kind,
        said.about,
        said.source,
        said.truth,
        fault_scripts.scripts(Random(f"{seed}:{number}:faults"), 0.0 if kind == "calm" else 0.1),
        at=random.uniform(0.0, length(said.source) * 1.1),
        with_replies=random.random() < 0.5,
        messages=_FEW if Random(f"{seed}:{number}:messages").random() < 0.1 else _MESSAGES,
        then=tuple(then),
        given=tuple(own.randbytes(own.choice((1, 5_000, 80_000))) for _ in range(2)) if has_files else (),
        made=said.files,
    )
    planned = _of_kind(planned, random)
    is_apart = planned.kind in ("asked back", "rewritten", "planned", "repeated")
    return _besides(planned, said.can_cut, random) if is_apart else planned


def length(source: Tape | Recording) -> float:
    """Seconds that the agent takes."""
    return source.moments[-1].t if isinstance(source, Tape) else 2.0


# -- what is said


def _said(kind: str, random: Random) -> tuple[Said, ...]:
    """What the agent says in a turn of this kind, question by question."""
    if kind == "asked back":
        return agent_behaviours.asked(random)
    if kind == "queued":
        count = random.choice((1, 1, 2))
        more = (replace(_unasking(random), asks=f"question {number}") for number in range(count))
        return (_unasking(random), *more)
    return (_SAYING.get(kind, _ordinary)(random),)


def _ordinary(random: Random) -> Said:
    """Something the agent says, captured or written for this turn."""
    captured = recorded()
    if captured and random.random() < 0.15:
        name, recording, truth = captured[random.randrange(len(captured))]
        return Said(f"capture {name}", recording, truth)
    return _written(random)


def _unasking(random: Random) -> Said:
    """As `_ordinary`, of an agent that waits for nobody: it would take the next question for the answer."""
    said = _ordinary(random)
    return _written(random) if said.about.endswith("_auth") else said


def _written(random: Random, text: str = "") -> Said:
    written = text or answers.answer(random)
    tape, failing = answers.tape(random, written)
    about = f"{len(written)} characters, wire {tape.head['wire']}"
    return Said(about, tape, Truth(sanitize(written), failing=failing))


def _long(random: Random) -> Said:
    """An answer of more than one message."""
    text = answers.answer(random)
    while len(text) < _LONG:
        text = f"{text}\n\n{answers.passage(random, _LONG)}"
    return _written(random, text)


_SAYING = {
    "rewritten": agent_behaviours.rewritten,
    "planned": agent_behaviours.planned,
    "repeated": agent_behaviours.repeated,
    "stopped late": _long,
    "away": _written,
}


# -- what befalls it


def _of_kind(planned: Plan, random: Random) -> Plan:
    match planned.kind:
        case "calm":
            planned = replace(planned, truth=replace(planned.truth, closed=True))
        case "cut":
            planned = _cut(planned, random)
        case "away":
            planned = _away(_cut(planned, random), random)
        case "no streams" | "not this one":
            names = fault_scripts.NOT_HERE if planned.kind == "no streams" else fault_scripts.NOT_THIS_ONE
            planned = _refused(planned, random.choice(names))
        case "stopped" | "stopped late":
            planned = _stopped(planned, random)
        case "gone" | "dead" | "archived":
            planned = replace(planned, truth=_unreachable(planned))
        case "queued" if any(_asks_for_a_sign_in(said.source) for said in planned.said):
            planned = replace(planned, at=planned.at + _SIGNING_IN)  # who writes meanwhile has replied to it
        case _:
            pass
    return planned


def _besides(planned: Plan, can_cut: bool, random: Random) -> Plan:
    """An agent that is odd may also be cut, or answer where Slack takes no streams."""
    chance = random.random()
    if chance < 0.2 and can_cut:
        return _cut(planned, random)
    return _refused(planned, random.choice(fault_scripts.NOT_HERE)) if chance < 0.4 else planned


def _asks_for_a_sign_in(source: Tape | Recording) -> bool:
    return isinstance(source, Recording) and any(word in source.body for word in _SIGN_IN)


def _cut(planned: Plan, random: Random) -> Plan:
    source = planned.source
    after = random.randint(1, len(source.moments)) if isinstance(source, Tape) else None
    # what a tool became while the connection was away is in no task: its card cannot know
    truth = replace(planned.truth, failing=frozenset(), standing=frozenset())
    return replace(planned, cut_after=after, truth=truth)


def _refused(planned: Plan, error: str) -> Plan:
    return replace(planned, scripts={**planned.scripts, "chat.startStream": [error]})


def _away(planned: Plan, random: Random) -> Plan:
    way = random.choice((*away.LOSES, *away.KEEPS))
    truth = _ending(planned.truth, "lost") if way in away.LOSES else planned.truth
    return replace(planned, way=way, about=f"{planned.about}, {way}", truth=truth)


def _stopped(planned: Plan, random: Random) -> Plan:
    planned = replace(planned, by_word=random.random() < 0.3, truth=_ending(planned.truth, "stopped"))
    if planned.kind == "stopped":
        return planned
    at = random.choice((0.0, random.uniform(0.0, 0.3), random.uniform(0.0, 4.0)))
    return replace(planned, at=at, page=random.choice((1, 1, 1, 2, 3)))


def _ending(truth: Truth, *outcomes: str) -> Truth:
    """It may also end so, with a part of its answer."""
    return replace(truth, outcomes=truth.outcomes | {*outcomes}, partial=frozenset(outcomes))


def _unreachable(planned: Plan) -> Truth:
    """From some time on nobody can be shown anything in the thread."""
    truth = replace(_ending(planned.truth, "gone", "failed"), may_be_silent=True)
    if planned.kind == "gone":
        return truth
    is_dead = planned.kind == "dead"
    return replace(truth, may_stay_open=True, may_break=is_dead, told_directly=0 if is_dead else 1)


# -- captures


@cache
def recorded() -> list[tuple[str, Recording, Truth]]:
    """The captures whose undisturbed replay is an answer, with that answer. The link of a sign-in that Slack
    does not take privately is told directly.
    """
    found = []
    for path in sorted(CAPTURES.glob("*.txt")):
        raw = path.read_bytes()
        recording = read_recording(raw) if b"raw body below" in raw else None
        if recording is None:
            continue
        with collected_errors():
            result = replayed(recording).result()
        if result["outcome"] == "answered" and len(result["visible"]) >= 20:
            told_directly = int(b"AUTH_REQUIRED" in raw.upper().replace(b"-", b"_"))
            found.append((path.stem, recording, Truth(result["visible"], told_directly=told_directly)))
    return found


@contextmanager
def collected_errors() -> Iterator[list[str]]:
    """The tracebacks that are logged meanwhile; nothing is printed."""
    broken: list[str] = []
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    collector = _ErrorCollector(broken)
    root.handlers[:] = [collector]
    root.setLevel(logging.ERROR)
    try:
        yield broken
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


class _ErrorCollector(logging.Handler):
    def __init__(self, broken: list[str]) -> None:
        super().__init__(logging.ERROR)
        self._broken = broken

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and record.exc_info[1] is not None:
            error, trace = record.exc_info[1], record.exc_info[2]
            while trace is not None and trace.tb_next is not None:
                trace = trace.tb_next
            at = f"{trace.tb_frame.f_code.co_qualname}:{trace.tb_lineno}" if trace else "?"
            self._broken.append(f"{record.getMessage()}: {type(error).__name__}: {error} in {at}")
