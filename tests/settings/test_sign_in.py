"""The settings of sign-ins."""

from __future__ import annotations

import base64

import pytest
from pydantic import SecretStr, ValidationError

from slack_bot.settings.sign_in import SignInSettings, keys_in

ONE, TWO = (base64.b64encode(each * 32).decode() for each in (b"1", b"2"))


@pytest.mark.parametrize(("value", "keys"), [(ONE, [b"1" * 32]), (f"{TWO}, {ONE}", [b"2" * 32, b"1" * 32])])
def test_one_key_or_two(value: str, keys: list[bytes]) -> None:
    settings = SignInSettings.model_validate({"keys": value})
    assert settings.keys is not None and keys_in(settings.keys) == keys


@pytest.mark.parametrize("value", ["", "no base64", base64.b64encode(b"short").decode(), ",".join([ONE] * 3)])
def test_what_is_no_key_is_refused_without_being_shown(value: str) -> None:
    with pytest.raises(ValidationError) as caught:
        SignInSettings.model_validate({"keys": SecretStr(value)})
    assert "should be one key or two" in str(caught.value)
    assert not value or value not in str(caught.value)
