"""Slack's text as it was typed: Slack wraps links, people and channels in `<...>`, and escapes `&<>`."""

import re
from collections.abc import Callable

_WRAPPED = re.compile(r"<([^<>\s|][^<>|]*)(?:\|([^<>]*))?>")
_ENTITY = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}
_ENTITIES = re.compile("|".join(_ENTITY))


def to_text(text: str, name_of: Callable[[str], str] | None = None) -> str:
    """`text` as typed. Code in a question must reach the agent unchanged.

    `name_of`: what stands for a person (`@U1`) or a channel (`#C1`), with its sign. None: their labels, and
    without a label they stay wrapped.
    """
    whole = _WRAPPED.sub(lambda found: _unwrapped(found, name_of), text)
    return _ENTITIES.sub(lambda found: _ENTITY[found[0]], whole).strip()


def _unwrapped(found: re.Match[str], name_of: Callable[[str], str] | None) -> str:
    target, label = found[1], found[2] or ""
    if target[0] in "@#":
        if name_of is not None and not (label and target[0] == "#"):
            return name_of(target)
        return f"{target[0]}{label.removeprefix(target[0])}" if label else found[0]
    if target[0] == "!":
        return label or f"@{target[1:]}"
    shown = target.removeprefix("mailto:").removeprefix("tel:")
    return f"{label} ({shown})" if label and label not in target else shown
