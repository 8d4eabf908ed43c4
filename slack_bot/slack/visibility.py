"""PURE. Buttons that only those see who may use them. Whether a person may is decided at the press.

Slack's own libraries know the field; no workspace was asked. So where a call with it is refused for its
blocks, it is made without it, and if that works, the field is not sent again until the next start.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..turn.form import Form, FormKind
from .blocks import Block

_FIELD = "visible_to_user_ids"
REFUSED = frozenset({"invalid_blocks", "invalid_blocks_format", "invalid_arguments", "invalid_chunks"})
"""The errors of a call whose blocks have a field that Slack does not know."""


def shown_to(blocks: Iterable[Block], users: Sequence[str]) -> list[Block]:
    """`blocks` whose buttons only `users` see; without any, everybody does."""
    return [_with_users(block, users) if users and block["type"] == "actions" else block for block in blocks]


def _with_users(block: Block, users: Sequence[str]) -> Block:
    elements = [
        {**each, _FIELD: list(users)} if each["type"] == "button" else each for each in block["elements"]
    ]
    return {**block, "elements": elements}


def without_field(value: Any) -> Any:
    """`value`, the arguments of a call or a part of them, with buttons that everybody sees."""
    if isinstance(value, Mapping):
        return {name: without_field(inner) for name, inner in value.items() if name != _FIELD}
    if isinstance(value, list | tuple):
        return [without_field(each) for each in value]
    return value


def has_field(args: Mapping[str, object]) -> bool:
    """Whether buttons in the blocks of a call are not for everybody."""
    given = args.get("blocks")
    blocks = given if isinstance(given, list | tuple) else ()
    return any(_FIELD in element for block in blocks for element in block.get("elements") or ())


def answerers(form: Form, asker: str, approvers: Sequence[str]) -> tuple[str, ...]:
    """Who may answer `form`; empty: everybody, or who is in a user group, whose members Slack knows."""
    decide = not form.is_auth and bool(approvers)
    people = list(approvers) if decide else []
    if not decide or form.kind is not FormKind.APPROVAL:
        people.append(asker)
    is_known = all(people) and not any(each.startswith("S") for each in people)
    return tuple(dict.fromkeys(people)) if is_known else ()
