"""The targets of feedback: their requests, and how these are signed."""

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
    """A POST of JSON to a target."""

    url: str
    headers: Mapping[str, str]
    body: bytes


def requests_of(
    settings: FeedbackSettings,
) -> dict[str, Callable[[FeedbackRecord, float], FeedbackRequest | None]]:
    """For each target that is configured, the function that makes a request from feedback.

    It gets the feedback and the time in seconds since 1970, and returns None if this target has no use for
    it.
    """
    targets: dict[str, Callable[[FeedbackRecord, float], FeedbackRequest | None]] = {}
    if settings.webhook_url is not None and settings.webhook_secret is not None:
        url, secret = settings.webhook_url, settings.webhook_secret.get_secret_value()
        targets[WEBHOOK] = lambda feedback, now: _webhook(url, secret, feedback, now)
    if settings.langfuse_public_key is not None and settings.langfuse_secret_key is not None:
        targets[LANGFUSE] = lambda feedback, _: _score(settings, feedback)
    return targets


def feedback_id(feedback: FeedbackRecord) -> str:
    """The id of the feedback of one person on one turn. It stays the same when that person changes it."""
    return str(uuid5(NAMESPACE_URL, f"slack-bot:{feedback.turn}:{feedback.user}"))


def as_json(feedback: FeedbackRecord) -> dict[str, Any]:
    """The feedback as JSON for the webhook. `at`: seconds since 1970 (UTC)."""
    names = ("turn", "user", "value", "at", "words", "task_id", "context_id", "trace_id", "agent")
    fields = {name: getattr(feedback, name) for name in names}
    return {"id": feedback_id(feedback), **fields, "reasons": list(feedback.reasons)}


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """The signature of a webhook request, made as Slack makes its own: HMAC-SHA256 of `v0:TIMESTAMP:BODY`."""
    message = b":".join((b"v0", timestamp.encode(), body))
    return "v0=" + hmac.new(secret.encode(), message, hashlib.sha256).hexdigest()


def _webhook(url: str, secret: str, feedback: FeedbackRecord, now: float) -> FeedbackRequest:
    body, timestamp = _encoded(as_json(feedback)), str(int(now))
    headers = {TIMESTAMP: timestamp, SIGNATURE: signature(secret, timestamp, body)}
    return FeedbackRequest(url, headers, body)


def _score(settings: FeedbackSettings, feedback: FeedbackRecord) -> FeedbackRequest | None:
    """A score for the trace, or for the session with the id of the A2A context (api.reference.langfuse.com).

    Langfuse replaces a score that has the same id.
    """
    about = {"traceId": feedback.trace_id} if feedback.trace_id else {"sessionId": feedback.context_id}
    if not any(about.values()):
        return None
    assert settings.langfuse_secret_key is not None
    keys = f"{settings.langfuse_public_key}:{settings.langfuse_secret_key.get_secret_value()}"
    value = 1 if feedback.value == POSITIVE else 0
    score: dict[str, Any] = {**about, "id": feedback_id(feedback), "name": settings.langfuse_score}
    score |= {"value": value, "dataType": "BOOLEAN"}
    if comment := "; ".join([*feedback.reasons, *([feedback.words] if feedback.words else [])]):
        score["comment"] = comment
    headers = {"Authorization": f"Basic {b64encode(keys.encode()).decode()}"}
    url = f"{settings.langfuse_url.rstrip('/')}/api/public/scores"
    return FeedbackRequest(url, headers, _encoded(score))


def _encoded(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")
