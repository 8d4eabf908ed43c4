"""PURE. Decides which addresses may be fetched, and to which machines the bot may connect."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address
from urllib.parse import quote, urljoin, urlsplit

from ..text.words import LINK_IS_NO_ADDRESS, LINK_TO_FOREIGN_HOST, LINK_WITH_LOGIN, LINK_WITHOUT_HTTPS

_HTTPS = 443
_UNPRINTED = re.compile(r"[\x00-\x20\x7f\\]")
_HOST = re.compile(r"(?!-)[a-z0-9.-]{1,253}(?<!-)|\[[0-9a-f:.]+\]")
_PATH, _QUERY = "/:@!$&'()*+,;=~-._%", "/?:@!$&'()*+,;=~-._%"  # what stays as it is

# Machines of nobody, of this network, or of many: iana.org/assignments/iana-ipv4-special-registry
_NOT_PUBLIC = tuple(
    IPv4Network(each)
    for each in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
        "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
        "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    )
)  # fmt: skip
# The same of IPv6, where all that is public lies in 2000::/3. Addresses that stand for one of IPv4 (mapped,
# NAT64, 6to4, Teredo) are among what is refused: they could lead anywhere.
_GLOBAL = IPv6Network("2000::/3")
_NOT_GLOBAL = tuple(
    IPv6Network(each) for each in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class WebFile:
    """A file that was fetched. `media_type`: as the server says, without parameters."""

    content: bytes
    media_type: str


@dataclass(frozen=True, slots=True)
class NotFetched:
    """The failure of a fetch. `reason`: a plain sentence without the address, for the reader."""

    reason: str


@dataclass(frozen=True, slots=True)
class WebAddress:
    """An https address. `host`: as a name server knows it. `target`: path and query."""

    host: str
    port: int
    target: str

    @property
    def place(self) -> str:
        """The host, with its port if that is not 443."""
        return self.host if self.port == _HTTPS else f"{self.host}:{self.port}"


def may_fetch(url: str, allowed: Collection[str]) -> bool:
    """Whether `url` may be fetched, as `read_address` decides."""
    return isinstance(read_address(url, allowed), WebAddress)


def read_address(url: str, allowed: Collection[str]) -> WebAddress | str:
    """The address in `url` if it may be fetched; else the reason, in words that follow "because".

    `allowed`: hosts, as host or host:port; `*.host` stands for all hosts below it.
    """
    if _UNPRINTED.search(url):
        return LINK_IS_NO_ADDRESS
    try:
        parts = urlsplit(url)
        port = parts.port or _HTTPS
        name = (parts.hostname or "").rstrip(".")
        host = name if ":" in name else name.encode("idna").decode("ascii").lower()
    except ValueError:
        return LINK_IS_NO_ADDRESS
    if parts.scheme != "https":
        return LINK_WITHOUT_HTTPS
    if parts.username is not None or parts.password is not None:
        return LINK_WITH_LOGIN
    if not _HOST.fullmatch(f"[{host}]" if ":" in host else host):
        return LINK_IS_NO_ADDRESS
    path, query = quote(parts.path or "/", safe=_PATH), quote(parts.query, safe=_QUERY)
    address = WebAddress(host, port, f"{path}?{query}" if query else path)
    return address if _is_allowed(address, allowed) else LINK_TO_FOREIGN_HOST.format(address.place)


def _is_allowed(address: WebAddress, allowed: Collection[str]) -> bool:
    names = {each.lower().removesuffix(f":{_HTTPS}") for each in allowed}
    if address.place in names:
        return True
    _, *domain = address.place.split(".")
    return any("*." + ".".join(domain[at:]) in names for at in range(len(domain)))


def redirected(address: WebAddress, location: str, allowed: Collection[str]) -> WebAddress | str:
    """The address to which `address` redirects, if it may be fetched; else the reason (`read_address`)."""
    host = f"[{address.host}]" if ":" in address.host else address.host
    try:
        url = urljoin(f"https://{host}:{address.port}{address.target}", location)
    except ValueError:
        return LINK_IS_NO_ADDRESS
    return read_address(url, allowed)


def is_public(address: str) -> bool:
    """Whether this IP address belongs to a machine on the internet, and not to a private network."""
    try:
        ip = ip_address(address)
    except ValueError:
        return False
    if ip.version == 4:
        return not any(ip in each for each in _NOT_PUBLIC)
    is_scoped = ip.scope_id is not None
    return not is_scoped and ip in _GLOBAL and not any(ip in each for each in _NOT_GLOBAL)
