"""PURE. Hosts of sources that a reader should see before opening the link: they are not what they seem.

A link's title hides where it leads. Named are the reader's own machine, addresses in numbers, names in
letters that may look like others, and hosts that are not the one in the title.
"""

import re
from ipaddress import IPv4Address, ip_address
from urllib.parse import urlsplit

from ..turn.extras import Source

_NUMBER = re.compile(r"(?:0x[0-9a-f]+|[0-9]+)(?:\.(?:0x[0-9a-f]+|[0-9]+)){0,3}\Z", re.IGNORECASE)
_NAMED = re.compile(
    r"(?:https?://(?P<whole>(?:[a-z0-9-]+\.)+[a-z]{2,})"
    r"|(?P<bare>(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|gov|edu|ai|app)))(?:[/:?#]\S*)?\Z",
    re.IGNORECASE,
)
"""A title that is nothing but an address. Without https:// only with an ending that no file name has."""
_REDIRECTS = frozenset({"vertexaisearch.cloud.google.com"})
"""Hosts that send on to the one in the title: Gemini's grounding names each source so."""


def odd_host(source: Source) -> str:
    """The host of an odd address as it is, in plain letters; "" for all others."""
    host = (urlsplit(source.url).hostname or "").rstrip(".")
    plain = _plain(host)
    named = _NAMED.match(source.title.strip())
    claimed = "" if named is None else (named["whole"] or named["bare"]).lower()
    is_misnamed = bool(claimed) and host not in _REDIRECTS and not _is_of(host, claimed)
    is_here = host == "localhost" or host.endswith(".localhost")
    is_odd = is_misnamed or is_here or _is_number(host) or plain != host or "xn--" in host
    return plain if is_odd else ""


def _plain(host: str) -> str:
    """As a name server has it, and a number as the address that it is: browsers take 2130706433."""
    if _NUMBER.match(host):
        return _address(host)
    try:
        return host if host.isascii() else host.encode("idna").decode("ascii")
    except UnicodeError:
        return ascii(host).strip("'")


def _is_number(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return _NUMBER.match(host) is not None
    return True


def _address(host: str) -> str:
    """The IPv4 address in any of the forms that browsers read (WHATWG URL 4.5); `host` where it is none."""
    try:
        *front, last = (_value(each) for each in host.split("."))
        if any(each > 255 for each in front):
            return host
        whole = sum(each << (24 - 8 * place) for place, each in enumerate(front)) + last
        return str(IPv4Address(whole))
    except ValueError:
        return host


def _value(number: str) -> int:
    if number.lower().startswith("0x"):
        return int(number, 16)
    return int(number, 8) if number.startswith("0") and len(number) > 1 else int(number)


def _is_of(host: str, claimed: str) -> bool:
    """The same host, or one above or below it, such as www."""
    return host == claimed or host.endswith(f".{claimed}") or claimed.endswith(f".{host}")
