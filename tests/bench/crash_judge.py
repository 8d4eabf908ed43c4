"""PURE. The judge of a crash: the threads that a person sees in the end, and what the agent was asked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from slack_bot.slack.status import WAITING_REACTION
from slack_bot.testing.slack.rendering import SeenMessage

from .crash_cases import Asked, Case, answer_lines, prompt

Fate: TypeAlias = Literal["whole", "notice", "stopped", "lost", "silent", "doubled", "wrong"]
GOOD: frozenset[Fate] = frozenset({"whole", "notice", "stopped"})

KNOWN_FOR = 0.5  # seconds after the agent's first words from which the bot must know the task
_CHROME = (
    "Helpful Not helpful", "Try again", "Mention me in this thread to go on.",
    "Write in this thread to go on. If you did not ask, mention me.", "Write in this thread to go on.",
    "Reply in this thread to answer.",
)  # fmt: skip
_BETWEEN = re.compile(r"Others write in this thread now\.|Your question is number \d+ in line")
"""What may stand between two messages of an answer, for one person only."""
_SIGN_IN = "The agent goes on when you have signed in."
_TRUE = re.compile("restarted|cannot find out|no longer knows|could not|took too long|gone silent|has ended")


@dataclass(frozen=True, slots=True)
class Deliveries:
    """What came to the agent of one question: messages with its token, the same ones again, and when."""

    messages: int = 0
    times: int = 0
    first: float = 0.0
    tasks: tuple[str, ...] = ()
    is_cancelled: bool = False


@dataclass(frozen=True, slots=True)
class Seen:
    """A thread when all is over. `session`: the status of its agent session."""

    messages: Sequence[SeenMessage]
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """What became of one question."""

    asked: Asked
    fate: Fate
    why: str = ""
    note: str = ""


@dataclass(slots=True)
class Report:
    """The verdict on one case. `took`: seconds until each turn that was taken over went on.

    `took_unmarked`: the same of agents that do not mark their answer. Behind a cut it is shown when the agent
    has ended, so this is mostly the agent's time. `stood_still`: the longest time, in seconds, that the
    bench's own loop did not run.
    """

    case: Case
    facts: list[Fact] = field(default_factory=list)
    asked_twice: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    kills: int = 0
    replicas: int = 1
    took: list[float] = field(default_factory=list)
    took_unmarked: list[float] = field(default_factory=list)
    stood_still: float = 0.0

    @property
    def wrong(self) -> list[str]:
        fates = [
            f"{fact.asked.token}: {fact.fate}: {fact.why}" for fact in self.facts if fact.fate not in GOOD
        ]
        return [*fates, *(f"asked twice: {each}" for each in self.asked_twice), *self.left, *self.problems]


def squeezed(text: str) -> str:
    return "".join(text.split())


def judge_question(
    asked: Asked,
    messages: Sequence[SeenMessage],
    told: Deliveries,
    *,
    killed: Sequence[float],
    stopped_at: int | None,
) -> Fact:
    """`killed`: when processes were. `stopped_at`: the lines that were there when a person stopped it."""
    ours = [message for message in messages if message.is_bot]
    shown = squeezed("".join(message.text for message in ours if not _BETWEEN.match(message.text)))
    wanted = [f"{asked.token}w{n:04}" for n in range(1, asked.lines + 1)]
    words = lines_of(asked, ours)
    if again := [word for word, count in Counter(words).items() if count > 1]:
        return Fact(asked, "doubled", f"{len(again)} lines stand there twice: {', '.join(again[:3])}")
    if words != wanted[: len(words)]:
        gap = next(n for n, word in enumerate(words) if word != wanted[n])
        return Fact(asked, "wrong", f"after {gap} lines comes {words[gap]}")
    if stopped_at is not None and len(words) > stopped_at:
        return Fact(asked, "wrong", f"{len(words)} lines, though it was stopped after {stopped_at}")
    if words == wanted:
        text = squeezed("".join(answer_lines(asked.token, asked.lines)))
        return Fact(asked, "whole") if text in shown else Fact(asked, "wrong", "other text in between")
    so_far = f"{len(words)} of {len(wanted)} lines"
    return _judge_rest(asked, so_far, notices(ours), told, killed=killed, stops=stopped_at is not None)


def lines_of(asked: Asked, messages: Sequence[SeenMessage]) -> list[str]:
    """The words of the lines of an answer that stand in a thread."""
    shown = squeezed("".join(message.text for message in messages if message.is_bot))
    return re.findall(rf"{asked.token}w\d{{4}}", shown)


def _judge_rest(
    asked: Asked, so_far: str, notes: Sequence[str], told: Deliveries, *, killed: Sequence[float], stops: bool
) -> Fact:
    """Not all of the answer is there."""
    if stops and any("topped" in note for note in notes):
        return Fact(asked, "stopped")
    true = [note for note in notes if _TRUE.search(note)]
    if not true:
        return Fact(asked, "silent" if told.messages else "lost", f"{so_far} and no notice; notes: {notes}")
    if asked.kind != "message" and was_known(told, killed):
        return Fact(asked, "wrong", f"given up though its task was known: {so_far}, {true[0]}")
    return Fact(asked, "notice", so_far, true[0])


def was_known(told: Deliveries, killed: Sequence[float]) -> bool:
    """No process was killed so soon after the agent's first words that none could know the task."""
    return bool(told.first) and not any(at < told.first + KNOWN_FOR for at in killed)


