"""Our credentials for the agent, the cookies of its server, and the addresses that may have them.

A card can name any address. Another port is another server, and plain HTTP does not replace HTTPS. Servers
behind a balancer need their cookie back; one jar for all would give one conversation's session away.
"""

import base64
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit, urlunsplit

import httpx

from ...errors import SettingsError
from ...settings.models import AgentSettings

_PORTS = {"http": 80, "https": 443}
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_UNSPECIFIED = frozenset({"0.0.0.0", "::"})
_BEARER = "SLACK_BOT_AGENT__BEARER_TOKEN"
_HEADER = "SLACK_BOT_AGENT__HEADER_NAME and SLACK_BOT_AGENT__HEADER_VALUE"
_MOST_COOKIES = 50
_MOST_BYTES = 8 * 1024
"""Of all cookies in a jar, and of those in one answer: few servers read a longer header."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Scheme, host and port of an address."""

    scheme: str
    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """It means the machine that uses it."""
        return self.host in _LOOPBACK

    @property
    def is_unspecified(self) -> bool:
        """It is to listen on, not to call."""
        return self.host in _UNSPECIFIED

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


def origin_of(url: str) -> Origin | None:
    """None: no absolute http(s) address."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    scheme = parts.scheme.lower()
    if scheme not in _PORTS or not parts.hostname:
        return None
    return Origin(scheme, parts.hostname.rstrip("."), _PORTS[scheme] if port is None else port)


def bare(url: str) -> str:
    """`url` without user, password and fragment."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, parts.query, ""))


def admits(url: str, configured: str, allowed_hosts: Iterable[str] = ()) -> bool:
    """`url` may be sent the question and the credentials. `allowed_hosts`: host or host:port."""
    origin, home = origin_of(url), origin_of(configured)
    if origin is None or home is None:
        return False
    same_host = origin.host == home.host or (origin.is_loopback and home.is_loopback)
    if same_host and origin.port == home.port and (origin.scheme, home.scheme) != ("http", "https"):
        return True
    host = f"[{origin.host}]" if ":" in origin.host else origin.host
    names = {origin.host, host, f"{host}:{origin.port}"}
    return any(allowed.strip().lower() in names for allowed in allowed_hosts)


class Credentials(httpx.Auth):
    """The configured credentials, for the addresses that may have them. `cookies`: one conversation's."""

    def __init__(self, settings: AgentSettings, cookies: httpx.Cookies | None = None) -> None:
        self._headers, self._settings, self._cookies = _headers(settings), settings, cookies

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        if not admits(str(request.url), self._settings.url or "", self._settings.allowed_hosts):
            yield request
            return
        request.headers.update(self._headers)
        if self._cookies is not None:
            self._cookies.set_cookie_header(request)
        response = yield request
        if self._cookies is not None:
            keep(self._cookies, response)


def missing(wanted: tuple[tuple[str, ...], ...], settings: AgentSettings) -> str | None:
    """One sentence if the card asks for credentials (`AgentCard.auth`) that are not configured."""
    if not wanted or any(all(_has(settings, scheme) for scheme in each) for each in wanted):
        return None
    schemes = " or ".join(" with ".join(each) for each in wanted)
    return f"the agent card asks for {schemes}, which is not configured ({_BEARER}, or {_HEADER})"


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


def keep(jar: httpx.Cookies, response: httpx.Response) -> None:
    """Put the cookies of `response` into `jar`. A server that sets too many gets none back."""
    if sum(map(len, response.headers.get_list("set-cookie"))) > _MOST_BYTES:
        return
    jar.extract_cookies(response)
    found = list(jar.jar)
    size = sum(len(each.name) + len(each.value or "") for each in found)
    if size > _MOST_BYTES or len(found) > _MOST_COOKIES:
        jar.clear()
