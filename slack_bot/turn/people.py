"""PURE. What kind of person somebody is, by what Slack's `users.info` says."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from .json_values import object_of

PERSON_ID = re.compile(r"[UW][A-Z0-9]+")


class PersonKind(StrEnum):
    """How somebody belongs to the bot's workspace."""

    MEMBER = "person"
    GUEST = "guest"
    EXTERNAL = "external"  # of another organisation, in a channel shared with it (Slack Connect)
    BOT = "bot"


@dataclass(frozen=True, slots=True)
class Organisation:
    """The bot's workspace (`T...`), and the organisation on Enterprise Grid that it belongs to (`E...`)."""

    team: str = ""
    enterprise: str = ""

    def has(self, *ids: object) -> bool:
        """Whether one of `ids` is that of the workspace or the organisation."""
        return bool({self.team, self.enterprise}.difference([""]).intersection(map(str, ids)))


@dataclass(frozen=True, slots=True)
class AskingPerson:
    """A person who asks in the workspace `team`."""

    team: str
    user: str


@dataclass(frozen=True, slots=True)
class ProvenPerson:
    """A member of the bot's organisation, by what Slack itself says.

    `email`: their address if Slack has verified it and their workspace is trusted, else "". `bot` asks for
    them.
    """

    person: AskingPerson
    email: str
    bot: AskingPerson


def kind_of(user: Mapping[str, Any], ours: Organisation) -> PersonKind:
    """The kind of a `user` of `users.info`. `is_stranger` is not set of those who share a channel with us."""
    enterprise = object_of(user.get("enterprise_user")).get("enterprise_id")
    if user.get("is_stranger") or not ours.has(user.get("team_id"), enterprise):
        return PersonKind.EXTERNAL
    if user.get("is_bot"):
        return PersonKind.BOT
    is_guest = user.get("is_restricted") or user.get("is_ultra_restricted")
    return PersonKind.GUEST if is_guest else PersonKind.MEMBER
