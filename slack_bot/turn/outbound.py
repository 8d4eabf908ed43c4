"""What the bot says without a question from Slack, and how far that has come."""

import re
import zlib
from dataclasses import dataclass, replace
from urllib.parse import parse_qs, urlsplit

from .record import MESSAGE_TS, Question, QuestionOrigin, ThreadKey

_LINK = re.compile(r"/archives/([CDG][A-Z0-9]+)/p([0-9]+)([0-9]{6})/?")
FAILED = "failed"
"""The state of a message that is not, or whose question got no answer."""
_SLACK_HOSTS = (".slack.com", ".slack-gov.com")


@dataclass(frozen=True, slots=True)
class OutboundMessage:
    """What is to be said, and where: in `channel`, or to `user` directly. `thread_ts`: in that thread.

    `is_question`: `text` is for the agent, and its answer is shown. All is Markdown as an operator typed it.

    `origin`: what made the bot speak. `agent`: the name of the one that is asked, and that goes on in the
    thread; "": the channel's. `context_id`: of the conversation with it that goes on there. Not
    `is_addressed`: the agent may have nothing to say, and then nothing is posted. `series`: all messages of
    one series go into one thread. `quoted`: what the question is about, which goes to the agent as quoted
    data, said by `quoted_by`. `is_broadcast`: a text in a thread is shown in the channel, too. `program`: as
    of `Question`. `tells_failure`: a failure is told elsewhere, so that nothing is posted here for it alone.
    `team`: the workspace; "": there is one only.
    """

    text: str
    channel: str = ""
    user: str = ""
    thread_ts: str = ""
    headline: str = ""
    is_question: bool = False
    origin: QuestionOrigin = QuestionOrigin.REQUEST
    agent: str = ""
    context_id: str = ""
    is_addressed: bool = True
    series: str = ""
    quoted: str = ""
    quoted_by: str = ""
    is_broadcast: bool = False
    program: str = ""
    tells_failure: bool = False
    team: str = ""

    @property
    def may_be_silent(self) -> bool:
        """Nothing of it is posted before there is an answer."""
        return self.is_question and not self.is_addressed


@dataclass(frozen=True, slots=True)
class OutboundRecord:
    """How far a message has come. Times are seconds since 1970 (UTC).

    `is_begun`: Slack may have some of it. `posted`: the `ts` of what Slack confirmed. `turn`: the key of the
    turn with the agent's answer. `link`: where it is. `error`: why it cannot be delivered, in a sentence.
    `fingerprint`: of the request that wanted it, if one did.
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
    fingerprint: str = ""

    @property
    def state(self) -> str:
        """For an operator."""
        if self.ended_at is None:
            return "waiting"
        if self.error is not None:
            return FAILED
        return "silent" if self.message.may_be_silent and not self.posted else "sent"

    def question(self, team: str, channel: str, thread_ts: str, ts: str, headline: str = "") -> Question:
        """What the agent is asked. `headline`: its thread begins with this line once there is an answer."""
        message = self.message
        return Question(
            ThreadKey(team, channel, thread_ts),
            ts,
            message.user,
            team,
            message.text,
            asker_is_bot=True,
            origin=message.origin,
            is_addressed=message.is_addressed,
            headline=headline,
            hides_failure=message.tells_failure,
            program=message.program,
        )

    @property
    def place_holder(self) -> str:
        """In place of the `ts` of a message that is not posted yet: the same in each process."""
        return f"{int(self.accepted_at)}.{zlib.crc32(self.key.encode()) % 1_000_000:06d}"


def accepted(known: OutboundRecord | None, new: OutboundRecord) -> OutboundRecord:
    """What is stored when `new` is said under the key of `known`: what failed may be said again."""
    if known is None:
        return new
    if known.error is not None and not known.posted:
        return replace(new, accepted_at=known.accepted_at, is_begun=known.is_begun)
    if known.error is not None and known.message == new.message:
        return replace(known, error=None, ended_at=None)
    return known


def place_of_link(link: str) -> tuple[str, str] | None:
    """The channel and the thread of a message, by its link in Slack. None: it is no such link."""
    try:
        address = urlsplit(link)
    except ValueError:
        return None
    if (match := _LINK.fullmatch(address.path)) is None:
        return None
    if address.scheme != "https" or not (address.hostname or "").endswith(_SLACK_HOSTS):
        return None
    channel, seconds, fraction = match.groups()
    root = parse_qs(address.query).get("thread_ts", [f"{seconds}.{fraction}"])[0]
    return (channel, root) if MESSAGE_TS.fullmatch(root) else None
