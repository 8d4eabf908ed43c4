"""Reads the environment and files into one frozen tree of settings. The only reader of `os.environ`.

From strongest to weakest: environment, a `.env` file, files in `/run/secrets`. An empty value counts as not
set. pydantic-settings reads the `.env` file. Its other sources ignore unknown names, have no alias for a
nested setting, and do not say from which variable a wrong value came.
"""

import os
import re
from collections.abc import Iterator, Mapping
from functools import partial, reduce
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import SecretStr, ValidationError
from pydantic.fields import FieldInfo

from ..errors import SettingsError
from ..installing import how_to_install, is_installed
from ..paths import kind_of
from ..store_kinds import store_kind
from . import models
from .api import ApiSettings
from .channels import PAIRS, ChannelSettings
from .context import ContextSettings
from .feedback import FeedbackSettings
from .files import FileSettings
from .identity import IdentitySettings
from .identity_rules import identity_contradictions
from .login_rules import login_contradictions
from .models import AgentSettings
from .names import PREFIX, SettingPath, env_name, nearest
from .observe import AuditSettings, TraceSettings
from .push import PushSettings
from .refusals import refusal_line
from .section import SettingsSection
from .sign_in import SignInSettings
from .sign_in_rules import sign_in_contradictions
from .slack_tokens import QUOTED, has_quotes, needed
from .store import StoreSettings
from .teams import token_contradictions
from .usage import UsageSettings
from .web import WebSettings

# Names that other programs may use are ours only if hardly a letter differs.
_VERY_NEAR = 0.9
_WATCHED = ("A2A_AGENT", "SLACK_APP", "SLACK_SIGN", "SLACK_API")
_OTHERS = {"SLACK_API_TOKEN"}
CONFIG = "SLACK_BOT_CONFIG"
AGENTS_PREFIX = f"{PREFIX}AGENTS__"
"""Variables of the agents that the file of `CONFIG` names begin so."""
HOOKS_PREFIX = f"{PREFIX}HOOKS__"
"""Those of the webhooks that it names."""
_OF_TABLES = (AGENTS_PREFIX, HOOKS_PREFIX)
ALIASES = {
    "SLACK_BOT_TOKEN": ("slack", "bot_token"),
    "SLACK_BOT_TOKENS": ("slack", "bot_tokens"),
    "SLACK_APP_TOKEN": ("slack", "app_token"),
    "SLACK_SIGNING_SECRET": ("slack", "signing_secret"),
    "SLACK_API_URL": ("slack", "api_url"),
    "A2A_AGENT_URL": ("agent", "url"),
    CONFIG: ("slack", "config"),
}
# Kubernetes puts the address of every service into the environment; one called `slack-bot` looks like ours.
_KUBERNETES = re.compile(r"SLACK_BOT_(SERVICE_HOST|SERVICE_PORT\w*|PORT|PORT_\d+_\w+)\Z")

BOT_TOKENS = "slack", "bot_tokens"
_TOKENS = {("slack", "bot_token"), ("slack", "app_token"), ("slack", "signing_secret")}
"""Tokens: only `_missing` checks these for quotes."""
_CLIENT = "agent__client"

_BUDGETS = (
    ("connect_timeout", "smaller", ("idle_timeout",)),
    ("turn_timeout", "larger", ("accept_timeout", "idle_timeout", "poll_timeout")),
    ("turn_deadline", "larger", ("turn_timeout", "retry_timeout", "post_retry_timeout")),
)
"""Times nest: connect < idle < stream and polls < turn < deadline (delivery.md 7.5)."""

_PAIRS = (
    ("header_name", "header_value"),
    ("jwks", "jwt_issuer"),
    ("webhook_url", "webhook_secret"),
    ("langfuse_public_key", "langfuse_secret_key"),
)

SettingValues: TypeAlias = Mapping[SettingPath, tuple[str, object]]
"""By setting: the name of the variable that set it, and the value."""
_Source: TypeAlias = Mapping[str, str | None] | Mapping[str, str]


