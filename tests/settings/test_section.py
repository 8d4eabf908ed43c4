"""What the groups of settings are made of; `test_models` tries it in the sections themselves."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from slack_bot.settings.section import SecureUrl, SettingsSection, Texts


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
