"""Environment and files become one frozen tree of settings. The only reader of `os.environ`.

Weight, strongest first: environment (`SLACK_BOT_` prefix, nested by `__`), a `.env` file, files in
`/run/secrets`. A few names are also read as everybody knows them: `SLACK_BOT_TOKEN`, `SLACK_APP_TOKEN`,
`SLACK_SIGNING_SECRET`, `SLACK_API_URL`, `A2A_AGENT_URL`. An empty value counts as not set.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self, get_origin
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr, ValidationError, model_validator

from ..errors import SettingsError
from .env_file import read as read_env_file
from .messages import expected
from .models import (
    AgentSettings,
    GovernorSettings,
    LogSettings,
    ReferenceSettings,
    SettingsSection,
    SlackSettings,
    StoreSettings,
    StreamSettings,
    TurnSettings,
)
from .suggestions import RENAMED, nearest, remedy, usual_meant

PREFIX = "SLACK_BOT_"
ALIASES = {
    "SLACK_BOT_TOKEN": ("slack", "bot_token"),
    "SLACK_APP_TOKEN": ("slack", "app_token"),
    "SLACK_SIGNING_SECRET": ("slack", "signing_secret"),
    "SLACK_API_URL": ("slack", "api_url"),
    "A2A_AGENT_URL": ("agent", "url"),
}
# Kubernetes puts the address of every service into the environment; one called `slack-bot` looks like ours.
_KUBERNETES = re.compile(r"SLACK_BOT_(SERVICE_HOST|SERVICE_PORT\w*|PORT|PORT_\d+_\w+)\Z")

_TOKENS = {("slack", "bot_token"), ("slack", "app_token"), ("slack", "signing_secret")}
"""What is looked at for quotes when the bot is to run."""
_LONG_ENOUGH = 8  # characters

SettingPath = tuple[str, str]


class Settings(SettingsSection):
    """All settings. Frozen; `load()` builds it."""

    slack: SlackSettings = SlackSettings()
    agent: AgentSettings = AgentSettings()
    stream: StreamSettings = StreamSettings()
    governor: GovernorSettings = GovernorSettings()
    turns: TurnSettings = TurnSettings()
    store: StoreSettings = StoreSettings()
    log: LogSettings = LogSettings()
    reference: ReferenceSettings = ReferenceSettings()

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if lines := list(_contradictions(self)):
            raise ValueError("\n".join(lines))
        return self


def _contradictions(settings: Settings) -> Iterator[str]:
    yield from _unnested(settings)
    if (settings.agent.header_name is None) != (settings.agent.header_value is None):
        yield (
            f"{env_name(('agent', 'header_name'))} and {env_name(('agent', 'header_value'))} belong"
            " together: set both or neither"
        )


def _unnested(settings: Settings) -> Iterator[str]:
    """Budgets that do not nest: connect < idle < stream and continuation < turn < desk (delivery.md 7.5)."""
    agent = settings.agent
    names = {leaf: env_name((section, leaf)) for section, leaf in _paths()}
    if agent.connect_timeout >= agent.idle_timeout:
        yield (
            f"{names['connect_timeout']} ({agent.connect_timeout:g} s) must be smaller than"
            f" {names['idle_timeout']} ({agent.idle_timeout:g} s)"
        )
    inner = agent.accept_timeout + agent.idle_timeout + agent.poll_timeout
    if agent.turn_timeout <= inner:
        yield (
            f"{names['turn_timeout']} ({agent.turn_timeout:g} s) must be larger than"
            f" {names['accept_timeout']} + {names['idle_timeout']} + {names['poll_timeout']} ({inner:g} s)"
        )
    turns = settings.turns
    inner = agent.turn_timeout + settings.stream.retry_timeout + settings.stream.post_retry_timeout
    if turns.turn_deadline <= inner:
        yield (
            f"{names['turn_deadline']} ({turns.turn_deadline:g} s) must be larger than"
            f" {names['turn_timeout']} + {names['retry_timeout']}"
            f" + {names['post_retry_timeout']} ({inner:g} s)"
        )


class _Found(NamedTuple):
    """What the sources say: `settings` without what was `refused`; not `whole` if a line cannot be read."""

    settings: Settings
    problems: list[str]
    refused: set[SettingPath]
    whole: bool


def load(
    env: Mapping[str, str] | None = None,
    env_file: Path | None = Path(".env"),
    secrets_dir: Path | None = Path("/run/secrets"),
) -> Settings:
    """Read all sources. `env` replaces the environment; None for a file or directory leaves it out.

    Raises SettingsError with one line for each problem.
    """
    found = _found(env, env_file, secrets_dir)
    if found.problems:
        raise SettingsError("\n".join(found.problems))
    return found.settings


def load_for_run(
    http: bool,
    env: Mapping[str, str] | None = None,
    env_file: Path | None = Path(".env"),
    secrets_dir: Path | None = Path("/run/secrets"),
) -> Settings:
    """As `load`, and they must be enough to run the bot against Slack, in HTTP mode or in Socket Mode.

    Raises SettingsError with one line for each problem, and for each thing missing, in one go.
    """
    found = _found(env, env_file, secrets_dir)
    lacking = list(_lacking(found, http)) if found.whole else []
    if found.problems or lacking:
        raise SettingsError("\n".join([*found.problems, *lacking]))
    return found.settings


def _found(env: Mapping[str, str] | None, env_file: Path | None, secrets_dir: Path | None) -> _Found:
    filed, unreadable = read_env_file(env_file) if env_file else ({}, [])
    problems = list(unreadable)
    given: dict[SettingPath, tuple[str, str]] = {}
    sources = (_files(secrets_dir), filed, os.environ if env is None else env)
    for source in sources:
        _collect(source, given, problems)
    problems += _misspelt({name.upper() for source in sources for name in source}, given)
    tree: dict[str, dict[str, object]] = {section: {} for section in Settings.model_fields}
    refused: set[SettingPath] = set()
    for (section, leaf), (name, text) in given.items():
        try:
            tree[section][leaf] = _parsed((section, leaf), text)
        except ValueError:
            refused.add((section, leaf))
            problems.append(f'{name} is not a list: write a,b or ["a","b"]')
    try:
        settings = Settings.model_validate(tree)
    except ValidationError as error:
        names = {path: name for path, (name, _) in given.items()}
        texts = {path: text for path, (_, text) in given.items()}
        wrong = {_path(each["loc"]) for each in error.errors() if len(each["loc"]) > 1}
        problems += _lines(error, names, texts) if wrong else ()
        refused |= wrong
        settings = _without(tree, refused)
        problems += _sound(settings, refused)
    return _Found(settings, problems, refused, not unreadable)


def _without(tree: Mapping[str, Mapping[str, object]], refused: set[SettingPath]) -> Settings:
    """The settings without those refused, and not checked for contradictions."""
    parts: dict[str, Any] = {
        section: model.model_validate(
            {leaf: value for leaf, value in tree[section].items() if (section, leaf) not in refused}
        )
        for section, model in sections()
    }
    return Settings.model_construct(**parts)


def _sound(settings: Settings, refused: set[SettingPath]) -> Iterator[str]:
    """The contradictions in which no refused setting has a part: its default is nobody's wish."""
    names = {env_name(path) for path in refused}
    return (line for line in _contradictions(settings) if not names & set(line.split()))


