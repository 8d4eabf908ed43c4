"""The playground's authorization server over HTTP, on this machine only: the page at which people sign in,
and the addresses that the bot asks (RFC 6749, 7009, 7591, 8414).

There are no passwords: a person at this machine may be each of the people.
"""

from __future__ import annotations

import html
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TypeAlias
from urllib.parse import urlencode, urlsplit

from aiohttp import web

from ...clock import Clock
from ...turn.json_values import object_of
from .accounts import ACCOUNTS
from .authorization import GRANTS, SCOPES, AskedConsent, AuthorizationDesk, RefusedRequest

_HOST = "127.0.0.1"
_LONGEST_BODY = 64 * 1024  # bytes
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self' {callback}; base-uri 'none';"
    " frame-ancestors 'none'"
)
_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>{title}</title>
<style>
:root {{ --paper: #f4f5f7; --card: #fff; --ink: #1d2228; --dim: #5a646e; --line: #d4d9de; --go: #1f6f4a; }}
@media (prefers-color-scheme: dark) {{
  :root {{ --paper: #14171a; --card: #1e2328; --ink: #e8eaed; --dim: #a3adb7; --line: #3a424a;
    --go: #25804f; }}
}}
body {{ margin: 0; padding: 8vh 1rem 2rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }}
main {{ box-sizing: border-box; max-width: 26rem; margin: 0 auto; padding: 1.75rem; background: var(--card);
  border: 1px solid var(--line); border-radius: 12px; }}
h1 {{ margin: 0 0 .25rem; font-size: 1.35rem; line-height: 1.3; }}
p {{ margin: .5rem 0; }} .dim, small {{ color: var(--dim); }}
fieldset {{ margin: 1.25rem 0; padding: 0; border: 0; }} legend {{ padding: 0 0 .5rem; font-weight: 600; }}
label {{ display: flex; gap: .75rem; align-items: center; padding: .6rem .75rem; cursor: pointer;
  border: 1px solid var(--line); border-radius: 8px; }}
label + label {{ margin-top: .5rem; }} label span {{ display: grid; }}
label:has(:checked) {{ border-color: var(--go); box-shadow: inset 0 0 0 1px var(--go); }}
input {{ width: 1.1rem; height: 1.1rem; accent-color: var(--go); }}
ul {{ margin: .25rem 0 0; padding-left: 1.25rem; }}
.buttons {{ display: flex; gap: .75rem; margin-top: 1.5rem; }}
button {{ flex: 1; padding: .65rem; border: 1px solid var(--line); border-radius: 8px; background: none;
  color: inherit; font: inherit; font-weight: 600; cursor: pointer; }}
button.go {{ border-color: var(--go); background: var(--go); color: #fff; }}
button:focus-visible, input:focus-visible {{ outline: 3px solid #4a90d9; outline-offset: 2px; }}
</style>
<main>{body}</main></html>
"""
_CONSENT = """
<h1>Sign in to Tickets</h1>
<p class="dim">The application <b>{application}</b> wants to act for you.</p>
<form method="post" action="/authorize">
<input type="hidden" name="request" value="{request}">
<fieldset><legend>Sign in as</legend>{accounts}</fieldset>
<p>It will be able to:</p><ul>{scopes}</ul>
<div class="buttons">
<button name="decision" value="refuse" formnovalidate>Refuse</button>
<button class="go" name="decision" value="allow">Allow</button>
</div>
</form>
<p><small>This server is a part of the playground and has no passwords. Sign in as somebody else, and the
bot refuses it.</small></p>
"""
_ACCOUNT = """<label><input type="radio" name="account" value="{subject}" required{checked}>
<span>{name}<small>{email}</small></span></label>"""
_MEANINGS = {
    "email": "see your name and your verified e-mail address",
    "tickets.read": "read your open tickets",
    "offline_access": "do so until you sign out",
}
_Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]


class AuthorizationPages:
    """The server at `issuer`."""

    def __init__(self, issuer: str, desk: AuthorizationDesk, callback: str, clock: Clock) -> None:
        self._issuer, self._desk, self._clock = issuer, desk, clock
        self._policy = _POLICY.format(callback=callback)

    def site(self) -> web.Application:
        """The application with all addresses."""

        @web.middleware
        async def guard(request: web.Request, handler: _Handler) -> web.StreamResponse:
            if request.host != urlsplit(self._issuer).netloc:  # a name that was bound to this machine
                raise web.HTTPForbidden(text=f"The playground does not answer for {request.host}.")
            return await handler(request)

        site = web.Application(middlewares=[guard], client_max_size=_LONGEST_BODY)
        site.on_response_prepare.append(self._add_headers)
        site.add_routes(
            [
                web.get("/.well-known/oauth-authorization-server", self._describe),
                web.get("/authorize", self._ask),
                web.post("/authorize", self._decide),
                web.post("/token", self._give),
                web.post("/register", self._register),
                web.post("/revoke", self._revoke),
                web.get("/userinfo", self._tell),
                web.get("/favicon.ico", _give_no_icon),
            ]
        )
        return site

    async def _add_headers(self, _: web.Request, response: web.StreamResponse) -> None:
        headers = {"Content-Security-Policy": self._policy, "X-Content-Type-Options": "nosniff"}
        response.headers.update(headers | {"Cache-Control": "no-store", "Referrer-Policy": "same-origin"})

    async def _describe(self, _: web.Request) -> web.Response:
        """RFC 8414."""
        paths = {
            "authorization_endpoint": "authorize",
            "token_endpoint": "token",
            "userinfo_endpoint": "userinfo",
            "revocation_endpoint": "revoke",
            "registration_endpoint": "register",
        }
        rest = {
            "response_types_supported": ["code"],
            "grant_types_supported": list(GRANTS),
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "scopes_supported": list(SCOPES),
            "authorization_response_iss_parameter_supported": True,
        }
        endpoints = {name: f"{self._issuer}/{path}" for name, path in paths.items()}
        return web.json_response({"issuer": self._issuer, **endpoints, **rest})

    # -- browsers

    async def _ask(self, request: web.Request) -> web.StreamResponse:
        query = _once(request.query)
        try:
            self._desk.check_address(query)
        except RefusedRequest as refused:
            return _page("This does not work", str(refused), 400)
        try:
            name, asked = self._desk.begin(query, self._clock.monotonic())
        except RefusedRequest as refused:
            return self._back(query["redirect_uri"], query.get("state", ""), error=refused.error)
        return _html("Sign in", _consent(name, asked, self._desk.name_of(asked.client)))

    async def _decide(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Origin", self._issuer) != self._issuer:
            raise web.HTTPForbidden(text="Only this server's own page may decide.")
        form = _once(await request.post())
        subject = form.get("account", "") if form.get("decision") == "allow" else None
        try:
            asked, code = self._desk.decide(form.get("request", ""), subject, self._clock.monotonic())
        except RefusedRequest as refused:
            return _page("This page is over", f"{refused} Go back to the conversation.", 400)
        more = {"error": "access_denied"} if code is None else {"code": code}
        return self._back(asked.redirect_uri, asked.state, **more)

    def _back(self, redirect_uri: str, state: str, **more: str) -> web.Response:
        """Send the browser back to the client, with who sends it (RFC 9207)."""
        words = {**more, "iss": self._issuer, **({"state": state} if state else {})}
        return web.Response(status=303, headers={"Location": f"{redirect_uri}?{urlencode(words)}"})

    # -- the bot

    async def _give(self, request: web.Request) -> web.Response:
        try:
            return web.json_response(self._desk.give(_once(await request.post()), self._clock.monotonic()))
        except RefusedRequest as refused:
            return _refusal(refused)

    async def _register(self, request: web.Request) -> web.Response:
        try:
            about = await request.json()
        except ValueError:
            about = None
        try:
            return web.json_response(self._desk.register(object_of(about)), status=201)
        except RefusedRequest as refused:
            return _refusal(refused)

    async def _revoke(self, request: web.Request) -> web.Response:
        try:
            self._desk.revoke(_once(await request.post()))
        except RefusedRequest as refused:
            return _refusal(refused)
        return web.json_response({})

    async def _tell(self, request: web.Request) -> web.Response:
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        about = self._desk.about(token, self._clock.monotonic()) if kind.lower() == "bearer" else None
        if about is None:
            headers = {"WWW-Authenticate": 'Bearer error="invalid_token"'}
            return web.json_response({"error": "invalid_token"}, status=401, headers=headers)
        return web.json_response(about)


@asynccontextmanager
async def serve_authorization(
    build: Callable[[str], AuthorizationPages], port: int = 0
) -> AsyncIterator[str]:
    """Serve what `build(issuer)` makes until the context is left; yields the issuer."""
    bound = socket.create_server((_HOST, port))
    issuer = f"http://{_HOST}:{bound.getsockname()[1]}"
    runner = web.AppRunner(build(issuer).site(), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.SockSite(runner, bound).start()
        yield issuer
    finally:
        await runner.cleanup()


def new_secret() -> str:
    """A random text."""
    return secrets.token_urlsafe(32)


async def _give_no_icon(_: web.Request) -> web.Response:
    return web.Response(status=204)


def _once(given: Mapping[str, object]) -> dict[str, str]:
    """The parameters that come once, as text: one that is repeated counts as missing (RFC 6749, 3.1)."""
    names = list(given)
    return {name: value for name, value in given.items() if names.count(name) == 1 and isinstance(value, str)}


def _consent(name: str, asked: AskedConsent, application: str) -> str:
    accounts = "".join(
        _ACCOUNT.format(
            subject=account.subject,
            name=html.escape(account.name),
            email=html.escape(account.email),
            checked=" checked" if asked.login_hint.casefold() == account.email.casefold() else "",
        )
        for account in ACCOUNTS.values()
    )
    scopes = "".join(f"<li>{_MEANINGS[scope]}</li>" for scope in asked.scopes if scope in _MEANINGS)
    return _CONSENT.format(
        request=name, application=html.escape(application), accounts=accounts, scopes=scopes
    )


def _page(title: str, words: str, status: int) -> web.Response:
    return _html(title, f"<h1>{title}</h1><p>{html.escape(words)}</p>", status)


def _html(title: str, body: str, status: int = 200) -> web.Response:

    return web.Response(text=_PAGE.format(title=title, body=body), content_type="text/html", status=status)


def _refusal(refused: RefusedRequest) -> web.Response:
    status = 401 if refused.error == "invalid_client" else 400
    return web.json_response({"error": refused.error, "error_description": str(refused)}, status=status)
