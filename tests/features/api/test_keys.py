"""Keys: only a hash is kept, and which one a request has."""

from __future__ import annotations

from slack_bot.features.api.keys import PREFIX, bearer_in, hash_of, name_of_key, new_key
from slack_bot.settings.api_access import KeyEntry


def test_a_key_is_found_by_its_hash_alone() -> None:
    keys = {name: new_key() for name in ("a", "b")}
    assert keys["a"] != keys["b"] and all(key.startswith(PREFIX) and len(key) > 40 for key in keys.values())
    entries = {name: KeyEntry(hash=hash_of(key)) for name, key in keys.items()}
    assert [name_of_key(key, entries) for key in keys.values()] == ["a", "b"]
    assert name_of_key(new_key(), entries) is None
    assert name_of_key("\ud800", entries) is None


def test_the_token_of_the_header() -> None:
    assert bearer_in(["Bearer abc"]) == "abc"
    assert bearer_in(["bearer  abc "]) == "abc"
    assert bearer_in([]) == bearer_in(["Basic abc"]) == bearer_in(["Bearer a", "Bearer b"]) == ""
