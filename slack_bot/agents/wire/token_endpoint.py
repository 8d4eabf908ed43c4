"""Fetches tokens: finds the token endpoint, sends the request, and reads the answer.

Only the settings name the server: the token endpoint itself, or an issuer whose metadata (RFC 8414, OpenID
Connect Discovery) names exactly that issuer. Token servers that a card names are never asked. Redirects are
not followed. After a failure the agent has not been asked.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ...clock import Clock
from ...errors import AgentError, BadAgentData, SettingsError, TokenRefused, TokenUnavailable
from ...http_client import AsyncBaseTransport, Response
from ...settings.identity import ExchangeSettings, TokenServerSettings
from ...settings.models import ClientSettings
from ...text.redaction import Redactor
from ...turn.json_values import Object, object_of, text_of
from .auth import TokenSource, origin_of
from .frames import quote
from .tokens import FetchedToken, FetchedTokens, FileTokens
from .transport import map_exceptions, new_token_http, offload, parse_json, read_body

if TYPE_CHECKING:
    from .token_request import TokenRequest

_MOST_BYTES = 256 * 1024
_MOST_CHARS = 16 * 1024  # of a token: few servers read a longer header
_TOKEN = re.compile(r"[!-~]+")
_UNSAID_LIFE = 300.0
"""Seconds for which a token is used if the server gives no usable lifetime."""
_LONGEST_LIFE = 86_400.0
_SKEW = 60.0  # seconds by which clocks may differ
_WELL_KNOWN = ("oauth-authorization-server", "openid-configuration")
_NOT_THERE = frozenset({400, 401, 403, 404, 405, 410, 501})
_PASSING = frozenset({"server_error", "temporarily_unavailable", "slow_down"})
_REFUSALS: Mapping[str, str] = {
    "invalid_client": (
        "does not accept the bot's client id or its proof; see whether {0}ID and the secret or key are right,"
        " and whether they have expired"
    ),
    "unauthorized_client": "does not let this client get tokens in this way; allow {0}ID the grant there",
    "unsupported_grant_type": "does not give tokens in this way; see {0}GRANT and {0}TOKEN_URL",
    "invalid_scope": "does not give the scope; correct {0}SCOPE, or allow it for {0}ID there",
    "invalid_target": "does not know the audience; correct {0}AUDIENCE",
    "invalid_resource": "does not know the agent that the scope names; correct {0}SCOPE",
    "access_denied": "denies a token; see {0}SCOPE and {0}AUDIENCE, and what {0}ID may do there",
    "invalid_grant": "does not accept what the bot signed; see {0}ID, {0}PRIVATE_KEY and {0}KEY_ID",
}
_EXCHANGE_REFUSALS: Mapping[str, str] = {
    **_REFUSALS,
    "invalid_target": "does not know the agent; correct {0}AUDIENCE or {0}RESOURCE",
    "unsupported_grant_type": "does not exchange tokens; switch that on there, or see {0}TOKEN_URL",
    **dict.fromkeys(
        ("invalid_grant", "invalid_request", "invalid_token"),
        "does not accept the token that the bot signed for this person; let it trust"
        " SLACK_BOT_IDENTITY__ISSUER and its keys, and see whether it knows the person",
    ),
}
_OTHER_REFUSAL = "refuses to give a token; see {0}METHOD, {0}SCOPE and {0}AUDIENCE"


def token_source(client: ClientSettings, clock: Clock) -> TokenSource | None:
    """The source of tokens that the settings configure; None for a fixed token or none."""
    if client.token_file is not None:
        return FileTokens(client.token_file, "SLACK_BOT_AGENT__CLIENT__TOKEN_FILE")
    if not client.fetches_tokens:
        return None
    return FetchedTokens(TokenEndpoint(client, clock).fetch, clock)


class TokenEndpoint:
    """The token endpoint that the settings name. `transport`: in place of the network."""

    def __init__(
        self, server: TokenServerSettings, clock: Clock, transport: AsyncBaseTransport | None = None
    ) -> None:
        self._client, self._clock = server, clock
        self._transport = transport

    async def fetch(self, subject: str = "") -> FetchedToken:
        """Fetch a new token, within `token_timeout` seconds. Raises TokenUnavailable or TokenRefused.

        `subject`: the token of a person that is exchanged.
        """
        server = self._client
        try:
            async with asyncio.timeout(server.token_timeout):
                return await self._ask(server.token_url or await self._discover(), subject)
        except TimeoutError as error:
            host = origin_of(server.token_url or server.issuer or "")
            problem = f"{host} gave no token within {server.token_timeout:g} s; see whether it can be reached"
            problem = f"{problem} from here ({server.variables}TOKEN_TIMEOUT)"
            raise TokenUnavailable(problem, is_slow=True) from error
        except (TokenUnavailable, TokenRefused):
            raise
        except SettingsError as error:
            raise TokenRefused(str(error)) from error
        except AgentError as error:
            raise TokenUnavailable(f"the token server {error}") from error

    async def reach(self) -> str:
        """See whether the server answers at all, without asking for a token. Returns its host and port.

        Raises TokenUnavailable, TokenRefused and AgentError.
        """
        server = self._client
        try:
            async with asyncio.timeout(server.token_timeout):
                url = server.token_url or await self._discover()
                host = str(origin_of(url))
                async with new_token_http(url, server, self._transport) as http:
                    with map_exceptions(host):
                        async with http.stream("GET", url):  # whatever it answers
                            return host
        except TimeoutError as error:
            place = origin_of(server.token_url or server.issuer or "")
            raise TokenUnavailable(f"{place} did not answer within {server.token_timeout:g} s") from error

    async def _ask(self, url: str, subject: str) -> FetchedToken:
        host = str(origin_of(url))
        request = await offload(_new_request, self._client, url, self._clock.wall(), subject)
        async with new_token_http(url, self._client, self._transport) as http:
            posting = http.stream("POST", url, content=request.body, headers=request.headers)
            with map_exceptions(host):
                async with posting as response:
                    value = await object_in(response, host)
        if response.is_success and "error" not in value:
            return _token_in(value, host, self._client)
        description = quote(Redactor(request.secrets).text(text_of(value.get("error_description"))))
        clock_error = self._skew(response) if request.is_signed else ""
        error = text_of(value.get("error"))
        raise _refusal(response.status_code, error, url, clock_error, description, self._client)

    async def _discover(self) -> str:
        """The token endpoint in the issuer's metadata. Raises TokenUnavailable or TokenRefused."""
        server = self._client
        metadata, url = await read_metadata(server, self._transport)
        endpoint = endpoint_in(metadata, "token_endpoint", server)
        if not endpoint:
            raise TokenRefused(
                f"the metadata at {url} names no https address of a token endpoint; set"
                f" {server.variables}TOKEN_URL"
            )
        return endpoint

    def _skew(self, response: Response) -> str:
        """How far this machine's clock differs from the server's, if by more than a minute; else ""."""
        try:
            ahead = self._clock.wall() - parsedate_to_datetime(response.headers.get("date", "")).timestamp()
        except (ValueError, TypeError, OverflowError):
            return ""
        if abs(ahead) <= _SKEW:
            return ""
        how = "ahead of" if ahead > 0 else "behind"
        return f"this machine's clock is {abs(ahead):.0f} s {how} the server's"


