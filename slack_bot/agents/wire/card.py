"""Finds and reads the agent card, of 0.3, 1.0 or both: at which addresses the agent is, and what it can do.

Interfaces of 1.x come before those of 0.3 (facts: A2A 1.6); within each version the card's order counts. A
wrong address is the most common mistake of a new installation, so each error is one sentence that names the
setting to change.
"""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any
from urllib.parse import urljoin, urlsplit, urlunsplit

from ...errors import (
    BadAgentData,
    BadEncoding,
    CardError,
    CardRefused,
    ForeignBinding,
    NoCard,
    SettingsError,
    StreamLost,
    UnusableCard,
)
from ...http_client import AsyncClient, Auth
from ...settings.models import AgentSettings
from ...turn.json_values import Object, object_of, objects_of, text_of
from ...turn.record import Introduction, Skill
from ..content.acts import SLACK_ACTIONS
from .auth import KEY_PLACES, admits, bare, has_credentials, login_remedy, origin_of
from .calls import Binding, Interface, Wire
from .transport import map_exceptions, media_type, offload, parse_json, read_body

_FILES = ("agent-card.json", "agent.json")  # below `/.well-known/`: since 0.3, and before
_MAX_CARD_BYTES = 1024 * 1024
_MAX_SKILLS = 20  # and examples of each
_ACCEPT = {"Accept": "application/json", "Accept-Encoding": "identity"}
_SPOKEN = re.compile(r"/(ui/form_request|interactions/approval)/v1\Z")  # AgentStack's (facts: A2A 3)
_NOTHING, _LOCKED = frozenset({400, 404, 405, 410, 501}), frozenset({401, 403})  # HTTP
_USE_OURS = "set SLACK_BOT_AGENT__USE_CONFIGURED_URL=true to ask at the configured address instead"
_BINDINGS: Mapping[str, Binding] = {
    "JSONRPC": "JSONRPC",
    "HTTP+JSON": "HTTP+JSON",
    "HTTP_JSON": "HTTP+JSON",  # as frameworks write it
    "REST": "HTTP+JSON",
}
_FLOW_URLS = ("tokenUrl", "authorizationUrl", "refreshUrl", "deviceAuthorizationUrl")
_KINDS = {"oauth2": "oauth2", "openidconnect": "openid", "mutualtls": "mtls", "mtls": "mtls"}


@dataclass(frozen=True, slots=True)
class AgentCard:
    """What the bot uses of an agent card.

    - `interfaces`: the addresses that can be used, the best one first.
    - `streaming`: None if the card does not say.
    - `push`: the agent can post news of a task to an address.
    - `takes_json`: the agent reads data parts by default. `takes_audio`: it does not say that it takes none.
    - `extensions`: those in the card that this bot speaks.
    - `has_extended`: clients with a login get a longer card.
    - `auth`: alternative logins. The schemes of one alternative are needed together: bearer, basic, oauth2,
      openid, mtls, or header, query, cookie or other with a name.
    - `token_servers`: addresses for tokens in the card. They are shown to people and never asked.
    - `security`: all that the card says of logins, in words that are the same for 0.3 and 1.0.
    - `sign_ins`: the addresses of each scheme by which people can sign in, by its name. They are compared
      with those of the settings and never asked.
    - `signed_by`: the configured key that signed the card, or "".
    """

    name: str
    interfaces: tuple[Interface, ...]
    streaming: bool | None
    auth: tuple[tuple[str, ...], ...] = ()
    token_servers: tuple[str, ...] = ()
    push: bool = False
    introduction: Introduction = field(default_factory=Introduction)
    has_extended: bool = False
    takes_json: bool = False
    takes_audio: bool = True
    extensions: tuple[str, ...] = ()
    security: tuple[str, ...] = ()
    sign_ins: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    is_signed: bool = False
    signed_by: str = ""


class _MissKind(Enum):
    """What is there in place of a card."""

    NOTHING = auto()
    OTHER = auto()  # of another site or program
    LOCKED = auto()
    AWAY = auto()  # the server is there, and may have the card later
    UNUSABLE = auto()  # no time mends it


