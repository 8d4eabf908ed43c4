"""Generates `.env.example` from the settings, so that it cannot differ from them.

python -m slack_bot.tools.env_example > .env.example
"""

import sys
from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias, get_args, get_origin

from pydantic.fields import FieldInfo

from ..settings.load import ALIASES, FIELDS, sections
from ..settings.names import env_name

_Path: TypeAlias = tuple[str, str]

_HEAD = """\
# Every setting, with its default: first those that everybody sets, then the rest, section by section.
# Generated from the settings in slack_bot/settings; a test keeps it so.
# Times are in seconds unless a line says otherwise. A list is written with commas between."""
_FIRST_TITLE = "# ===== What everybody sets ====="
_REST_TITLE = "# ===== Everything else ====="
_EXAMPLES: Mapping[_Path, str] = {
    ("slack", "bot_token"): "xoxb-...",
    ("slack", "app_token"): "xapp-...",
    ("slack", "signing_secret"): "the one under Basic Information of the app",
    ("agent", "url"): "https://agent.example.com",
    ("agent", "bearer_token"): "the agent's token",
    ("store", "url"): "sqlite:////data/slack_bot.sqlite",
    ("slack", "config"): "/etc/slack-bot/slack_bot.toml",
    ("health", "port"): "8080",
    ("log", "format"): "json",
    ("slack", "allowed_bots"): "B0123ABC",
    ("turns", "hourly_person"): "30",
    ("store", "turn_days"): "2",
}
"""What everybody sets, with an example."""
_LEAVE_IT = "# -- Leave these numbers: nobody has had a reason to change them yet."
_OBS = "# -- Leave these too: others measured them [obs], and nobody has documented them."
_OPERATORS_NUMBERS = frozenset(
    {
        *{("slack", name) for name in ("socket_connections", "backfill_hours", "http_port")},
        *{("agent", name) for name in ("idle_timeout", "turn_timeout", "watch_for")},
        *{("context", name) for name in ("messages", "message_chars", "chars", "overheard")},
        *{("turns", name) for name in ("shutdown_grace", "follow_for", "max_waiting", "collect_delay")},
        *{("turns", name) for name in ("max_bot_turns", "hourly_channel", "hourly_total", "hourly_bot")},
        *{("store", name) for name in ("conversation_days", "form_days", "feedback_days", "event_bytes")},
        *{("store", name) for name in ("overheard_hours", "lease", "lock_wait")},
        *{("files", name) for name in ("max_bytes", "max_total_bytes")},
        *{("stream", name) for name in ("flush_interval", "max_segments", "max_file_bytes")},
        *{("governor", "reads_per_minute"), ("push", "port"), ("audit", "days"), ("reference", "pace")},
    }
)
"""Numbers that are a matter of taste or of the place, and not of Slack, the agent or the machine."""


def example_env() -> str:
    """Every setting with its meaning and default, commented out."""
    lines = [_HEAD, "", _FIRST_TITLE]
    for path, example in _EXAMPLES.items():
        lines += _entry(path, FIELDS[path], example)
    lines += ["", _REST_TITLE]
    for section, model in sections():
        rest = {path: each for path, each in FIELDS.items() if path[0] == section and path not in _EXAMPLES}
        lines += ["", f"# --- {section.replace('__', '.')}: {(model.__doc__ or '').strip()}", *_grouped(rest)]
    return "\n".join(lines) + "\n"


def _grouped(fields: Mapping[_Path, FieldInfo]) -> Iterator[str]:
    """What an operator chooses first, then the numbers that are left as they are."""
    kinds = {path: _kind(path, field) for path, field in fields.items()}
    for kind in ("", _LEAVE_IT, _OBS):
        of_this = [path for path in fields if kinds[path] == kind]
        if kind and of_this:
            yield from ("", kind)
        for path in of_this:
            yield from _entry(path, fields[path])


def _kind(path: _Path, field: FieldInfo) -> str:
    if "[obs" in (field.description or ""):
        return _OBS
    is_number = isinstance(field.default, int | float) and not isinstance(field.default, bool)
    return _LEAVE_IT if is_number and path not in _OPERATORS_NUMBERS else ""


def _entry(path: _Path, field: FieldInfo, example: str = "") -> Iterator[str]:
    usual = {aliased: name for name, aliased in ALIASES.items()}
    choices: tuple[Any, ...] = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
    yield ""
    for line in (field.description or "").splitlines():
        yield f"# {line.strip()}"
    if choices:
        yield f"# One of: {', '.join(map(str, choices))}."
    if path in usual and not example:
        yield f"# Also read as {env_name(path)}."
    if example:
        yield f"# For example: {example}"
    yield f"#{usual.get(path, env_name(path))}={_text(field.default)}"


def _text(default: object) -> str:
    match default:
        case None:
            return ""
        case bool():
            return str(default).lower()
        case tuple():
            return ",".join(map(str, default))
        case float():
            return f"{default:g}"
        case _:
            return str(default)


if __name__ == "__main__":
    sys.stdout.write(example_env())
