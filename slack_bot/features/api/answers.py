"""What the HTTP API answers: one table of statuses, and the body of each answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from aiohttp import web

from ...turn.json_values import Object


class Problem(Enum):
    """Why a request is refused: its HTTP status, and what that means for who sends it."""

    BAD_REQUEST = 400, "The body is no JSON object as it is described here, or a header is missing."
    UNAUTHORIZED = 401, "There is no key, or it is wrong; of a webhook, the signature or the secret is."
    FORBIDDEN = 403, "The key may not do this. `message` names the rule, which is in the file of the bot."
    NOT_FOUND = 404, "There is no such address, no such message of this key, or no such webhook."
    METHOD_NOT_ALLOWED = 405, "The address is used with another method."
    TOO_SLOW = 408, "The body did not come in time."
    CONFLICT = 409, "The Idempotency-Key was used before, with another body."
    TOO_LARGE = 413, "The body is too large."
    MEDIA_TYPE = 415, "The body is not application/json."
    TOO_MANY = 429, "A limit of the hour or the day is reached. `Retry-After` has the seconds to wait."
    UNAVAILABLE = 503, "The bot cannot keep the message now. `Retry-After` has the seconds to wait."

    def __init__(self, status: int, meaning: str) -> None:
        self.status, self.meaning = status, meaning


class RequestRefused(Exception):
    """A request is refused. `message`: one sentence for who sends it. `wait`: seconds until it is taken."""

    def __init__(self, problem: Problem, message: str, wait: float = 0.0) -> None:
        super().__init__(message)
        self.problem, self.message = problem, message
        self.wait = wait


@dataclass(frozen=True, slots=True)
class Taken:
    """A request is done. `status`: 202 if what it wants is still to be delivered."""

    status: int
    body: Object = field(default_factory=dict)


def answered(taken: Taken) -> web.Response:
    """The answer to a request that was done."""
    return _response(taken.status, taken.body, {})


def refused(refusal: RequestRefused) -> web.Response:
    """The answer to a request that was refused. It closes the connection, which may carry more of it."""
    problem = refusal.problem
    headers = {"Retry-After": str(max(1, round(refusal.wait)))} if refusal.wait else {}
    if problem is Problem.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    body = {"error": problem.name.lower(), "message": refusal.message}
    response = _response(problem.status, body, headers)
    response.force_close()
    return response


def _response(status: int, body: Object, headers: Mapping[str, str]) -> web.Response:
    text = json.dumps(body, ensure_ascii=False) + "\n"
    about = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", **headers}
    return web.Response(status=status, text=text, content_type="application/json", headers=about)
