"""PURE. What Slack allows: an app's scopes and events, what each method takes, the limits of a workspace.

[obs]: measured, not documented. A call over its rate is refused, and so are all others until Retry-After is
over.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from ...manifest import Wants, manifest_of, wanted
from ...settings.slack_rules import RuleValue


@dataclass(frozen=True, slots=True)
class AppManifest:
    """The part of an app's manifest that Slack enforces: bot scopes, the events it subscribes to, and whether
    it may open connections.
    """

    scopes: frozenset[str]
    events: frozenset[str]
    socket_mode: bool = True

    @classmethod
    def from_json(cls, manifest: Mapping[str, Any]) -> Self:
        """Read a manifest as Slack takes it; all is granted. KeyError for one without scopes or events."""
        asked, settings = manifest["oauth_config"]["scopes"], manifest["settings"]
        scopes = [*asked["bot"], *asked.get("bot_optional", ())]
        events = settings["event_subscriptions"]["bot_events"]
        return cls(frozenset(scopes), frozenset(events), settings.get("socket_mode_enabled") is True)

    def is_told(self, event: str) -> bool:
        """Whether the app gets events of this name, such as `message.channels`."""
        needed = EVENT_SCOPES.get(event)
        return event in self.events and (needed is None or needed in self.scopes)


SHIPPED = AppManifest.from_json(manifest_of(wanted()))
"""What `slack-bot manifest` asks for as things come, all of it granted."""
SEVERAL_AGENTS = AppManifest.from_json(manifest_of(wanted(Wants(gives_emails=True, has_agents=True))))
"""What it asks for where there are several agents, and people sign in for one of them."""

FAMILIES: Mapping[str, str] = {"channel": "channels", "group": "groups", "im": "im", "mpim": "mpim"}
"""What scopes and events call each kind of conversation."""

EVENT_SCOPES: Mapping[str, str] = {
    "app_mention": "app_mentions:read",
    "reaction_added": "reactions:read",
    "reaction_removed": "reactions:read",
    **{f"message.{family}": f"{family}:history" for family in FAMILIES.values()},
}
"""Slack takes no subscription to these events without the scope."""

EVERY_EVENT = frozenset({*EVENT_SCOPES, "agent_session_stopped", "app_home_opened", "app_context_changed"})
"""What an app can hear of."""


@dataclass(frozen=True, slots=True)
class MethodRate:
    """So many calls in so many seconds, refilled evenly, in each channel or in the whole workspace.

    `burst`: how many may come at once (None: `calls`).
    """

    calls: int
    seconds: float = 60.0
    burst: int | None = None
    per_channel: bool = False


TIER_2, TIER_3, TIER_4 = MethodRate(20), MethodRate(50), MethodRate(100)
"""Slack's tiers, a minute (facts: Slack 7). Bursts are not quantified: a minute's budget here."""

_POSTS = (MethodRate(1, 1.0, burst=5, per_channel=True), MethodRate(300))
"""One a second a channel, bursts allowed, several hundred a minute a workspace (facts: Slack 7)."""


@dataclass(frozen=True, slots=True)
class Method:
    """What a method needs. Any one of `scopes` is enough; none: every token may call it.

    `arguments`: the kind of each, str, int, bool, list or dict. `form_only`: it takes no JSON body.
    """

    scopes: frozenset[str]
    arguments: Mapping[str, str]
    required: tuple[str, ...]
    rates: tuple[MethodRate, ...]
    form_only: bool

    def accepts(self, kind: str | None) -> Collection[str]:
        """The scopes of which a call needs one. What reads a conversation needs that of its `kind`."""
        return [each for each in self.scopes if kind and each.startswith(f"{FAMILIES[kind]}:")] or self.scopes


def _method(scopes: str, arguments: str, *rates: MethodRate, form_only: bool = False) -> Method:
    """A word of `arguments` is `name`, `name!` (required), `name:kind` or `name:kind!`."""
    words = [(word.rstrip("!").partition(":"), word.endswith("!")) for word in arguments.split()]
    kinds = {name: kind or "str" for (name, _, kind), _ in words}
    needed = tuple(name for (name, _, _), is_needed in words if is_needed)
    return Method(frozenset(scopes.split()), kinds, needed, rates, form_only)


_MESSAGE = "text markdown_text blocks:list attachments:list metadata:dict parse link_names:bool"
_LOOK = "icon_emoji icon_url username"
LOOK, CUSTOMIZE = frozenset(_LOOK.split()), "chat:write.customize"
"""Arguments that show a message as somebody else's, and the scope that they need."""
_CHUNKS = "markdown_text chunks:list"
_PAGE = "cursor latest oldest inclusive:bool limit:int include_all_metadata:bool"
_HISTORY = "channels:history groups:history im:history mpim:history"
_READ = "channels:read groups:read im:read mpim:read"
_WRITE, _FILES, _REACT, _ASSIST = "chat:write", "files:write", "reactions:write", "assistant:write"
_START = f"thread_ts recipient_user_id recipient_team_id task_display_mode {_CHUNKS} {_LOOK}"
_POST = "thread_ts reply_broadcast:bool unfurl_links:bool unfurl_media:bool mrkdwn:bool as_user:bool"
_SESSION = f"channel_id! thread_ts status! title initiator_user_id {_LOOK}"
_COMPLETE = "files:list! channel_id channels thread_ts initial_comment blocks:list"
_STATUS = f"channel_id! thread_ts! status! loading_messages:list {_LOOK}"
_UPDATE = f"channel! ts! as_user:bool reply_broadcast:bool file_ids:list {_MESSAGE}"

