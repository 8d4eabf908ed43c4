"""The security schemes that an agent names where its task waits for a sign-in."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.agents.content.schemes import schemes_in

_KEYS = st.sampled_from(["scheme", "schemes", "security", "securityRequirements", "security_schemes", "x"])
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("value", "schemes"),
    [
        ({"scheme": "files"}, ("files",)),
        ({"securityScheme": "files", "security_schemes": ["mail", "files"]}, ("files", "mail")),
        ({"auth": {"security": [{"files": ["read"]}, {"mail": []}]}}, ("files", "mail")),
        ({"securitySchemes": {"files": {"type": "oauth2"}}}, ("files",)),
        ({"scheme": 5, "schemes": [None, 7]}, ()),
        ({"schemes": [str(number) for number in range(99)]}, tuple(map(str, range(10)))),
        ({"text": "scheme files"}, ()),
    ],
)
def test_where_they_are_written(value: dict[str, Any], schemes: tuple[str, ...]) -> None:
    assert schemes_in([value]) == schemes


def test_requirements_as_1_0_writes_them() -> None:
    assert "files" in schemes_in([{"securityRequirements": [{"schemes": {"files": {"list": ["read"]}}}]}])


@given(_JSON)
def test_any_json_names_a_few_or_none(value: Any) -> None:
    found = schemes_in([value])
    assert len(found) <= 10 and all(isinstance(each, str) for each in found)
