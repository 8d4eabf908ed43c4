"""What the groups of settings are made of; `test_models` tries it in the sections themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import pytest
from pydantic import SecretStr, ValidationError

from slack_bot.settings.section import SecureUrl, SettingsSection, Texts, is_secret


class _Section(SettingsSection):
    url: SecureUrl = "https://a.example"
    names: Texts = ()


def test_a_list_of_a_variable_has_commas_or_is_json() -> None:
    assert _Section.model_validate({"names": "a, b,"}).names == ("a", "b")
    assert _Section.model_validate({"names": '["a, b"]'}).names == ("a, b",)


@pytest.mark.parametrize("url", ["http://a.example", "https://", "http://localhost.example/"])
def test_secrets_go_nowhere_in_plain_text(url: str) -> None:
    with pytest.raises(ValidationError, match="begins with https://"):
        _Section.model_validate({"url": url})


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (SecretStr, True),
        (SecretStr | None, True),
        (Annotated[SecretStr, "x"] | None, True),
        (Mapping[str, SecretStr], True),
        (str, False),
        (str | None, False),
        (None, False),
    ],
)
def test_which_types_hold_secrets(annotation: object, expected: bool) -> None:
    assert is_secret(annotation) is expected
