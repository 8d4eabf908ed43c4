"""Characters that are drawn as one: a small part of Unicode's rules, on the safe side."""

from __future__ import annotations

import unicodedata

_FIRST_COMBINING = "\u0300"
_ZWJ = "\u200d"
_LINE_ENDS = frozenset("\n\r\x85\u2028\u2029")


def inside_cluster(text: str, at: int) -> bool:
    """`at` is between characters that are drawn as one, or behind the first half of a pair."""
    if not 0 < at <= len(text):
        return False
    last, following = text[at - 1], text[at : at + 1]
    if last == _ZWJ or "\ud800" <= last <= "\udbff":
        return True
    if following and not _is_flag_half(following):
        return _extends(last, following)
    first = at
    while first > 0 and _is_flag_half(text[first - 1]):
        first -= 1
    return (at - first) % 2 == 1


def _extends(last: str, char: str) -> bool:
    """`char` is drawn onto `last`. Nothing is drawn onto a line's end (UAX 29, GB4)."""
    if char < _FIRST_COMBINING or last in _LINE_ENDS:
        return char == "\n" and last == "\r"
    if char == _ZWJ or "\U0001f3fb" <= char <= "\U0001f3ff" or "\U000e0020" <= char <= "\U000e007f":
        return True
    return unicodedata.category(char).startswith("M")


def _is_flag_half(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def cluster_cut(text: str, limit: int) -> int:
    """The largest index <= `limit` outside a cluster; `limit` itself where one cluster fills it all."""
    at = limit = min(limit, len(text))
    while at > 0 and inside_cluster(text, at):
        at -= 1
    return at or limit
