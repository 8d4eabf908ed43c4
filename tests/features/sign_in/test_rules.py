"""A sign-in while it is under way: who may complete it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slack_bot.features.sign_in.rules import (
    LIFE,
    Account,
    BrowserVisit,
    PendingSignIn,
    SignInObstacle,
    SignInStage,
    account_obstacle,
    account_of,
    hash_of,
    is_same_email,
    issuer_obstacle,
    opening_obstacle,
    return_obstacle,
)
from slack_bot.store.sign_ins import SignInKey

KEY = SignInKey("T1", "U1", "research")
VISIT = BrowserVisit(hash_of("state"), hash_of("cookie"), "sealed")
OPEN = PendingSignIn("name", KEY, "turn", 1000.0, (VISIT,))


@pytest.mark.parametrize(
    ("sign_in", "now", "obstacle"),
    [
        (OPEN, 1001.0, None),
        (None, 1001.0, SignInObstacle.UNKNOWN),
        (OPEN, 1000.0 + LIFE, SignInObstacle.EXPIRED),
        (replace(OPEN, stage=SignInStage.TAKEN), 1001.0, SignInObstacle.USED),
        (OPEN.ended(SignInStage.DONE), 1001.0, SignInObstacle.USED),
        (OPEN.ended(SignInStage.REFUSED), 1001.0, SignInObstacle.USED),
    ],
)
def test_a_link_opens_for_ten_minutes_and_until_a_browser_comes_back(
    sign_in: PendingSignIn | None, now: float, obstacle: SignInObstacle | None
) -> None:
    assert opening_obstacle(sign_in, now) is obstacle
    assert return_obstacle(sign_in, "state", "cookie", now) is obstacle


@pytest.mark.parametrize(
    ("state", "cookie", "obstacle"),
    [
        ("state", "cookie", None),
        ("state", "", SignInObstacle.OTHER_BROWSER),
        ("state", "another", SignInObstacle.OTHER_BROWSER),
        ("another", "cookie", SignInObstacle.UNKNOWN),
        ("", "cookie", SignInObstacle.UNKNOWN),
    ],
)
def test_only_the_browser_that_opened_the_link_comes_back(
    state: str, cookie: str, obstacle: SignInObstacle | None
) -> None:
    assert return_obstacle(OPEN, state, cookie, 1001.0) is obstacle


def test_several_browsers_may_open_a_link_and_each_has_a_state_of_its_own() -> None:
    other = BrowserVisit(hash_of("other state"), hash_of("other cookie"), "sealed")
    both = OPEN.visited(other)
    assert return_obstacle(both, "state", "cookie", 1001.0) is None
    assert return_obstacle(both, "other state", "other cookie", 1001.0) is None
    assert return_obstacle(both, "other state", "cookie", 1001.0) is SignInObstacle.OTHER_BROWSER
    many = both
    for number in range(5):
        many = many.visited(replace(other, state_hash=hash_of(str(number))))
    assert return_obstacle(many, "state", "cookie", 1001.0) is SignInObstacle.UNKNOWN


@pytest.mark.parametrize(
    ("query", "is_required", "obstacle"),
    [
        ({"iss": "https://one.example"}, True, None),
        ({"iss": "https://one.example"}, False, None),
        ({"iss": "https://one.example/"}, False, SignInObstacle.OTHER_ISSUER),
        ({}, False, None),
        ({}, True, SignInObstacle.OTHER_ISSUER),
    ],
)
def test_the_server_that_answers_is_the_one_that_was_asked(
    query: dict[str, str], is_required: bool, obstacle: SignInObstacle | None
) -> None:
    assert issuer_obstacle(query, "https://one.example", is_required=is_required) is obstacle


@pytest.mark.parametrize(
    ("account", "email", "obstacle"),
    [
        (Account("1", "a@example.com", True), "a@example.com", None),
        (Account("1", "A@Example.com", True), "a@example.com", None),
        (Account("1", "b@example.com", True), "a@example.com", SignInObstacle.OTHER_PERSON),
        (Account("1", "a@example.com", False), "a@example.com", SignInObstacle.NO_EMAIL),
        (Account("1", "", True), "", SignInObstacle.NO_EMAIL),
        (Account("1", "a@example.com", True), None, SignInObstacle.UNTRUSTED),
    ],
)
def test_the_account_that_signed_in_is_the_asker_s(
    account: Account, email: str | None, obstacle: SignInObstacle | None
) -> None:
    assert account_obstacle(account, email) is obstacle


@pytest.mark.parametrize("other", ["mike@example.com", "m\u0131ke@example.com", "MIKE@example.com"])
def test_letters_that_only_look_alike_are_other_letters(other: str) -> None:
    assert is_same_email("mi\u212ae@example.com", other) is False
    assert is_same_email("mike@example.com", other) is other.isascii()


@pytest.mark.parametrize("said", [True, "true"])
def test_claims_of_an_account(said: object) -> None:
    claims = {"sub": "1", "email": "a@example.com", "email_verified": said}
    assert account_of(claims) == Account("1", "a@example.com", True)
    assert account_of({"sub": "1", "email": "a@example.com"}).is_verified is False