def _lacking(found: _Found, http: bool) -> Iterator[str]:
    slack, agent = found.settings.slack, found.settings.agent
    yield from _token_problem("SLACK_BOT_TOKEN", slack.bot_token, "xoxb-", "OAuth & Permissions")
    if not http:
        yield from _token_problem(
            "SLACK_APP_TOKEN", slack.app_token, "xapp-", "Basic Information > App-Level Tokens"
        )
    elif slack.signing_secret is None:
        yield "SLACK_SIGNING_SECRET is not set: copy it from your Slack app's Basic Information page"
    elif _is_quoted(slack.signing_secret):
        yield f"SLACK_SIGNING_SECRET {_QUOTED}"
    if agent.url is None and ("agent", "url") not in found.refused:
        yield "A2A_AGENT_URL is not set: give the address of your A2A agent, or of its agent card"


def with_overrides(settings: Settings, overrides: Mapping[str, object]) -> Settings:
    """`settings` with some replaced: `{"rotate_after": 240, "store.url": "memory"}`. Raises SettingsError.

    A name that only one section has needs no section.
    """
    given = {_path_of(name): name for name in overrides}
    tree = {section: dict(getattr(settings, section)) for section in Settings.model_fields}
    for (section, leaf), name in given.items():
        tree[section][leaf] = overrides[name]
    try:
        return Settings.model_validate(tree)
    except ValidationError as error:
        values = {path: overrides[name] for path, name in given.items()}
        raise SettingsError("\n".join(_lines(error, given, values))) from None


