"""What the playground's authorization server gives, and everything that it refuses."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.playground.others.authorization import (
    ACCESS_LIFE,
    CLIENT,
    AuthorizationDesk,
    RefusedRequest,
    challenge_of,
)

CALLBACK, RESOURCE = "http://127.0.0.1:1/oauth/callback", "http://127.0.0.1:2/"
VERIFIER = "v" * 43
QUERY = {
    "response_type": "code",
    "client_id": CLIENT,
    "redirect_uri": CALLBACK,
    "scope": "openid email offline_access tickets.read",
    "state": "s",
    "code_challenge": challenge_of(VERIFIER),
    "code_challenge_method": "S256",
    "resource": RESOURCE,
}


def new_desk() -> AuthorizationDesk:
    numbers = count(1)
    return AuthorizationDesk(CALLBACK, RESOURCE, lambda: f"secret-{next(numbers)}")


def code_for(desk: AuthorizationDesk, subject: str = "maya", now: float = 0.0, **query: str) -> str:
    name, _ = desk.begin({**QUERY, **query}, now)
    _, code = desk.decide(name, subject, now)
    assert code is not None
    return code


def form_of(code: str, **form: str) -> dict[str, str]:
    usual = {"grant_type": "authorization_code", "client_id": CLIENT, "code_verifier": VERIFIER}
    return {**usual, "redirect_uri": CALLBACK, "code": code, **form}


def tokens(desk: AuthorizationDesk, now: float = 0.0, subject: str = "maya") -> tuple[str, str]:
    given = desk.give(form_of(code_for(desk, subject, now)), now)
    return str(given["access_token"]), str(given["refresh_token"])


def renew(desk: AuthorizationDesk, refresh: str, now: float = 0.0) -> tuple[str, str]:
    form = {"grant_type": "refresh_token", "client_id": CLIENT, "refresh_token": refresh}
    given = desk.give(form, now)
    return str(given["access_token"]), str(given["refresh_token"])


def error_of(refused: pytest.ExceptionInfo[RefusedRequest]) -> str:
    return refused.value.error


def is_good(desk: AuthorizationDesk, access: str, now: float = 0.0) -> bool:
    return desk.account_of(access, RESOURCE, "tickets.read", now) is not None


def test_a_code_becomes_tokens_of_the_account_that_was_chosen() -> None:
    desk = new_desk()
    access, _ = tokens(desk, subject="jonas")
    account = desk.account_of(access, RESOURCE, "tickets.read", 0.0)
    assert account is not None and account.name == "Jonas"
    about = {"sub": "jonas", "name": "Jonas", "email": "jonas@example.com", "email_verified": True}
    assert desk.about(access, 0.0) == about


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"client_id": "another"}, "invalid_client"),
        ({"client_id": ""}, "invalid_client"),
        ({"redirect_uri": CALLBACK + "/"}, "invalid_request"),
        ({"redirect_uri": "https://evil.example/"}, "invalid_request"),
    ],
)
def test_nothing_is_sent_to_an_address_that_is_not_registered(changed: dict[str, str], error: str) -> None:
    with pytest.raises(RefusedRequest) as refused:
        new_desk().check_address({**QUERY, **changed})
    assert error_of(refused) == error


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"code_challenge": ""}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"scope": "openid admin"}, "invalid_scope"),
        ({"resource": "http://127.0.0.1:3/"}, "invalid_target"),
    ],
)
def test_a_request_that_is_not_as_it_should_be_goes_back(changed: dict[str, str], error: str) -> None:
    with pytest.raises(RefusedRequest) as refused:
        new_desk().begin({**QUERY, **changed}, 0.0)
    assert error_of(refused) == error


def test_a_page_is_decided_once_and_within_ten_minutes() -> None:
    desk = new_desk()
    name, _ = desk.begin(QUERY, 0.0)
    assert desk.decide(name, None, 1.0)[1] is None
    for late in (name, "never asked"):
        with pytest.raises(RefusedRequest):
            desk.decide(late, "maya", 1.0)
    name, _ = desk.begin(QUERY, 0.0)
    with pytest.raises(RefusedRequest):
        desk.decide(name, "maya", 600.0)
    name, _ = desk.begin(QUERY, 0.0)
    with pytest.raises(RefusedRequest):
        desk.decide(name, "nobody", 1.0)


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"client_id": "another"}, "invalid_client"),
        ({"code": "another"}, "invalid_grant"),
        ({"code_verifier": "w" * 43}, "invalid_grant"),
        ({"code_verifier": ""}, "invalid_grant"),
        ({"redirect_uri": "http://127.0.0.1:1/"}, "invalid_grant"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"grant_type": "client_credentials"}, "unsupported_grant_type"),
    ],
)
def test_no_tokens_for_a_code_without_its_proof(changed: dict[str, str], error: str) -> None:
    desk = new_desk()
    with pytest.raises(RefusedRequest) as refused:
        desk.give({**form_of(code_for(desk)), **changed}, 1.0)
    assert error_of(refused) == error


def test_a_code_is_good_for_a_minute() -> None:
    desk = new_desk()
    with pytest.raises(RefusedRequest):
        desk.give(form_of(code_for(desk)), 60.0)


def test_a_code_that_comes_a_second_time_ends_what_it_gave() -> None:
    desk = new_desk()
    code = code_for(desk)
    access, refresh = renew(desk, str(desk.give(form_of(code), 1.0)["refresh_token"]))
    with pytest.raises(RefusedRequest):
        desk.give(form_of(code), 2.0)
    assert not is_good(desk, access)
    with pytest.raises(RefusedRequest):
        renew(desk, refresh)


def test_a_refresh_token_that_comes_a_second_time_ends_the_sign_in_and_no_other_one() -> None:
    desk = new_desk()
    other, _ = tokens(desk)
    _, first = tokens(desk)
    access, second = renew(desk, first)
    with pytest.raises(RefusedRequest):
        renew(desk, first)
    assert not is_good(desk, access)
    with pytest.raises(RefusedRequest):
        renew(desk, second)
    assert is_good(desk, other)


@pytest.mark.parametrize("number", [0, 1])
def test_a_token_that_is_revoked_ends_its_sign_in(number: int) -> None:
    desk = new_desk()
    pair = tokens(desk)
    with pytest.raises(RefusedRequest):
        desk.revoke({"token": pair[number]})
    desk.revoke({"token": "unknown", "client_id": CLIENT})
    assert is_good(desk, pair[0])
    desk.revoke({"token": pair[number], "client_id": CLIENT})
    assert not is_good(desk, pair[0])
    with pytest.raises(RefusedRequest):
        renew(desk, pair[1])


def test_an_access_token_is_for_one_agent_one_scope_and_ten_minutes() -> None:
    desk = new_desk()
    access, refresh = tokens(desk)
    assert is_good(desk, access, ACCESS_LIFE - 1)
    assert not is_good(desk, access, ACCESS_LIFE)
    assert desk.account_of(access, "http://127.0.0.1:3/", "tickets.read", 0.0) is None
    assert desk.account_of(access, RESOURCE, "tickets.write", 0.0) is None
    assert not is_good(desk, refresh)
    assert desk.about("unknown", 0.0) is None
    narrow = desk.give(form_of(code_for(desk, scope="tickets.read")), 0.0)
    assert desk.about(str(narrow["access_token"]), 0.0) is None


def test_what_is_kept_is_bounded() -> None:
    desk = new_desk()
    first, _ = desk.begin(QUERY, 0.0)
    for _ in range(1_000):
        desk.begin(QUERY, 0.0)
    with pytest.raises(RefusedRequest):
        desk.decide(first, "maya", 0.0)


STEPS = st.lists(st.tuples(st.sampled_from(["renew", "revoke", "reuse"]), st.integers(0, 5)), max_size=12)


@given(st.lists(st.sampled_from(["maya", "jonas", "priya"]), min_size=1, max_size=4), STEPS)
def test_a_token_is_ever_that_of_who_signed_in(subjects: list[str], steps: list[tuple[str, int]]) -> None:
    """Whatever is renewed, revoked and used twice."""
    desk = new_desk()
    pairs = [(subject, tokens(desk, subject=subject)) for subject in subjects]
    for kind, number in steps:
        subject, (access, refresh) = pairs[number % len(pairs)]
        if kind == "revoke":
            desk.revoke({"token": access, "client_id": CLIENT})
            continue
        try:
            pairs.append((subject, renew(desk, refresh)))
        except RefusedRequest:
            continue
        if kind == "reuse":
            with pytest.raises(RefusedRequest):
                renew(desk, refresh)
    for subject, (access, _) in pairs:
        account = desk.account_of(access, RESOURCE, "tickets.read", 0.0)
        assert account is None or account.subject == subject


# -- applications that register themselves

APPLICATION = {
    "client_name": "ops",
    "redirect_uris": [CALLBACK],
    "grant_types": ["authorization_code", "refresh_token"],
    "token_endpoint_auth_method": "none",
}


def test_what_an_application_got_is_of_no_use_to_another_one() -> None:
    desk = new_desk()
    ops = str(desk.register(APPLICATION)["client_id"])
    assert (desk.name_of(ops), desk.name_of(CLIENT)) == ("ops", "slack_bot")
    with pytest.raises(RefusedRequest) as refused:
        desk.give(form_of(code_for(desk), client_id=ops), 0.0)
    assert error_of(refused) == "invalid_grant"
    given = desk.give(form_of(code_for(desk, client_id=ops), client_id=ops), 0.0)
    access, refresh = str(given["access_token"]), str(given["refresh_token"])
    desk.revoke({"token": access, "client_id": CLIENT})
    assert is_good(desk, access)
    with pytest.raises(RefusedRequest) as refused:
        renew(desk, refresh)
    assert error_of(refused) == "invalid_grant"


@pytest.mark.parametrize(
    ("about", "error"),
    [
        ({"redirect_uris": ["https://other.example/"]}, "invalid_redirect_uri"),
        ({"redirect_uris": [CALLBACK, "https://other.example/"]}, "invalid_redirect_uri"),
        ({"client_name": ""}, "invalid_client_metadata"),
        ({"client_name": "n" * 100}, "invalid_client_metadata"),
        ({"grant_types": ["password"]}, "invalid_client_metadata"),
        ({"response_types": ["token"]}, "invalid_client_metadata"),
        ({"token_endpoint_auth_method": "client_secret_basic"}, "invalid_client_metadata"),
    ],
)
def test_an_application_that_wants_something_else_is_not_registered(
    about: dict[str, object], error: str
) -> None:
    with pytest.raises(RefusedRequest) as refused:
        new_desk().register({**APPLICATION, **about})
    assert error_of(refused) == error


def test_many_registrations_do_not_push_the_bot_out() -> None:
    desk = new_desk()
    for _ in range(1_001):
        desk.register(APPLICATION)
    assert code_for(desk)