def notices(ours: Iterable[SeenMessage]) -> list[str]:
    """The bot's own sentences, in order."""
    found = []
    for message in ours:
        lines = [line for part in (message.text, *message.extras) for line in part.split("\n")]
        found += [line.strip() for line in lines if is_notice(line.strip())]
    return found


def is_notice(line: str) -> bool:
    is_ours = not re.search(r"q\d+x\d+|is line|of the answer|has an end", line)
    return len(line) > 7 and is_ours and line not in _CHROME and not line.startswith(_SIGN_IN)


def questions_back(asked: Asked, messages: Sequence[SeenMessage]) -> int:
    """How often the agent's own question stands there."""
    return sum(prompt(asked.token) in message.text for message in messages if message.is_bot)


def judge_asked(asked: Asked, told: Deliveries, replies: int) -> str | None:
    """Why the agent was asked too often. `replies`: how often a person answered its own question."""
    if told.times > told.messages:
        return f"{asked.token}: {told.messages} messages came {told.times} times"
    if told.messages > 1 + replies:
        return f"{asked.token}: {told.messages} messages"
    if len(set(told.tasks)) > 1:
        return f"{asked.token}: {len(set(told.tasks))} tasks"
    return None


def leftovers(threads: Mapping[tuple[str, str], Seen]) -> list[str]:
    """What stands in a thread after all is over, and should not."""
    found = []
    for (_, root), seen in threads.items():
        found += [f"thread {root}: {each}" for message in seen.messages for each in _left_on(message)]
        if seen.session == "processing":
            found.append(f"thread {root}: its session is busy")
    return found


def _left_on(message: SeenMessage) -> Iterable[str]:
    if message.state == "streaming":
        yield "an open stream"
    if message.expired:
        yield "a stream that Slack had to end"
    if message.status_line:
        yield f"the status {message.status_line!r}"
    if (message.reactions or {}).get(WAITING_REACTION):
        yield "the mark of a question that waits"
    if message.plan_failed:
        yield "a plan that failed"
    for task in message.tasks:
        if task.status not in ("complete", "error"):
            yield f"the card {task.title!r} is {task.status}"


_LINES = re.compile(
    r"(q\d+x\d+w\d{4}) is line (?:.*\n+q\d+x\d+w\d{4} is line )*(\d+) of the answer, and it has an end\."
)


def abridged(text: str) -> str:
    """With the first and the last line of an answer only."""
    return _LINES.sub(r"[\1 to line \2]", text)
