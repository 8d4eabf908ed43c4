"""Where the bot speaks without being asked: the ids of channels and people, and the line above it."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field

_CHANNEL, _PERSON = re.compile(r"[CDG][A-Z0-9]+"), re.compile(r"[UW][A-Z0-9]+")
_TEAM = re.compile(r"T[A-Z0-9]+")
_MOST_HEADLINE = 300  # characters


def _channel(value: str | None) -> str | None:
    if value is not None and not _CHANNEL.fullmatch(value):
        raise ValueError(
            "should be the id of a channel (C0123456), which is at the end of its details in Slack"
        )
    return value


def _person(value: str | None) -> str | None:
    if value is not None and not _PERSON.fullmatch(value):
        raise ValueError('should be the id of a person (U0123456): in the profile, under "Copy member ID"')
    return value


def _anywhere(value: str | None) -> str | None:
    if value is not None and not (_CHANNEL.fullmatch(value) or _PERSON.fullmatch(value)):
        raise ValueError("should be the id of a channel (C0123456) or of a person (U0123456)")
    return value


def is_person(place: str) -> bool:
    """Whether the id is a person's, and not a channel's."""
    return _PERSON.fullmatch(place) is not None


def _team(value: str | None) -> str | None:
    if value is not None and not _TEAM.fullmatch(value):
        raise ValueError(
            "should be the id of a workspace (T0123456), which slack-bot doctor names for each token"
        )
    return value


def _line(value: str) -> str:
    if len(value.splitlines()) > 1:
        raise ValueError("should be one line")
    return value.strip()


Channel = Annotated[str | None, AfterValidator(_channel)]
Person = Annotated[str | None, AfterValidator(_person)]
ChannelOrPerson = Annotated[str | None, AfterValidator(_anywhere)]
Team = Annotated[str | None, AfterValidator(_team)]
Headline = Annotated[str, Field(max_length=_MOST_HEADLINE), AfterValidator(_line)]
