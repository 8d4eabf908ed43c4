"""Reads the environment and files into one frozen tree of settings. The only reader of `os.environ`.

From strongest to weakest: environment, a `.env` file, files in `/run/secrets`. An empty value counts as not
set. pydantic-settings reads the `.env` file. Its other sources ignore unknown names, have no alias for a
nested setting, and do not say from which variable a wrong value came.
"""

import base64
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial, reduce
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args, get_origin
from urllib.parse import quote_plus, unquote, unquote_plus, urlsplit

from pydantic import SecretStr, ValidationError
from pydantic.fields import FieldInfo

from ..errors import SettingsError
from ..installing import how_to_install
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
from .names import PREFIX, SettingPath, env_name, nearest
from .observe import AuditSettings, TraceSettings
from .section import SettingsSection
from .sign_in import SignInSettings
from .sign_in_rules import sign_in_contradictions
from .slack_tokens import QUOTED, has_quotes, needed
from .teams import token_contradictions, tokens_in
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

_BOT_TOKENS = "slack", "bot_tokens"
_TOKENS = {("slack", "bot_token"), ("slack", "app_token"), ("slack", "signing_secret")}
"""Tokens: only `_missing` checks these for quotes."""
_CLIENT = "agent__client"
_MIN_SECRET = 8  # characters: a shorter part of a setting may be a word of an answer

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
    agent: models.AgentSettings = models.AgentSettings()
    identity: IdentitySettings = IdentitySettings()
    sign_in: SignInSettings = SignInSettings()
    context: ContextSettings = ContextSettings()
    stream: models.StreamSettings = models.StreamSettings()
    governor: models.GovernorSettings = models.GovernorSettings()
    channel: ChannelSettings = ChannelSettings()
    """What variables say of all channels: `ChannelPolicies` knows what counts in one."""
    turns: models.TurnSettings = models.TurnSettings()
    store: models.StoreSettings = models.StoreSettings()
    push: models.PushSettings = models.PushSettings()
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
    if settings.traces.enabled and not _is_installed("opentelemetry.exporter.otlp.proto.http"):
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


def _lacks_joserfc(agent: models.AgentSettings) -> bool:
    return agent.card_keys is not None and not _is_installed("joserfc")


def _variable_of_agent(path: str) -> str:
    """The variable of a setting of the section `agent`: of `bearer_token`, or of `client.secret`."""
    section, _, leaf = f"agent.{path}".rpartition(".")
    return env_name((section.replace(".", "__"), leaf))


def login_contradictions(agent: models.AgentSettings, variable_of: Callable[[str], str]) -> Iterator[str]:
    """What is missing or too much for a login at the agent. `variable_of`: names a setting of it."""
    client = agent.client
    names = {leaf: variable_of(f"client.{leaf}") for leaf in fields_of(models.ClientSettings)}
    proofs = ("secret", "private_key", "assertion_file")
    proof_names = [names[each] for each in proofs if getattr(client, each) is not None]
    places = [names[each] for each in ("token_url", "issuer") if getattr(client, each) is not None]
    sources = {
        variable_of("bearer_token"): agent.bearer_token is not None,
        names["token_file"]: client.token_file is not None,
        names["id"]: client.fetches_tokens,
    }
    if len(token_names := [name for name, is_set in sources.items() if is_set]) > 1:
        yield f"{' and '.join(token_names)} each give a token for the agent: set one of them"
    if client.certificate is None and client.certificate_key is not None:
        yield f"{names['certificate_key']} is set and {names['certificate']} is not: set both or neither"
    if not client.fetches_tokens:
        if proof_names or places:
            yield f"{' and '.join(proof_names + places)} need {names['id']}: set it to the bot's client id"
        return
    if len(places) != 1:
        yield f"{names['id']} needs either {names['token_url']} or {names['issuer']}: set one of them"
    yield from _proof_contradictions(client, names)
    if not (_is_installed("authlib") and _is_installed("joserfc")):
        remedy = how_to_install("oauth", "run.txt")
        yield f"{names['id']} is set, and Authlib, which fetches tokens, is not here: {remedy}"


def _proof_contradictions(client: models.ClientSettings, variables: Mapping[str, str]) -> Iterator[str]:
    """What is missing as a proof of the bot's identity."""
    if client.grant == "jwt_bearer":
        if client.private_key is None:
            yield f"{variables['grant']} is jwt_bearer: set {variables['private_key']}, which signs"
        return
    proofs = {
        "auto": ("secret", "private_key", "assertion_file"),
        "private_key_jwt": ("private_key", "assertion_file"),
        "tls_client_auth": ("certificate",),
    }.get(client.method, ("secret",))
    if all(getattr(client, each) is None for each in proofs):
        remedy = " or ".join(variables[each] for each in proofs)
        yield f"{variables['id']} is set, and no proof of it: set {remedy}"
    if client.method == "tls_client_auth" and client.certificate_for == "agent":
        yield f"{variables['method']} is tls_client_auth: set {variables['certificate_for']} to token or both"


