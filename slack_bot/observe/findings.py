"""PURE. The result of a check of `doctor`, with its remedy."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

FILE = "file"
"""The check of the file that `SLACK_BOT_CONFIG` names."""


class DiagnosisState(StrEnum):
    """The result of a check, as `doctor` marks it."""

    OK = "ok"
    WARNING = "warning"  # the bot runs, and something of it does not work
    FAILED = "failed"  # the bot cannot run
    UNKNOWN = "unknown"  # it could not be looked at


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The result of one check.

    `check`: what was checked. `text`: a sentence without any secret. `page`: the page of Slack's app settings
    where the problem can be fixed.
    """

    check: str
    state: DiagnosisState
    text: str
    remedy: str = ""
    page: str = ""


def ok(check: str, text: str) -> Diagnosis:
    """A check that found no problem."""
    return Diagnosis(check, DiagnosisState.OK, text)


def failed(check: str, text: str, remedy: str = "", page: str = "") -> Diagnosis:
    """A check that found a problem with which the bot cannot run."""
    return Diagnosis(check, DiagnosisState.FAILED, text, remedy, page)


def warning(check: str, text: str, remedy: str = "", page: str = "") -> Diagnosis:
    """A check that found a problem with which the bot runs, but some feature does not work."""
    return Diagnosis(check, DiagnosisState.WARNING, text, remedy, page)


def unknown(check: str, text: str, remedy: str = "", page: str = "") -> Diagnosis:
    """A check that could not be made."""
    return Diagnosis(check, DiagnosisState.UNKNOWN, text, remedy, page)


def wrong_in_file(problems: Iterable[str]) -> list[Diagnosis]:
    """A failed check for each thing that is wrong in the file that `SLACK_BOT_CONFIG` names."""
    usual = "mend the file; `slack-bot config check` looks at it alone"
    parts = (each.partition("; ")[::2] for each in problems)
    return [failed(FILE, text, remedy or usual) for text, remedy in parts]


def split(check: str, problem: str, otherwise: str = "") -> Diagnosis:
    """A failed check from a sentence of ours: the remedy comes after "; ", or else after ": ".

    `otherwise`: the remedy for a sentence without one.
    """
    text, _, remedy = problem.partition("; ") if "; " in problem else problem.partition(": ")
    return failed(check, text, remedy.rstrip(".") or otherwise)
