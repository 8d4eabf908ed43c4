"""PURE. Which addresses may get our question and our credentials: a card can name any.

Another port is another server, and plain HTTP does not replace HTTPS.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

_PORTS = {"http": 80, "https": 443}
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_UNSPECIFIED = frozenset({"0.0.0.0", "::"})


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


class Origins:
    """The configured address, and the hosts (host or host:port) allowed besides."""

    def __init__(self, configured: str, allowed_hosts: Iterable[str] = ()) -> None:
        self._home = origin_of(configured)
        self._allowed = frozenset(host.strip().lower() for host in allowed_hosts)

    def admits(self, url: str) -> bool:
        """`url` may be sent the question and the credentials."""
        origin, home = origin_of(url), self._home
        if origin is None or home is None:
            return False
        same_host = origin.host == home.host or (origin.is_loopback and home.is_loopback)
        if same_host and origin.port == home.port and (origin.scheme, home.scheme) != ("http", "https"):
            return True
        host = f"[{origin.host}]" if ":" in origin.host else origin.host
        return not self._allowed.isdisjoint({origin.host, host, f"{host}:{origin.port}"})
