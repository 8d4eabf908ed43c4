"""The description of the HTTP API (OpenAPI 3.1), made of what the code answers."""

from __future__ import annotations

from typing import Any

from .answers import Problem
from .messages import about_fields

_BEARER: list[dict[str, list[str]]] = [{"key": []}]
_ANYTHING = {"type": "object", "additionalProperties": True}
_ID = {"type": "string", "description": "Names the message in GET /v1/messages/{id}."}
_STATE = {
    "type": "string",
    "enum": ["waiting", "sent", "failed", "silent", "ignored"],
    "description": "ignored: the fields are not those of `only`. silent: the agent had nothing to say.",
}
_OF_BODY = (Problem.BAD_REQUEST, Problem.TOO_SLOW, Problem.TOO_LARGE, Problem.MEDIA_TYPE, Problem.TOO_MANY)
OPERATIONS: dict[tuple[str, str], tuple[tuple[int, ...], tuple[Problem, ...]]] = {
    ("post", "/v1/messages"): (
        (202,),
        (*_OF_BODY, Problem.UNAUTHORIZED, Problem.FORBIDDEN, Problem.CONFLICT, Problem.UNAVAILABLE,
         Problem.METHOD_NOT_ALLOWED),
    ),
    ("get", "/v1/messages/{id}"): (
        (200,),
        (Problem.UNAUTHORIZED, Problem.NOT_FOUND, Problem.UNAVAILABLE, Problem.METHOD_NOT_ALLOWED),
    ),
    ("post", "/v1/hooks/{name}"): (
        (200, 202),
        (*_OF_BODY, Problem.UNAUTHORIZED, Problem.NOT_FOUND, Problem.UNAVAILABLE, Problem.METHOD_NOT_ALLOWED),
    ),
}  # fmt: skip
"""By method and path: the statuses of requests that are done, and why they are refused."""

_MEANING = {
    200: "How far the message has come; of a webhook, that its delivery was ignored.",
    202: "It is kept, and is delivered whole and once.",
}
_SUMMARY = {
    "/v1/messages": "Have the bot post a text, or the answer of an agent.",
    "/v1/messages/{id}": "How far a message has come.",
    "/v1/hooks/{name}": "The webhook of another system, as the bot's file describes it.",
}


def description() -> dict[str, Any]:
    """The whole document."""
    paths: dict[str, dict[str, Any]] = {}
    for (method, path), (done, problems) in OPERATIONS.items():
        responses = {str(status): _response(_MEANING[status], "State") for status in done}
        responses |= {str(each.status): _response(each.meaning, "Error") for each in problems}
        operation: dict[str, Any] = {"summary": _SUMMARY[path], "responses": dict(sorted(responses.items()))}
        operation |= _request(path)
        paths.setdefault(path, {})[method] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": "slack_bot", "version": "1", "summary": "The bot speaks first."},
        "paths": paths,
        "components": {
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer", "description": "sbk_..."}},
            "schemas": _schemas(),
        },
    }


def _request(path: str) -> dict[str, Any]:
    """Parameters, body and proof of an operation."""
    if path == "/v1/hooks/{name}":
        return {"parameters": [_in_path("name")], "requestBody": _body(_ANYTHING), "security": []}
    if path == "/v1/messages/{id}":
        return {"parameters": [_in_path("id")], "security": _BEARER}
    once = {
        "name": "Idempotency-Key",
        "in": "header",
        "required": True,
        "schema": {"type": "string", "minLength": 1, "maxLength": 200},
        "description": "The same key says the same message once, for at least 24 hours, at every replica.",
    }
    body = _body({"$ref": "#/components/schemas/Message"})
    return {"parameters": [once], "requestBody": body, "security": _BEARER}


def _in_path(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def _body(schema: dict[str, Any]) -> dict[str, Any]:
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def _response(words: str, schema: str) -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}
    return {"description": words, "content": content}


def _schemas() -> dict[str, Any]:
    message = dict(about_fields())
    inner = message.pop("$defs", {})
    text = {"type": ["string", "null"]}
    state = {"id": _ID, "state": _STATE, "ts": text, "permalink": text, "error": text, "answer": text}
    codes = [each.name.lower() for each in Problem]
    error = {"error": {"type": "string", "enum": codes}, "message": {"type": "string"}}
    return {
        **inner,
        "Message": message,
        "State": {"type": "object", "required": ["state"], "properties": state},
        "Error": {"type": "object", "required": ["error", "message"], "properties": error},
    }
