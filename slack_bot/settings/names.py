"""PURE. The names of settings, now and in the first edition, and which known name one is most like."""

import difflib
from collections.abc import Iterable
from typing import TypeAlias

SettingPath: TypeAlias = tuple[str, str]
"""Section and name."""
PREFIX = "SLACK_BOT_"

RENAMED_SECTIONS = {"desk": "turns"}
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
    "store_url": "url",
    "log_level": "level",
    "log_format": "format",
}
"""Names of the first edition, by their last part, and what each is called now."""


def env_name(path: SettingPath) -> str:
    """The variable of a setting."""
    return f"{PREFIX}{path[0]}__{path[1]}".upper()


def dotted(path: SettingPath) -> str:
    """The name of a setting outside of the environment: `agent.client.scope`."""
    return ".".join(path).replace("__", ".")


def nearest(name: str, known: Iterable[str], cutoff: float = 0.75) -> str | None:
    """The one of `known` that is most like `name`, if one is near enough (1: the same)."""
    return next(iter(difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)), None)