class Settings(SettingsSection):
    """All settings. Frozen; `load()` builds it."""

    slack: models.SlackSettings = models.SlackSettings()
    agent: AgentSettings = AgentSettings()
    identity: IdentitySettings = IdentitySettings()
    sign_in: SignInSettings = SignInSettings()
    context: ContextSettings = ContextSettings()
    stream: models.StreamSettings = models.StreamSettings()
    governor: models.GovernorSettings = models.GovernorSettings()
    channel: ChannelSettings = ChannelSettings()
    """What variables say of all channels: `ChannelPolicies` knows what counts in one."""
    turns: models.TurnSettings = models.TurnSettings()
    store: StoreSettings = StoreSettings()
    push: PushSettings = PushSettings()
    api: ApiSettings = ApiSettings()
    health: models.HealthSettings = models.HealthSettings()
    files: FileSettings = FileSettings()
    web: WebSettings = WebSettings()
    feedback: FeedbackSettings = FeedbackSettings()
    usage: UsageSettings = UsageSettings()
    log: models.LogSettings = models.LogSettings()
    traces: TraceSettings = TraceSettings()
    audit: AuditSettings = AuditSettings()
    reference: models.ReferenceSettings = models.ReferenceSettings()
    agent_variables: Mapping[str, SecretStr] = {}
    """Variables of the agents that the file names, by their names (`settings/agents.py`)."""
    hook_variables: Mapping[str, SecretStr] = {}
    """Those of the webhooks that the file names (`settings/api_access.py`)."""


def sections() -> Iterator[tuple[str, type[SettingsSection]]]:
    """The name and the model of each section. A section inside another one is named `agent__client`."""
    for section, model in sections_in(Settings).items():
        yield section, model
        yield from ((f"{section}__{inner}", part) for inner, part in sections_in(model).items())


def sections_in(model: type[SettingsSection]) -> dict[str, type[SettingsSection]]:
    """The sections inside a section, by name."""
    return {
        name: field.annotation
        for name, field in model.model_fields.items()
        if isinstance(field.annotation, type) and issubclass(field.annotation, SettingsSection)
    }


def fields_of(model: type[SettingsSection]) -> dict[str, FieldInfo]:
    """The settings of a section, without those of sections inside it."""
    inner = sections_in(model)
    return {leaf: field for leaf, field in model.model_fields.items() if leaf not in inner}


FIELDS: Mapping[SettingPath, FieldInfo] = {
    (section, leaf): field for section, model in sections() for leaf, field in fields_of(model).items()
}
_VARIABLES = {env_name(path): path for path in FIELDS} | ALIASES


def value_of(settings: Settings, path: SettingPath) -> Any:
    """The value of one setting."""
    return reduce(getattr, [*path[0].split("__"), path[1]], settings)


def _contradictions(settings: Settings) -> Iterator[str]:
    names = {leaf: env_name((section, leaf)) for section, leaf in FIELDS}
    values = {path[1]: value_of(settings, path) for path in FIELDS}
    for leaf, relation, others in _BUDGETS:
        limit = sum(values[each] for each in others)
        if values[leaf] >= limit if relation == "smaller" else values[leaf] <= limit:
            sources = " + ".join(names[each] for each in others)
            yield f"{names[leaf]} ({values[leaf]:g} s) must be {relation} than {sources} ({limit:g} s)"
    for one, other in _PAIRS:
        if (values[one] is None) != (values[other] is None):
            yield f"{names[one]} and {names[other]} belong together: set both or neither"
    age = values["rotate_after"] + values["rotate_grace"]
    if age >= (life := values["life"]):
        yield (
            f"{names['rotate_after']} + {names['rotate_grace']} ({age:g} s) must be smaller than"
            f" {life:g} s, the age at which Slack itself ends a message that is written live"
        )
    if _lacks_store(settings):
        name = env_name(("store", "url"))
        remedy = how_to_install("redis", "run.txt")
        yield f"{name} is an address of Redis, and its library is not here: {remedy}"
    if settings.traces.enabled and not is_installed("opentelemetry.exporter.otlp.proto.http"):
        name = env_name(("traces", "enabled"))
        yield f"{name} is true, and OpenTelemetry is not installed: {how_to_install('otel', 'otel.txt')}"
    if values["backfill_hours"] > (dedupe_hours := values["dedupe_hours"]):
        yield (
            f"{names['backfill_hours']} ({values['backfill_hours']:g}) must not be larger than"
            f" {names['dedupe_hours']} ({dedupe_hours:g}): what was answered would be asked again"
        )
    yield from _pairs_for_all(settings.channel)
    yield from token_contradictions(settings.slack.bot_token, settings.slack.bot_tokens)
    yield from login_contradictions(settings.agent, _variable_of_agent)
    yield from identity_contradictions(settings.agent, settings.identity, _variable_of_agent)
    yield from sign_in_contradictions(settings.agent, settings.sign_in, _variable_of_agent)
    if _lacks_joserfc(settings.agent):
        name, remedy = env_name(("agent", "card_keys")), how_to_install("oauth", "run.txt")
        yield f"{name} is set, and joserfc, which checks signatures, is not here: {remedy}"