@dataclass(frozen=True, slots=True)
class _Miss:
    """An address without a card, and why, in a few words."""

    url: str
    reason: str
    kind: _MissKind = _MissKind.OTHER


# -- where it is ---------------------------------------------------------------------------------------------


def base_of(configured: str) -> str:
    """The address to ask at: `configured` without the path of a card.

    Its query (AgentCore's qualifier) is kept.
    """
    parts = urlsplit(bare(configured))
    path, is_below, _ = parts.path.partition("/.well-known/")
    if not is_below:
        if not path.endswith(".json"):
            return bare(configured)
        path = path.rpartition("/")[0]
    return urlunsplit((parts.scheme, parts.netloc, f"{path}/", parts.query, ""))


def card_urls(configured: str) -> tuple[str, ...]:
    """The addresses where the card may be, in order. A query (LangGraph's assistant id) is kept."""
    url = bare(configured)
    if base_of(configured) != url:
        return (url,)
    parts = urlsplit(url)
    below = (parts._replace(path=f"{parts.path.rstrip('/')}/.well-known/{name}") for name in _FILES)
    return (*(urlunsplit(each) for each in below), url)


async def fetch_card(http: AsyncClient, auth: Auth, settings: AgentSettings) -> AgentCard:
    """Find and read the card, within `card_timeout` seconds.

    Raises AgentUnreachable if no server answers, CardError if it has no usable card, and CardUntrusted if no
    configured key signed the card.
    """
    configured, misses = settings.url or "", list[_Miss]()
    try:
        async with asyncio.timeout(settings.card_timeout):
            for url in card_urls(configured):
                found = await _fetch(http, auth, url)
                if not isinstance(found, _Miss):
                    card, signed_by = await signed_part(found, url, settings)
                    return replace(resolve(card, url, settings), signed_by=signed_by)
                misses.append(found)
    except TimeoutError as error:
        host = origin_of(configured)
        raise CardError(f"{host} did not send its agent card within {settings.card_timeout:g} s") from error
    except (StreamLost, BadAgentData) as error:
        raise CardError(f"the agent card cannot be read: {error}") from error
    raise _no_card(misses, settings)


def _no_card(misses: Sequence[_Miss], settings: AgentSettings) -> CardError:
    """The error that says most, where the card is at none of its addresses."""
    miss = next((each for each in misses[:2] if each.kind is not _MissKind.NOTHING), misses[0])
    if miss.kind is _MissKind.NOTHING:
        everywhere = f"{base_of(settings.url or '')} or below its /.well-known/"
        return NoCard(f"no agent card at {miss.url if len(misses) == 1 else everywhere} ({miss.reason})")
    if miss.kind is _MissKind.OTHER:
        return NoCard(f"what is at {miss.url} is no agent card: {miss.reason}")
    if miss.kind is _MissKind.LOCKED:
        refusal = f"refuses the bot's credentials with {miss.reason}"
        if not has_credentials(settings):
            refusal = f"answers {miss.reason}, and no credentials are set for it"
        return CardRefused(f"no agent card at {miss.url}: the server {refusal}", login_remedy(settings))
    why = f": {miss.reason}" if "; " in miss.reason else f" ({miss.reason})"  # with a remedy, or without one
    sentence = f"no agent card at {miss.url}{why}"
    return UnusableCard(sentence) if miss.kind is _MissKind.UNUSABLE else CardError(sentence)


def check_card_keys(path: str) -> None:
    """Check the file with the keys for cards. Raises SettingsError if it cannot be used."""
    from .card_keys import read_card_keys

    read_card_keys(path)


async def signed_part(card: Object, found_at: str, settings: AgentSettings) -> tuple[Object, str]:
    """The part of `card` that a configured key signed, and the key's name; the whole card if no key is
    configured.

    Raises CardUntrusted if no key signed it, and CardError if the keys cannot be read.
    """
    if settings.card_keys is None:
        return card, ""
    try:
        return await offload(_verified, card, found_at, settings.card_keys)
    except SettingsError as error:
        raise CardError(str(error)) from error


