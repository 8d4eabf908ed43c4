"""Signing in to Slack: the bot's identity and scopes, and one sentence for each wrong token."""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import TypeAlias

import aiohttp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from ..errors import SlackError, TokenNotGood
from ..turn.people import Organisation
from .read import BotIdentity

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
_LASTING = frozenset(
    [
        "invalid_auth",
        "not_authed",
        "token_revoked",
        "token_expired",
        "account_inactive",
        "not_allowed_token_type",
        "missing_scope",
    ]
)
"""Errors that a person must mend. Any other one may be an outage, also an unknown one."""
_NOT_SLACK = "check SLACK_API_URL and the proxy if there is one, or try again later"
_UNREADABLE = (ValueError, AttributeError, RecursionError)
"""What slack_sdk raises for a body that it cannot read."""

Authorize: TypeAlias = Callable[[], Awaitable[AuthorizeResult]]


def new_authorize(client: AsyncWebClient, setting: str = "SLACK_BOT_TOKEN") -> Authorize:
    """Make a function that returns the bot's identity, for the token of `client`. It asks Slack once
    (`auth.test`). `setting`: what an error calls the token.

    `bot_scopes` of its result is None if Slack names no scopes. Bolt itself would acknowledge and drop an
    event whose `auth.test` fails. The SlackError that this function raises becomes a 500, and Slack sends the
    event again.
    """
    identity: AuthorizeResult | None = None

    async def authorize() -> AuthorizeResult:
        nonlocal identity
        if identity is None:
            answer = await call_or_raise(client, "auth.test", setting=setting)
            scopes = answer.headers.get("x-oauth-scopes")
            identity = AuthorizeResult.from_auth_test_response(
                bot_token=client.token, bot_scopes=scopes, auth_test_response=answer
            )
            identity["is_enterprise_install"] = answer.get("is_enterprise_install") is True
        return identity

    return authorize


class Identities:
    """Who the bot is in each workspace. `only`: of the one token, for every workspace."""

    def __init__(self, only: Authorize | None = None) -> None:
        self._only = only
        self._by_team: dict[str, AuthorizeResult] = {}
        self.may_get_more = False
        """Slack had no answer yet for one of several tokens."""

    def expect(self, *, more: bool) -> None:
        """Whether a workspace that is not known yet may be known soon."""
        self.may_get_more = more

    def add(self, identity: AuthorizeResult) -> None:
        """The bot in one of several workspaces."""
        self._by_team[identity.team_id or ""] = identity

    @property
    def are_several(self) -> bool:
        """Which workspace is meant has to be said."""
        return self._only is None

    def has(self, team: str) -> bool:
        """The bot is in this workspace, as far as it knows."""
        return self._only is not None or team in self._by_team

    async def of(self, team: str = "") -> AuthorizeResult:
        """Who the bot is in the workspace `team`. "": there is one only. Raises SlackError."""
        if self._only is not None:
            return await self._only()
        if not team and len(self._by_team) == 1:
            return next(iter(self._by_team.values()))
        if (identity := self._by_team.get(team)) is None:
            raise SlackError(self._unknown(team), error="no_token")
        return identity

    async def all(self) -> list[AuthorizeResult]:
        """The bot in each workspace. Raises SlackError."""
        return list(self._by_team.values()) if self._only is None else [await self._only()]

    def _unknown(self, team: str) -> str:
        known = ", ".join(sorted(self._by_team)) or "none"
        if not team:
            return f"The bot is in several workspaces; name the one that is meant: {known}."
        return f"The bot has no token of the workspace {team} that works; those that do are of: {known}."


def identity_of(authorization: AuthorizeResult | None) -> BotIdentity:
    """The bot's ids, organisation and workspace address; empty ids if it is not signed in."""
    if authorization is None:
        return BotIdentity("", "")
    ours = Organisation(authorization.team_id or "", authorization.enterprise_id or "")
    return BotIdentity(
        authorization.bot_user_id or "", authorization.bot_id or "", ours, authorization.url or ""
    )


async def call_or_raise(
    client: AsyncWebClient,
    method: str,
    *,
    setting: str,
    token: str | None = None,
    params: dict[str, str] | None = None,
) -> AsyncSlackResponse:
    """Call a method of Slack that must succeed, and return the answer.

    `setting`: the variable of the token, for the error. Raises SlackError with a remedy, TokenNotGood where
    asking again would end so too.
    """
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    try:
        return await client.api_call(method, headers=headers, params=params)
    except SlackApiError as error:
        # the response is the SDK's, or aiohttp's if the body was not JSON
        data = getattr(error.response, "data", None)
        error_name = data.get("error") if isinstance(data, dict) else None
        status = getattr(error.response, "status_code", 0) or getattr(error.response, "status", 0)
        name = str(error_name or f"HTTP {status}")
        remedy = _REMEDIES.get(name, "check it in your Slack app settings" if error_name else _NOT_SLACK)
        if error_name is None and status == HTTPStatus.OK:
            raise SlackError(_not_slack(client), error="unreadable") from error
        is_lasting = name in _LASTING and status < HTTPStatus.INTERNAL_SERVER_ERROR
        kind = TokenNotGood if is_lasting else SlackError
        raise kind(f"Slack refused {setting} ({name}): {remedy}.", error=name) from error
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        raise SlackError(
            f"Slack cannot be reached at {client.base_url}; check the network, SLACK_API_URL, and the proxy"
            " if there is one (HTTPS_PROXY).",
            error="unreachable",
        ) from error
    except _UNREADABLE as error:  # last: a certificate that is refused is a ValueError too
        raise SlackError(_not_slack(client), error="unreadable") from error


def _not_slack(client: AsyncWebClient) -> str:
    return f"What answers at {client.base_url} is not Slack: {_NOT_SLACK}."
