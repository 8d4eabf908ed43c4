"""The addresses that browsers open: `/oauth/start/...`, the link of a sign-in, and `/oauth/callback`."""

from __future__ import annotations

import html
import logging
from collections.abc import Mapping
from http import HTTPStatus

from aiohttp import web

from ...errors import AgentError, StoreError
from ...inbound.http_server import Handler, keep_open, refusal
from ...settings.sign_in import SignInSettings
from ...text.sign_in_words import SIGN_IN_PAGE_AWAY, SIGN_IN_PAGE_DONE, SIGN_IN_PAGES
from ..feature import PortReceiver
from .desk import START_PATH, SignInDesk
from .rules import CALLBACK_PATH, LIFE

_log = logging.getLogger(__name__)

_ADDRESS = "SLACK_BOT_SIGN_IN__"  # what the names of the settings of the port begin with
_PATH = "/oauth/"
_MOST_QUERY = 8 * 1024  # characters: a code of Entra has some 1,500
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>slack_bot</title>
<meta name="color-scheme" content="light dark">
<style>
:root {{ --paper: #f4f5f7; --card: #fff; --ink: #1d2228; --line: #d4d9de; }}
@media (prefers-color-scheme: dark) {{
  :root {{ --paper: #14171a; --card: #1e2328; --ink: #e8eaed; --line: #3a424a; }}
}}
body {{ margin: 0; padding: 12vh 1rem 2rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }}
main {{ box-sizing: border-box; max-width: 26rem; margin: 0 auto; padding: 1.75rem; background: var(--card);
  border: 1px solid var(--line); border-radius: 12px; }}
h1 {{ margin: 0 0 .5rem; font-size: 1.35rem; line-height: 1.3; }}
p {{ margin: 0; }}
</style>
<main><h1>{}</h1><p>{}</p></main></html>
"""


class SignInPages(PortReceiver):
    """Serves the addresses, in HTTP mode on Slack's port, otherwise on one of their own."""

    def __init__(self, settings: SignInSettings, desk: SignInDesk) -> None:
        super().__init__(_ADDRESS, settings.host, settings.port)
        self._desk = desk
        self._is_secure = (settings.base_url or "").startswith("https:")

    @property
    def routes(self) -> Mapping[str, Handler]:
        return {_PATH: self._handle}

    def announce(self, host: str, port: int) -> None:
        _log.info("people sign in through http://%s:%s%s", host, port, _PATH)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.method != "GET":
            return refusal(HTTPStatus.METHOD_NOT_ALLOWED)
        if len(request.query_string) > _MOST_QUERY:
            return refusal(HTTPStatus.REQUEST_URI_TOO_LONG)
        keep_open(request)
        try:
            if request.path == CALLBACK_PATH:
                return await self._complete(request)
            if request.path.startswith(START_PATH):
                return await self._start(request.path.removeprefix(START_PATH))
        except (StoreError, AgentError) as error:
            why = error.brief if isinstance(error, AgentError) else error
            _log.warning("a browser could not sign in: %s", why)
            return _page(HTTPStatus.SERVICE_UNAVAILABLE, SIGN_IN_PAGE_AWAY)
        return refusal(HTTPStatus.NOT_FOUND)

    async def _start(self, ticket: str) -> web.StreamResponse:
        opening = await self._desk.open(ticket)
        if opening.obstacle is not None:
            return _page(HTTPStatus.GONE, SIGN_IN_PAGES[opening.obstacle])
        response = web.Response(status=HTTPStatus.FOUND, headers={**_HEADERS, "Location": opening.url})
        # "Lax" lets the cookie come back with the redirect from the authorization server
        response.set_cookie(
            opening.cookie_name,
            opening.cookie,
            max_age=int(LIFE),
            path=_PATH,
            secure=self._is_secure,
            httponly=True,
            samesite="Lax",
        )
        return response

    async def _complete(self, request: web.BaseRequest) -> web.StreamResponse:
        query = {name: value for name, value in request.query.items() if len(request.query.getall(name)) == 1}
        completion = await self._desk.complete(query, request.cookies)
        if completion.obstacle is not None:
            return _page(HTTPStatus.FORBIDDEN, SIGN_IN_PAGES[completion.obstacle])
        return _page(HTTPStatus.OK, SIGN_IN_PAGE_DONE)


def _page(status: HTTPStatus, words: str) -> web.Response:
    title, _, rest = words.partition(". ")  # the first sentence says what happened
    text = _PAGE.format(html.escape(title.removesuffix(".")), html.escape(rest))
    return web.Response(status=status, text=text, content_type="text/html", headers=_HEADERS)
