"""What the bot says without a question from Slack, and how far that has come."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class OutboundMessage:
    """What is to be said, and where: in `channel`, or to `user` directly. `thread_ts`: in that thread.

    `is_question`: `text` is for the agent, and its answer is shown. All is Markdown as an operator typed it.
    """

    text: str
    channel: str = ""
    user: str = ""
    thread_ts: str = ""
    headline: str = ""
    is_question: bool = False


@dataclass(frozen=True, slots=True)
class OutboundRecord:
    """How far a message has come. Times are seconds since 1970 (UTC).

    `is_begun`: Slack may have some of it. `posted`: the `ts` of what Slack confirmed. `turn`: the key of the
    turn with the agent's answer. `link`: where it is. `error`: why it cannot be delivered, in a sentence.
    """

    key: str
    message: OutboundMessage
    accepted_at: float
    is_begun: bool = False
    posted: tuple[str, ...] = ()
    turn: str | None = None
    link: str = ""
    error: str | None = None
    ended_at: float | None = None

    @property
    def state(self) -> str:
        """For an operator."""
        if self.ended_at is None:
            return "waiting"
        return "sent" if self.error is None else "failed"


def accepted(known: OutboundRecord | None, new: OutboundRecord) -> OutboundRecord:
    """What is stored when `new` is said under the key of `known`: what failed may be said again."""
    if known is None:
        return new
    if known.error is not None and not known.posted:
        return replace(new, accepted_at=known.accepted_at, is_begun=known.is_begun)
    if known.error is not None and known.message == new.message:
        return replace(known, error=None, ended_at=None)
    return known
