"""One replica at a time renews a person's tokens, and an export has none of them."""

from __future__ import annotations

from slack_bot.store.sign_ins import SIGNED_IN, SignedIn, SignInKey

KEY = SignInKey("T1", "U1", "research")
RECORD = SignedIn("login.example", "https://login.example", "sealed", 1.0, 1.0, 80.0, 100.0)


def test_a_renewal_is_reserved_until_it_is_released_or_its_time_is_up() -> None:
    claimed = RECORD.claimed("one", now=90.0, until=105.0)
    assert claimed is not None
    assert claimed.claimed("two", now=104.9, until=120.0) is None
    late = claimed.claimed("two", now=105.0, until=120.0)
    assert late is not None and late.renewer == "two"
    assert claimed.released("two") is None
    released = claimed.released("one")
    assert released is not None and released.claimed("two", now=91.0, until=106.0) is not None


def test_what_a_person_gets_of_it() -> None:
    assert SIGNED_IN.view is not None
    assert SIGNED_IN.view(KEY, RECORD, "U1") == {
        "agent": "research",
        "host": "login.example",
        "signed_in_at": 1.0,
    }
    assert SIGNED_IN.is_about(KEY, RECORD, "U1", "T1") and not SIGNED_IN.is_about(KEY, RECORD, "U2", None)
    assert "sealed" not in repr(RECORD).replace("sealed=", "")
