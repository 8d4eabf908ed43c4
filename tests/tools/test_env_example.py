from __future__ import annotations

import re
from pathlib import Path

from pydantic import SecretStr

from slack_bot.settings.load import Settings, fields_of, load, sections
from slack_bot.settings.names import env_name
from slack_bot.tools.env_example import example_env

FILE = Path(__file__).parents[2] / ".env.example"


def test_the_file_is_what_the_settings_say() -> None:
    # to write it again: python -m slack_bot.tools.env_example > .env.example
    assert FILE.read_text(encoding="utf-8") == example_env()


def test_every_line_is_a_comment_or_a_setting_in_one() -> None:
    assert [line for line in example_env().splitlines() if line and not line.startswith("#")] == []


def test_every_setting_stands_in_it_once() -> None:
    named = re.findall(r"^#([A-Z0-9_]+)=", example_env(), re.MULTILINE)
    assert len(named) == len(set(named)) == sum(len(fields_of(model)) for _, model in sections())


def test_as_it_is_it_changes_nothing_and_uncommented_it_says_the_defaults(tmp_path: Path) -> None:
    assert load({}, env_file=FILE, secrets_dir=None) == Settings()
    uncommented = tmp_path / ".env"
    uncommented.write_text(re.sub(r"^#(?=[A-Z0-9_]+=)", "", example_env(), flags=re.MULTILINE))
    assert load({}, env_file=uncommented, secrets_dir=None) == Settings()


def test_secrets_are_empty() -> None:
    text = example_env()
    for section, model in sections():
        for leaf, field in fields_of(model).items():
            if SecretStr.__name__ in str(field.annotation):
                assert f"{env_name((section, leaf))}=\n" in text or f"_{leaf.upper()}=\n" in text
