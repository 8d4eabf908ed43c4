"""PURE. The state of the emulated workspace, and checks of what a call names. Times are wall-clock seconds.

Ids and timestamps come from counters and the caller's time, so the same calls give the same payloads.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ...settings.slack_rules import OK
from .rules import LOOK, SHIPPED, AppManifest, WorkspaceRules

Json = dict[str, Any]
ChannelKind = Literal["channel", "group", "im", "mpim"]
MessageState = Literal["streaming", "sealed", "posted"]

PLAN_FAILED = "Something went wrong"
_SESSION_LIFE = 3600.0  # seconds
"""What a plan is called that stops with an open card (facts: Slack 1.4)."""


class Refused(Exception):
    """A call is refused. `error` is Slack's name for it; `detail` goes into `response_metadata`."""

    def __init__(self, error: str, detail: str = "", fields: Json | None = None) -> None:
        super().__init__(f"{error}: {detail}" if detail else error)
        self.error, self.detail, self.fields = error, detail, fields or {}


@dataclass(frozen=True, slots=True)
class Bot:
    """The app under test."""

    user_id: str = "U0BOT"
    bot_id: str = "B0BOT"
    app_id: str = "A0APP"
    name: str = "slack_bot"


@dataclass(frozen=True, slots=True)
class Person:
    """A user. `team` differs from the workspace's for somebody of another one; `enterprise` is the one on
    Enterprise Grid that it belongs to. `guest`: of several channels, or of a single one."""

    id: str
    name: str
    team: str
    is_bot: bool = False
    guest: Literal["", "multi", "single"] = ""
    enterprise: str = ""
    email: str = ""
    has_confirmed_email: bool = True


@dataclass(slots=True)
class Channel:
    """A conversation. An `im` has exactly one human member."""

    id: str
    name: str
    kind: ChannelKind = "channel"
    members: set[str] = field(default_factory=set)
    archived: bool = False
    is_pending_ext_shared: bool = False
    """Another organisation was invited, and has not come yet."""


@dataclass(frozen=True, slots=True)
class SeenTask:
    """A task card. `status`: pending, in_progress, complete or error."""

    id: str
    title: str
    status: str
    details: str = ""
    output: str = ""
    sources: tuple[Mapping[str, Any], ...] = ()


@dataclass(slots=True)
class StoredMessage:
    """One message. `body` is its text, streamed or posted; `blocks` are below it. `tables`: what a stream was
    given as blocks, and where in its text. `tail_above`: this workspace shows them above it.

    Of a stream: `recipient` sees it live, everybody else sees `first`, its first content, until it is over.
    `touched_at`: when something was last added. `full`: it takes nothing more. `expired`: its time was over.
    `is_broadcast`: a reply that its channel shows too. `look`: the name and the picture it stands under, as
    the app gave them.
    """

    channel: str
    ts: str
    author: str
    team: str
    thread_ts: str | None = None
    body: str = ""
    blocks: list[Json] = field(default_factory=list)
    tail_above: bool = False
    tables: list[tuple[int, Json]] = field(default_factory=list)
    tasks: dict[str, SeenTask] = field(default_factory=dict)
    plan_title: str | None = None
    plan_failed: bool = False
    state: MessageState = "posted"
    mode: Literal["text", "chunks"] | None = None
    display: str = "timeline"
    by_app: bool = False
    is_markdown: bool = False
    stopped_by: str | None = None
    metadata: Json | None = None
    reactions: dict[str, list[str]] = field(default_factory=dict)
    files: list[Json] = field(default_factory=list)
    attachments: list[Json] = field(default_factory=list)
    ephemeral_for: str | None = None
    edited: bool = False
    is_broadcast: bool = False
    client_msg_id: str | None = None
    recipient: str | None = None
    first: StoredMessage | None = None
    started_at: float = 0.0
    touched_at: float = 0.0
    full: bool = False
    expired: bool = False
    look: Mapping[str, str] = field(default_factory=dict)

    @property
    def root(self) -> str:
        return self.thread_ts or self.ts


@dataclass(slots=True)
class Thread:
    """What belongs to a thread and to no message. `status_rows`: statuses set while a stream was open.
    `status_look`: as of a message.
    """

    replies: list[str] = field(default_factory=list)
    status: str = ""
    status_at: float = 0.0
    status_look: Mapping[str, str] = field(default_factory=dict)
    status_rows: list[str] = field(default_factory=list)
    session: str | None = None
    session_at: float = 0.0
    title: str | None = None
    prompts: list[Json] = field(default_factory=list)


