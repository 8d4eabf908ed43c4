"""PURE. What a check found, with its remedy."""

from dataclasses import dataclass
from enum import StrEnum


class DiagnosisState(StrEnum):
    """How a check ended."""

    OK = "ok"
    WARNING = "warning"  # the bot runs, and something of it does not work
    FAILED = "failed"  # the bot cannot run
    UNKNOWN = "unknown"  # it could not be looked at


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """`check` names what was looked at, `text` is a sentence without a secret. `page`: where it is mended."""

    check: str
    state: DiagnosisState
    text: str
    remedy: str = ""
    page: str = ""


def ok(check: str, text: str) -> Diagnosis:
    """All is well."""
    return Diagnosis(check, DiagnosisState.OK, text)


def failed(check: str, text: str, remedy: str = "", page: str = "") -> Diagnosis:
    """The bot cannot run."""
    return Diagnosis(check, DiagnosisState.FAILED, text, remedy, page)


def warning(check: str, text: str, remedy: str = "", page: str = "") -> Diagnosis:
    """The bot runs, and something of it does not work."""
    return Diagnosis(check, DiagnosisState.WARNING, text, remedy, page)


def unknown(check: str, text: str, remedy: str = "", page: str = "") -> Diagnosis:
    """It could not be looked at."""
    return Diagnosis(check, DiagnosisState.UNKNOWN, text, remedy, page)


def split(check: str, problem: str, otherwise: str = "") -> Diagnosis:
    """A problem in our words: what is wrong, and behind a semicolon or else a colon the remedy.

    `otherwise`: the remedy of a problem without one.
    """
    text, _, remedy = problem.partition("; ") if "; " in problem else problem.partition(": ")
    return failed(check, text, remedy.rstrip(".") or otherwise)
