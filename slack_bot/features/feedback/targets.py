"""Where feedback is sent: the requests, and their signature."""

import hashlib
import hmac
import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from ...settings.feedback import FeedbackSettings
from ...turn.feedback import POSITIVE, FeedbackRecord

WEBHOOK, LANGFUSE = "webhook", "langfuse"
TIMESTAMP, SIGNATURE = "X-Slack-Bot-Request-Timestamp", "X-Slack-Bot-Signature"


@dataclass(frozen=True, slots=True)
class FeedbackRequest:
    """A POST of JSON."""

    url: str
    headers: Mapping[str, str]
    body: bytes


def requests_of(
    settings: FeedbackSettings,
) -> dict[str, Callable[[FeedbackRecord, float], FeedbackRequest | None]]:
    """What makes a request of feedback at a time, by target. None: there is nothing to send it to."""
    targets: dict[str, Callable[[FeedbackRecord, float], FeedbackRequest | None]] = {}
    if settings.webhook_url is not None and settings.webhook_secret is not None:
        url, secret = settings.webhook_url, settings.webhook_secret.get_secret_value()
        targets[WEBHOOK] = lambda said, now: _webhook(url, secret, said, now)
    if settings.langfuse_public_key is not None and settings.langfuse_secret_key is not None:
        targets[LANGFUSE] = lambda said, _: _score(settings, said)
    return targets


def feedback_id(said: FeedbackRecord) -> str:
    """The same for each later word of this person to this turn."""
    return str(uuid5(NAMESPACE_URL, f"slack-bot:{said.turn}:{said.user}"))


def as_json(said: FeedbackRecord) -> dict[str, Any]:
    """For others. `at`: seconds since 1970 (UTC)."""
    names = ("turn", "user", "value", "at", "words", "task_id", "context_id", "trace_id")
    known = {name: getattr(said, name) for name in names}
    return {"id": feedback_id(said), **known, "reasons": list(said.reasons)}


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """As Slack makes its own: HMAC-SHA256 of `v0:TIMESTAMP:BODY`."""
    signed = b":".join((b"v0", timestamp.encode(), body))
    return "v0=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def _webhook(url: str, secret: str, said: FeedbackRecord, now: float) -> FeedbackRequest:
    body, timestamp = _encoded(as_json(said)), str(int(now))
    headers = {TIMESTAMP: timestamp, SIGNATURE: signature(secret, timestamp, body)}
    return FeedbackRequest(url, headers, body)


def _score(settings: FeedbackSettings, said: FeedbackRecord) -> FeedbackRequest | None:
    """A score of the trace, or of the session with the id of the A2A context (api.reference.langfuse.com).

    Langfuse replaces a score that has the same id.
    """
    about = {"traceId": said.trace_id} if said.trace_id else {"sessionId": said.context_id}
    if not any(about.values()):
        return None
    assert settings.langfuse_secret_key is not None
    keys = f"{settings.langfuse_public_key}:{settings.langfuse_secret_key.get_secret_value()}"
    value = 1 if said.value == POSITIVE else 0
    score: dict[str, Any] = {**about, "id": feedback_id(said), "name": settings.langfuse_score}
    score |= {"value": value, "dataType": "BOOLEAN"}
    if comment := "; ".join([*said.reasons, *([said.words] if said.words else [])]):
        score["comment"] = comment
    headers = {"Authorization": f"Basic {b64encode(keys.encode()).decode()}"}
    url = f"{settings.langfuse_url.rstrip('/')}/api/public/scores"
    return FeedbackRequest(url, headers, _encoded(score))


def _encoded(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")
