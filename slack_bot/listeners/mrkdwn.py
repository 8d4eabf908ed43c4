"""PURE. Slack's markup becomes the text its author typed.

Slack wraps links, people and channels in `<...>` and escapes `&`, `<` and `>`. An agent needs the plain text:
code in a question, for example, must reach it unchanged.
"""

from __future__ import annotations

import re

_WRAPPED = re.compile(r"<([^<>\s|][^<>|]*)(?:\|([^<>]*))?>")
_ENTITY = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}
_ENTITIES = re.compile("|".join(_ENTITY))


def without_mention(text: str, user: str) -> str:
    """`text` without the mentions of `user`, with or without a label. Unchanged if there is none."""
    mention = rf"<@{re.escape(user)}(?:\|[^>]*)?>"
    if not user or re.search(mention, text) is None:
        return text
    opened = re.sub(rf"\A\s*(?:{mention}[\s,:;]*)+", "", text)
    return re.sub(rf"[ \t]*{mention}", "", opened).strip()


def to_text(text: str) -> str:
    """`text` without Slack's markup, except for people without a label."""
    return _ENTITIES.sub(lambda found: _ENTITY[found[0]], _WRAPPED.sub(_unwrapped, text)).strip()


def _unwrapped(found: re.Match[str]) -> str:
    target, label = found[1], found[2] or ""
    if target[0] in "@#":
        return f"{target[0]}{label.removeprefix(target[0])}" if label else found[0]
    if target[0] == "!":
        return label or f"@{target[1:]}"
    shown = target.removeprefix("mailto:").removeprefix("tel:")
    return f"{label} ({shown})" if label and label not in target else shown