def _lacks_store(settings: Settings) -> bool:
    needs = store_kind(settings.store.url).needs
    return bool(needs) and not _is_installed(needs)


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # nor is what it is a part of
        return False


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
    for token in needed(http=http, has_several=_BOT_TOKENS in setting_values):
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


def refusal_line(name: str, field: FieldInfo, value: object, message: str) -> str:
    """The line that says why `value` is wrong.

    `name`: what the person calls the setting; `message`: pydantic's.
    """
    words = expected(field, message)
    is_secret = "SecretStr" in str(field.annotation) or re.search(r"@|xox|xapp-|sbk_", str(value)) is not None
    if not words.startswith("should"):
        return f"{name} {words}"
    return f"{name}: {words}" if is_secret else f"{name} is {value!r}: {words}"


def expected(field: FieldInfo, message: str) -> str:
    """How a value of `field` should look, in plain words: `should be true or false`.

    `message`: pydantic's error, which is used if it comes from a validator of ours.
    """
    if message.startswith("Value error, "):
        return message.removeprefix("Value error, ")
    origin, args = get_origin(field.annotation), get_args(field.annotation)
    if origin is Literal:
        return f"should be {', '.join(args[:-1])} or {args[-1]}"
    if origin is tuple and args[0] is not str:
        ranges = (bound for each in args[0].__metadata__ for bound in each.metadata)
        return f"should be one or more numbers{_unit(field)}{_range(ranges)}, with commas between them"
    kinds: dict[object, str] = {
        bool: "true or false",
        int: f"a whole number{_range(field.metadata)}",
        float: f"a finite number{_unit(field)}{_range(field.metadata)}",
    }
    list_words = 'a list of texts: write a,b or ["a","b"]'
    return f"should be {list_words if origin is tuple else kinds.get(field.annotation, 'text')}"


def _unit(field: FieldInfo) -> str:
    """The unit, which is the first word of the setting's description."""
    first = (field.description or "").split(" ")[0].rstrip(",")
    return f" of {first.lower()}" if first in ("Seconds", "Hours") else ""


def _range(constraints: Iterable[object]) -> str:
    bounds = {"gt": "greater than", "ge": "at least", "lt": "less than", "le": "at most"}
    words = [
        f"{words} {getattr(bound, name)}"
        for bound in constraints
        for name, words in bounds.items()
        if hasattr(bound, name)
    ]
    return ", " + " and ".join(words) if words else ""


def _path(loc: tuple[int | str, ...]) -> SettingPath:
    inner = f"{loc[0]}__{loc[1]}", str(loc[-1])
    return inner if inner in FIELDS else (str(loc[0]), str(loc[1]))


def secrets_of(settings: Settings) -> tuple[str, ...]:
    """All secret values of the settings, so that they can be masked.

    A header's value may be a scheme and a key, and the addresses of the agent, the store and others may hold
    a password: each such part counts as a secret too, unless it is short. An API key may also appear in an
    address in its encoded form.
    """
    values = (value_of(settings, path) for path in FIELDS if path != _BOT_TOKENS)
    secrets = [value.get_secret_value() for value in values if isinstance(value, SecretStr)]
    secrets += tokens_in(settings.slack.bot_tokens)
    secrets += [
        value.get_secret_value() for name, value in settings.agent_variables.items() if _is_secret(name)
    ]
    secrets += [value.get_secret_value() for value in settings.hook_variables.values()]
    if (api_key := settings.agent.client.api_key) is not None:
        secrets.append(quote_plus(api_key.get_secret_value()))
    header = settings.agent.header_value
    key = "" if header is None else header.get_secret_value().rpartition(" ")[2]
    of_agents = [
        each.get_secret_value() for name, each in settings.agent_variables.items() if name.endswith("URL")
    ]
    urls = (
        *of_agents,
        settings.agent.url,
        settings.store.url,
        settings.feedback.webhook_url,
        settings.traces.endpoint,
    )
    logins = [part for url in urls if url for part in _logins_of(url)]
    parts = (part for part in (key, *logins) if len(part) >= _MIN_SECRET)
    return tuple(dict.fromkeys([*secrets, *parts]))


def _is_secret(variable: str) -> bool:
    """Whether a variable of one of several agents holds a secret."""
    models_of_agent: list[type[SettingsSection]] = [models.AgentSettings]
    models_of_agent += sections_in(models.AgentSettings).values()
    leaf = variable.rpartition("__")[2].lower()
    kinds = (model.model_fields[leaf].annotation for model in models_of_agent if leaf in model.model_fields)
    return any("SecretStr" in str(each) for each in kinds)


def _logins_of(url: str) -> tuple[str, ...]:
    """The password in an address: as written, decoded, and encoded together with the name, as it is sent; and
    those behind its `?`, as that of Sentinels.
    """
    try:
        parts = urlsplit(url)
        user, password = parts.username or "", parts.password or ""
        options = [each.partition("=") for each in parts.query.split("&")]
    except ValueError:
        return ()
    written = [value for name, _, value in options if name.endswith("password") and value]
    others = tuple(dict.fromkeys([*written, *map(unquote_plus, written)]))
    pair = base64.b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode()
    return (password, unquote(password), pair, *others) if password else others
