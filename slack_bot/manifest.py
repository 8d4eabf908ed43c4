"""PURE. The manifest of the Slack app: which scopes and events the bot wants, by the feature that wants them.

Slack's limits: docs.slack.dev/reference/app-manifest. A scope among `bot_optional` may be refused by who
installs the app (facts: Slack 14).
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import quote

from .errors import ADD_SCOPE
from .text.words import APP_AGENT_DESCRIPTION, APP_DESCRIPTION

EVENTS_PATH = "/slack/events"
NAME = "slack_bot"
LONGEST_NAME = 35
_READS_BACK = "and what became of a call without an answer cannot be looked up"


@dataclass(frozen=True, slots=True)
class Wants:
    """What the settings ask of Slack.

    `reads_channels`: threads are followed somewhere, or given to the agent. `gives_emails`: to the agent.
    `has_agents`: several. `hears_reactions`: they mean something somewhere.
    """

    reads_channels: bool = True
    gives_emails: bool = False
    has_agents: bool = False
    hears_reactions: bool = False

    @classmethod
    def by(
        cls, said: Callable[[str], Collection[Any]], *, knows_people: bool = False, has_agents: bool = False
    ) -> Self:
        """`said` gives the values that a setting has in any channel (`ChannelPolicies.values`).

        `knows_people`: an agent gets tokens of people, which have their verified addresses.
        """
        reads = set(said("respond")) != {"mention"} or set(said("context")) != {"none"}
        hears = any(said("reactions"))  # a message with a reaction is read
        return cls(reads or hears, knows_people or "email" in said("identity"), has_agents, hears)


@dataclass(frozen=True, slots=True)
class Permission:
    """A scope, the events that it allows, and what does not work without them."""

    scope: str
    lost: str
    events: tuple[str, ...] = ()
    is_optional: bool = True
    is_wanted: Callable[[Wants], bool] = lambda _: True


def _reading(family: str, what: str) -> Permission:
    lost = f"{what} do not reach the bot, {_READS_BACK} there"
    events = (f"message.{family}",)
    return Permission(f"{family}:history", lost, events, is_wanted=lambda wants: wants.reads_channels)


PERMISSIONS = (
    Permission(
        "app_mentions:read",
        "mentions of the bot in channels do not reach it",
        ("app_mention",),
        is_optional=False,
    ),
    Permission("chat:write", "no answer can be written", ("agent_session_stopped",), is_optional=False),
    Permission(
        "im:history",
        f"direct messages do not reach the bot, {_READS_BACK} there",
        ("message.im",),
        is_optional=False,
    ),
    Permission("im:write", "who asks where the bot may not write gets no notice"),
    _reading("channels", "replies in public channels"),
    _reading("groups", "replies in private channels"),
    _reading("mpim", "messages in group conversations"),
    Permission(
        "channels:read",
        "the agent is not told the names of public channels, and posts into none",
    ),
    Permission(
        "groups:read",
        "the agent is not told the names of private channels, and posts into none",
    ),
    Permission("assistant:write", "no questions are suggested above a new conversation with the bot"),
    Permission("files:read", "the agent does not get the files of a question"),
    Permission("files:write", "files of the agent, and answers too long for messages, are not uploaded"),
    Permission("reactions:write", "a question that waits for the one before it gets no mark"),
    Permission(
        "reactions:read",
        "reactions of people do not reach the bot, which the setting reactions asks for",
        ("reaction_added",),
        is_wanted=lambda wants: wants.hears_reactions,
    ),
    Permission("usergroups:read", "where only members of user groups may ask, nobody may"),
    Permission(
        "users:read",
        "guests and people of other organisations cannot be told from others: where these may not ask, nobody"
        " may of whom Slack's events do not say who they are; and the agent learns no names",
    ),
    Permission(
        "users:read.email",
        "the agent learns no e-mail addresses, which identity = email, signed, exchange or oauth asks for",
        is_wanted=lambda wants: wants.gives_emails,
    ),
    Permission(
        "chat:write.customize",
        "the answers of all agents stand under the bot's name and picture, with the agent's name below them",
        is_wanted=lambda wants: wants.has_agents,
    ),
)
"""In the order of their weight."""


def wanted(wants: Wants = Wants()) -> tuple[Permission, ...]:
    """What the features that are on want."""
    return tuple(each for each in PERMISSIONS if each.is_wanted(wants))


def manifest_of(
    permissions: tuple[Permission, ...], *, name: str = NAME, public_url: str | None = None
) -> dict[str, Any]:
    """PURE. The manifest, as Slack takes it. `public_url`: https address for HTTP mode; None: Socket Mode."""
    events = {
        "app_context_changed",
        "app_home_opened",
        *(event for each in permissions for event in each.events),
    }
    subscriptions: dict[str, Any] = {"bot_events": sorted(events)}
    interactivity: dict[str, Any] = {"is_enabled": True}
    if public_url is not None:
        address = public_url.rstrip("/") + EVENTS_PATH
        subscriptions["request_url"] = interactivity["request_url"] = address
    scopes = {
        "bot": sorted(each.scope for each in permissions if not each.is_optional),
        "bot_optional": sorted(each.scope for each in permissions if each.is_optional),
    }
    return {
        "display_information": {"name": name, "description": APP_DESCRIPTION},
        "features": {
            "agent_view": {"agent_description": APP_AGENT_DESCRIPTION},
            "app_home": {
                "home_tab_enabled": True,
                "messages_tab_enabled": True,
                "messages_tab_read_only_enabled": False,
            },
            "bot_user": {"display_name": name, "always_online": True},
        },
        "oauth_config": {"scopes": scopes},
        "settings": {
            "event_subscriptions": subscriptions,
            "interactivity": interactivity,
            "org_deploy_enabled": False,
            "socket_mode_enabled": public_url is None,
            "token_rotation_enabled": False,
        },
    }


def install_link(manifest: Mapping[str, Any]) -> str:
    """Where Slack makes an app of it."""
    compact = json.dumps(manifest, separators=(",", ":"))
    return f"https://api.slack.com/apps?new_app=1&manifest_json={quote(compact, safe='')}"


def missing(granted: Collection[str], permissions: tuple[Permission, ...]) -> Iterator[str]:
    """One sentence with the remedy for each that is not `granted`."""
    for each in permissions:
        if each.scope not in granted:
            yield f"the Slack app lacks the scope {each.scope}: {each.lost}; {ADD_SCOPE}"
