"""What may differ from channel to channel: one TOML file, `SLACK_BOT_CONFIG`, which may be read again.

Weakest first: `[channel]` of the file, `[channels.dm]` in direct messages, `[channels.C...]`, and variables
(`SLACK_BOT_CHANNEL__BUSY`), which count in every channel.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, ValidationError

from ..errors import SettingsError
from .models import SettingsSection, Texts, expected
from .names import env_name, nearest

DIRECT = "dm"
"""The table of all direct messages."""
CONFIG = "SLACK_BOT_CONFIG"

_CHANNEL = re.compile(r"[CDG][A-Z0-9]+\Z")
_Tables: TypeAlias = Mapping[str, Mapping[str, Any]]
"""The tables of the file: "" is `[channel]`, the others are those of `[channels]`."""


def _people(ids: tuple[str, ...]) -> tuple[str, ...]:
    if not all(re.fullmatch(r"[UW][A-Z0-9]+", each) for each in ids):
        raise ValueError('should be ids of people, as their profiles show them: ["U0123456", "W0123456"]')
    return ids


def _groups(ids: tuple[str, ...]) -> tuple[str, ...]:
    if not all(re.fullmatch(r"S[A-Z0-9]+", each) for each in ids):
        raise ValueError('should be ids of user groups: ["S0123456"]')
    return ids


class ChannelSettings(SettingsSection):
    """What the file of `SLACK_BOT_CONFIG` may say of single channels. A variable counts in all of them."""

    respond: Literal["mention", "auto", "thread"] = "auto"
    """What is a question besides a mention, in a thread that the bot answered in: auto: what its asker writes
    there, until somebody else does; thread: what anybody writes. Direct messages are always answered."""
    busy: Literal["queue", "collect", "interrupt"] = "queue"
    """What happens to a question that comes while an answer runs: it waits; it waits and becomes one with the
    others of its asker; it ends the answer."""
    context: Literal["none", "asker", "thread"] = "thread"
    """What the agent gets to read of a thread besides the question: nothing, what its asker wrote, or all."""
    identity: Literal["none", "id", "name", "email"] = "id"
    """What the agent learns of who asks. Each includes the one before."""
    audience: Literal["asker", "everyone"] = "asker"
    """Who sees an answer grow in a channel. Slack shows a stream to its asker only; everyone: a message that
    is edited."""
    external: Literal["allow", "deny"] = "deny"
    """Whether people of other organisations (Slack Connect) may ask."""
    guests: Literal["allow", "deny"] = "allow"
    """Whether guests of the workspace may ask."""
    people: Annotated[Texts, AfterValidator(_people)] = ()
    """Ids of the people who may ask (`U...`, `W...`). Empty, and no `groups`: everybody."""
    groups: Annotated[Texts, AfterValidator(_groups)] = ()
    """Ids of user groups (`S...`) whose members may ask too."""


class ChannelPolicies:
    """The settings of each channel. `fixed`: what variables say. `config`: the file, if there is one.

    Raises SettingsError with one line for each problem in the file.
    """

    def __init__(self, fixed: ChannelSettings, config: str | None = None) -> None:
        self._fixed = fixed.model_dump(exclude_unset=True)
        self._config = config
        self._tables: _Tables = {}
        self.reload()

    def of(self, channel: str) -> ChannelSettings:
        """What counts in `channel` now. Keep it for the whole of a turn: the file may be read again."""
        direct = self._tables.get(DIRECT, {}) if channel.startswith("D") else {}
        own = self._tables.get(channel, {})
        return ChannelSettings(**{**self._tables.get("", {}), **direct, **own, **self._fixed})

    def reload(self) -> None:
        """Read the file again. Raises SettingsError; then what counted before still does."""
        self._tables = {} if self._config is None else read_config(Path(self._config))


def read_config(file: Path) -> _Tables:
    """The tables of `file`, each of which is valid. Raises SettingsError with one line for each problem."""
    try:
        whole = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SettingsError(f"{CONFIG} names {file}, which does not exist") from None
    except (OSError, UnicodeDecodeError):
        raise SettingsError(f"{CONFIG} names {file}, which cannot be read as text") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{file} is not TOML: {error}") from None
    problems = list(_problems(whole))
    if problems:
        raise SettingsError("\n".join(f"{file}: {each}" for each in problems))
    return {"": whole.get("channel", {}), **whole.get("channels", {})}


def _problems(whole: Mapping[str, Any]) -> Iterator[str]:
    for name, table in whole.items():
        if name == "channel":
            yield from _wrong_in(name, table)
        elif name == "channels" and isinstance(table, dict):
            for channel, own in table.items():
                if channel == DIRECT or _CHANNEL.match(channel):
                    yield from _wrong_in(f"{name}.{channel}", own)
                else:
                    yield f"[{name}.{channel}] is no channel; write its id ([channels.C0123456]), or {DIRECT}"
        else:
            yield f"{name} is not known here; the tables are [channel] and [channels.C0123456]"


def _wrong_in(path: str, table: object) -> Iterator[str]:
    if not isinstance(table, dict):
        yield f"{path} should be a table: write [{path}]"
        return
    fields = ChannelSettings.model_fields
    for name in table.keys() - fields.keys():
        guess = nearest(name, fields)
        yield f"{path}.{name} is not a setting" + (f"; did you mean {guess}?" if guess else "")
    try:
        ChannelSettings.model_validate({name: value for name, value in table.items() if name in fields})
    except ValidationError as error:
        for problem in error.errors(include_url=False, include_context=False):
            name = str(problem["loc"][0])
            words = expected(fields[name], problem["msg"])
            yield f"{path}.{name} is {table[name]!r}: {words} ({env_name(('channel', name))})"
