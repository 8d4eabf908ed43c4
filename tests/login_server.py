"""An authorization server in memory, for bots on virtual time: who signs in, and what it gives them. The bot
registers itself there. It also exchanges the tokens that the bot signs for people.

Tokens of refresh rotate, and one that comes a second time ends its sign-in (RFC 9700, 2.2.2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from slack_bot.http_client import Request, Response

EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
LIFE = 60.0
"""Seconds of an access token."""


def form_of(text: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(text).items()}


@dataclass
class SignIn:
    """One of `account`, and the tokens of refresh that it used."""

    account: str
    is_over: bool = False
    used: set[str] = field(default_factory=set)


@dataclass
class LoginServer:
    """`clock` gives the seconds since 1970. `subject_of`: whom a token of the bot for this server names."""

    issuer: str
    clock: Callable[[], float]
    subject_of: Callable[[str], str]
    clients: list[str] = field(default_factory=list)
    exchanged: dict[str, str] = field(default_factory=dict)  # subject, by token
    codes: dict[str, str] = field(default_factory=dict)  # account, by code
    given: dict[str, tuple[SignIn, float]] = field(default_factory=dict)  # by access token, with its end
    refreshing: dict[str, SignIn] = field(default_factory=dict)  # by refresh token
    renewals: int = 0

    def sign_in(self, url: str, account: str) -> dict[str, str]:
        """A browser in which `account` is signed in opens `url`: the query with which it is sent back."""
        code = f"code-{len(self.codes)}-of-{account}"
        self.codes[code] = account
        return {"state": form_of(urlsplit(url).query)["state"], "code": code, "iss": self.issuer}

    def owner_of(self, access: str) -> str:
        """The account of a token that can be used; KeyError for one that cannot."""
        sign_in, ends_at = self.given[access]
        if sign_in.is_over or self.clock() >= ends_at:
            raise KeyError(f"{access} cannot be used")
        return sign_in.account

    @property
    def signed_in(self) -> set[str]:
        """The accounts of which tokens can still be renewed."""
        return {each.account for each in self.refreshing.values() if not each.is_over}

    async def handle(self, request: Request) -> Response:
        form = form_of((await request.aread()).decode())
        match request.url.path:
            case "/register":
                self.clients.append(f"client-{len(self.clients)}")
                return self._answer(request, {"client_id": self.clients[-1]}, 201)
            case "/.well-known/oauth-authorization-server":
                return self._answer(request, self._metadata())
            case "/token":
                return self._token(request, form)
            case "/userinfo":
                account = self.owner_of(request.headers["authorization"].removeprefix("Bearer "))
                about = {"sub": account, "email": f"{account}@example.com", "email_verified": True}
                return self._answer(request, about)
            case "/revoke":
                return self._revoke(request, form["token"])
        return self._answer(request, {}, 404)

    def _metadata(self) -> dict[str, Any]:
        places = {"authorization": "authorize", "token": "token", "userinfo": "userinfo"}
        urls = {f"{name}_endpoint": f"{self.issuer}/{path}" for name, path in places.items()}
        return {
            "issuer": self.issuer,
            "revocation_endpoint": f"{self.issuer}/revoke",
            "registration_endpoint": f"{self.issuer}/register",
            "token_endpoint_auth_methods_supported": ["none"],
            "authorization_response_iss_parameter_supported": True,
            **urls,
        }

    def _token(self, request: Request, form: dict[str, str]) -> Response:
        if form["grant_type"] == EXCHANGE:
            token = f"exchanged-{len(self.exchanged)}"
            self.exchanged[token] = self.subject_of(form["subject_token"])
            return self._answer(request, {"access_token": token, "token_type": "Bearer", "expires_in": LIFE})
        if form["client_id"] not in self.clients:
            return self._answer(request, {"error": "invalid_client"}, 401)
        if form["grant_type"] == "authorization_code":
            account = self.codes.get(form["code"])
            return self._refused(request) if account is None else self._give(request, SignIn(account))
        sign_in = self.refreshing.get(form["refresh_token"])
        if sign_in is None or sign_in.is_over:
            return self._refused(request)
        if form["refresh_token"] in sign_in.used:
            sign_in.is_over = True
            return self._refused(request)
        sign_in.used.add(form["refresh_token"])
        self.renewals += 1
        return self._give(request, sign_in)

    def _give(self, request: Request, sign_in: SignIn) -> Response:
        number = len(self.given)
        access, refresh = f"access-{number}-of-{sign_in.account}", f"refresh-{number}-of-{sign_in.account}"
        self.given[access] = sign_in, self.clock() + LIFE
        self.refreshing[refresh] = sign_in
        said = {"access_token": access, "refresh_token": refresh, "token_type": "Bearer", "expires_in": LIFE}
        return self._answer(request, said)

    def _revoke(self, request: Request, token: str) -> Response:
        sign_in = self.given[token][0] if token in self.given else self.refreshing.get(token)
        if sign_in is not None:
            sign_in.is_over = True
        return self._answer(request, {})

    def _refused(self, request: Request) -> Response:
        return self._answer(request, {"error": "invalid_grant"}, 400)

    def _answer(self, request: Request, value: dict[str, Any], status: int = 200) -> Response:
        return Response(status, json=value, request=request)
