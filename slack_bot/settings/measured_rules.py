"""The file of `slack-bot rules`: what a workspace was found to do, and which settings follow from it."""

import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import SettingsError
from ..paths import kind_of
from .names import SettingPath, nearest
from .slack_rules import CATALOGUE, RuleValue, SlackRule

FORMAT = 1
_LARGEST = 1_000_000  # bytes
_WORD = re.compile(r"[a-z][a-z0-9_]{0,79}")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z")
_KEYS = {"format", "measured_at", "versions", "rules"}
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_ROOT = 0
_AGAIN = "measure it again with slack-bot rules --real"


@dataclass(frozen=True, slots=True)
class MeasuredRules:
    """What a workspace was found to do, by the ids of the rules. `at`: when, in UTC."""

    values: Mapping[str, RuleValue]
    at: str = ""

    @property
    def differing(self) -> Iterator[tuple[SlackRule, RuleValue]]:
        """The rules that are not as expected, and what was observed."""
        for name, value in self.values.items():
            if not CATALOGUE[name].is_as_expected(value):
                yield CATALOGUE[name], value


@dataclass(frozen=True, slots=True)
class RuleEffect:
    """A setting that follows from what was measured. `is_looser`: it asks more of Slack than the default."""

    rule: str
    setting: SettingPath
    value: object
    is_looser: bool = False


@dataclass(frozen=True, slots=True)
class _Row:
    """A setting is this `share` of the number of a rule; a larger one is looser."""

    rule: str
    setting: SettingPath
    share: float = 1.0
    is_whole: bool = False


_ROWS = (
    _Row("stream.life", ("stream", "life")),
    _Row("stream.life", ("stream", "rotate_after"), 240 / 300),
    _Row("stream.life", ("stream", "rotate_grace"), 20 / 300),
    _Row("stream.bytes", ("stream", "rotate_bytes"), 9_000 / 11_000, is_whole=True),
    _Row("call.chars", ("stream", "max_call_chars"), is_whole=True),
    _Row("card.title_chars", ("stream", "card_chars"), is_whole=True),
    _Row("card.details_chars", ("stream", "card_chars"), is_whole=True),
    _Row("status.timeout", ("stream", "status_refresh"), 90 / 120),
    _Row("rate.chat.startStream", ("governor", "starts_per_minute")),
    _Row("rate.chat.stopStream", ("governor", "stops_per_minute")),
    _Row("rate.chat.appendStream", ("governor", "appends_per_minute")),
    _Row("rate.chat.update", ("governor", "updates_per_minute")),
    _Row("rate.assistant.threads.setStatus", ("governor", "statuses_per_minute")),
    _Row("rate.conversations.replies", ("governor", "reads_per_minute")),
    _Row("rate.chat.postMessage", ("governor", "posts_per_second"), 1 / 60),
    _Row("burst.chat.postMessage", ("governor", "post_burst"), 3 / 5),
)
"""A setting with several rows gets the smallest number."""


def effects_of(measured: MeasuredRules) -> list[RuleEffect]:
    """The settings that follow from what is not as expected."""
    differing = {rule.id: value for rule, value in measured.differing}
    found: dict[SettingPath, RuleEffect] = {}
    for row in _ROWS:
        if row.rule not in differing:
            continue
        share, value = row.share, float(differing[row.rule])
        number = max(1, int(value * share)) if row.is_whole else round(value * share, 3)
        is_looser = value > float(CATALOGUE[row.rule].expected)
        effect = RuleEffect(row.rule, row.setting, number, is_looser)
        known = found.get(row.setting)
        if known is None or float(str(known.value)) > number:
            found[row.setting] = effect
    effects = list(found.values())
    if "read.table" in measured.values:
        drawn = "yes" if measured.values["read.table"] else "no"
        effects.append(RuleEffect("read.table", ("stream", "tables"), drawn))
    return effects


def read_measured(path: Path) -> MeasuredRules:
    """The file at `path`. Raises SettingsError, a line for each problem."""
    content = _read(path)
    if content.keys() != _KEYS or content["format"] != FORMAT or not isinstance(content["rules"], dict):
        raise SettingsError(f"{path} is no file of slack-bot rules, or of another version; {_AGAIN}")
    at = content["measured_at"]
    if not isinstance(at, str) or not _DATE.fullmatch(at):
        raise SettingsError(f"{path}: measured_at is no time in UTC (2026-01-31T12:00:00Z); {_AGAIN}")
    values, problems = {}, []
    for name, row in content["rules"].items():
        problem = _problem(name, row)
        if problem:
            problems.append(f"{path}: {problem}")
        else:
            values[name] = row["observed"]
    if problems:
        raise SettingsError("\n".join(problems))
    return MeasuredRules(values, at)


def as_file(values: Mapping[str, RuleValue], at: str, versions: Mapping[str, str]) -> str:
    """What is written. `versions`: of the libraries with which it was measured."""
    rules = {
        name: {"expected": CATALOGUE[name].expected, "observed": value} for name, value in values.items()
    }
    content = {"format": FORMAT, "measured_at": at, "versions": dict(versions), "rules": rules}
    return json.dumps(content, indent=1) + "\n"


def _read(path: Path) -> dict[str, Any]:
    try:
        if kind_of(path) != "file":
            raise SettingsError(f"{path} is no file; slack-bot rules --real writes one")
        with path.open("rb") as file:
            about = os.fstat(file.fileno())
            if about.st_mode & _OTHERS or about.st_uid not in (os.geteuid(), _ROOT):
                raise SettingsError(
                    f"{path} must be its owner's alone, as it changes what the bot asks of Slack: chmod 600"
                    " it, as the user who runs the bot"
                )
            content = json.loads(file.read(_LARGEST))
    except OSError as error:
        raise SettingsError(f"{path} cannot be read ({error.strerror}); check its owner and mode") from None
    except (ValueError, RecursionError):
        raise SettingsError(f"{path} is no JSON; {_AGAIN}") from None
    return content if isinstance(content, dict) else {}


def _problem(name: str, row: object) -> str:
    """Why this is not what a probe saw; "" if it is."""
    rule = CATALOGUE.get(name)
    if rule is None:
        guess = nearest(name, CATALOGUE)
        return f"{name} is no rule{f'; did you mean {guess}?' if guess else f'; {_AGAIN}'}"
    if not isinstance(row, dict) or row.keys() != {"expected", "observed"}:
        return f"{name} should have expected and observed; {_AGAIN}"
    wanted = _wanted(rule, row["observed"])
    return f"{name} is {row['observed']!r}: should be {wanted}" if wanted else ""


def _wanted(rule: SlackRule, value: object) -> str:
    """What the value should be; "" if it is."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    match rule.kind:
        case "flag":
            return "" if isinstance(value, bool) else "true or false"
        case "number":
            limits = f"a number from {rule.least:g} to {rule.most:g} ({rule.unit})"
            return "" if is_number and rule.least <= float(str(value)) <= rule.most else limits
        case "word":
            return "" if value in rule.words else f"{', '.join(rule.words[:-1])} or {rule.words[-1]}"
    is_answer = isinstance(value, str) and _WORD.fullmatch(value) is not None
    return "" if is_answer else "ok or the name of an error"
