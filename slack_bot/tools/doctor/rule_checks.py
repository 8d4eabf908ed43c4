"""What was measured in this workspace, and what the bot makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...errors import SettingsError
from ...observe.findings import Diagnosis, ok, warning
from ...settings.load import Settings, value_of
from ...settings.measured_rules import effects_of, read_measured
from ...settings.names import env_name
from ..rules.report import in_words

_LOOSER = f"set {env_name(('slack', 'rules_allow_looser'))}=true if the bot may rely on it"


def check_rules(settings: Settings) -> Iterator[Diagnosis]:
    """Each rule that was measured otherwise. A file that cannot be read is a finding of the settings."""
    slack = settings.slack
    if slack.rules is None:
        return
    try:
        measured = read_measured(Path(slack.rules))
    except SettingsError:
        return
    if not any(measured.differing):
        yield ok("rules", f"all {len(measured.values)} measured at {measured.at} are as expected")
    effects = effects_of(measured)
    for rule, value in measured.differing:
        text = f"{rule.id} is {in_words(value, rule)} here, not {in_words(rule.expected, rule)}"
        own = [each for each in effects if each.rule == rule.id]
        is_left = any(each.is_looser for each in own) and not slack.rules_allow_looser
        named = ", ".join(f"{env_name(each.setting)} is {value_of(settings, each.setting)}" for each in own)
        yield warning("rules", f"{text}; {named or 'no setting follows from it'}", _LOOSER if is_left else "")
