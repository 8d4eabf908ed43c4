"""Generates `.env.example` from the settings, so that it cannot differ from them.

python -m slack_bot.tools.env_example > .env.example
"""

import sys
from typing import Literal, get_args, get_origin

from ..settings.load import ALIASES, sections
from ..settings.names import env_name

_HEAD = """\
# Every setting, with its default. Generated from slack_bot/settings/models.py; a test keeps it so.
# Times are in seconds unless a line says otherwise. A list is written with commas between.
# [obs] marks a number that others measured and nobody documented."""


def example_env() -> str:
    """Every setting with its meaning and default, commented out."""
    usual = {path: name for name, path in ALIASES.items()}
    lines = [_HEAD]
    for section, model in sections():
        lines += ["", f"# --- {section}: {(model.__doc__ or '').strip()}"]
        for leaf, field in model.model_fields.items():
            path = (section, leaf)
            name = usual.get(path, env_name(path))
            about = (field.description or "").splitlines()
            choices = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
            lines += ["", *(f"# {line.strip()}" for line in about)]
            lines += [f"# One of: {', '.join(map(str, choices))}."] if choices else []
            lines += [f"# Also read as {env_name(path)}."] if path in usual else []
            lines += [f"#{name}={_text(field.default)}"]
    return "\n".join(lines) + "\n"


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