def _pairs_for_all(everywhere: ChannelSettings) -> Iterator[str]:
    for leaf in sorted(leaf for leaf in PAIRS if getattr(everywhere, leaf)):
        name = env_name(("channel", leaf))
        yield f"{name} would count in every channel: write {leaf} below [channels.C...] of the file"


def _lacks_joserfc(agent: AgentSettings) -> bool:
    return agent.card_keys is not None and not is_installed("joserfc")


def _variable_of_agent(path: str) -> str:
    """The variable of a setting of the section `agent`: of `bearer_token`, or of `client.secret`."""
    section, _, leaf = f"agent.{path}".rpartition(".")
    return env_name((section.replace(".", "__"), leaf))


def _lacks_store(settings: Settings) -> bool:
    needs = store_kind(settings.store.url).needs
    return bool(needs) and not is_installed(needs)


def load(
    env: Mapping[str, str] | None = None,
    env_file: Path | None = Path(".env"),
    secrets_dir: Path | None = Path("/run/secrets"),
    *,
    http: bool | None = None,
) -> Settings:
    """Read the settings from all sources.

    `env` replaces the environment; None for a file or directory leaves it out. `http`: also check what HTTP
    mode (True) or Socket Mode (False) needs. Raises SettingsError with one line for each problem.
    """
    settings, problems, _ = read(env, env_file, secrets_dir, http=http)
    if problems:
        raise SettingsError("\n".join(problems))
    return settings


def read(
    env: Mapping[str, str] | None = None,
    env_file: Path | None = Path(".env"),
    secrets_dir: Path | None = Path("/run/secrets"),
    *,
    http: bool | None = None,
) -> tuple[Settings, list[str], set[SettingPath]]:
    """Same as `load`, but returns the problems instead of raising them.

    Returns the settings, one line for each problem, and the settings that cannot be used: most of these have
    their defaults, others need a library that is not installed. Raises SettingsError if a file cannot be
    read.
    """
    from_file, unreadable = read_env_file(env_file) if env_file else ({}, [])
    problems = list(unreadable)
    values: dict[SettingPath, tuple[str, object]] = {}
    of_tables: dict[str, SecretStr] = {}
    sources: list[_Source] = [_secret_files(secrets_dir), from_file, os.environ if env is None else env]
    for source in sources:
        _collect(source, values, of_tables, problems)
    problems += _misspelt({name.upper() for source in sources for name in source}, values)
    settings, refusals, refused = validated(values)
    if settings.slack.rules is not None:
        values |= _measured(settings.slack, values, problems)
        settings, refusals, refused = validated(values)
    if of_tables:
        of_hooks = {name: value for name, value in of_tables.items() if name.startswith(HOOKS_PREFIX)}
        of_agents = {name: value for name, value in of_tables.items() if name not in of_hooks}
        settings = settings.model_copy(update={"agent_variables": of_agents, "hook_variables": of_hooks})
    problems += refusals
    if http is not None and not unreadable:  # what seems missing may be in an unreadable line
        problems += _missing(values, http)
    if _lacks_store(settings):
        refused |= {("store", "url")}
    if any(login_contradictions(settings.agent, _variable_of_agent)):
        refused |= {(_CLIENT, "id")}
    if any(identity_contradictions(settings.agent, settings.identity, _variable_of_agent)):
        refused |= {("agent", "identity")}
    if any(sign_in_contradictions(settings.agent, settings.sign_in, _variable_of_agent)):
        refused |= {("agent", "identity")}
    if _lacks_joserfc(settings.agent):
        refused |= {("agent", "card_keys")}
    return settings, problems, refused | (FIELDS.keys() - values.keys() if unreadable else set())