def _new_request(server: TokenServerSettings, token_url: str, now: float, subject: str) -> TokenRequest:
    """Runs in a thread: importing the library takes a tenth of a second, and signing some milliseconds."""
    from .token_request import exchange_request, token_request

    if isinstance(server, ClientSettings):
        return token_request(server, token_url, now)
    assert isinstance(server, ExchangeSettings), "there are these two"
    return exchange_request(server, token_url, now, subject)


def _refusal(
    status: int, error: str, url: str, clock_error: str, description: str, server: TokenServerSettings
) -> AgentError:
    host, name = str(origin_of(url)), quote(error)
    prefix = server.variables
    refusals = _REFUSALS if isinstance(server, ClientSettings) else _EXCHANGE_REFUSALS
    if 300 <= status < 400:
        final = f"set {prefix}TOKEN_URL to its final address"
        return TokenRefused(f"{host} redirects (HTTP {status}), which is not followed; {final}")
    if error in _PASSING or status == 429 or status >= 500:
        what = f"HTTP {status}, {name}" if name else f"HTTP {status}"
        return TokenUnavailable(f"{host} gives no token now ({what}); see whether it works, and its log")
    if not error and status in (404, 405, 410):
        return TokenRefused(f"nothing gives tokens at {url} (HTTP {status}); correct {prefix}TOKEN_URL")
    if clock_error:
        sentence = f"does not accept what the bot signed, and {clock_error}; set the clock (NTP)"
    else:
        sentence = refusals.get(error, _OTHER_REFUSAL).format(prefix)
    what, _, remedy = sentence.partition("; ")
    return TokenRefused(
        f"{host} {what} ({name or f'HTTP {status}'}); {remedy}", error=error, said=description
    )