def _verified(card: Object, found_at: str, path: str) -> tuple[Object, str]:
    """Runs in a thread, because importing the library takes a tenth of a second."""
    from .card_keys import verify_card

    verified = verify_card(card, found_at, path)
    return verified.card, verified.key


async def _fetch(http: AsyncClient, auth: Auth, url: str) -> Object | _Miss:
    host = str(origin_of(url))
    with map_exceptions(host):
        async with http.stream("GET", url, headers=_ACCEPT, auth=auth) as response:
            if not response.is_success:
                return _refused(url, response.status_code)
            try:
                value = parse_json(await read_body(response, host, _MAX_CARD_BYTES), host)
            except BadEncoding as error:
                return _Miss(url, str(error), _MissKind.UNUSABLE)
            except BadAgentData:
                is_page = "html" in media_type(response)
                return _Miss(url, "a web page" if is_page else "it is not JSON, or too large")
    card = object_of(value)
    is_card = "supportedInterfaces" in card or "url" in card or {"name", "skills"} <= card.keys()
    return card if is_card else _Miss(url, "it is JSON of something else")


def _refused(url: str, status: int) -> _Miss:
    reason = f"HTTP {status}"
    if 300 <= status < 400:
        redirects = f"the server redirects ({reason}), which is not followed; use the final address"
        return _Miss(url, redirects, _MissKind.UNUSABLE)
    if status in _NOTHING:
        return _Miss(url, reason, _MissKind.NOTHING)
    if status in _LOCKED:
        return _Miss(url, reason, _MissKind.LOCKED)
    if status >= 500:
        reason = f"the server is not ready ({reason}); look whether the agent has started, and at its log"
    return _Miss(url, reason, _MissKind.AWAY)


# -- what it says --------------------------------------------------------------------------------------------


def _is_spoken(uri: str) -> bool:
    """Whether the bot speaks this extension."""
    return uri == SLACK_ACTIONS or _SPOKEN.search(uri) is not None


def resolve(card: Object, found_at: str, settings: AgentSettings) -> AgentCard:
    """Read a card.

    Raises CardError if it names no binding that the bot speaks, requires an unknown extension, or names an
    address that may not be used.
    """
    capabilities = object_of(card.get("capabilities"))
    extensions = objects_of(capabilities.get("extensions"))
    known_extensions = tuple(uri for each in extensions if _is_spoken(uri := text_of(each.get("uri"))))
    for each in extensions:
        uri = text_of(each.get("uri"))
        if each.get("required") is True and uri not in (*settings.extensions, *known_extensions):
            raise UnusableCard(
                f"the agent card at {found_at} requires the extension {uri}; name it in"
                " SLACK_BOT_AGENT__EXTENSIONS if plain text answers work with it"
            )
    interfaces = sorted(dict.fromkeys(_interfaces(card)), key=lambda each: each.wire == "0.3")
    if not interfaces:
        raise _not_ours(card, found_at)
    if (binding := settings.binding) != "auto":
        chosen = [each for each in interfaces if each.binding == binding]
        interfaces = chosen or [replace(interfaces[0], binding=binding)]
    if (wire := settings.protocol_version) != "auto":
        interfaces = [each for each in interfaces if each.wire == wire] or [replace(interfaces[0], wire=wire)]
    streaming, modes = capabilities.get("streaming"), card.get("defaultInputModes")
    return AgentCard(
        name=text_of(card.get("name")) or "agent",
        interfaces=tuple(_usable(interfaces, found_at, settings)),
        streaming=streaming if isinstance(streaming, bool) else None,
        auth=tuple(_auth(card)),
        token_servers=tuple(_token_servers(card)),
        push=capabilities.get("pushNotifications") is True,
        introduction=introduction_of(card),
        has_extended=capabilities.get("extendedAgentCard") is True
        or card.get("supportsAuthenticatedExtendedCard") is True,
        takes_json=isinstance(modes, list) and "application/json" in modes,
        takes_audio=_takes_audio(modes),
        extensions=known_extensions,
        security=tuple(_security(card)),
        sign_ins=_sign_ins(card),
        is_signed=bool(card.get("signatures")),
    )


