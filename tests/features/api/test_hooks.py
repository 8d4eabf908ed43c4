"""Webhooks: proofs, templates and which delivery one is."""

from __future__ import annotations

import hmac
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from slack_bot.features.api.hooks import delivery_of, filled, is_authentic, is_wanted, message_of, value_at
from slack_bot.settings.api_access import HookEntry

BODY = b'{"a": 1}'
SECRET = SecretStr("a secret")
SIGNED = hmac.new(b"a secret", BODY, sha256).hexdigest()


def hook(**given: Any) -> HookEntry:
    return HookEntry.model_validate(
        {"verify": "hmac", "channel": "C1", "ask": "What?", "secret": SECRET, **given}
    )


@pytest.mark.parametrize(
    ("signatures", "is_good"),
    [
        ([f"sha256={SIGNED}"], True),
        ([f"sha256={SIGNED.upper()}"], True),
        ([SIGNED], False),
        ([f"sha256={SIGNED}", f"sha256={SIGNED}"], False),
        ([f"sha256={SIGNED[:-1]}"], False),
        (["sha256="], False),
        (["sha256=\u00e9"], False),
        ([], False),
    ],
)
def test_the_signature_of_the_body(signatures: list[str], is_good: bool) -> None:
    assert is_authentic(hook(), signatures, (), BODY) is is_good
    assert not is_authentic(hook(), signatures, (), BODY + b" ")


def test_another_prefix_and_the_secret_itself() -> None:
    assert is_authentic(hook(prefix=""), [SIGNED], (), BODY)
    bearer = hook(verify="bearer")
    assert is_authentic(bearer, (), ["Bearer a secret"], BODY)
    assert not is_authentic(bearer, (), ["Bearer a secre"], BODY)
    assert not is_authentic(bearer, [f"sha256={SIGNED}"], (), BODY)


def test_without_a_secret_nothing_is_authentic() -> None:
    for verify in ("hmac", "bearer"):
        signed = hmac.new(b"", BODY, sha256).hexdigest()
        assert not is_authentic(hook(secret=None, verify=verify), [f"sha256={signed}"], ["Bearer "], BODY)


FIELDS = {"a": {"b": [{"c": "x"}, 2]}, "n": None, "t": True, "l": ["p", "q"], "big": "y" * 600}


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{a.b.0.c} and {a.b.1}", "x and 2"),
        ("[{missing}] [{a.b.9}] [{a.b.c}] [{n}] [{n.x}]", "[] [] [] [] []"),
        ("{t} {l} {a.b.0}", 'true ["p","q"] {"c":"x"}'),
        ("{ a } {} {{a}} {a b} {a.}", '{ a } {} {{"b":[{"c":"x"},2]}} {a b} {a.}'),
        ("{big}", "y" * 499 + "…"),
    ],
)
def test_places_are_filled_with_fields(template: str, words: str) -> None:
    assert filled(template, FIELDS) == words


def test_a_value_is_never_a_template() -> None:
    assert filled("{x}", {"x": "{y}", "y": "secret"}) == "{y}"


def test_what_values_mention_reads_as_text_where_people_read_it() -> None:
    assert "<!channel>" not in filled("<!here> {x}", {"x": "<!channel>"}, is_shown=True)
    assert filled("<!here> {x}", {"x": "a"}, is_shown=True).startswith("<!here>"), (
        "the operator's own takes effect"
    )


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(fields=_JSON, path=st.from_regex(r"[a-z0-9]{1,3}(\.[a-z0-9]{1,3}){0,4}", fullmatch=True))
def test_any_json_gives_bounded_text(fields: Any, path: str) -> None:
    assert isinstance(value_at(fields, path), str)
    message = message_of("n", hook(headline=f"{{{path}}}", ask=f"{{{path}}} " * 100), fields)
    assert len(message.headline) <= 150 and "\n" not in message.headline
    assert len(message.text) <= 10_000 and len(message.quoted) <= 30_000


def test_which_delivery_it_is() -> None:
    named = hook(once_header="X-Id")
    assert delivery_of(named, ["1"], {}, b"a") == delivery_of(named, ["1"], {}, b"b")
    assert delivery_of(named, ["1"], {}, b"a") != delivery_of(named, ["2"], {}, b"a")
    by_field = hook(once="{key} {status}")
    assert delivery_of(by_field, [], {"key": 1, "x": 2}, b"a") == delivery_of(by_field, [], {"key": 1}, b"b")
    for nothing_named in (hook(), by_field, named):
        assert delivery_of(nothing_named, [], {}, b"a") == delivery_of(nothing_named, [], {}, b"a")
        assert delivery_of(nothing_named, [], {}, b"a") != delivery_of(nothing_named, [], {}, b"b")


def test_only_what_has_these_values() -> None:
    some = hook(only={"action": ["opened"], "issue.state": ["open", "new"]})
    assert is_wanted(some, {"action": "opened", "issue": {"state": "new"}})
    assert not is_wanted(some, {"action": "opened"})
    assert is_wanted(hook(), "anything")