def _measured(
    slack: models.SlackSettings, set_values: SettingValues, problems: list[str]
) -> dict[SettingPath, tuple[str, object]]:
    """What follows from the file of measured rules for settings that have no value."""
    from .measured_rules import effects_of, read_measured

    file = str(slack.rules)
    try:
        effects = effects_of(read_measured(Path(file)))
    except SettingsError as error:
        name = env_name(("slack", "rules"))
        problems += [f"{name}: {line}" for line in str(error).splitlines()]
        return {}
    return {
        each.setting: (f"{file} ({each.rule})", each.value)
        for each in effects
        if each.setting not in set_values and (slack.rules_allow_looser or not each.is_looser)
    }


def read_env_file(file: Path) -> tuple[Mapping[str, str | None], list[str]]:
    """The values in `file`, or one sentence for each line that cannot be read. A missing file is empty.

    A virtual environment named `.env` is ignored. Raises SettingsError.
    """
    try:
        kind = kind_of(file)
        is_folder = kind == "folder" and kind_of(file / "pyvenv.cfg") is None
    except OSError as error:
        raise SettingsError(
            f"{file.absolute()} cannot be looked for ({error.strerror}): start the bot as the user of that"
            " directory, or in another one"
        ) from None
    if is_folder:
        raise SettingsError(
            f"{file} is a directory, not a file: remove it, or put a file of NAME=value lines in its place"
        )
    if kind != "file":
        return {}, []
    from pydantic_settings import BaseSettings, DotEnvSettingsSource

    try:
        if problems := list(_unreadable_lines(file)):
            return {}, problems
        return DotEnvSettingsSource(BaseSettings, env_file=file, case_sensitive=True).env_vars, []
    except (OSError, UnicodeDecodeError):
        raise SettingsError(f"{file} cannot be read as text; check its owner, mode and encoding") from None


def _unreadable_lines(file: Path) -> Iterator[str]:
    """The lines that pydantic-settings would ignore, and that python-dotenv would log."""
    from dotenv.parser import parse_stream

    with file.open(encoding="utf-8") as stream:
        for binding in parse_stream(stream):
            if binding.error:
                text = binding.original.string
                line = binding.original.line + text[: len(text) - len(text.lstrip())].count("\n")
                yield f"{file}, line {line} cannot be read: write NAME=value, and close every quote"


def _secret_files(directory: Path | None) -> dict[str, str]:
    """One file for each setting, named like its variable, as Docker and Kubernetes provide secrets."""
    if directory is None:
        return {}
    try:
        if kind_of(directory) != "folder":
            return {}
        return {
            file.name.upper(): file.read_text(encoding="utf-8")
            for file in sorted(directory.iterdir())
            if (file.name.upper() in _VARIABLES or file.name.upper().startswith(_OF_TABLES))
            and kind_of(file) == "file"
        }
    except OSError as error:
        raise SettingsError(
            f"{error.filename} cannot be read ({error.strerror}); check its owner and mode"
        ) from None
    except UnicodeDecodeError:
        raise SettingsError(
            f"A file in {directory} cannot be read as text; check its owner and mode"
        ) from None


def _collect(
    source: _Source,
    setting_values: dict[SettingPath, tuple[str, object]],
    of_tables: dict[str, SecretStr],
    problems: list[str],
) -> None:
    """Add the values of one source to those of weaker sources. A variable is stronger than its alias."""
    items = ((name.upper(), (value or "").strip()) for name, value in source.items())
    for name, value in sorted(items, key=lambda item: item[0] not in ALIASES):
        path = _VARIABLES.get(name)
        if path is not None and value:
            if path not in _TOKENS and has_quotes(value):
                value = value[1:-1]
                problems.append(f"{name} {QUOTED}")
            setting_values[path] = name, value
        elif name.startswith(_OF_TABLES):
            if value:
                of_tables[name] = SecretStr(value)
        elif path is None and name.startswith(PREFIX) and not _KUBERNETES.match(name):
            problems.append(f"{name} is not a setting{_remedy(name)}")


def _misspelt(variables: set[str], setting_values: SettingValues) -> Iterator[str]:
    """Report names that nearly equal an alias that is not set.

    Otherwise they may belong to another program.
    """
    for name in sorted(variables - ALIASES.keys() - _OTHERS):
        alias = nearest(name, ALIASES, _VERY_NEAR) if name.startswith(_WATCHED) else None
        if alias and ALIASES[alias] not in setting_values:
            yield f"{name} is not a setting; did you mean {alias}?"


