"""What reactions of people mean to the bot: `reactions` of a channel."""

import json
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator

_MOST = 50
_NAME = re.compile(r"[\w+'-]{1,100}")
_OTHER_NAMES = {"thumbsup": "+1", "thumbsdown": "-1"}
"""Names that people see for what Slack's events call otherwise."""


class ReactionUse(StrEnum):
    """What the bot does for who reacts."""

    ASK = "ask"  # the agent is asked about the message
    STOP = "stop"  # as the button
    AGAIN = "again"  # as the button "Try again"
    GOOD = "good"  # as the button below an answer
    BAD = "bad"


_EXPECTED = "should be names of emoji, each with one of " + ", ".join(ReactionUse)


def emoji_of(name: str) -> str:
    """An emoji as settings and events name it alike: without colons, and without the colour of the skin."""
    bare = name.strip().strip(":").partition("::")[0].casefold()
    return _OTHER_NAMES.get(bare, bare)


def _pairs(value: object) -> object:
    """Read a table of the file, or `robot_face=ask,repeat=again` of a variable."""
    if isinstance(value, str):
        value = _from_text(value)
    if isinstance(value, tuple | list) and all(isinstance(each, tuple) and len(each) == 2 for each in value):
        value = dict(value)
    if not isinstance(value, Mapping) or len(value) > _MOST:
        raise ValueError(_EXPECTED)
    uses = {emoji_of(str(name)): use for name, use in value.items()}
    if not all(_NAME.fullmatch(name) and use in [*ReactionUse] for name, use in uses.items()):
        raise ValueError(_EXPECTED)
    return tuple(uses.items())


def _from_text(text: str) -> dict[str, str]:
    if text.startswith("{"):
        try:
            return dict(json.loads(text))
        except ValueError:
            raise ValueError(f"{_EXPECTED}: robot_face=ask,repeat=again") from None
    pairs = [each.partition("=") for each in text.split(",") if each.strip()]
    return {name: use.strip() for name, _, use in pairs}


Reactions: TypeAlias = Annotated[tuple[tuple[str, ReactionUse], ...], BeforeValidator(_pairs)]
"""Emoji and what they mean, in order."""
