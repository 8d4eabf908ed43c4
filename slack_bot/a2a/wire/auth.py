"""Our credentials for the agent, and the cookies of its server, for addresses that may have them.

Servers behind a balancer need their cookie back; one jar for all would give one conversation's session away.
"""

from __future__ import annotations

import base64
from collections import OrderedDict
from collections.abc import Generator, Hashable
from copy import copy
from typing import Self
from urllib.parse import unquote, urlsplit

import httpx

from ...errors import SettingsError
from ...settings.models import AgentSettings
from .card import AgentCard
from .origins import Origins

_BEARER = "SLACK_BOT_AGENT__BEARER_TOKEN"
_HEADER = "SLACK_BOT_AGENT__HEADER_NAME and SLACK_BOT_AGENT__HEADER_VALUE"
_MOST_COOKIES = 50
_MOST_BYTES = (
    8 * 1024
)  # of all cookies in a jar, and of those in one answer: few servers read a longer header


class Credentials(httpx.Auth):
    """The configured credentials, for the addresses that `origins` admits."""

    def __init__(self, settings: AgentSettings, origins: Origins) -> None:
        self._headers = _headers(settings)
        self._origins = origins
        self._cookies: httpx.Cookies | None = None

    def keeping(self, cookies: httpx.Cookies | None) -> Self:
        """The same credentials, with the cookies of one conversation."""
        found = copy(self)
        found._cookies = cookies
        return found

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Add the headers, or leave the request bare."""
        if not self._origins.admits(str(request.url)):
            yield request
            return
        request.headers.update(self._headers)
        if self._cookies is not None:
            self._cookies.set_cookie_header(request)
        response = yield request
        if self._cookies is not None:
            keep(self._cookies, response)


def missing(card: AgentCard, settings: AgentSettings) -> str | None:
    """One sentence if the card asks for credentials that are not configured."""
    if not card.auth or any(all(_has(settings, scheme) for scheme in each) for each in card.auth):
        return None
    wanted = " or ".join(" with ".join(each) for each in card.auth)
    return f"the agent card asks for {wanted}, which is not configured ({_BEARER}, or {_HEADER})"


def _headers(settings: AgentSettings) -> dict[str, str]:
    found: dict[str, str] = {}
    user = urlsplit(settings.url or "")
    if user.username is not None:
        pair = f"{unquote(user.username)}:{unquote(user.password or '')}"
        found["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    if settings.bearer_token is not None:
        token = settings.bearer_token.get_secret_value().strip()
        found["Authorization"] = f"Bearer {_sendable(token, _BEARER)}"
    if settings.header_name is not None and settings.header_value is not None:
        value = _sendable(settings.header_value.get_secret_value().strip(), _HEADER)
        found[_sendable(settings.header_name.strip(), _HEADER)] = value
    return found


def _sendable(value: str, setting: str) -> str:
    if not value or not value.isascii() or not value.isprintable():
        raise SettingsError(f"{setting}: empty, or with a character that an HTTP header cannot carry")
    return value


def _has(settings: AgentSettings, scheme: str) -> bool:
    kind, _, name = scheme.partition(" ")
    names = _headers(settings)
    if kind == "header":
        return name.lower() in map(str.lower, names)
    if kind in ("bearer", "oauth2", "openid"):  # a token is a token, however it was fetched
        return settings.bearer_token is not None or (settings.header_name or "").lower() == "authorization"
    return kind == "basic" and "Authorization" in names


class CookieJars:
    """A jar for each of the `most` conversations that were used last."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._jars: OrderedDict[Hashable, httpx.Cookies] = OrderedDict()

    def of(self, conversation: Hashable) -> httpx.Cookies:
        """The jar of this conversation."""
        jar = self._jars.pop(conversation, None)
        jar = self._jars[conversation] = httpx.Cookies() if jar is None else jar
        while len(self._jars) > self._most:
            self._jars.popitem(last=False)
        return jar


def keep(jar: httpx.Cookies, response: httpx.Response) -> None:
    """Put the cookies of `response` into `jar`. A server that sets too many gets none back."""
    if sum(map(len, response.headers.get_list("set-cookie"))) > _MOST_BYTES:
        return
    jar.extract_cookies(response)
    found = list(jar.jar)
    size = sum(len(each.name) + len(each.value or "") for each in found)
    if size > _MOST_BYTES or len(found) > _MOST_COOKIES:
        jar.clear()