def _remedy(name: str) -> str:
    """What follows `NAME is not a setting` for a name with our prefix: a guess, the sections, or ""."""
    words, section_names = name.removeprefix(PREFIX).lower(), [section for section, _ in sections()]
    section, divided, leaf = words.partition("__")
    if inner := next(
        (each for each in section_names if "__" in each and f"{words}__".startswith(f"{each}__")), ""
    ):
        section, leaf = inner, words.removeprefix(inner).removeprefix("__")
    if section in section_names and not leaf:
        example = next(path for path in FIELDS if path[0] == section)
        return f": it is a section; write {env_name(example)} or another setting of it"
    guess = _in_section(section, leaf) if divided else _undivided(section)
    if guess is None and divided and section not in section_names:
        return f"; the sections are {', '.join(name.upper() for name, _ in sections() if '__' not in name)}"
    return f"; did you mean {guess}?" if guess else ""


def _in_section(section: str, leaf: str) -> str | None:
    likely_section = nearest(section, [name for name, _ in sections()])
    leaves = [name for each, name in FIELDS if each == likely_section]
    if near := nearest(leaf, leaves) or next(filter(partial(_one_letter_off, leaf), leaves), None):
        return env_name((likely_section or "", near))
    return next((env_name(path) for path in FIELDS if path[1] == leaf), None)


def _one_letter_off(name: str, other: str) -> bool:
    return len(name) == len(other) and sum(one != two for one, two in zip(name, other, strict=True)) == 1


def _undivided(rest: str) -> str | None:
    usual = {path: name for name, path in ALIASES.items()}
    full = {"_".join(path): usual.get(path, env_name(path)) for path in FIELDS}
    full |= {path[1]: usual.get(path, env_name(path)) for path in FIELDS}
    full |= {each.removeprefix(PREFIX).lower(): each for each in ALIASES if each.startswith(PREFIX)}
    return full[near] if (near := nearest(rest, full)) else None


def validated(
    setting_values: SettingValues, base: Settings | None = None
) -> tuple[Settings, list[str], set[SettingPath]]:
    """Check values, on top of `base` or the defaults.

    Returns the settings without the refused values, one line for each problem, and the refused settings.
    """
    tree: dict[str, Any] = {} if base is None else base.model_dump(exclude_unset=True)
    for (section, leaf), (_, value) in setting_values.items():
        reduce(lambda part, name: part.setdefault(name, {}), section.split("__"), tree)[leaf] = value
    try:
        settings = Settings.model_validate(tree)
    except ValidationError as error:
        refused = {_path(each["loc"]) for each in error.errors()}
        accepted = {path: each for path, each in setting_values.items() if path not in refused}
        settings, other_lines, more = validated(accepted, base)
        names = set(map(env_name, refused))  # what is in their place contradicts nothing
        other_lines = [line for line in other_lines if names.isdisjoint(line.split())]
        return settings, [*_lines(error, setting_values), *other_lines], refused | more
    return settings, list(_contradictions(settings)), set()


def _missing(setting_values: SettingValues, http: bool) -> Iterator[str]:
    for token in needed(http=http, has_several=BOT_TOKENS in setting_values):
        value = setting_values.get(("slack", token.field), ("", ""))[1]
        if (problem := token.problem(str(value))) is not None:
            yield problem
    if ("agent", "url") not in setting_values and ALIASES[CONFIG] not in setting_values:
        yield "A2A_AGENT_URL is not set: give the address of your A2A agent, or of its agent card"


def _lines(error: ValidationError, setting_values: SettingValues) -> Iterator[str]:
    """One line for each refused setting, even if several of its items are wrong."""
    seen: set[SettingPath] = set()
    for problem in error.errors(include_url=False, include_context=False):
        path = _path(problem["loc"])
        if path not in seen:
            seen.add(path)
            name, value = setting_values.get(path, (env_name(path), problem["input"]))
            yield refusal_line(name, FIELDS[path], value, problem["msg"])


def _path(loc: tuple[int | str, ...]) -> SettingPath:
    inner = f"{loc[0]}__{loc[1]}", str(loc[-1])
    return inner if inner in FIELDS else (str(loc[0]), str(loc[1]))
