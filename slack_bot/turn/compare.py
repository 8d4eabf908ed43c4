"""Whether two texts are the same answer, and what is missing from one of them.

Agents send one answer several times with other white space around it: streamed, stripped, joined (facts: A2A
8.1). So texts are compared in NFC with every run of white space counting as one.
"""

from __future__ import annotations

import unicodedata


def squeeze(text: str) -> str:
    """`text` in NFC, runs of white space as one space, none at the ends."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def same(one: str, other: str) -> bool:
    """Both read alike."""
    return one == other or squeeze(one) == squeeze(other)


def contains(whole: str, part: str) -> bool:
    """`part` stands somewhere in `whole`. An empty part does not count."""
    needle = squeeze(part)
    return bool(needle) and needle in squeeze(whole)


def preview(text: str) -> str:
    """`text` without the dots that say it was cut short; only its own words can stand in another text."""
    cut = text.rstrip()
    return cut.removesuffix("…").removesuffix("...") or text


def missing(shown: str, whole: str) -> str | None:
    """What `shown` lacks at its end to read like `whole`; None if it does not read like its beginning.

    The rest is cut from `whole` itself, with the white space that stands before it there, unless `shown`
    already ends in white space of its own.
    """
    if whole.startswith(shown):
        return whole[len(shown) :]
    at = _match(shown, whole)
    if at is None:
        return None
    rest = whole[at:]
    return rest.lstrip() if shown[-1:].isspace() or not shown else rest


def _match(shown: str, whole: str) -> int | None:
    """The index in `whole` behind the last visible character of `shown`; white space is all alike."""
    at = 0
    gap = True
    for char in shown:
        if char.isspace():
            gap = True
            continue
        start = at
        while at < len(whole) and whole[at].isspace():
            at += 1
        if at >= len(whole) or whole[at] != char or (start > 0 and (at > start) != gap):
            return None
        at += 1
        gap = False
    if gap and 0 < at < len(whole) and not whole[at].isspace():
        return None
    return at
