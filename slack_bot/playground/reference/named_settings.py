"""What a setting of the bot is for, where a question gives its exact name."""

import re

from ...settings.load import ALIASES, FIELDS
from ...settings.names import env_name

_NAMES = {env_name(path): path for path in FIELDS} | ALIASES
_ASKED = re.compile(
    r"\W*(?i:(?:(?:hi|hello|hey|ok|and|so|please)\W+)*"
    r"(?:what(?:s|['’]s| is| are| does| do| can i (?:do|set) with)?|explain|describe|meaning of"
    r"|was (?:ist|macht))?"
    r"(?: (?:the|a|setting|variable|option|default|value|purpose|use|meaning|of|for))*)\s*"
    r"`?(?P<name>[A-Z][A-Z0-9]*(?:_+[A-Z0-9]+)+)`?"
    r"(?i: (?:do|does|for|good|used|mean|setting|variable|about|exactly|set|to|by|default))*\W*\Z"
)


def setting_in(question: str) -> str:
    """The name of the setting that `question` asks about, and of nothing else; empty for any other one."""
    found = _ASKED.match(question)
    return found["name"] if found is not None and found["name"] in _NAMES else ""


def meaning_of_setting(name: str) -> str:
    """What the setting is for, and what it is where nobody sets it."""
    field = FIELDS[_NAMES[name]]
    said = " ".join((field.description or "").split())
    usual = field.default
    has_usual = usual not in (None, "", ()) and isinstance(usual, str | int | float | tuple)
    default = f" By default it is `{_written(usual)}`." if has_usual else ""
    return f"`{name}`: {said}{default}\n\nAll settings stand in `.env.example`.\n"


def _written(value: object) -> str:
    """`value` as it is set."""
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
