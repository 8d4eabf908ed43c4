"""PURE. The names of settings as variables, and what an unknown one was probably meant to be."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import TypeAlias

SettingPath: TypeAlias = tuple[str, str]
"""Section and name."""
PREFIX = "SLACK_BOT_"

# Without the prefix: all names share it.
_NEAR = 0.75
# Names that other programs may use are ours only if hardly a letter differs.
_VERY_NEAR = 0.9
_WATCHED = ("A2A_AGENT", "SLACK_APP", "SLACK_SIGN", "SLACK_API")
_OTHERS = {"SLACK_API_TOKEN"}
_RENAMED_SECTIONS = {"desk": "turns"}
RENAMED = {
    "slack_timeout": "timeout",
    "slack_write_timeout": "write_timeout",
    "wire": "protocol_version",
    "convention": "dialect",
    "answer_from": "answer_source",
    "accept_within": "accept_timeout",
    "quiet_told": "quiet_notice_after",
    "silence_told": "lost_notice_after",
    "asked_grace": "input_required_grace",
    "stop_wait": "stop_timeout",
    "poll_for": "poll_timeout",
    "poll_pauses": "poll_intervals",
    "first_flush": "first_flush_delay",
    "retry_later": "retry_timeout",
    "insist_for": "post_retry_timeout",
    "refusal_memory": "streaming_refusal_ttl",
    "rate_share": "rate_utilization",
    "start_wait": "start_slot_timeout",
    "turn_limit": "turn_deadline",
    "remembered_questions": "retry_cache_size",
    "store_url": "url",
    "log_level": "level",
    "log_format": "format",
}
"""Names of the first edition, by their last part, and what each is called now."""


def env_name(path: SettingPath) -> str:
    """The variable of a setting."""
    return f"{PREFIX}{path[0]}__{path[1]}".upper()


def nearest(name: str, known: Iterable[str], cutoff: float = _NEAR) -> str | None:
    """The one of `known` that is most like `name`, if one is near enough."""
    return next(iter(difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)), None)


def remedy(name: str, sections: Mapping[str, Iterable[str]], usual: Iterable[str]) -> str:
    """What follows `NAME is not a setting`: a guess, the sections, or "".

    `name` has our prefix; `sections` are the leaves of each section; `usual` are names without section.
    """
    section, divided, leaf = name.removeprefix(PREFIX).lower().partition("__")
    now = _RENAMED_SECTIONS.get(section, section), RENAMED.get(leaf, leaf)
    if now != (section, leaf) and now[1] in sections.get(now[0], ()):
        return f" any more; it is called {env_name(now)} now"
    if section in sections and not leaf:
        some = next(iter(sections[section]))
        return f": it is a section; write {env_name((section, some))} or another setting of it"
    guess = _in_section(section, leaf, sections) if divided else _undivided(section, sections, usual)
    if guess is None and divided and section not in sections:
        return f"; the sections are {', '.join(each.upper() for each in sections)}"
    return f"; did you mean {guess}?" if guess else ""


def usual_meant(name: str, usual: Iterable[str]) -> str | None:
    """The usual name that `name`, which lacks our prefix, is a misspelling of."""
    if not name.startswith(_WATCHED) or name in _OTHERS:
        return None
    return nearest(name, usual, _VERY_NEAR)


def _in_section(section: str, leaf: str, sections: Mapping[str, Iterable[str]]) -> str | None:
    meant = nearest(section, sections)
    if meant and (near := nearest(leaf, sections[meant])):
        return env_name((meant, near))
    return next((env_name((each, leaf)) for each, leaves in sections.items() if leaf in leaves), None)


def _undivided(rest: str, sections: Mapping[str, Iterable[str]], usual: Iterable[str]) -> str | None:
    paths = [(section, leaf) for section, leaves in sections.items() for leaf in leaves]
    full = {f"{section}_{leaf}": env_name((section, leaf)) for section, leaf in paths}
    full |= {leaf: env_name((section, leaf)) for section, leaf in paths}
    full |= {each.removeprefix(PREFIX).lower(): each for each in usual if each.startswith(PREFIX)}
    return full[near] if (near := nearest(rest, full)) else None