def _path_of(name: str) -> SettingPath:
    """Where the setting `name` stands. Raises SettingsError where there is none, or more than one."""
    found = [path for path in _paths() if name in (path[1], ".".join(path))]
    if len(found) == 1:
        return found[0]
    if found:
        raise SettingsError(f"{name} is a setting of several sections; write one of {_named(found)}")
    if now := [path for path in _paths() if path[1] == RENAMED.get(name)]:
        raise SettingsError(f"{name} is not a setting any more; it is called {_named(now)} now")
    guess = nearest(name, (leaf for _, leaf in _paths()))
    raise SettingsError(f"{name} is not a setting{f'; did you mean {guess}?' if guess else ''}")


def _named(paths: Iterable[SettingPath]) -> str:
    return " or ".join(".".join(path) for path in paths)


def secrets_of(settings: Settings) -> tuple[str, ...]:
    """Every secret value, so that none of them is ever shown or logged.

    A header's value may be a scheme and a key, and the agent's address may carry a password: both count by
    themselves too, unless they are as short as a word that an answer may well hold.
    """
    values = (getattr(getattr(settings, section), leaf) for section, leaf in _paths())
    found = [value.get_secret_value() for value in values if isinstance(value, SecretStr)]
    header, password = settings.agent.header_value, _password_of(settings.agent.url or "")
    key = "" if header is None else header.get_secret_value().rpartition(" ")[2]
    parts = (part for part in (key, password, unquote(password)) if len(part) >= _LONG_ENOUGH)
    return tuple(dict.fromkeys([*found, *parts]))


def _password_of(url: str) -> str:
    try:
        return urlsplit(url).password or ""
    except ValueError:
        return ""


def sections() -> Iterator[tuple[str, type[SettingsSection]]]:
    """The name and the model of each section."""
    for section, field in Settings.model_fields.items():
        assert isinstance(field.annotation, type)
        yield section, field.annotation


def _paths() -> Iterator[SettingPath]:
    for section, model in sections():
        for leaf in model.model_fields:
            yield section, leaf


def env_name(path: SettingPath) -> str:
    """The variable of a setting."""
    return f"{PREFIX}{path[0]}__{path[1]}".upper()


def _files(directory: Path | None) -> dict[str, str]:
    """A file a setting, named like its variable in either case: how Docker and Kubernetes give secrets."""
    if directory is None or not directory.is_dir():
        return {}
    known = {*ALIASES, *map(env_name, _paths())}
    try:
        return {
            file.name.upper(): file.read_text(encoding="utf-8")
            for file in sorted(directory.iterdir())
            if file.name.upper() in known and file.is_file()
        }
    except (OSError, UnicodeDecodeError):
        raise SettingsError(
            f"A file in {directory} cannot be read as text; check its owner and mode"
        ) from None