METHODS: Mapping[str, Method] = {
    "agents.sessions.rename": _method(_WRITE, "channel_id! thread_ts! title!", TIER_3),
    "agents.sessions.setStatus": _method(_WRITE, _SESSION, TIER_3),
    "apps.connections.open": _method("connections:write", "", TIER_3),
    "apps.manifest.export": _method("", "app_id!", TIER_3),
    "assistant.threads.setStatus": _method(f"{_ASSIST} {_WRITE}", _STATUS, MethodRate(600)),
    "assistant.threads.setSuggestedPrompts": _method(
        _ASSIST, "channel_id! prompts:list! thread_ts title", TIER_4
    ),
    "assistant.threads.setTitle": _method(_ASSIST, "channel_id! thread_ts! title!"),
    "auth.test": _method("", ""),
    "bots.info": _method("users:read", "bot", TIER_3, form_only=True),
    "chat.appendStream": _method(_WRITE, f"channel! ts! {_CHUNKS}", TIER_4),
    "chat.delete": _method(_WRITE, "channel! ts! as_user:bool", TIER_3),
    "chat.postEphemeral": _method(
        _WRITE, f"channel! user! thread_ts as_user:bool {_MESSAGE} {_LOOK}", TIER_4
    ),
    "chat.postMessage": _method(_WRITE, f"channel! {_POST} {_MESSAGE} {_LOOK}", *_POSTS),
    "chat.startStream": _method(_WRITE, f"channel! {_START}", TIER_2),
    "chat.stopStream": _method(
        _WRITE, f"channel! ts! blocks:list metadata:dict session_status {_CHUNKS}", TIER_2
    ),
    "chat.update": _method(_WRITE, _UPDATE, TIER_3),
    "conversations.history": _method(_HISTORY, f"channel! {_PAGE}", TIER_3, form_only=True),
    "conversations.info": _method(
        _READ, "channel! include_locale:bool include_num_members:bool", TIER_3, form_only=True
    ),
    "conversations.open": _method("im:write", "channel users prevent_creation:bool return_im:bool", TIER_3),
    "conversations.replies": _method(_HISTORY, f"channel! ts! {_PAGE}", TIER_3, form_only=True),
    "files.completeUploadExternal": _method(_FILES, _COMPLETE, TIER_4),
    "files.delete": _method(_FILES, "file!", TIER_3),
    "files.info": _method("files:read", "file! cursor count:int page:int limit:int", TIER_4, form_only=True),
    "files.getUploadURLExternal": _method(
        _FILES, "filename! length:int! alt_txt snippet_type", TIER_4, form_only=True
    ),
    "reactions.add": _method(_REACT, "channel! timestamp! name!", TIER_3),
    "reactions.remove": _method(_REACT, "channel timestamp name! file file_comment", TIER_2),
    "usergroups.users.list": _method(
        "usergroups:read", "usergroup! include_disabled:bool", TIER_2, form_only=True
    ),
    "users.lookupByEmail": _method("users:read.email", "email!", TIER_3, form_only=True),
    "users.info": _method("users:read", "user! include_locale:bool", TIER_4, form_only=True),
    "views.open": _method("", "trigger_id! view:dict! interactivity_pointer", TIER_4),
    "views.publish": _method("", "user_id! view:dict! hash", TIER_4),
    "views.push": _method("", "trigger_id! view:dict! interactivity_pointer", TIER_4),
    "views.update": _method("", "view:dict! view_id external_id hash", TIER_4),
}
"""From Slack's method pages (facts: Slack 1, 4, 7, 9, 10). Slack ignores arguments it does not know; they are
refused here, because they are always a mistake."""

