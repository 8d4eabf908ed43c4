"""Webhooks: whether one has the secret, which delivery it is, and what is said of it.

Only the template of the settings is the question. What the sender wrote fills its places, and all of it goes
to the agent as quoted data.
"""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from pydantic import SecretStr

from ...settings.api_access import HookEntry
from ...text.sanitize import sanitize
from ...turn.outbound import OutboundMessage
from ...turn.record import QuestionOrigin
from .keys import bearer_in

_PLACE = re.compile(r"\{([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)\}")
_MOST_VALUE, _MOST_WORDS = 500, 10_000  # characters
_MOST_HEADLINE = 150
_MOST_QUOTED = 30_000
_CUT = "…"


def is_authentic(
    hook: HookEntry, signatures: Sequence[str], authorization: Sequence[str], body: bytes
) -> bool:
    """Whether the sender has the secret. `signatures`: the values of the hook's header."""
    secret = hook.secret or SecretStr("")
    key = secret.get_secret_value().encode()
    if not key:
        return False
    if hook.verify == "bearer":
        return hmac.compare_digest(bearer_in(authorization).encode("utf-8", "replace"), key)
    if len(signatures) != 1 or not signatures[0].startswith(hook.prefix):
        return False
    given = signatures[0].removeprefix(hook.prefix).strip().lower()
    return hmac.compare_digest(
        given.encode("utf-8", "replace"), hmac.new(key, body, sha256).hexdigest().encode()
    )


def is_wanted(hook: HookEntry, fields: Any) -> bool:
    """Whether the fields have the values of `only`."""
    return all(value_at(fields, path) in values for path, values in hook.only.items())


def delivery_of(hook: HookEntry, names: Sequence[str], fields: Any, body: bytes) -> str:
    """Which delivery it is. `names`: the values of the hook's header. The body, if nothing names it."""
    named = "".join(names[:1]) if hook.once_header else filled(hook.once, fields) if hook.once else ""
    blank = filled(hook.once, None) if hook.once else ""
    is_named = bool(named.strip()) and named != blank
    return sha256(b"named " + named.encode("utf-8", "replace") if is_named else b"whole " + body).hexdigest()


def message_of(name: str, hook: HookEntry, fields: Any) -> OutboundMessage:
    """What is said of a delivery."""
    headline = _one_line(filled(hook.headline, fields, is_shown=True))
    text = filled(hook.ask, fields) if hook.ask else filled(hook.text, fields, is_shown=True)
    return OutboundMessage(
        text.strip() or name,
        channel=hook.channel or "",
        user=hook.user or "",
        headline=headline or (_one_line(sanitize(text)) if hook.ask else ""),
        is_question=bool(hook.ask),
        origin=QuestionOrigin.REQUEST,
        agent=hook.agent or "",
        team=hook.team or "",
        is_addressed=not hook.skip_if_silent,
        quoted=_quoted(fields) if hook.ask else "",
        quoted_by=name if hook.ask else "",
    )


def filled(template: str, fields: Any, *, is_shown: bool = False) -> str:
    """A template with the values of fields in its places. `is_shown`: what they mention reads as text."""

    def value(place: re.Match[str]) -> str:
        words = _cut(value_at(fields, place[1]), _MOST_VALUE)
        return sanitize(words) if is_shown else words

    return _cut(_PLACE.sub(value, template), _MOST_WORDS)


def value_at(fields: Any, path: str) -> str:
    """The field at a path, lists by number from 0; "" without one."""
    found = fields
    for part in path.split("."):
        if isinstance(found, dict):
            found = found.get(part)
        elif isinstance(found, list) and part.isdecimal() and len(part) < 6 and int(part) < len(found):
            found = found[int(part)]
        else:
            return ""
    if found is None or isinstance(found, str):
        return found or ""
    return _json(found)


def _quoted(fields: Any) -> str:
    return _cut(json.dumps(fields, ensure_ascii=False, indent=1), _MOST_QUOTED)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + _CUT


def _one_line(text: str) -> str:
    return _cut(" ".join(text.split()), _MOST_HEADLINE)