def _collect(
    source: Mapping[str, str | None] | Mapping[str, str],
    given: dict[SettingPath, tuple[str, str]],
    problems: list[str],
) -> None:
    """Lay one source over the weaker ones. Our own spelling of a name weighs more than the usual one."""
    known = {env_name(path): path for path in _paths()}
    own = {name.upper(): value for name, value in source.items() if name.upper() not in ALIASES}
    usual = {name.upper(): value for name, value in source.items() if name.upper() in ALIASES}
    for name, value in (*usual.items(), *own.items()):
        path = ALIASES.get(name) or known.get(name)
        if path is not None and value is not None and value.strip():
            given[path] = name, value.strip()
            if path not in _TOKENS and _has_quotes(value.strip()):
                given[path] = name, value.strip()[1:-1]
                problems.append(f"{name} {_QUOTED}")
        elif path is None and name.startswith(PREFIX) and not _KUBERNETES.match(name):
            leaves = {section: list(model.model_fields) for section, model in sections()}
            problems.append(f"{name} is not a setting{remedy(name, PREFIX, leaves, ALIASES)}")


def _misspelt(names: set[str], given: Mapping[SettingPath, object]) -> Iterator[str]:
    """Near misses of the usual names, told where the right one is missing: they may be others' names."""
    for name in sorted(names - ALIASES.keys()):
        meant = None if name.startswith(PREFIX) else usual_meant(name, ALIASES)
        if meant and ALIASES[meant] not in given:
            yield f"{name} is not a setting; did you mean {meant}?"


def _parsed(path: SettingPath, text: str) -> object:
    """A list may be written as JSON or with commas; everything else pydantic reads from text itself."""
    if get_origin(dict(sections())[path[0]].model_fields[path[1]].annotation) is not tuple:
        return text
    return (
        json.loads(text)
        if text.startswith("[")
        else [item.strip() for item in text.split(",") if item.strip()]
    )


def _lines(
    error: ValidationError, names: Mapping[SettingPath, str], values: Mapping[SettingPath, object]
) -> Iterator[str]:
    """One line for each setting that is refused, whatever number of its items are wrong."""
    told: set[SettingPath] = set()
    for problem in error.errors(include_url=False, include_context=False):
        if len(problem["loc"]) < 2:
            yield problem["msg"].removeprefix("Value error, ")
            continue
        path = _path(problem["loc"])
        if path not in told:
            told.add(path)
            value = values.get(path, problem["input"])
            words = expected(dict(sections())[path[0]].model_fields[path[1]], problem["msg"])
            yield f"{names.get(path, env_name(path))}{_shown(path, value)}: {words}"


def _path(loc: tuple[int | str, ...]) -> SettingPath:
    return str(loc[0]), str(loc[1])


def _shown(path: SettingPath, value: object) -> str:
    """A wrong value as it may be shown: not where it is, or may hold, a secret."""
    is_secret = "SecretStr" in str(dict(sections())[path[0]].model_fields[path[1]].annotation)
    return "" if is_secret or re.search(r"@|xox|xapp-", str(value)) else f" is {value!r}"


def _token_problem(name: str, token: SecretStr | None, prefix: str, page: str) -> Iterator[str]:
    if token is None:
        yield f"{name} is not set: copy it from your Slack app's page {page} ({prefix}...)"
    elif _is_quoted(token):
        yield f"{name} {_QUOTED}"
    elif not token.get_secret_value().startswith(prefix):
        yield f"{name} is not such a token: it must begin with {prefix} (your Slack app's page {page})"


_QUOTED = "has quotes around it: write it without them (docker --env-file takes them as part of the value)"


def _is_quoted(secret: SecretStr) -> bool:
    return _has_quotes(secret.get_secret_value())


def _has_quotes(value: str) -> bool:
    return len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
