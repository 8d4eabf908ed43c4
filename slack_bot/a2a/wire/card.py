"""PURE. An agent card, of 0.3, 1.0 or both, becomes where to ask and how.

`supportedInterfaces` (1.0) come before `url` (0.3), JSON-RPC on 1.x before JSON-RPC on 0.3 (facts: A2A 1.6).
Cards are often wrong: they name the address the server listens on, or one behind a proxy. An unusable card is
refused with one sentence that names the setting to change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urljoin, urlsplit, urlunsplit

from ...errors import CardError
from .origins import Origin, Origins, bare, origin_of
from .requests import Interface, Wire

WELL_KNOWN = ("agent-card.json", "agent.json")
"""File names below `/.well-known/`: since 0.3, and before."""

_USE_OURS = "set SLACK_BOT_AGENT__USE_CONFIGURED_URL=true to ask at the configured address instead"
_ALLOW = "SLACK_BOT_AGENT__ALLOWED_HOSTS"


@dataclass(frozen=True, slots=True)
class Scheme:
    """A way to authenticate.

    `kind` is bearer, basic, header, oauth2, openid, mtls or other; `name` is the header's.
    """

    kind: str
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".strip()


@dataclass(frozen=True, slots=True)
class AgentCard:
    """An agent card.

    `interfaces` begins with the one to use. `streaming` is None where the card does not say. `auth` lists
    alternatives; the schemes of each are needed together.
    """

    name: str
    interfaces: tuple[Interface, ...]
    streaming: bool | None
    auth: tuple[tuple[Scheme, ...], ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict)

    def on(self, wire: Wire) -> Interface:
        """The interface for `wire`, or the first one's address with that wire."""
        found = (each for each in self.interfaces if each.wire == wire)
        return next(found, replace(self.interfaces[0], wire=wire))


@dataclass(frozen=True, slots=True)
class CardPolicy:
    """The settings about cards. `configured` is the base or card URL."""

    configured: str
    use_configured_url: bool = False
    allowed_hosts: tuple[str, ...] = ()
    wire: Wire | None = None
    extensions: tuple[str, ...] = ()


def is_card_url(configured: str) -> bool:
    """The configured URL names the card itself, not a base."""
    path = urlsplit(configured).path
    return path.endswith(".json") or "/.well-known/" in path


def base_of(configured: str) -> str:
    """The address to ask at, without the card's own path if the card was configured."""
    parts = urlsplit(bare(configured))
    if "/.well-known/" in parts.path:
        path, query = parts.path.partition("/.well-known/")[0] + "/", ""
    elif parts.path.endswith(".json"):
        path, query = parts.path.rpartition("/")[0] + "/", ""
    else:
        path, query = parts.path, parts.query
    return urlunsplit((parts.scheme, parts.netloc, path, query, ""))


def card_urls(configured: str) -> tuple[str, ...]:
    """Where the card may be, in order. A query (LangGraph's assistant id) is kept."""
    if is_card_url(configured):
        return (bare(configured),)
    parts = urlsplit(bare(configured))
    below = [parts._replace(path=f"{parts.path.rstrip('/')}/.well-known/{name}") for name in WELL_KNOWN]
    return (*(urlunsplit(each) for each in below), bare(configured))


def looks_like_card(value: Any) -> bool:
    """A JSON value with an agent's address, or at least its name and skills."""
    if not isinstance(value, Mapping):
        return False
    return "supportedInterfaces" in value or "url" in value or {"name", "skills"} <= value.keys()


def resolve(card: Any, found_at: str, rules: CardPolicy) -> AgentCard:
    """Read the card that was found at `found_at` (its URL).

    Raises:
        CardError: not a card; no JSON-RPC; a required extension; an address that may not or cannot be used.
    """
    if not looks_like_card(card):
        raise CardError(f"{found_at} is JSON, but not an agent card")
    _check_extensions(card, found_at, rules)
    offered = sorted(_interfaces(card), key=lambda each: each.wire == "0.3")
    if not offered:
        raise _no_json_rpc(card, found_at)
    if rules.wire is not None:
        offered = _forced(offered, rules.wire)
    if rules.use_configured_url:
        ours = base_of(rules.configured)
        usable = [replace(each, url=ours) for each in offered]
    else:
        offered = [replace(each, url=_absolute(found_at, each.url)) for each in offered]
        usable = _usable(offered, found_at, rules)
    capabilities = _object(card.get("capabilities"))
    streaming = capabilities.get("streaming")
    return AgentCard(
        name=_text(card.get("name")) or "agent",
        interfaces=tuple(usable),
        streaming=streaming if isinstance(streaming, bool) else None,
        auth=tuple(_auth(card)),
        raw=card,
    )


# --- interfaces ---------------------------------------------------------------------------------------------


def _interfaces(card: Mapping[str, Any]) -> Iterator[Interface]:
    """Every JSON-RPC interface of the card, its 1.0 part first."""
    for each in _objects(card.get("supportedInterfaces")):
        if _is_json_rpc(each.get("protocolBinding", each.get("transport"))) and _text(each.get("url")):
            yield Interface(each["url"], _wire(each, "1.0"), _text(each.get("tenant")) or None)
    # LangGraph's card has a stray `url` beside its interfaces: only a version makes it a 0.3 part
    if card.get("supportedInterfaces") and "protocolVersion" not in card:
        return
    if _text(card.get("url")) and _is_json_rpc(card.get("preferredTransport")):
        yield Interface(card["url"], _wire(card, "0.3"))
    for each in _objects(card.get("additionalInterfaces")):
        if _is_json_rpc(each.get("transport")) and _text(each.get("url")):
            yield Interface(each["url"], _wire(card, "0.3"))


