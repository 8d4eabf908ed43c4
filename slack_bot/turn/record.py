"""What a turn is about, who answers it, and how it ended."""

import re
import uuid
from dataclasses import dataclass, replace
from enum import StrEnum

from .files import SlackFile
from .form import Answer, Form
from .people import AskingPerson

MESSAGE_TS = re.compile(r"[0-9]{1,12}\.[0-9]{1,9}")
"""What names a message in its channel: when it came, in seconds since 1970."""
# `assistant_app_thread` is a reply in a direct message's thread (openclaw#82390); a mention with a file
# sometimes comes as `message` only (bolt-python#925); `bot_message` is another bot speaking.
SPOKEN = frozenset({"", "file_share", "thread_broadcast", "assistant_app_thread", "bot_message"})
"""Subtypes of messages that somebody wrote: joins, changes and the like are no words."""
_SEED = uuid.UUID("5f6a2d1e-9c1b-5f0e-8f6d-0a2a5ac4b071")


class Outcome(StrEnum):
    """How a turn ended."""

    ANSWERED = "answered"
    NO_TEXT = "no_text"  # the agent finished, and nothing that it sent can be shown: readers are told so
    SILENT = "silent"  # it was not addressed to the bot, and the agent has nothing to say: nothing is shown
    ASKED = "asked"  # the agent waits for the human
    STOPPED = "stopped"  # the human stopped it
    FAILED = "failed"  # the agent said it failed, or could not be understood
    REFUSED = "refused"  # the question was never taken
    LOST = "lost"  # the stream broke and the end could not be learned
    WATCHED = "watched"  # the task goes on, and its end will be shown
    MERGED = "merged"  # asked as a part of another question
    GONE = "gone"  # the thread was deleted: nothing can be shown

    @property
    def has_completed(self) -> bool:
        """The agent did what it was asked, whether it had something to say or not."""
        return self in (Outcome.ANSWERED, Outcome.NO_TEXT)

    @property
    def is_whole(self) -> bool | None:
        """Whether the reader has all of the answer. None: there was none to be had."""
        if self is Outcome.LOST:
            return False
        return True if self in (Outcome.ANSWERED, Outcome.ASKED) else None


WRONG = frozenset({Outcome.FAILED, Outcome.REFUSED, Outcome.LOST})
"""Ends after which the reader gets a reference, and the log a warning."""


def is_direct(channel: str) -> bool:
    """Whether `channel` is a direct message with the bot: only their ids begin so."""
    return channel.startswith("D")


@dataclass(frozen=True, slots=True)
class ThreadKey:
    """A conversation in Slack. `ts` is its root message's."""

    team: str
    channel: str
    ts: str

    @property
    def parts(self) -> tuple[str, str, str]:
        """`ThreadKey(*parts)` is this one again."""
        return self.team, self.channel, self.ts


class QuestionOrigin(StrEnum):
    """What made the bot ask the agent."""

    MESSAGE = "message"  # a person or a bot wrote to the bot
    REACTION = "reaction"  # a person reacted to a message
    CHANNEL = "channel"  # a message in a channel in which each one is a question
    SCHEDULE = "schedule"
    REQUEST = "request"  # an operator, or a program over HTTP
    SUGGESTION = "suggestion"  # a person pressed a question that the agent suggested