@dataclass(slots=True)
class Upload:
    """A file. `content` None: its bytes have not come yet, or are deleted.

    Of a person's: `shown` is what files.info says, `moved_to` where Slack sends whoever fetches it.
    """

    id: str
    name: str
    length: int
    content: bytes | None = None
    shown: Json | None = None
    moved_to: str = ""


@dataclass(frozen=True, slots=True)
class Envelope:
    """Something for the app. `payload`: of a Socket Mode envelope, or an HTTP body."""

    id: str
    type: Literal["events_api", "interactive"]
    payload: Json
    accepts_response_payload: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """Something changed that a person or the app could notice, or a call came. `user`: whose view it is."""

    kind: Literal["thread", "envelope", "view", "call"]
    channel: str = ""
    thread_ts: str = ""
    user: str = ""


@dataclass(frozen=True, slots=True)
class Trigger:
    """Lets the app open a view: for whom, since when, and in which window of Slack's client."""

    user: str
    at: float
    window: str = ""


@dataclass(slots=True)
class WorkspaceState:
    """The whole state of one workspace. `now`: the time of the latest call.

    `mark`: in each id that is given out, so that it differs from those of other workspaces.
    `window`: of Slack's client, in which a person does something now; "" where it does not count.
    `is_org_install`: the app is installed in the whole organisation.
    """

    team: str
    domain: str
    bot: Bot
    rules: WorkspaceRules
    manifest: AppManifest = SHIPPED
    enterprise: str = ""
    people: dict[str, Person] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=dict)
    channels: dict[str, Channel] = field(default_factory=dict)
    messages: dict[str, dict[str, StoredMessage]] = field(default_factory=dict)
    threads: dict[tuple[str, str], Thread] = field(default_factory=dict)
    views: dict[str, Json] = field(default_factory=dict)
    view_owners: dict[str, tuple[str, str]] = field(default_factory=dict)  # who has a modal open, and where
    view_errors: dict[str, dict[str, str]] = field(default_factory=dict)  # below its inputs, by block
    triggers: dict[str, Trigger] = field(default_factory=dict)
    filled: dict[tuple[str, str, str], Json] = field(default_factory=dict)  # by person and message
    tickets: set[str] = field(default_factory=set)
    responses: dict[str, Json] = field(default_factory=dict)
    uploads: dict[str, Upload] = field(default_factory=dict)
    open_streams: dict[str, StoredMessage] = field(default_factory=dict)
    outbox: list[Envelope] = field(default_factory=list)
    listeners: list[Callable[[Change], None]] = field(default_factory=list)
    link_base: str = "wss://workspace.invalid"
    file_base: str = "https://files.slack.com"
    viewing: dict[str, Json] = field(default_factory=dict)  # the context of each person
    now: float = 0.0
    mark: str = ""
    window: str = ""
    is_org_install: bool = False
    _micros: int = 0
    _counts: dict[str, int] = field(default_factory=dict)

    def next_ts(self) -> str:
        """A message timestamp: `now`, a microsecond later if it is taken."""
        self._micros = max(int(self.now * 1_000_000), self._micros + 1)
        return f"{self._micros // 1_000_000}.{self._micros % 1_000_000:06d}"

    def next_id(self, prefix: str) -> str:
        count = self._counts[prefix] = self._counts.get(prefix, 0) + 1
        return f"{prefix}{self.mark}{count:06d}"

    def find(self, channel: str, ts: str) -> StoredMessage | None:
        return self.messages.get(channel, {}).get(ts)

    def thread(self, channel: str, root: str) -> Thread:
        return self.threads.setdefault((channel, root), Thread())

    def status_of(self, channel: str, root: str, now: float) -> str | None:
        thread = self.thread(channel, root)
        return None if now - thread.status_at >= self.rules.status_timeout else thread.status or None

    def session_of(self, channel: str, root: str) -> str | None:
        """The status of the thread's agent session. `processing` ends by itself [obs] (facts: Slack 1.9)."""
        thread = self.thread(channel, root)
        is_over = thread.session == "processing" and self.now - thread.session_at >= _SESSION_LIFE
        return "active" if is_over else thread.session

    @staticmethod
    def look_of(args: Json) -> Mapping[str, str]:
        """The name and the picture in the arguments of a call; an emoji counts before an address."""
        given = {name: args[name] for name in LOOK if args.get(name)}
        if "icon_emoji" in given:
            given.pop("icon_url", None)
        return given

    def new_message(self, channel: Channel, thread_ts: str | None) -> StoredMessage:
        """An empty message of the app, not yet sent."""
        root = self.root_exists(channel, thread_ts) if thread_ts else None
        return StoredMessage(
            channel.id, self.next_ts(), self.bot.user_id, self.team, thread_ts=root, by_app=True
        )

    def add(self, message: StoredMessage) -> StoredMessage:
        self.messages.setdefault(message.channel, {})[message.ts] = message
        if message.thread_ts is not None:
            self.thread(message.channel, message.thread_ts).replies.append(message.ts)
        self.changed(message.channel, message.root)
        return message

    def in_thread(self, channel: str, root: str) -> list[StoredMessage]:
        """The root, if it exists, and its replies, in order of time."""
        found = [self.find(channel, ts) for ts in (root, *self.thread(channel, root).replies)]
        return sorted((m for m in found if m is not None), key=lambda m: ts_key(m.ts))

    def history(self, channel: str) -> list[StoredMessage]:
        """What the channel shows outside its threads, in order of time."""
        found = [m for m in self.messages.get(channel, {}).values() if m.thread_ts is None or m.is_broadcast]
        return sorted(found, key=lambda m: ts_key(m.ts))

    def send(self, kind: Literal["events_api", "interactive"], payload: Json) -> Envelope:
        envelope = Envelope(self.next_id("envelope-"), kind, payload, kind == "interactive")
        self.outbox.append(envelope)
        self._notify(Change("envelope"))
        return envelope

    def changed(self, channel: str, root: str) -> None:
        self._notify(Change("thread", channel, root))

    def view_changed(self, user: str) -> None:
        self._notify(Change("view", user=user))

    def called(self) -> None:
        self._notify(Change("call"))

    def _notify(self, change: Change) -> None:
        for listener in tuple(self.listeners):
            listener(change)

    # ---- checks of what a call names

    def refuse(self, rule: str, error: str, detail: str = "") -> None:
        """Refuse a call by a rule, as this workspace does. Returns if it was found to allow it."""
        found = self.rules.word(rule, error)
        if found != OK:
            raise Refused(found, detail)

    def channel_of(self, channel_id: str) -> Channel:
        """A conversation that the app can see: every public channel, and of others those that it is in."""
        channel = self.channels.get(channel_id)
        if channel is None or (channel.kind != "channel" and self.bot.user_id not in channel.members):
            raise Refused("channel_not_found")
        return channel

    def bot_channel(self, channel_id: str) -> Channel:
        """A conversation the app may write in."""
        channel = self.channel_of(channel_id)
        if channel.archived:
            raise Refused("is_archived")
        if self.bot.user_id not in channel.members:
            raise Refused("not_in_channel")
        return channel

    def root_exists(self, channel: Channel, thread_ts: str) -> str:
        """The ts of an existing root. A reply and a deleted message are no roots."""
        root = self.find(channel.id, thread_ts)
        if root is None or root.ephemeral_for is not None:
            raise Refused("invalid_thread_ts")
        if root.thread_ts is not None:
            self.refuse("thread.reply_as_root", "invalid_thread_ts")
        return root.root

    def message_of(self, channel: Channel, ts: str) -> StoredMessage:
        message = self.find(channel.id, ts)
        if message is None:
            raise Refused("message_not_found")
        if message.ephemeral_for is not None:
            self.refuse("ephemeral.edit", "message_not_found")
        return message

    def person_of(self, user_id: str) -> Person:
        if (person := self.people.get(user_id)) is None:
            raise Refused("user_not_found")
        return person

    def is_shared(self, channel: Channel) -> bool:
        """Somebody of another organisation is in it (Slack Connect)."""
        return any(self.is_external(self.people[each]) for each in channel.members if each in self.people)

    def is_external(self, person: Person) -> bool:
        is_of_grid = bool(self.enterprise) and person.enterprise == self.enterprise
        return person.team != self.team and not is_of_grid

    def metadata_of(self, args: Json) -> Json | None:
        given: Json | None = args.get("metadata")
        if given is None:
            return None
        if set(given) - {"event_type", "event_payload", "entities"}:
            raise Refused("invalid_metadata_schema")
        if not isinstance(given.get("event_type"), str) or not isinstance(given.get("event_payload"), dict):
            raise Refused("invalid_metadata_format")
        if len(json.dumps(given)) > self.rules.metadata_bytes:
            self.refuse("metadata.too_large", "metadata_too_large")
        return given


def ts_key(ts: str) -> tuple[int, int]:
    """Timestamps in order of time."""
    whole, _, rest = ts.partition(".")
    return (int(whole), int(rest or 0))