EVERYTHING = AppManifest(
    frozenset({*EVENT_SCOPES.values()}).union(*(each.scopes for each in METHODS.values())),
    EVERY_EVENT,
)
"""An app that may call every method and hears of every event, under its own name: for trials of the other
rules."""

RATES = {name: method.rates for name, method in METHODS.items() if method.rates}
"""For all streams and threads of the workspace together (facts: Slack 1.5, 4, 7)."""

_DISTRIBUTED = dict.fromkeys(("conversations.history", "conversations.replies"), (MethodRate(1),))
_DISTRIBUTED_PAGE = 15


@dataclass(frozen=True, slots=True)
class WorkspaceRules:
    """Slack's limits. None: not enforced. By default those of a single call.

    `call_chars`: characters of Markdown in one call; `update_chars`: of `text` in chat.update; `card_chars`:
    of a card's or a plan's title, details or output; `blocks`: in one call [doc] (facts: Slack 1.2 to 1.7).
    `mention_first`: `app_mention` comes before `message` (Slack keeps no order). `status_timeout`: seconds
    after which a typing status goes away by itself [doc] (facts: Slack 4). `stream_life`: seconds from
    chat.startStream to the seal; `stream_idle`: without an append, reported as 30 and as 300 [obs] (facts:
    Slack 1.6). `stream_bytes`: weighted UTF-8 bytes of one streamed message: text, titles, and details and
    output twice [obs] (facts: Slack 1.7). `ignores_markdown_text`: methods that accept `markdown_text` and
    show nothing of it. `stop_tells_message`: the answer to chat.stopStream has the message; Slack does not
    promise it. `hides_buttons`: buttons may name those who see them (`visible_to_user_ids`); else Slack does
    not know that. `names_streams`: a stream shows the name and the picture that it was started with.
    `draws_tables`: Markdown tables in streams are tables, and no text [obs: told both ways].
    `only_viewer_live`: in a channel everybody but its recipient sees a stream's first content until the end
    [obs]. `page`: most objects that a reading method gives at once. `measured`: what this
    workspace was found to do, by the id of the rule (`settings/slack_rules.py`).
    """

    call_chars: int = 12_000
    update_chars: int = 4_000
    card_chars: int = 256
    blocks: int = 50
    metadata_bytes: int = 8_000
    status_timeout: float = 120.0
    trigger_life: float = 3.0
    view_stack: int = 3
    mention_first: bool = True
    agent_sessions: bool = True
    stream_life: float | None = None
    stream_idle: float | None = None
    stream_bytes: int | None = None
    ignores_markdown_text: frozenset[str] = frozenset()
    stop_tells_message: bool = True
    names_streams: bool = True
    hides_buttons: bool = True
    draws_tables: bool = True
    only_viewer_live: bool = True
    rates: Mapping[str, tuple[MethodRate, ...]] | None = None
    page: int | None = None
    measured: Mapping[str, RuleValue] = field(default_factory=dict)

    def word(self, rule: str, usual: str) -> str:
        """What this workspace does by a rule, as a word or as Slack's error."""
        return str(self.measured.get(rule, usual))

    def size(self, rule: str, usual: int) -> int:
        """The number of a rule in this workspace."""
        return int(self.measured.get(rule, usual))

    def holds(self, rule: str, usual: bool = True) -> bool:
        """Whether a rule is kept in this workspace."""
        return bool(self.measured.get(rule, usual))

    @classmethod
    def real(cls, *, idle: float | None = None, distributed: bool = False) -> WorkspaceRules:
        """All of Slack's limits. `idle` is `stream_idle`. `distributed`: the app is sold outside Slack's
        Marketplace, so threads are read once a minute, 15 messages at most (facts: Slack 7).
        """
        whole = cls(stream_life=300.0, stream_idle=idle, stream_bytes=11_000, rates=RATES)
        if not distributed:
            return whole
        return dataclasses.replace(whole, rates={**RATES, **_DISTRIBUTED}, page=_DISTRIBUTED_PAGE)

    def as_measured(self, found: Mapping[str, RuleValue]) -> WorkspaceRules:
        """These rules as a workspace was found to keep them, by the ids of the catalogue."""
        changed: dict[str, Any] = {name: found[rule] for rule, name in _FIELDS.items() if rule in found}
        if "read.whole_thread" in found:
            changed["page"] = None if found["read.whole_thread"] else _DISTRIBUTED_PAGE
        if "event.first" in found:
            changed["mention_first"] = found["event.first"] == "app_mention"
        if self.rates is not None:
            changed["rates"] = {name: _as_measured(name, rates, found) for name, rates in self.rates.items()}
        return dataclasses.replace(self, measured={**self.measured, **found}, **changed)