def _takes_audio(modes: object) -> bool:
    """Whether the input modes of a card leave room for audio. Many cards name none, or only a few of them."""
    kinds = [text_of(each).lower() for each in modes] if isinstance(modes, list) else []
    return not kinds or any(kind.startswith(("audio", "*", "application/octet-stream")) for kind in kinds)


def introduction_of(card: Object) -> Introduction:
    """What a card, public or extended, says about the agent itself."""
    skills = map(_skill, objects_of(card.get("skills"))[:_MAX_SKILLS])
    about, icon = text_of(card.get("description")), text_of(card.get("iconUrl"))
    return Introduction(text_of(card.get("name")), about, tuple(skills), icon)


def _skill(skill: Object) -> Skill:
    examples, tags = (_texts(skill.get(each)) for each in ("examples", "tags"))
    return Skill(text_of(skill.get("name")), text_of(skill.get("description")), examples, tags)


def _texts(value: Any) -> tuple[str, ...]:
    listed = value[:_MAX_SKILLS] if isinstance(value, list) else []
    return tuple(each for each in listed if isinstance(each, str))


def _interfaces(card: Object) -> Iterator[Interface]:
    for each in objects_of(card.get("supportedInterfaces")):
        binding = _binding(each.get("protocolBinding", each.get("transport")))
        if binding and text_of(each.get("url")):
            yield Interface(each["url"], _wire(each, "1.0"), text_of(each.get("tenant")) or None, binding)
    # LangGraph's card has a stray `url` beside its interfaces: only a version makes it a 0.3 part
    if card.get("supportedInterfaces") and "protocolVersion" not in card:
        return
    if text_of(card.get("url")) and (binding := _binding(card.get("preferredTransport"))):
        yield Interface(card["url"], _wire(card, "0.3"), binding=binding)
    others = objects_of(card.get("additionalInterfaces"))  # in no order
    for each in sorted(others, key=lambda each: _binding(each.get("transport")) != "JSONRPC"):
        binding = _binding(each.get("transport"))
        if binding and text_of(each.get("url")):
            yield Interface(each["url"], _wire(card, "0.3"), binding=binding)


def _wire(source: Object, otherwise: Wire) -> Wire:
    version = text_of(source.get("protocolVersion")).lstrip("v")
    if version.startswith("1"):
        return "1.0"
    return "0.3" if version.startswith("0") else otherwise


def _binding(name: Any) -> Binding | None:
    """The binding of that name; None if the bot does not speak it."""
    return "JSONRPC" if name is None else _BINDINGS.get(text_of(name).upper().replace("-", ""))


def _usable(interfaces: list[Interface], found_at: str, settings: AgentSettings) -> list[Interface]:
    """The interfaces at addresses that may be used. Raises CardError if the first one may not."""
    configured = settings.url or ""
    if settings.use_configured_url:
        return [replace(each, url=base_of(configured)) for each in interfaces]
    absolute = [replace(each, url=_absolute(found_at, each.url)) for each in interfaces]
    usable = [
        each
        for each in absolute
        if (origin := origin_of(each.url))
        and not origin.is_unspecified
        and admits(each.url, configured, settings.allowed_hosts)
    ]
    if usable[:1] != absolute[:1]:
        raise UnusableCard(f"the agent card at {found_at} {_why_not(absolute[0].url, configured)}{_USE_OURS}")
    return usable


def _why_not(url: str, configured: str) -> str:
    origin, home = origin_of(url), origin_of(configured)
    if origin is None:
        return "names an address that is not http or https; "
    if origin.is_unspecified or (origin.is_loopback and home is not None and not home.is_loopback):
        return f"says the agent is at {origin}, which only its own machine can use; "
    is_secure = home is not None and (home.scheme, home.host) == ("https", origin.host)
    if is_secure and origin.scheme == "http":
        return f"says to ask {origin} over plain http; "
    other = f"says the agent is at {origin}, another server than the configured one"
    return f"{other}; allow it with SLACK_BOT_AGENT__ALLOWED_HOSTS, or "


