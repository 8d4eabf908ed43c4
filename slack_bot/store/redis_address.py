"""PURE. The address of a Redis whose primary Sentinels name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlencode

_SCHEMES = {"redis+sentinel": "redis", "rediss+sentinel": "rediss"}
_FORM = "redis+sentinel://host1:26379,host2:26379/NAME"
_PORT = 26379
_HOST = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<host>[^:\[\]\s]+))(?::(?P<port>\d+))?")
_OF_SENTINELS = ("sentinel_username", "sentinel_password", "sentinel_tls")
_YES_NO: Mapping[str, bool] = {"yes": True, "no": False}


@dataclass(frozen=True, slots=True)
class SentinelAddress:
    """`redis+sentinel://user:password@host1:26379,host2:26379/NAME/0?...`, or `rediss+sentinel://` with TLS.

    `hosts`: the Sentinels. `name`: what they call the primary. `server`: an address of redis-py with the
    login, the database and the options for the primary, and no host. `username` and `password`: those of the
    Sentinels, which have users of their own. `has_tls`: the Sentinels have TLS too.
    """

    hosts: tuple[tuple[str, int], ...]
    name: str
    server: str
    username: str | None = None
    password: str | None = None
    has_tls: bool = False

    @property
    def place(self) -> str:
        """The Sentinels and the name, for messages to people."""
        return f"{','.join(map(place_of, self.hosts))}/{self.name}"


def place_of(host: tuple[str, int]) -> str:
    """A host and its port as one text."""
    name, port = host
    return f"[{name}]:{port}" if ":" in name else f"{name}:{port}"


def names_sentinels(url: str) -> bool:
    """The address is one of Sentinels."""
    return url.partition("://")[0] in _SCHEMES


def sentinels_of(url: str) -> SentinelAddress:
    """Read an address of Sentinels. Raises ValueError, which says what is wrong with it."""
    scheme, _, place = url.partition("://")
    place, _, query = place.partition("?")
    netloc, _, path = place.partition("/")
    login, _, hosts = netloc.rpartition("@")
    name, _, database = path.partition("/")
    if not name:
        raise ValueError(f"it does not say what the Sentinels call the primary; write {_FORM}")
    own, others = _options(query)
    host = f"{login}@h" if login else "h"
    server = f"{_SCHEMES[scheme]}://{host}/{database}"
    is_tls = _SCHEMES[scheme] == "rediss"
    return SentinelAddress(
        hosts=tuple(_host(each) for each in hosts.split(",")),
        name=unquote(name),
        server=f"{server}?{others}" if others else server,
        username=own.get("sentinel_username"),
        password=own.get("sentinel_password"),
        has_tls=_tls(own["sentinel_tls"], is_tls=is_tls) if "sentinel_tls" in own else is_tls,
    )


def _options(query: str) -> tuple[Mapping[str, str], str]:
    """Those of the Sentinels, and the others, as they were written."""
    own, others = dict[str, str](), list[tuple[str, str]]()
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name in _OF_SENTINELS:
            own[name] = value
        elif name.startswith("sentinel_"):
            raise ValueError(f"{name!r} is not an option; there are {', '.join(_OF_SENTINELS)}")
        else:
            others.append((name, value))
    return own, urlencode(others)


def _tls(value: str, *, is_tls: bool) -> bool:
    if value not in _YES_NO:
        raise ValueError(f"sentinel_tls is {value!r}; write yes or no")
    if _YES_NO[value] and not is_tls:
        raise ValueError("sentinel_tls=yes works with rediss+sentinel:// only")
    return _YES_NO[value]


def _host(text: str) -> tuple[str, int]:
    match = _HOST.fullmatch(text)
    port = int(match["port"] or _PORT) if match else 0
    if match is None or not 0 < port < 65536:
        raise ValueError(f"{text!r} is not a Sentinel's host:port; write {_FORM}")
    return match["six"] or match["host"], port