async def object_in(response: Response, host: str) -> Object:
    """The JSON object of an answer; {} for a refusal without JSON, whose status says enough."""
    try:
        value = parse_json(await read_body(response, host, _MOST_BYTES), host)
    except BadAgentData as error:
        if response.is_success:
            what = f"{host} answered with something that is no token: not JSON, or too large"
            raise TokenUnavailable(f"{what}; is a login page or another site at this address?") from error
        return {}
    return object_of(value)


def _token_in(answer: Object, host: str, server: TokenServerSettings) -> FetchedToken:
    """Read the token. A Google service account that asks for an ID token gets `id_token` only."""
    token = text_of(answer.get("access_token")) or text_of(answer.get("id_token"))
    kind = answer.get("token_type")
    if len(token) > _MOST_CHARS or not _TOKEN.fullmatch(token):
        raise TokenUnavailable(
            f"{host} answered without a token that can be sent; see {server.variables}TOKEN_URL"
        )
    if isinstance(kind, str) and kind.lower() != "bearer":
        raise TokenRefused(f"{host} gives tokens of the kind {quote(kind)!r}; let it give bearer tokens")
    return FetchedToken(token, life_of(answer.get("expires_in")))


def life_of(expires_in: Any) -> float:
    """The lifetime of a token in seconds. Some servers write a text; 0 or -1 means a token without an end."""
    try:
        seconds = float(expires_in)
    except (TypeError, ValueError, OverflowError):
        return _UNSAID_LIFE
    is_number = not isinstance(expires_in, bool) and math.isfinite(seconds) and seconds > 0
    return min(seconds, _LONGEST_LIFE) if is_number else _UNSAID_LIFE


async def read_metadata(
    server: TokenServerSettings, transport: AsyncBaseTransport | None = None
) -> tuple[Object, str]:
    """What the issuer says of itself, and where. Raises TokenUnavailable or TokenRefused."""
    issuer = server.issuer or ""
    first_miss = ""
    async with new_token_http(issuer, server, transport) as http:
        for url in metadata_urls(issuer):
            host = str(origin_of(url))
            with map_exceptions(host):
                async with http.stream("GET", url, headers={"Accept": "application/json"}) as response:
                    if response.is_success:
                        return _checked(await object_in(response, host), url, server), url
                    if response.status_code not in _NOT_THERE:
                        raise TokenUnavailable(f"no metadata at {url} (HTTP {response.status_code})")
                    first_miss = first_miss or f"{url} (HTTP {response.status_code})"
    raise TokenRefused(
        f"no metadata of the issuer at {first_miss}, nor beside it; correct {server.variables}ISSUER"
    )


def metadata_urls(issuer: str) -> tuple[str, ...]:
    """Where the metadata may be.

    RFC 8414 3.1 puts the well-known name before the issuer's path, OpenID after it.
    """
    parts = urlsplit(issuer)
    oauth, openid = (f"/.well-known/{name}" for name in _WELL_KNOWN)
    root, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    return tuple(dict.fromkeys([f"{root}{oauth}{path}", f"{root}{path}{openid}", f"{root}{path}{oauth}"]))


def _checked(issuer_metadata: Object, url: str, server: TokenServerSettings) -> Object:
    """Metadata of another issuer must not be used (RFC 8414 3.3)."""
    issuer = server.issuer or ""
    if (stated_issuer := issuer_metadata.get("issuer")) != issuer:
        what = (
            f"calls its issuer {quote(stated_issuer)!r}"
            if isinstance(stated_issuer, str)
            else "names no issuer"
        )
        raise TokenRefused(
            f"the metadata at {url} {what}, not {issuer!r}; set {server.variables}ISSUER to exactly what it"
            " says, if that is who gives the bot its tokens"
        )
    return issuer_metadata


def endpoint_in(issuer_metadata: Object, name: str, server: TokenServerSettings) -> str:
    """The address that the metadata has under `name`, if secrets may go there; else "".

    It may be http only where it and the issuer are on this machine.
    """
    endpoint = text_of(issuer_metadata.get(name))
    origin, home = origin_of(endpoint), origin_of(server.issuer or "")
    is_here = origin is not None and home is not None and origin.is_loopback and home.is_loopback
    return endpoint if origin is not None and (origin.scheme == "https" or is_here) else ""