def _absolute(found_at: str, url: str) -> str:
    """The absolute address, or "" if it cannot be read (an unclosed IPv6 bracket)."""
    try:
        return bare(urljoin(found_at, url))
    except ValueError:
        return ""


def _not_ours(card: Object, found_at: str) -> CardError:
    owners = [
        *objects_of(card.get("supportedInterfaces")),
        *objects_of(card.get("additionalInterfaces")),
        card,
    ]
    keys = ("protocolBinding", "transport", "preferredTransport")
    bindings = {text_of(each.get(key)) for each in owners for key in keys} - {""}
    if bindings and not any(_binding(each) for each in bindings):
        others = " and ".join(sorted(bindings))
        return ForeignBinding(found_at, others)
    lacks = "does not say where the agent is: let it name the agent's address"
    return UnusableCard(f"the agent card at {found_at} {lacks}")


def _auth(card: Object) -> Iterator[tuple[str, ...]]:
    """The alternatives: 0.3 `[{"name": []}]`, 1.0 `[{"schemes": {"name": {}}}]`, or both in one list."""
    schemes = {
        key: _scheme(object_of(value)) for key, value in object_of(card.get("securitySchemes")).items()
    }
    for each in objects_of(card.get("securityRequirements")) or objects_of(card.get("security")):
        names = each["schemes"] if isinstance(each.get("schemes"), dict) else each
        yield tuple(schemes.get(name, f"other {name}".strip()) for name in names)


def _sign_ins(card: Object) -> dict[str, tuple[str, ...]]:
    schemes = {name: object_of(value) for name, value in object_of(card.get("securitySchemes")).items()}
    return {
        name: tuple(dict.fromkeys(_urls(scheme, _FLOW_URLS)))
        for name, scheme in schemes.items()
        if _scheme(scheme) in ("oauth2", "openid")
    }


def _token_servers(card: Object) -> Iterator[str]:
    for scheme in object_of(card.get("securitySchemes")).values():
        yield from _urls(object_of(scheme), ("tokenUrl",))


def _urls(scheme: Object, flow_keys: tuple[str, ...]) -> Iterator[str]:
    # 1.0 wraps: {"oauth2SecurityScheme": {...}}
    for each in (scheme, *map(object_of, scheme.values())):
        flows = map(object_of, object_of(each.get("flows")).values())
        urls = (
            each.get("openIdConnectUrl"),
            each.get("oauth2MetadataUrl"),
            *(flow.get(name) for flow in flows for name in flow_keys),
        )
        yield from filter(None, map(text_of, urls))


def _security(card: Object) -> Iterator[str]:
    """The schemes with their addresses, and which are needed together. The names of schemes mean nothing."""
    for each in map(object_of, object_of(card.get("securitySchemes")).values()):
        yield " ".join([_scheme(each), *sorted({bare(url) for url in _urls(each, _FLOW_URLS)})])
    needs = {" with ".join(sorted(each)) or "no login" for each in _auth(card)}
    yield f"wants {' or '.join(sorted(needs))}" if needs else "wants no login"


def _scheme(scheme: Object) -> str:
    kind, inner = text_of(scheme.get("type")).lower(), scheme
    for key in scheme:
        if key.endswith("SecurityScheme"):  # 1.0 wraps: {"httpAuthSecurityScheme": {...}}
            kind, inner = key.removesuffix("SecurityScheme").lower(), object_of(scheme[key])
    if kind == "apikey":
        where = text_of(inner.get("in")) or text_of(inner.get("location"))
        return f"{where if where in KEY_PLACES else 'other'} {text_of(inner.get('name'))}".strip()
    if kind in ("http", "httpauth"):
        return "basic" if text_of(inner.get("scheme")).lower() == "basic" else "bearer"
    return _KINDS.get(kind, "other")
