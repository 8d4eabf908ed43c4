"""PURE. What the playground's authorization server decides: who gets a code, a token, or a refusal.

OAuth 2.0 as its best practice wants it (RFC 9700): codes with PKCE only (RFC 7636), redirects to one known
address, tokens of refresh that rotate, revocation (RFC 7009). A code or a refresh token that comes a second
time was stolen from somebody: then all that was given for that sign-in is revoked.

Everything is kept in memory. One client is known from the start: the bot; it may also register itself
(RFC 7591). `now` is seconds on one clock.
"""

from __future__ import annotations

import base64
import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import count
from typing import TypeVar

from .accounts import ACCOUNTS, PlayedAccount

CLIENT = "slack-bot"
SCOPES = ("openid", "email", "offline_access", "tickets.read")
GRANTS = ("authorization_code", "refresh_token")
_MOST_NAME = 80  # letters of an application's name
ACCESS_LIFE = 600.0
"""Seconds for which an access token is good: short, so that a renewal is seen too."""
_PAGE_LIFE = 600.0  # seconds for which a person may look at the page
_CODE_LIFE = 60.0
_Kept = TypeVar("_Kept")
_MOST_KEPT = 1_000  # of each kind; then the oldest are forgotten


class RefusedRequest(Exception):
    """An error of RFC 6749. `error` is its code; the text is for who reads it."""

    def __init__(self, error: str, text: str) -> None:
        super().__init__(text)
        self.error = error


@dataclass(frozen=True, slots=True)
class AskedConsent:
    """A browser that was sent here to sign in. `state` goes back with it. `login_hint`: the address of who is
    to sign in, as the client knows it (OpenID Connect Core, 3.1.2.1).
    """

    client: str
    redirect_uri: str
    state: str
    challenge: str
    resource: str
    scopes: tuple[str, ...]
    until: float
    login_hint: str = ""


@dataclass(frozen=True, slots=True)
class _GivenCode:
    asked: AskedConsent
    subject: str
    sign_in: int
    until: float


@dataclass(frozen=True, slots=True)
class _GivenTokens:
    """A pair of tokens. `sign_in` is the same for all that came from one."""

    access: str = field(repr=False)
    refresh: str = field(repr=False)
    client: str
    subject: str
    resource: str
    scopes: tuple[str, ...]
    sign_in: int
    until: float