_FIELDS = {
    "stream.life": "stream_life",
    "stream.idle": "stream_idle",
    "stream.bytes": "stream_bytes",
    "stream.name": "names_streams",
    "stop.tells_message": "stop_tells_message",
    "call.chars": "call_chars",
    "update.chars": "update_chars",
    "metadata.bytes": "metadata_bytes",
    "blocks.count": "blocks",
    "read.table": "draws_tables",
    "button.hidden": "hides_buttons",
    "status.timeout": "status_timeout",
    "press.trigger_life": "trigger_life",
}
"""The rules of the catalogue that are fields of `WorkspaceRules`."""


def _as_measured(
    method: str, rates: tuple[MethodRate, ...], found: Mapping[str, RuleValue]
) -> tuple[MethodRate, ...]:
    """The rates of a method, the first of them as it was found."""
    first, *others = rates
    usual = first.calls * 60 / first.seconds
    calls = max(1, round(float(found.get(f"rate.{method}", usual))))
    burst = max(1, round(float(found.get(f"burst.{method}", first.burst or first.calls))))
    if (calls, burst) == (usual, first.burst or first.calls):
        return rates
    return (MethodRate(calls, burst=burst, per_channel=first.per_channel), *others)


_LEAST_PAUSE = 1  # second: Retry-After is whole seconds
_ALMOST = 1e-3  # of a call or a second: what adding up fractions of large numbers may lose


@dataclass(slots=True)
class _Bucket:
    """`calls` may be made at `at`; before `closed_until` none is taken, however full the bucket is."""

    rate: MethodRate
    calls: float
    at: float
    closed_until: float = 0.0

    def wait(self, now: float) -> float:
        gained = max(0.0, now - self.at) * self.rate.calls / self.rate.seconds
        self.calls = min(float(self.rate.burst or self.rate.calls), self.calls + gained)
        self.at = max(self.at, now)
        if now < self.closed_until - _ALMOST:
            return self.closed_until - now
        missing = 0.0 if self.calls >= 1 - _ALMOST else 1 - self.calls
        return missing * self.rate.seconds / self.rate.calls


class Buckets:
    """The budgets of one workspace. `rates` None: no limits."""

    def __init__(self, rates: Mapping[str, tuple[MethodRate, ...]] | None) -> None:
        self._rates = rates or {}
        self._buckets: dict[tuple[str, int, str], _Bucket] = {}

    def take(self, method: str, channel: str, now: float) -> int:
        """Count a call of `method` about `channel` at `now` (seconds). 0: it may go on; else Retry-After."""
        waits: list[tuple[_Bucket, float]] = []
        for number, rate in enumerate(self._rates.get(method, ())):
            full = _Bucket(rate, float(rate.burst or rate.calls), now)
            key = (method, number, channel if rate.per_channel else "")
            bucket = self._buckets.setdefault(key, full)
            waits.append((bucket, bucket.wait(now)))
        pause = max((wait for _, wait in waits), default=0.0)
        seconds = max(_LEAST_PAUSE, math.ceil(pause)) if pause > 0 else 0
        for bucket, wait in waits:
            if not seconds:
                bucket.calls -= 1
            elif wait > 0:
                bucket.closed_until = max(bucket.closed_until, now + seconds)
        return seconds
