"""Signing in to Slack: the bot's identity, and one sentence for each thing wrong with a token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from ..errors import SlackError

_AGAIN = "copy the token again from your Slack app settings"
_REINSTALL = "install the app again and copy the new token"
_LATER = "Slack has trouble of its own right now; start again in a minute"
_REMEDIES = {
    "invalid_auth": _AGAIN,
    "not_authed": _AGAIN,
    "token_revoked": _REINSTALL,
    "token_expired": _REINSTALL,
    "account_inactive": _REINSTALL,
    "not_allowed_token_type": "this is another kind of token than the one needed",
    "missing_scope": "an app-level token needs the scope connections:write",
    "ratelimited": "it was used too often lately; start again in a minute",
    **dict.fromkeys(("internal_error", "fatal_error", "service_unavailable", "request_timeout"), _LATER),
}
_NOT_SLACK = "check SLACK_API_URL, and the proxy if there is one; or try again later"
_UNREADABLE = (ValueError, AttributeError, RecursionError)
"""What slack_sdk raises for a body that it cannot read."""


@dataclass(frozen=True, slots=True)
class Identity:
    """The owner of the bot token. `scopes`: None if Slack does not name them."""

    team: str
    team_name: str
    user: str
    name: str
    bot: str
    enterprise: str | None = None
    scopes: frozenset[str] | None = None


class Authorizer:
    """The bot's identity at Slack, asked once."""

    def __init__(self, client: AsyncWebClient, token: str) -> None:
        self.client = client
        self._token = token
        self._identity: Identity | None = None

    async def identity(self) -> Identity:
        """Ask `auth.test`, once. Raises SlackError with the remedy."""
        if self._identity is None:
            answer = await _answer(self.client, "auth.test", setting="SLACK_BOT_TOKEN")
            data = _body(answer)
            self._identity = Identity(
                team=str(data.get("team_id") or ""),
                team_name=str(data.get("team") or ""),
                user=str(data.get("user_id") or ""),
                name=str(data.get("user") or ""),
                bot=str(data.get("bot_id") or ""),
                enterprise=data.get("enterprise_id") or None,
                scopes=_scopes(answer.headers),
            )
        return self._identity

    async def authorize(self) -> AuthorizeResult:
        """Bolt calls this before every request.

        Bolt itself acknowledges an event whose `auth.test` fails, and drops it. Our error makes it a 500, and
        Slack sends the event again.
        """
        identity = await self.identity()
        return AuthorizeResult(
            enterprise_id=identity.enterprise,
            team_id=identity.team,
            bot_user_id=identity.user,
            bot_id=identity.bot,
            bot_token=self._token,
        )


async def call_or_raise(
    client: AsyncWebClient, method: str, *, setting: str, token: str | None = None
) -> Mapping[str, Any]:
    """The answer to a call that must succeed. Raises SlackError."""
    return _body(await _answer(client, method, setting=setting, token=token))


async def _answer(
    client: AsyncWebClient, method: str, *, setting: str, token: str | None = None
) -> AsyncSlackResponse:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    try:
        return await client.api_call(method, headers=headers)
    except SlackApiError as error:
        body = getattr(error.response, "data", None)
        named = body.get("error") if isinstance(body, dict) else None
        name = str(named or f"HTTP {_status(error)}")
        remedy = _REMEDIES.get(name, "check it in your Slack app settings" if named else _NOT_SLACK)
        raise SlackError(f"Slack refused {setting} ({name}): {remedy}.", error=name) from error
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        raise SlackError(
            f"Slack cannot be reached at {client.base_url}: check the network and SLACK_API_URL.",
            error="unreachable",
        ) from error
    except _UNREADABLE as error:  # last: a certificate that is refused is a ValueError too
        raise SlackError(
            f"What answers at {client.base_url} is not Slack: {_NOT_SLACK}.", error="unreadable"
        ) from error


def _body(answer: AsyncSlackResponse) -> Mapping[str, Any]:
    return answer.data if isinstance(answer.data, dict) else {}


def _scopes(headers: Mapping[str, str]) -> frozenset[str] | None:
    """The token's scopes, which Slack names in a header of each answer."""
    scopes = {name.lower(): value for name, value in headers.items()}.get("x-oauth-scopes")
    return None if scopes is None else frozenset(scope.strip() for scope in scopes.split(","))


def _status(error: SlackApiError) -> int:
    """The HTTP status: the response is the SDK's, or aiohttp's if the body was not JSON."""
    answer = error.response
    return int(getattr(answer, "status_code", 0) or getattr(answer, "status", 0))