class AuthorizationDesk:
    """All sign-ins. `redirect_uri`: the only address that codes go to. `resource`: the agent that the tokens
    are for. `new_secret`: makes a random text.
    """

    def __init__(self, redirect_uri: str, resource: str, new_secret: Callable[[], str]) -> None:
        self._redirect_uri, self._resource, self._new_secret = redirect_uri, resource, new_secret
        self._registered: dict[str, str] = {}  # the names of applications, by their ids
        self._asked: dict[str, AskedConsent] = {}
        self._codes: dict[str, _GivenCode] = {}
        self._used_codes: dict[str, int] = {}
        self._by_access: dict[str, _GivenTokens] = {}
        self._by_refresh: dict[str, _GivenTokens] = {}
        self._used_refresh: dict[str, int] = {}
        self._sign_ins = count(1)

    # -- applications

    def register(self, about: Mapping[str, object]) -> dict[str, object]:
        """Register an application (RFC 7591), which proves nothing but that it knows its codes' verifiers.

        Raises RefusedRequest.
        """
        if about.get("redirect_uris") != [self._redirect_uri]:
            raise RefusedRequest("invalid_redirect_uri", f"Only {self._redirect_uri} is taken here.")
        name = about.get("client_name")
        grants = about.get("grant_types", [GRANTS[0]])
        problems = (
            (about.get("token_endpoint_auth_method") != "none", "Only token_endpoint_auth_method=none."),
            (not isinstance(name, str) or not 0 < len(name) <= _MOST_NAME, "A client_name is needed."),
            (not isinstance(grants, list) or not {*grants} <= {*GRANTS}, "Codes and refresh tokens only."),
            (about.get("response_types", ["code"]) != ["code"], "Only response_types=[code]."),
        )
        for is_so, text in problems:
            if is_so:
                raise RefusedRequest("invalid_client_metadata", text)
        client = self._new_secret()
        _keep(self._registered, client, str(name))
        return {
            "client_id": client,
            "client_name": name,
            "redirect_uris": [self._redirect_uri],
            "grant_types": grants,
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        }

    def name_of(self, client: str) -> str:
        """What people read of an application."""
        return self._registered.get(client, "slack_bot")

    def _check_client(self, given: Mapping[str, str]) -> str:
        client = given.get("client_id", "")
        if client != CLIENT and client not in self._registered:
            raise RefusedRequest("invalid_client", "No application with this name is registered here.")
        return client

    # -- browsers

    def check_address(self, query: Mapping[str, str]) -> None:
        """Raise RefusedRequest if nothing may be sent back to this client at this address: a page says so."""
        self._check_client(query)
        if query.get("redirect_uri") != self._redirect_uri:
            raise RefusedRequest(
                "invalid_request", "This is not the address that the application registered."
            )

    def begin(self, query: Mapping[str, str], now: float) -> tuple[str, AskedConsent]:
        """Take a request whose address was checked. Returns the name under which it is kept.

        Raises RefusedRequest; that goes back to the client.
        """
        if query.get("response_type") != "code":
            raise RefusedRequest("unsupported_response_type", "Only response_type=code is given here.")
        challenge = query.get("code_challenge", "")
        if not challenge or query.get("code_challenge_method") != "S256":
            raise RefusedRequest("invalid_request", "A code_challenge with the method S256 is needed.")
        scopes = tuple(dict.fromkeys(query.get("scope", "").split()))
        if unknown := [each for each in scopes if each not in SCOPES]:
            raise RefusedRequest("invalid_scope", f"There is no scope {unknown[0]}.")
        if (resource := query.get("resource", self._resource)) != self._resource:
            raise RefusedRequest("invalid_target", "No agent with this address is registered here.")
        name = self._new_secret()
        asked = AskedConsent(
            query["client_id"],
            query["redirect_uri"],
            query.get("state", ""),
            challenge,
            resource,
            scopes,
            now + _PAGE_LIFE,
            query.get("login_hint", ""),
        )
        _keep(self._asked, name, asked)
        return name, asked

    def decide(self, name: str, subject: str | None, now: float) -> tuple[AskedConsent, str | None]:
        """A person allowed it as the account `subject`, or refused it (None). It is decided once.

        Returns what was asked, and the code. Raises RefusedRequest if nothing is open under `name`.
        """
        asked = self._asked.pop(name, None)
        if asked is None or now >= asked.until:
            raise RefusedRequest("invalid_request", "This page was used, or it is older than ten minutes.")
        if subject is None:
            return asked, None
        if subject not in ACCOUNTS:
            raise RefusedRequest("access_denied", "There is no such account.")
        code = self._new_secret()
        _keep(self._codes, code, _GivenCode(asked, subject, next(self._sign_ins), now + _CODE_LIFE))
        return asked, code

    # -- the token endpoint

    def give(self, form: Mapping[str, str], now: float) -> dict[str, object]:
        """Answer a request for tokens. Raises RefusedRequest."""
        self._check_client(form)
        match form.get("grant_type"):
            case "authorization_code":
                return self._by_code(form, now)
            case "refresh_token":
                return self._renewed(form.get("refresh_token", ""), form["client_id"], now)
        raise RefusedRequest("unsupported_grant_type", "Codes and refresh tokens are taken here.")

    def _by_code(self, form: Mapping[str, str], now: float) -> dict[str, object]:
        code = form.get("code", "")
        if (sign_in := self._used_codes.get(code)) is not None:
            self._revoke(sign_in)
        given = self._codes.pop(code, None)
        if given is None or now >= given.until or given.asked.client != form["client_id"]:
            raise RefusedRequest("invalid_grant", "The code was used, or it is too old.")
        _keep(self._used_codes, code, given.sign_in)
        verifier = form.get("code_verifier", "")
        if not hmac.compare_digest(challenge_of(verifier), given.asked.challenge):
            raise RefusedRequest("invalid_grant", "The code_verifier does not fit.")
        if form.get("redirect_uri") != given.asked.redirect_uri:
            raise RefusedRequest("invalid_grant", "The redirect_uri is another one than before.")
        asked = given.asked
        given_before = _GivenTokens(
            "", "", asked.client, given.subject, asked.resource, asked.scopes, given.sign_in, 0.0
        )
        return self._tokens(given_before, now)

    def _renewed(self, refresh: str, client: str, now: float) -> dict[str, object]:
        if (sign_in := self._used_refresh.get(refresh)) is not None:
            self._revoke(sign_in)
        given = self._by_refresh.pop(refresh, None)
        if given is None or given.client != client:
            raise RefusedRequest("invalid_grant", "The refresh token was used or revoked.")
        _keep(self._used_refresh, refresh, given.sign_in)
        return self._tokens(given, now)

    def _tokens(self, earlier: _GivenTokens, now: float) -> dict[str, object]:
        """New ones for the same person, agent and application."""
        access, refresh = self._new_secret(), self._new_secret()
        given = replace(earlier, access=access, refresh=refresh, until=now + ACCESS_LIFE)
        _keep(self._by_access, access, given)
        _keep(self._by_refresh, refresh, given)
        return {
            "access_token": access,
            "token_type": "Bearer",
            "expires_in": int(ACCESS_LIFE),
            "refresh_token": refresh,
            "scope": " ".join(given.scopes),
        }

    def revoke(self, form: Mapping[str, str]) -> None:
        """Forget a token, and all that was given for the same sign-in. An unknown one is no error.

        Raises RefusedRequest for another client.
        """
        client = self._check_client(form)
        token = form.get("token", "")
        given = self._by_access.get(token) or self._by_refresh.get(token)
        if given is not None and given.client == client:
            self._revoke(given.sign_in)

    def _revoke(self, sign_in: int) -> None:
        for kept in (self._by_access, self._by_refresh):
            for token in [token for token, given in kept.items() if given.sign_in == sign_in]:
                del kept[token]

    # -- who gets tokens

    def account_of(self, access: str, resource: str, scope: str, now: float) -> PlayedAccount | None:
        """Whose access token this is, if it is good for this agent and for that."""
        given = self._by_access.get(access)
        if given is None or now >= given.until or given.resource != resource or scope not in given.scopes:
            return None
        return ACCOUNTS[given.subject]

    def about(self, access: str, now: float) -> dict[str, object] | None:
        """What the userinfo endpoint says (OpenID Connect Core, 5.3); None for a token that is not good."""
        account = self.account_of(access, self._resource, "email", now)
        if account is None:
            return None
        return {"sub": account.subject, "name": account.name, "email": account.email, "email_verified": True}


def challenge_of(verifier: str) -> str:
    """The challenge that fits (RFC 7636, 4.2)."""
    return base64.urlsafe_b64encode(sha256(verifier.encode()).digest()).decode().rstrip("=")


def _keep(kept: dict[str, _Kept], name: str, value: _Kept) -> None:
    kept[name] = value
    if len(kept) > _MOST_KEPT:
        del kept[next(iter(kept))]
