"""PURE. Slack's methods that the bot calls, a row each: what is counted, how it is sent, what it needs.

A method that has no row is an ordinary write: `chat.postEphemeral`, `views.open` and others.
Facts: Slack 1.5 (rates), 7 (bodies), 14 (scopes).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum, StrEnum


class Priority(IntEnum):
    """Which call goes first among those that wait for the same budget: the lower number."""

    STOP = 0  # all that ends a message, or corrects it once it has ended
    START = 1
    FIRST = 2  # the first text of an answer
    CARDS = 3
    LATER = 4  # the text that follows
    STATUS = 5
    BACKGROUND = 6  # no reader waits for it


class Budget(StrEnum):
    """The settings of `GovernorSettings` that limit methods. All but POSTS are calls a minute."""

    STARTS = "starts_per_minute"
    STOPS = "stops_per_minute"
    APPENDS = "appends_per_minute"
    UPDATES = "updates_per_minute"
    POSTS = "posts_per_second"
    STATUSES = "statuses_per_minute"
    READS = "reads_per_minute"
    OTHERS = "others_per_minute"


class Body(Enum):
    """How the arguments of a method are sent. Slack takes no JSON for some (facts: Slack 7)."""

    JSON = "json"
    FORM = "form"
    ADDRESS = "address"  # in the address of a GET


@dataclass(frozen=True, slots=True)
class SlackMethod:
    """What the bot knows of a method.

    `priority`: of a call that names none. `needs_lease`: it begins or changes something, so that a process
    that may have lost the thread must not call it. `shows_text`: a reader sees text of an answer by it.
    `is_per_channel`: Slack counts it for each channel. `scope`: what it needs; "": none, or one that depends
    on the kind of conversation.
    """

    budget: Budget = Budget.OTHERS
    priority: Priority = Priority.STOP
    body: Body = Body.JSON
    needs_lease: bool = True
    shows_text: bool = False
    is_per_channel: bool = False
    scope: str = ""


class _Methods(dict[str, SlackMethod]):
    def __missing__(self, name: str) -> SlackMethod:
        return SlackMethod()


def _read(scope: str = "", budget: Budget = Budget.READS) -> SlackMethod:
    return SlackMethod(budget, body=Body.ADDRESS, needs_lease=False, scope=scope)


_WRITE = "chat:write"
_FILES = "files:write"
_MARKS = "reactions:write"
_STATUS = Priority.STATUS

METHODS: Mapping[str, SlackMethod] = _Methods(
    {
        "chat.startStream": SlackMethod(Budget.STARTS, Priority.START, shows_text=True, scope=_WRITE),
        # Slack refuses both for a stream that another process has stopped, which it does before it goes on
        "chat.appendStream": SlackMethod(Budget.APPENDS, needs_lease=False, shows_text=True, scope=_WRITE),
        "chat.stopStream": SlackMethod(Budget.STOPS, needs_lease=False, scope=_WRITE),
        "chat.update": SlackMethod(Budget.UPDATES, shows_text=True, scope=_WRITE),
        "chat.postMessage": SlackMethod(Budget.POSTS, shows_text=True, is_per_channel=True, scope=_WRITE),
        "assistant.threads.setStatus": SlackMethod(Budget.STATUSES, _STATUS, scope=_WRITE),
        "agents.sessions.setStatus": SlackMethod(priority=_STATUS, scope=_WRITE),
        "reactions.add": SlackMethod(priority=_STATUS, scope=_MARKS),
        "reactions.remove": SlackMethod(priority=_STATUS, scope=_MARKS),
        "files.getUploadURLExternal": SlackMethod(body=Body.FORM, scope=_FILES),
        "files.completeUploadExternal": SlackMethod(body=Body.FORM, scope=_FILES),
        "conversations.replies": _read(),
        "conversations.history": _read(),
        "conversations.info": _read(),
        "files.info": _read("files:read"),
        "users.info": _read("users:read"),
        "bots.info": _read("users:read", Budget.OTHERS),
        "users.lookupByEmail": _read("users:read.email"),
        "usergroups.users.list": _read("usergroups:read", Budget.OTHERS),
    }
)