def _wire(source: Mapping[str, Any], otherwise: Wire) -> Wire:
    version = _text(source.get("protocolVersion")).lstrip("v")
    if version.startswith("1"):
        return "1.0"
    return "0.3" if version.startswith("0") else otherwise


def _is_json_rpc(binding: Any) -> bool:
    return binding is None or _text(binding).upper().replace("-", "") == "JSONRPC"


def _forced(offered: list[Interface], wire: Wire) -> list[Interface]:
    return [each for each in offered if each.wire == wire] or [replace(offered[0], wire=wire)]


def _usable(offered: list[Interface], found_at: str, rules: CardPolicy) -> list[Interface]:
    """The usable interfaces. An unusable one is left out, unless it is the first."""
    origins = Origins(rules.configured, rules.allowed_hosts)
    usable = [each for each in offered if _can_be_asked(each.url, origins)]
    if not usable or usable[0] != offered[0]:
        raise _not_usable(offered[0].url, found_at, rules)
    return usable


def _absolute(found_at: str, url: str) -> str:
    """The whole address, or "" (an unclosed IPv6 bracket)."""
    try:
        return bare(urljoin(found_at, url))
    except ValueError:
        return ""


def _can_be_asked(url: str, origins: Origins) -> bool:
    origin = origin_of(url)
    return origin is not None and not origin.is_unspecified and origins.admits(url)


def _not_usable(url: str, found_at: str, rules: CardPolicy) -> CardError:
    origin, home = origin_of(url), origin_of(rules.configured)
    card = f"the agent card at {found_at}"
    if origin is None:
        return CardError(f"{card} names an address that is not http or https; {_USE_OURS}")
    if origin.is_unspecified or (origin.is_loopback and home is not None and not home.is_loopback):
        return CardError(
            f"{card} says the agent is at {origin}, which only its own machine can use; {_USE_OURS}"
        )
    if _is_downgrade(origin, home):
        return CardError(f"{card} says to ask {origin} over plain http; {_USE_OURS}")
    return CardError(
        f"{card} says the agent is at {origin}, another server than the configured one; allow it with"
        f" {_ALLOW}, or {_USE_OURS}"
    )


def _is_downgrade(origin: Origin, home: Origin | None) -> bool:
    return (
        home is not None and origin.scheme == "http" and home.scheme == "https" and origin.host == home.host
    )


def _no_json_rpc(card: Mapping[str, Any], found_at: str) -> CardError:
    named = [*_objects(card.get("supportedInterfaces")), *_objects(card.get("additionalInterfaces")), card]
    spoken = {
        _text(each.get(key))
        for each in named
        for key in ("protocolBinding", "transport", "preferredTransport")
    }
    others = " and ".join(sorted(spoken - {""}))
    if others and not all(_is_json_rpc(each) for each in spoken - {""}):
        return CardError(
            f"the agent card at {found_at} offers {others} only; this bot speaks A2A over JSON-RPC"
        )
    return CardError(f"the agent card at {found_at} does not say where the agent is; it lacks an address")


# --- extensions and authentication --------------------------------------------------------------------------


def _check_extensions(card: Mapping[str, Any], found_at: str, rules: CardPolicy) -> None:
    for each in _objects(_object(card.get("capabilities")).get("extensions")):
        uri = _text(each.get("uri"))
        if each.get("required") is True and uri not in rules.extensions:
            raise CardError(
                f"the agent card at {found_at} requires the extension {uri}; name it in"
                " SLACK_BOT_AGENT__EXTENSIONS if plain text answers work with it"
            )


def _auth(card: Mapping[str, Any]) -> Iterator[tuple[Scheme, ...]]:
    """The alternatives: 0.3 `[{"name": []}]`, 1.0 `[{"schemes": {"name": {}}}]`, or both in one list."""
    schemes = {key: _scheme(_object(value)) for key, value in _object(card.get("securitySchemes")).items()}
    for each in _objects(card.get("securityRequirements")) or _objects(card.get("security")):
        names = _object(each["schemes"]) if isinstance(each.get("schemes"), Mapping) else each
        yield tuple(schemes.get(name, Scheme("other", name)) for name in names)


def _scheme(scheme: Mapping[str, Any]) -> Scheme:
    kind = _text(scheme.get("type")).lower()
    inner = scheme
    for key in scheme:
        if key.endswith("SecurityScheme"):  # 1.0 wraps: {"httpAuthSecurityScheme": {...}}
            kind, inner = key.removesuffix("SecurityScheme").lower(), _object(scheme[key])
    if kind == "apikey":
        where = _text(inner.get("in")) or _text(inner.get("location"))
        return Scheme("header" if where == "header" else "other", _text(inner.get("name")))
    if kind in ("http", "httpauth"):
        return Scheme("basic" if _text(inner.get("scheme")).lower() == "basic" else "bearer")
    known = {"oauth2": "oauth2", "openidconnect": "openid", "mutualtls": "mtls", "mtls": "mtls"}
    return Scheme(known.get(kind, "other"))


# --- values that may be anything ----------------------------------------------------------------------------


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
