"""The bot's credentials for the agent, the cookies of its server, and the addresses that may get them.

A card can name any address. Another port counts as another server, and plain HTTP does not replace HTTPS.
Servers behind a load balancer need their cookie back. Each conversation has its own cookies, because one jar
for all would give away one conversation's session to the others.
"""

import base64
import hashlib
import re
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from http import HTTPStatus
from typing import Protocol, Self, TypeAlias
from urllib.parse import unquote, urlsplit, urlunsplit

from ...errors import SettingsError
from ...http_client import AsyncByteStream, Auth, ByteStream, Cookies, Request, Response
from ...settings.models import AgentSettings, ClientSettings
from ...turn.progress import DEFAULT_AGENT

_PORTS = {"http": 80, "https": 443}
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_UNSPECIFIED = frozenset({"0.0.0.0", "::"})
KEY_PLACES = frozenset({"header", "query", "cookie"})
"""Where a card may want an API key."""
_KEY_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, 5.6.2
_API_KEY = "SLACK_BOT_AGENT__CLIENT__API_KEY"
_BEARER = "SLACK_BOT_AGENT__BEARER_TOKEN"
_HEADER = "SLACK_BOT_AGENT__HEADER_NAME and SLACK_BOT_AGENT__HEADER_VALUE"
_SESSION = "SLACK_BOT_AGENT__SESSION_HEADER"
_IDENTITY = "SLACK_BOT_AGENT__IDENTITY_HEADER"
_CLIENT = "SLACK_BOT_AGENT__CLIENT__"
_SET_BY: Mapping[str, str] = {
    "bearer": f"set {_BEARER} to its token",
    "basic": "write the user and the password into A2A_AGENT_URL: https://user:password@host",
    "mtls": f"set {_CLIENT}CERTIFICATE to the file of the bot's certificate",
    "oauth2": f"set {_CLIENT}ISSUER, {_CLIENT}ID and {_CLIENT}SECRET, or {_BEARER} to a token",
    "openid": f"set {_CLIENT}ISSUER, {_CLIENT}ID and {_CLIENT}SECRET, or {_BEARER} to a token",
    "header": f"set {_API_KEY} to the key",
    "query": f"set {_API_KEY} to the key",
    "cookie": f"set {_API_KEY} to the key",
}
"""What to set, by the kind of login that a card asks for."""
_MOST_COOKIES = 50
_MOST_BYTES = 8 * 1024
"""The most bytes of cookies in a jar, and in one answer: few servers read a longer header."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Scheme, host and port of an address."""

    scheme: str
    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether the host means the machine on which the program itself runs."""
        return self.host in _LOOPBACK

    @property
    def is_unspecified(self) -> bool:
        """Whether the host is an address to listen on (0.0.0.0), which cannot be called."""
        return self.host in _UNSPECIFIED

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


def origin_of(url: str) -> Origin | None:
    """The origin of `url`; None if it is not an absolute http or https address."""
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


def key_of_agent(name: str, settings: AgentSettings) -> str:
    """The key of an agent in the store: its name; for the default agent, the origin and path of its URL."""
    url = bare(settings.url or "").partition("?")[0].rstrip("/")
    return url if name == DEFAULT_AGENT else name


def admits(url: str, configured: str, allowed_hosts: Iterable[str] = ()) -> bool:
    """Whether the question and the credentials may be sent to `url`.

    `configured`: the agent's address in the settings. `allowed_hosts`: further hosts, as host or host:port.
    """
    origin, home = origin_of(url), origin_of(configured)
    if origin is None or home is None:
        return False
    same_host = origin.host == home.host or (origin.is_loopback and home.is_loopback)
    if same_host and origin.port == home.port and (origin.scheme, home.scheme) != ("http", "https"):
        return True
    host = f"[{origin.host}]" if ":" in origin.host else origin.host
    names = {origin.host, host, f"{host}:{origin.port}"}
    return any(allowed.strip().lower() in names for allowed in allowed_hosts)


class TokenSource(Protocol):
    """Gives tokens for the agent. All methods raise TokenUnavailable and TokenRefused."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """The tokens that the agent may repeat, so that they can be masked: the current one, if there is one,
        and earlier ones. Always empty: they are known by their form.
        """

    async def token(self) -> str:
        """A token that is valid now, as far as is known."""

    async def renewed(self, refused: str) -> str | None:
        """Another token after the agent refused `refused`; None if there is no other one."""

    def accept(self, token: str) -> None:
        """Note that the agent has accepted this token."""


Learn: TypeAlias = Callable[[str], None]
"""Gets a secret that must not be shown."""


class Credentials(Auth):
    """Adds the configured credentials to requests, if their address may have them.

    `cookies`: those of one conversation. `session`: the name of the conversation; its hash goes into the
    header that `session_header` names. `on_behalf`: the tokens of who asks there, for the header that
    `identity_header` names. `learn` gets each token that goes to the agent, and earlier ones: the agent may
    send them back.
    """

    def __init__(
        self,
        settings: AgentSettings,
        cookies: Cookies | None = None,
        tokens: TokenSource | None = None,
        session: str = "",
        on_behalf: TokenSource | None = None,
        learn: Learn | None = None,
    ) -> None:
        self._learn = learn
        self._headers, self._settings, self._cookies = _headers(settings), settings, cookies
        if settings.session_header is not None:
            name = _sendable(settings.session_header.strip(), _SESSION)
            self._headers[name] = hashlib.sha256(session.encode()).hexdigest()
        self._sources = [(tokens, "Authorization")] if tokens is not None else []
        if on_behalf is not None:
            self._sources.append((on_behalf, _asker_header(settings)))
        self._api_keys = tuple[tuple[str, str], ...]()

    def with_api_keys(self, alternatives: Sequence[Sequence[str]]) -> Self:
        """A copy that sends the API key where the card (`AgentCard.auth`) wants it."""
        credentials = copy(self)
        places = dict.fromkeys(scheme.partition(" ")[::2] for each in alternatives for scheme in each)
        credentials._api_keys = tuple(
            (place, name) for place, name in places if place in KEY_PLACES and _KEY_NAME.fullmatch(name)
        )
        return credentials

    async def async_auth_flow(self, request: Request) -> AsyncGenerator[Request, Response]:
        """Add the credentials.

        After a 401, which says that nothing was executed, try once more with a new token.
        """
        if not admits(str(request.url), self._settings.url or "", self._settings.allowed_hosts):
            yield request
            return
        sources = self._sources
        tokens = [await source.token() for source, _ in sources]
        self._prepare(request, tokens)
        for may_repeat in (True, False):
            response = yield request
            if self._cookies is not None:
                keep(self._cookies, response)
            if response.status_code != HTTPStatus.UNAUTHORIZED:
                for (source, _), token in zip(sources, tokens, strict=True):
                    source.accept(token)
                return
            pairs = zip(sources, tokens, strict=True) if may_repeat else ()
            renewed = [await source.renewed(token) for (source, _), token in pairs]
            if not any(renewed):
                return
            tokens = [new or token for new, token in zip(renewed, tokens, strict=True)]
            await _discard(response)
            self._present(request, tokens)

    def _present(self, request: Request, tokens: Sequence[str]) -> None:
        for (source, header), token in zip(self._sources, tokens, strict=True):
            if self._learn is not None and (secrets := source.secrets):
                for secret in dict.fromkeys((token, *secrets)):
                    self._learn(secret)
            request.headers[header] = f"Bearer {token}" if _is_login(header) else token

    def _prepare(self, request: Request, tokens: Sequence[str]) -> None:
        request.headers.update(self._headers)
        self._present(request, tokens)
        if self._cookies is not None:
            self._cookies.set_cookie_header(request)
        if (api_key := self._settings.client.api_key) is None:
            return
        value = _sendable(api_key.get_secret_value().strip(), _API_KEY)
        for place, name in self._api_keys:
            match place:
                case "header":
                    request.headers[name] = value
                case "query":
                    request.url = request.url.copy_set_param(name, value)
                case "cookie":
                    others = request.headers.get_list("cookie")
                    request.headers["Cookie"] = "; ".join([*others, f"{name}={value}"])


async def _discard(response: Response) -> None:
    """Close a refused answer unread. httpx would read all of it, and it may have no end."""
    assert isinstance(response.stream, AsyncByteStream), "the client is asynchronous"
    await response.stream.aclose()
    response.stream = ByteStream(b"")


def missing(alternatives: tuple[tuple[str, ...], ...], settings: AgentSettings) -> tuple[str, str] | None:
    """The problem and its remedy, if the card asks for credentials that are not configured; else None.

    `alternatives`: see `AgentCard.auth`.
    """
    if not alternatives or any(all(_has(settings, scheme) for scheme in each) for each in alternatives):
        return None
    schemes = " or ".join(" with ".join(each) for each in alternatives)
    missing_scheme = next(scheme for scheme in alternatives[0] if not _has(settings, scheme))
    remedy = _SET_BY.get(
        missing_scheme.partition(" ")[0], "docs/configure.md has the logins that the bot knows"
    )
    return f"the agent card asks for {schemes}, which is not configured", remedy


def login_remedy(settings: AgentSettings) -> str:
    """What to set when the agent refuses the bot: the login that is configured, or else the simplest one."""
    client, header = settings.client, settings.header_name or ""
    is_by_header = settings.header_value is not None and (settings.bearer_token is None or _is_login(header))
    is_by_url = has_credentials(settings) and client.certificate is None
    by_setting = (
        (
            settings.knows_people,
            "let the agent trust SLACK_BOT_IDENTITY__ISSUER and its keys, and take its own address as `aud`",
        ),
        (is_by_header, f"set SLACK_BOT_AGENT__HEADER_VALUE to what the agent takes in {header}"),
        (settings.bearer_token is not None, f"set {_BEARER} to a token that the agent takes"),
        (client.token_file is not None, f"let the token in {_CLIENT}TOKEN_FILE be one that the agent takes"),
        (
            client.fetches_tokens,
            f"let {_CLIENT}AUDIENCE and {_CLIENT}SCOPE name this agent as its token server knows it",
        ),
        (client.api_key is not None, f"set {_API_KEY} to a key that the agent takes"),
        (is_by_url, "write the user and the password that the agent takes into A2A_AGENT_URL"),
        (True, f"set {_BEARER} to its token; docs/configure.md has other logins"),
    )
    return next(remedy for is_in_use, remedy in by_setting if is_in_use)


def _asker_header(settings: AgentSettings) -> str:
    name = settings.identity_header
    return "Authorization" if name is None else _sendable(name.strip(), _IDENTITY)


def _is_login(header: str) -> bool:
    return header.strip().lower() == "authorization"


def _headers(settings: AgentSettings) -> dict[str, str]:
    headers: dict[str, str] = {}
    user = urlsplit(settings.url or "")
    if user.username is not None:
        pair = f"{unquote(user.username)}:{unquote(user.password or '')}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    if settings.bearer_token is not None:
        token = settings.bearer_token.get_secret_value().strip()
        headers["Authorization"] = f"Bearer {_sendable(token, _BEARER)}"
    if settings.header_name is not None and settings.header_value is not None:
        value = _sendable(settings.header_value.get_secret_value().strip(), _HEADER)
        headers[_sendable(settings.header_name.strip(), _HEADER)] = value
    return headers


def _sendable(value: str, setting: str) -> str:
    if not value or not value.isascii() or not value.isprintable():
        raise SettingsError(f"{setting}: empty, or with a character that an HTTP header cannot carry")
    return value


def _has(settings: AgentSettings, scheme: str) -> bool:
    kind, _, name = scheme.partition(" ")
    names, client = _headers(settings), settings.client
    if kind in KEY_PLACES:
        return client.api_key is not None or (kind == "header" and name.lower() in map(str.lower, names))
    if kind in ("bearer", "oauth2", "openid"):  # a token is a token, however it was fetched
        is_header = _is_login(settings.header_name or "")
        if settings.knows_people and settings.identity_header is None:
            return True
        return is_header or has_tokens(client) or settings.bearer_token is not None
    if kind == "mtls":
        return client.certificate is not None
    return kind == "basic" and "Authorization" in names


def has_tokens(client: ClientSettings) -> bool:
    """Whether tokens are fetched, or read from a file."""
    return client.fetches_tokens or client.token_file is not None


def has_credentials(settings: AgentSettings) -> bool:
    """Whether any credentials are configured by which an agent can recognise this bot."""
    client = settings.client
    is_known = client.api_key is not None or client.certificate is not None
    return is_known or has_tokens(client) or bool(_headers(settings))


def keep(jar: Cookies, response: Response) -> None:
    """Put the cookies of `response` into `jar`. If a server sets too many, all are dropped."""
    if sum(map(len, response.headers.get_list("set-cookie"))) > _MOST_BYTES:
        return
    jar.extract_cookies(response)
    cookies = list(jar.jar)
    size = sum(len(each.name) + len(each.value or "") for each in cookies)
    if size > _MOST_BYTES or len(cookies) > _MOST_COOKIES:
        jar.clear()
