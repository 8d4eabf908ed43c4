"""What a person said of an answer, and where that is still to be sent."""

from dataclasses import dataclass, replace

POSITIVE, NEGATIVE = "positive", "negative"


@dataclass(frozen=True, slots=True)
class FeedbackRecord:
    """Of one person to one turn. Times are seconds since 1970 (UTC).

    `value`: `positive` or `negative`. `task_id`, `context_id`, `trace_id`: of the agent's work, where they
    are known. `agent`: the name of the one that answered. `unsent`: the targets that have not got it as it is
    now. `due`: when they are tried next, None: never again. `tries`: how often that failed.
    """

    turn: str
    user: str
    value: str
    at: float
    reasons: tuple[str, ...] = ()
    words: str = ""
    task_id: str | None = None
    context_id: str | None = None
    trace_id: str | None = None
    unsent: tuple[str, ...] = ()
    due: float | None = None
    tries: int = 0
    agent: str = ""

    def to_send(self, targets: tuple[str, ...]) -> "FeedbackRecord":
        """The same, for these targets, at once."""
        return replace(self, unsent=targets, due=self.at if targets else None, tries=0)

    def held(self, now: float, seconds: float) -> "FeedbackRecord":
        """The same while somebody sends it, if it is due: nobody else does for so long."""
        is_due = self.due is not None and self.due <= now
        return replace(self, due=now + seconds) if is_due else self
