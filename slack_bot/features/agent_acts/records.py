"""What is kept of an act: by its turn and what it is, so that it is done once over all processes."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from ...store.collection import Collection, KeptPerson, Key
from ...turn.record import ThreadKey
from ..due_posts import KeptPost

DONE, REFUSED = "done", "failed"
"""Both are in `ts` of an act that is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAct(KeptPost):
    """An act of an agent. `turn`: the key of its turn, and `user` its asker, if that is a person. `on`: the
    `ts` of the message to react to.

    `channel`, `text`: of a post, and `posted`: its `ts` once it is there. `reason`: why it is not done.
    `told_with`: the key of the question with which the agent learned that.
    """

    turn: str
    thread: ThreadKey
    kind: str
    name: str
    on: str
    is_addressed: bool = True
    agent: str = ""
    channel: str = ""
    text: str = ""
    posted: str = ""
    reason: str = ""
    told_with: str = ""
    user: str = ""

    @property
    def digest(self) -> str:
        """Names the act in its thread, and its post in Slack."""
        parts = "\0".join((self.turn, self.kind, self.name, self.on, self.channel, self.text))
        return sha256(parts.encode("utf-8", "replace")).hexdigest()[:16]


def key_of(act: KeptAct) -> Key:
    """Its key in the store."""
    return (act.turn, act.digest)


AGENT_ACTS = Collection(
    "agent_acts",
    KeptAct,
    age=lambda ages: ages.turns,
    since=lambda record: record.at,
    thread=lambda _, record: record.thread,
    people=lambda _, record: [KeptPerson(record.user, record.thread.team)] if record.user else [],
    due=lambda record: record.due,
    by_thread=True,
    label="what agents did in Slack",
)
"""By the key of the turn, and the digest of the act."""
