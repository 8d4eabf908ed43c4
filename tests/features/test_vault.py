"""What is kept of sign-ins cannot be read without the key, nor put in another place."""

from __future__ import annotations

import pytest

from slack_bot.features.vault import Vault

ONE, TWO = b"1" * 32, b"2" * 32
ABOUT = ("T1", "U1", "research")


def test_what_is_sealed_is_read_with_the_same_key_for_the_same_person_and_agent() -> None:
    vault = Vault([ONE])
    sealed = vault.seal("a secret", *ABOUT)
    assert "secret" not in sealed and sealed != vault.seal("a secret", *ABOUT)
    assert vault.read(sealed, *ABOUT) == "a secret"
    assert Vault([TWO]).read(sealed, *ABOUT) is None


@pytest.mark.parametrize("about", [("T1", "U2", "research"), ("T1", "U1", "ops"), ("T1U1", "research"), ()])
def test_it_cannot_be_moved_to_another_person_or_agent(about: tuple[str, ...]) -> None:
    vault = Vault([ONE])
    assert vault.read(vault.seal("a secret", *ABOUT), *about) is None


@pytest.mark.parametrize(
    "damage", [lambda text: text[:-4], lambda text: text[:-8] + "AAAA" + text[-4:], str.upper]
)
def test_what_was_changed_is_not_read(damage) -> None:  # type: ignore[no-untyped-def]
    vault = Vault([ONE])
    assert vault.read(damage(vault.seal("a secret", *ABOUT)), *ABOUT) is None


@pytest.mark.parametrize("sealed", ["", ".", "none.AAAA", "-"])
def test_what_was_never_sealed_is_not_read(sealed: str) -> None:
    assert Vault([ONE]).read(sealed, *ABOUT) is None


def test_a_new_key_is_put_before_the_old_one() -> None:
    old = Vault([ONE]).seal("a secret", *ABOUT)
    both = Vault([TWO, ONE])
    assert both.read(old, *ABOUT) == "a secret"
    assert Vault([TWO]).read(both.seal("a secret", *ABOUT), *ABOUT) == "a secret"
