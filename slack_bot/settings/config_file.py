"""Reads the file that `SLACK_BOT_CONFIG` names: TOML with the settings of channels and the list of agents."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from ..errors import SettingsError
from ..turn.json_values import object_of
from . import api_access, schedules
from .agents import AgentTable, agent_table
from .channels import ALL, DIRECT, PAIRS, ChannelSettings, ChannelTables
from .load import ALIASES, CONFIG, FIELDS, Settings
from .names import env_name, nearest
from .refusals import refusal_line

_MOST_BYTES = 1_000_000
_EVERYWHERE, _SINGLE, _TEAMS = "channel", "channels", "teams"
_OF_OTHERS = ("agents", "routing", schedules.TABLE, api_access.KEYS, api_access.HOOKS)
_ID, _TEAM_ID = re.compile(r"[CDG][A-Z0-9]+\Z"), re.compile(r"T[A-Z0-9]+\Z")
_PLACE = re.compile(r"(.*) \(at (?:line (\d+), column \d+|(end of document))\)\Z", re.DOTALL)
_USUAL = {path: name for name, path in ALIASES.items()}
_KNOWN = ChannelSettings.model_fields
_FLAGS = {name for name, field in _KNOWN.items() if field.annotation is bool}
_LISTS = {name for name, field in _KNOWN.items() if field.default == ()} - {"reactions"}
_TABLES = f"the tables are [{_EVERYWHERE}], [{_SINGLE}.{DIRECT}] and, by its id, [{_SINGLE}.C0123456]"


def read_config(file: str | None) -> ChannelTables:
    """Read the settings of channels from `file`; {} without a file.

    Raises SettingsError with one line for each problem.
    """
    whole = _read(file)
    return {ALL: whole.get(_EVERYWHERE, {}), **whole.get(_TEAMS, {}), **whole.get(_SINGLE, {})}


def read_agents(settings: Settings) -> AgentTable:
    """All agents: of the section `agent`, and of the file. Raises SettingsError as `read_config`."""
    file = settings.slack.config
    whole = _read(file)
    table, problems = agent_table(settings, whole)
    problems += _unknown_agents(whole, table)
    if problems:
        raise SettingsError("\n".join(f"{file}: {each}" if file else each for each in problems))
    return table


def read_schedules(settings: Settings) -> Mapping[str, schedules.ScheduleEntry]:
    """All schedules of the file. Raises SettingsError as `read_config`."""
    file, problems = settings.slack.config, list[str]()
    whole = _read(file)
    if schedules.TABLE not in whole:
        return {}
    agents, _ = agent_table(settings, whole)
    entries = schedules.schedules_in(whole, agents, problems, settings.slack.bot_tokens)
    if problems:
        raise SettingsError("\n".join(f"{file}: {each}" for each in problems))
    return entries


def read_api(settings: Settings, *, again: bool = False) -> api_access.ApiTable:
    """All keys and webhooks of the HTTP API. Raises SettingsError as `read_config`.

    `again`: a running process reads it, whose variables may have secrets of webhooks that are gone.
    """
    file, problems = settings.slack.config, list[str]()
    whole = _read(file)
    agents, _ = agent_table(settings, whole)
    table = api_access.api_table(settings, whole, agents, problems, again=again)
    if problems:
        raise SettingsError("\n".join(f"{file}: {each}" if file else each for each in problems))
    return table


def problems_of(settings: Settings, *, again: bool = False) -> list[str]:
    """One line for each thing that is wrong in the file, of all its tables. Raises SettingsError if it cannot
    be read. `again`: as of `read_api`.
    """
    file = settings.slack.config
    whole, found = _with_meant(_parsed(file)), list[str]()
    found += _problems(whole)
    table, of_agents = agent_table(settings, whole)
    found += [*of_agents, *_unknown_agents(whole, table)]
    if schedules.TABLE in whole:
        schedules.schedules_in(whole, table, found, settings.slack.bot_tokens)
    api_access.api_table(settings, whole, table, found, again=again)
    return [f"{file}: {each}" for each in dict.fromkeys(found)]


def check_file(settings: Settings, *, again: bool = False) -> None:
    """Raises SettingsError with all that is wrong in the file. `again`: as of `read_api`."""
    if settings.slack.config is not None and (problems := problems_of(settings, again=again)):
        raise SettingsError("\n".join(problems))


def _unknown_agents(whole: Mapping[str, Any], agents: AgentTable) -> Iterator[str]:
    """One line for each agent that a channel names and that is not in the list."""
    tables = {_EVERYWHERE: whole.get(_EVERYWHERE, {})}
    for kind in (_SINGLE, _TEAMS):
        tables |= {f"{kind}.{name}": table for name, table in object_of(whole.get(kind)).items()}
    for path, table in tables.items():
        if not isinstance(table, dict):
            continue
        for leaf, names in (("agent", [table.get("agent")]), ("agents", table.get("agents", ()))):
            for name in names:
                if name is not None and name not in agents.names:
                    guess = nearest(name, agents.names)
                    listed = f"the agents are {', '.join(agents.names)}"
                    missing = listed if agents.names else "there are none yet: write [agents.NAME]"
                    end = f"did you mean {guess}?" if guess else missing
                    yield f"{path}.{leaf} is {name!r}, which is no agent; {end}"


def _read(file: str | None) -> Mapping[str, Any]:
    """The parsed file, in which the tables of channels are as they should be; {} without a file."""
    whole = _parsed(file)
    if problems := list(_problems(whole)):
        raise SettingsError("\n".join(f"{file}: {each}" for each in problems))
    return whole


def _parsed(file: str | None) -> Mapping[str, Any]:
    if file is None:
        return {}
    try:
        whole = tomllib.loads(text := _text_of(file))
    except FileNotFoundError:
        problem = f"{CONFIG} names {file}, which does not exist; correct the path, or take {CONFIG} away"
        raise SettingsError(problem) from None
    except IsADirectoryError:
        raise SettingsError(f"{CONFIG} names {file}, which is a directory; name a file in it") from None
    except (OSError, UnicodeDecodeError):
        problem = f"{CONFIG} names {file}, which cannot be read as text; check its owner, mode and encoding"
        raise SettingsError(problem) from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(_unreadable(file, text, str(error))) from None
    except RecursionError:
        raise SettingsError(f"{file} cannot be read: its values are nested too deep; {_TABLES}") from None
    return whole


def _text_of(file: str) -> str:
    """The text of the file. Raises SettingsError if it is too large, as a device without an end is."""
    with Path(file).open("rb") as stream:
        data = stream.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise SettingsError(
            f"{CONFIG} names {file}, which is larger than {_MOST_BYTES:,} bytes; name a file of channels"
        )
    return data.decode("utf-8")


def _unreadable(file: str, text: str, message: str) -> str:
    if text.lstrip()[:1] == "{":
        return f"{file} cannot be read: it looks like JSON, and must be TOML; {_TABLES}"
    if (match := _PLACE.match(message)) is None:
        return f"{file} cannot be read: {message}"
    if match[2]:
        return f"{file}, line {match[2]}, cannot be read: {match[1]}"
    return f"{file}, at its end, cannot be read: {match[1]}; a bracket or a quote may be open"


def _problems(whole: Mapping[str, Any]) -> Iterator[str]:
    for name, value in whole.items():
        if name in _OF_OTHERS:
            continue  # `agents` and others look at theirs
        if name == _EVERYWHERE:
            yield from _in_table(name, value)
        elif name == _SINGLE:
            yield from _in_tables(value)
        elif name == _TEAMS:
            yield from _in_teams(value)
        elif isinstance(value, dict):
            yield from _unknown_table(name, value)
        elif guess := nearest(name, _KNOWN):
            yield f"{name} stands in no table: write {guess} below [{_EVERYWHERE}], or that of one channel"
        else:
            yield _elsewhere(name) or f"{name} is not known here; {_TABLES}"


def _unknown_table(name: str, table: Mapping[str, Any]) -> Iterator[str]:
    if name in {section for section, _ in FIELDS}:
        for leaf, value in table.items():
            if isinstance(value, dict) and (guess := _meant_table(name)):
                yield f"[{name}.{leaf}] is not known here; did you mean [{guess}.{leaf}]?"
            else:
                yield _elsewhere(leaf, name) or f"{name}.{leaf} is not known here; {_TABLES}"
    else:
        guess = _meant_table(name)
        yield f"[{name}] is not known here; " + (f"did you mean [{guess}]?" if guess else _TABLES)


def _meant_table(name: str) -> str | None:
    """The table that a misspelt `name` was probably meant to be."""
    return nearest(name, (_EVERYWHERE, _SINGLE, _TEAMS, *_OF_OTHERS), 0.65)


def _with_meant(whole: Mapping[str, Any]) -> Mapping[str, Any]:
    """The file, in which misspelt tables are also under the names that were meant: so their settings are
    looked at in the same round.
    """
    ours, sections = {_EVERYWHERE, _SINGLE, _TEAMS, *_OF_OTHERS}, {section for section, _ in FIELDS}
    strange = [name for name, table in whole.items() if isinstance(table, dict) and name not in ours]
    found = dict(whole)
    for name in strange:
        guess, table = _meant_table(name), whole[name]
        if name in sections:  # its own settings are refused; tables below it are meant otherwise
            table = {leaf: value for leaf, value in table.items() if isinstance(value, dict)}
        if guess is not None and table and isinstance(found.get(guess, {}), dict):
            found[guess] = {**table, **found.get(guess, {})}
    return found


def _in_tables(value: object) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{_SINGLE} should be tables, one for each channel; {_TABLES}"
        return
    for channel, own in value.items():
        path = f"{_SINGLE}.{channel}"
        if channel == DIRECT or _ID.match(channel):
            yield from _in_table(path, own)
        elif channel in _KNOWN:
            yield f"{path} is the setting of no channel: write it below [{_EVERYWHERE}]"
        elif re.match(r"[cdg][a-z]*[0-9]", channel) and _ID.match(channel.upper()):
            yield f"{path} is no channel; did you mean {_SINGLE}.{channel.upper()}?"
        else:
            yield (
                f"{path} is no channel: write its id (C0123456), which is at the end of the channel's details"
                f" in Slack, or {DIRECT} for all direct messages"
            )


def _in_teams(value: object) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{_TEAMS} should be tables, one for each workspace: write [{_TEAMS}.T0123456]"
        return
    for team, own in value.items():
        path = f"{_TEAMS}.{team}"
        if _TEAM_ID.match(team):
            yield from _in_table(path, own)
        else:
            guess = team.upper() if _TEAM_ID.match(team.upper()) else None
            end = (
                f"did you mean {_TEAMS}.{guess}?" if guess else "write its id (T0123456), which doctor names"
            )
            yield f"{path} is no workspace; {end}"


def _in_table(path: str, table: object) -> Iterator[str]:
    if not isinstance(table, dict):
        yield f"{path} should be a table: write [{path}], and its settings below"
        return
    for name, value in table.items():
        if name not in _KNOWN:
            yield _unknown(path, name, value)
    is_wide = path == _EVERYWHERE or path.startswith(f"{_TEAMS}.")
    for name in sorted(PAIRS & table.keys()) if is_wide else ():
        yield f"{path}.{name} would count in every channel: write it below [{_SINGLE}.C...]"
    yield from _in_settings(path, table)


def _in_settings(path: str, table: Mapping[str, Any]) -> Iterator[str]:
    """One line for each value that cannot be."""
    for name, value in table.items():
        if name in _FLAGS and not isinstance(value, bool):
            yield f"{path}.{name} is {value!r}: should be true or false"
    table = {name: value for name, value in table.items() if name not in _FLAGS or isinstance(value, bool)}
    lists = {name: value for name, value in table.items() if name in _LISTS and isinstance(value, str)}
    for name, value in lists.items():
        own = ", ".join(f'"{each}"' for each in value.replace(",", " ").split()) or '"..."'
        yield f"{path}.{name} is {value!r}: should be a list: write {name} = [{own}]"
    try:
        ChannelSettings.model_validate({name: table[name] for name in table.keys() & _KNOWN - lists.keys()})
    except ValidationError as error:
        wrong = {str(each["loc"][0]): each["msg"] for each in error.errors(include_url=False)}
        for name, message in wrong.items():
            value, field = table[name], _KNOWN[name]
            guess = nearest(str(value), get_args(field.annotation), 0.6) if isinstance(value, str) else None
            line = refusal_line(f"{path}.{name}", field, value, message)
            yield f"{line}; did you mean {guess!r}?" if guess else line


def _unknown(path: str, name: str, value: object) -> str:
    if path == _EVERYWHERE and isinstance(value, dict):
        return f"{path}.{name} is not known here; did you mean [{_SINGLE}.{name}]?"
    if guess := nearest(name, _KNOWN):
        return f"{path}.{name} is not a setting; did you mean {guess}?"
    return _elsewhere(name) or f"{path}.{name} is not a setting of a channel; they are {', '.join(_KNOWN)}"


def _elsewhere(leaf: str, section: str = "") -> str | None:
    """What to do with a setting that belongs into the environment: a secret, a number, or one of the bot."""
    alias_path = ALIASES.get(leaf.upper())
    paths = (
        [alias_path]
        if alias_path
        else [path for path in FIELDS if path[1] == leaf and section in ("", path[0])]
    )
    names = " or ".join(_USUAL.get(path, env_name(path)) for path in paths)
    path = f"{section}.{leaf}" if section else leaf
    return f"{path} does not belong here: set {names} in the environment" if names else None