@dataclass(frozen=True, slots=True)
class Question:
    """One message to the agent, as accepted from Slack.

    `user_team` is the asker's, which differs from `thread.team` in Slack Connect channels. `task_id`: it
    answers an agent that asked. `attempt` counts the asker's retries. `references`: tasks that were ended for
    it. No `user`: the bot speaks first. `is_ext_shared`: other organisations are in the channel
    too; None: Slack did not say. `merged`: the `ts` of further messages that it is made of. `form`: what the
    task asked, if it is known; `answer`: what was filled in or decided in it, in place of `text`, by
    `answered_by`; `handle`: of that form in the store. `files`: those of its messages. `viewing`: ids of
    channels that the asker looks at meanwhile, the most relevant first.

    `origin`: what made it a question. Not `is_addressed`: no person waits for an answer, so an agent that has
    nothing to say may be silent. `quoted`: the key of the messages that it is about (`store.quoted`); they go
    along whatever the channel's `context` says. `variant`: differs from other questions about the message
    `ts`.

    `headline`: its thread does not exist yet, `thread.ts` is in its place. It begins with this line as
    soon as there is something to show; `root` is the `ts` of that line then. With `hides_failure` a failure
    is nothing to show: it is told elsewhere.

    `program`: what asks in place of a person, such as `key:ci`, `hook:alerts` or `schedule:week`.
    """

    thread: ThreadKey
    ts: str
    user: str
    user_team: str
    text: str
    asker_is_bot: bool = False
    context_id: str | None = None
    task_id: str | None = None
    attempt: int = 0
    references: tuple[str, ...] = ()
    is_ext_shared: bool | None = None
    merged: tuple[str, ...] = ()
    form: Form | None = None
    answer: Answer | None = None
    handle: str = ""
    answered_by: str = ""
    files: tuple[SlackFile, ...] = ()
    viewing: tuple[str, ...] = ()
    origin: QuestionOrigin = QuestionOrigin.MESSAGE
    is_addressed: bool = True
    quoted: str = ""
    variant: str = ""
    headline: str = ""
    root: str = ""
    hides_failure: bool = False
    program: str = ""

    @property
    def counted_for(self) -> str:
        """Whose limits it counts for: a program's, or a person's; "" without either."""
        return self.program or self.user

    @property
    def shown_in(self) -> str:
        """The `ts` of the thread in Slack; "": it has not begun."""
        return self.root if self.headline else self.thread.ts

    @property
    def thread_in_slack(self) -> ThreadKey:
        """The thread in which people read the answer."""
        return replace(self.thread, ts=self.root) if self.root else self.thread

    @property
    def cause(self) -> str:
        """What made it a question, in words for operators; "" for a message to the bot."""
        if self.origin is QuestionOrigin.REACTION:
            return f"{self.origin} {self.variant.partition(':')[0]}"
        return "" if self.origin is QuestionOrigin.MESSAGE else str(self.origin)

    @property
    def asker(self) -> AskingPerson | None:
        """Who asks, if that is a person."""
        return AskingPerson(self.thread.team, self.user) if self.user and not self.asker_is_bot else None

    @property
    def is_empty(self) -> bool:
        """Nothing is asked."""
        return not (self.text or self.files or self.answer)

    @property
    def title(self) -> str:
        """Its text; of a question without words the names of its files."""
        return self.text or ", ".join(each.name for each in self.files)

    @property
    def key(self) -> str:
        variant = f":{self.variant}" if self.variant else ""
        again = f":{self.attempt}" if self.attempt else ""
        return f"{self.thread.team}:{self.thread.channel}:{self.ts}{variant}{again}"

    @property
    def is_stop_word(self) -> bool:
        """It is the word "stop". Whether that ends something, or is a question, `ThreadLine` decides."""
        return self.text.strip(" .!").casefold() == "stop"

    @property
    def is_stop_listening(self) -> bool:
        """Its words end listening, where the bot reads along."""
        return self.text.strip(" .!").casefold() == "stop listening"

    def is_of(self, user: str) -> bool:
        """Whether `user` may stop it, repeat it and answer the agent. What nobody asked is everybody's."""
        return self.user in ("", user)

    def permalink(self, workspace: str) -> str:
        """Its address in Slack. `workspace`: that of the workspace, such as `https://acme.slack.com/`."""
        thread, ts = self.thread, self.root or self.ts
        link = f"{workspace.rstrip('/')}/archives/{thread.channel}/p{ts.replace('.', '')}"
        return link if self.ts == thread.ts else f"{link}?thread_ts={thread.ts}&cid={thread.channel}"

    @property
    def message_id(self) -> str:
        """The A2A messageId, the same for the same Slack message (delivery.md 7.1)."""
        return message_id_of(self.key)


def message_id_of(key: str) -> str:
    """The A2A messageId of the question with this key."""
    return str(uuid.uuid5(_SEED, key))


@dataclass(frozen=True, slots=True)
class Skill:
    """One thing that the agent can do, examples of what to ask, and words that say what it is about."""

    name: str
    description: str = ""
    examples: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Introduction:
    """The agent's name, what it is for, what it can do. All of it is the agent's text: not to be trusted.

    `icon`: the address of its picture.
    """

    name: str = ""
    description: str = ""
    skills: tuple[Skill, ...] = ()
    icon: str = ""
