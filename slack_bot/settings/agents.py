"""Settings of several agents behind one app: `[agents.NAME]` and `[routing]` of the file that
`SLACK_BOT_CONFIG` names.

A secret is never in the file: `SLACK_BOT_AGENTS__NAME__BEARER_TOKEN` is the variable of
`agents.NAME.bearer_token`. What an agent does not set has the value of the section `agent` if it is a time, a
limit or `error_text`; an address and a login are always its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, SecretStr, ValidationError
from pydantic.fields import FieldInfo

from ..turn.progress import DEFAULT_AGENT
from .channels import GROUP_IDS, PEOPLE_IDS
from .identity_rules import identity_contradictions
from .load import Settings, fields_of, sections_in
from .login_rules import login_contradictions
from .models import AgentSettings
from .names import PREFIX, nearest
from .refusals import refusal_line
from .section import SettingsSection, Texts, is_secret
from .sign_in_rules import sign_in_contradictions

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}\Z")
COMMANDS = ("agents", "use", "new", "help", "status")
"""Words after a mention that are for the bot itself, where it has several agents."""
_WORDS = frozenset({*COMMANDS, "stop", "sign", DEFAULT_AGENT})
_INHERITED = {
    leaf
    for leaf, field in AgentSettings.model_fields.items()
    if leaf == "error_text" or field.annotation in (int, float) or leaf.endswith("_intervals")
}
_SECTIONS = sections_in(AgentSettings)
_MOST_NAME = 80  # Slack: characters of a name
_EMOJI = re.compile(r":[a-z0-9_+'-]+:")
_HOW = "write [agents.NAME] with url = ... below it"


def _shown_name(value: str | None) -> str | None:
    if value is not None and not (value.strip() and value.isprintable() and len(value) <= _MOST_NAME):
        raise ValueError(f"should be one line of at most {_MOST_NAME} characters")
    return value


def _emoji(value: str | None) -> str | None:
    if value is not None and not _EMOJI.fullmatch(value):
        raise ValueError("should be an emoji by its name, such as :mag:")
    return value


def _picture(value: str | None) -> str | None:
    if value is not None and not re.fullmatch(r"https://[^/\s@]+/\S*", value):
        raise ValueError("should be the https address of a picture")
    return value


def _group(value: str | None) -> str | None:
    if value is not None and not re.fullmatch("S[A-Z0-9]+", value):
        raise ValueError("should be the id of a user group, as S0123456")
    return value


class AgentEntry(AgentSettings):
    """One agent of several: all that the section `agent` has, and who it is."""

    name: Annotated[str | None, AfterValidator(_shown_name)] = None
    """The name above its answers in Slack. Unset: that of its card."""
    icon: Annotated[str | None, AfterValidator(_emoji)] = None
    """The emoji beside its answers, as `:mag:`. It counts before `icon_url`."""
    icon_url: Annotated[str | None, AfterValidator(_picture)] = None
    """The https address of the picture beside its answers. Unset: that of its card."""
    prefixes: Texts = ()
    """Words besides its name that choose it: "r" for `@bot r: ...` and `@bot /r ...`."""
    group: Annotated[str | None, AfterValidator(_group)] = None
    """The id of a user group (`S...`) whose mention is one of this agent, in channels where `respond` is
    channel."""
    people: Annotated[Texts, PEOPLE_IDS] = ()
    """Ids of the people who may ask it. Empty, and no `groups`: all who may ask the bot."""
    groups: Annotated[Texts, GROUP_IDS] = ()
    """Ids of user groups whose members may ask it too."""

    @property
    def is_for_some(self) -> bool:
        """Whether not all may ask it."""
        return bool(self.people or self.groups)


class RoutingSettings(SettingsSection):
    """Which of several agents gets a question that names no agent."""

    default: str | None = None
    """The name of that agent. Unset: `default`, which is that of A2A_AGENT_URL, or else the first one."""
    choose: Literal["off", "skills"] = "off"
    """Before the default one: skills compares the question with the skills on the agents' cards, word by
    word, and lets the asker choose where two are near.
    """


@dataclass(frozen=True, slots=True)
class AgentTable:
    """All agents by name, and the default one."""

    entries: Mapping[str, AgentEntry]
    routing: RoutingSettings = field(default_factory=RoutingSettings)
    are_listed: bool = False
    """The file has agents, so that there is a choice to make and to keep."""
    wrong: tuple[str, ...] = ()
    """The names of those that the file has with mistakes in them."""

    @property
    def names(self) -> tuple[str, ...]:
        """All that may be meant where an agent is named."""
        return (*self.entries, *self.wrong)

    @property
    def knows_people(self) -> bool:
        """Whether an agent gets tokens of people."""
        return any(entry.knows_people for entry in self.entries.values())

    @property
    def default(self) -> str:
        return self.routing.default or next(iter(self.entries))


def agent_table(settings: Settings, file: Mapping[str, Any]) -> tuple[AgentTable, list[str]]:
    """The agents of the settings and of the parsed file, and one line for each problem."""
    tables, problems = file.get("agents", {}), list[str]()
    if not isinstance(tables, dict):
        return AgentTable({DEFAULT_AGENT: _entry_of(settings)}), [f"agents should be tables: {_HOW}"]
    variables = _by_agent(settings.agent_variables, tables, problems)
    entries: dict[str, AgentEntry] = {}
    if settings.agent.url is not None or not tables:
        entries[DEFAULT_AGENT] = _entry_of(settings)
    for name, table in tables.items():
        entry, lines = _entry(name, table, variables.get(name, {}), settings)
        problems += lines
        if entry is not None:
            entries[name] = entry
    problems += _clashes(entries)
    wrong = tuple(name for name in tables if name not in entries)
    routing, lines = _routing(file.get("routing", {}), entries, wrong)
    return AgentTable(entries, routing, are_listed=bool(tables), wrong=wrong), problems + lines


def variable_of(name: str, path: str) -> str:
    """The environment variable of one setting of an agent. `path`: `bearer_token`, `client.secret`."""
    return f"{PREFIX}AGENTS__{name}__{path}".upper().replace("-", "_").replace(".", "__")


def in_words_of(name: str, sentence: str) -> str:
    """`sentence`, which names settings of the default agent, with those of the agent `name`."""
    if name == DEFAULT_AGENT:
        return sentence
    named = sentence.replace(f"{PREFIX}AGENT__", variable_of(name, ""))
    return named.replace("A2A_AGENT_URL", _setting_of(name, "url"))


def sentence_of(name: str, sentence: str) -> str:
    """For the log: `in_words_of`, behind the name of an agent to which the settings give one."""
    return sentence if name == DEFAULT_AGENT else f"{name}: {in_words_of(name, sentence)}"


def _setting_of(name: str, path: str) -> str:
    return f"agents.{name}.{path}"


def _entry_of(settings: Settings) -> AgentEntry:
    """The agent of the section `agent`."""
    return AgentEntry.model_validate(settings.agent.model_dump(exclude_unset=True))


def _by_agent(
    variables: Mapping[str, SecretStr], tables: Mapping[str, Any], problems: list[str]
) -> dict[str, dict[str, SecretStr]]:
    """The values of variables, by agent and by the path of the setting."""
    known = {variable_of(name, path): (name, path) for name in tables for path in _paths()}
    found: dict[str, dict[str, SecretStr]] = {}
    for variable, value in variables.items():
        if variable in known:
            name, path = known[variable]
            found.setdefault(name, {})[path] = value
        else:
            guess = nearest(variable, known)
            remedy = (
                f"did you mean {guess}?" if guess else f"the file's agents: {', '.join(tables) or 'none'}"
            )
            problems.append(f"{variable} is not a setting; {remedy}")
    return found


def _paths() -> Iterator[str]:
    """All settings of an agent, those of a section inside with its name."""
    yield from fields_of(AgentEntry)
    for section, model in _SECTIONS.items():
        yield from (f"{section}.{leaf}" for leaf in fields_of(model))


def _divided(path: str) -> tuple[str, str]:
    """The section of a setting, "" or `client` or another one, and its name in it."""
    section, _, leaf = path.rpartition(".")
    return section, leaf


def _field(path: str) -> FieldInfo:
    section, leaf = _divided(path)
    return (_SECTIONS[section] if section else AgentEntry).model_fields[leaf]


def _entry(
    name: str, raw: object, variables: Mapping[str, SecretStr], settings: Settings
) -> tuple[AgentEntry | None, list[str]]:
    where = f"agents.{name}"
    if not isinstance(raw, dict):
        return None, [f"{where} should be a table: write [{where}], and its settings below"]
    if not _NAME.match(name) or name in _WORDS:
        words = ", ".join(sorted(_WORDS))
        return None, [f"{where}: a name has small letters, digits, _ and -, and is not one of {words}"]
    values, lines = _values(name, raw, settings)
    for path, secret in variables.items():
        _put(values, path, secret.get_secret_value())
    try:
        entry = AgentEntry.model_validate(values)
    except ValidationError as error:
        return None, lines + _refused(name, variables, error)
    if entry.url is None:
        return None, [*lines, f"{where}.url is not set: give the agent's address, or that of its card"]
    lines += login_contradictions(entry, partial(variable_of, name))
    lines += identity_contradictions(entry, settings.identity, partial(_setting_of, name))
    return entry, [*lines, *sign_in_contradictions(entry, settings.sign_in, partial(_setting_of, name))]


def _values(name: str, raw: Mapping[str, Any], settings: Settings) -> tuple[dict[str, Any], list[str]]:
    """What the file says of an agent, above what it inherits; and a line for each problem."""
    inherited = settings.agent.model_dump(exclude_unset=True).items()
    values: dict[str, Any] = {leaf: value for leaf, value in inherited if leaf in _INHERITED}
    lines, known = list[str](), set(_paths())
    for path, value in _flat(raw):
        if path not in known:
            guess = nearest(path, known)
            remedy = f"; did you mean {guess}?" if guess else ""
            lines.append(f"agents.{name}.{path} is not a setting of an agent{remedy}")
            if guess == "url" and "url" not in raw:  # else it would be called missing
                _put(values, guess, value)
        elif is_secret(_field(path).annotation) or (path == "url" and _has_login(value)):
            variable = variable_of(name, path)
            lines.append(f"agents.{name}.{path} does not belong here: set {variable} in the environment")
        else:
            _put(values, path, value)
    return values, lines


def _refused(name: str, variables: Mapping[str, SecretStr], error: ValidationError) -> list[str]:
    """One line for each setting with a value that cannot be."""
    lines: dict[str, None] = {}
    for problem in error.errors(include_url=False):
        path = ".".join(each for each in problem["loc"][:2] if isinstance(each, str))
        named = variable_of(name, path) if path in variables else f"agents.{name}.{path}"
        lines[refusal_line(named, _field(path), problem["input"], problem["msg"])] = None
    return list(lines)


def _flat(raw: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for leaf, value in raw.items():
        if leaf in _SECTIONS and isinstance(value, dict):
            yield from ((f"{leaf}.{inner}", each) for inner, each in value.items())
        else:
            yield leaf, value


def _put(tree: dict[str, Any], path: str, value: Any) -> None:
    section, leaf = _divided(path)
    below = tree.setdefault(section, {}) if section else tree
    below[leaf] = value


def _has_login(url: object) -> bool:
    try:
        return isinstance(url, str) and urlsplit(url).password is not None
    except ValueError:
        return False


def _clashes(agents: Mapping[str, AgentEntry]) -> Iterator[str]:
    """Words that would choose two agents, or something else."""
    owners: dict[str, str] = {name: name for name in agents}
    groups: dict[str, str] = {}
    for name, entry in agents.items():
        if entry.group is not None and groups.setdefault(entry.group, name) != name:
            yield f"agents.{name}.group is {groups[entry.group]}'s too: a group is of one agent"
        for prefix in entry.prefixes:
            word = prefix.casefold()
            if word in _WORDS or not re.fullmatch(r"[^\s:/]+", word):
                yield f"agents.{name}.prefixes: {prefix!r} cannot be one: write a word of its own"
            elif owners.setdefault(word, name) != name:
                yield f"agents.{name}.prefixes: {prefix!r} is {owners[word]}'s too: a word chooses one agent"


def _routing(
    raw: object, agents: Mapping[str, AgentEntry], wrong: Sequence[str]
) -> tuple[RoutingSettings, list[str]]:
    """`wrong`: names of agents with mistakes."""
    if not isinstance(raw, dict):
        return RoutingSettings(), ["routing should be a table: write [routing], and its settings below"]
    known = RoutingSettings.model_fields
    strange = [leaf for leaf in raw if leaf not in known]
    lines = [f"routing.{leaf} is not a setting; they are {', '.join(known)}" for leaf in strange]
    try:
        routing = RoutingSettings.model_validate({leaf: raw[leaf] for leaf in raw if leaf in known})
    except ValidationError as error:
        refused = {str(each["loc"][0]): each["msg"] for each in error.errors(include_url=False)}
        lines += [
            refusal_line(f"routing.{leaf}", known[leaf], raw[leaf], msg) for leaf, msg in refused.items()
        ]
        return RoutingSettings(), lines
    if routing.default is not None and routing.default not in agents:
        if routing.default not in wrong:
            known_names = ", ".join((*agents, *wrong))
            lines.append(f"routing.default is {routing.default!r}: should be one of {known_names}")
        routing = RoutingSettings()
    return routing, lines
