"""Signs in with each of several bot tokens, and says in one sentence what is wrong with one.

A token that does not work is left out: the other workspaces go on.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from slack_bolt.authorization import AuthorizeResult
from slack_sdk.web.async_client import AsyncWebClient

from ..errors import SlackError
from ..turn.json_values import object_of, text_in
from .authorizer import call_or_raise, new_authorize

TOKENS = "SLACK_BOT_TOKENS"
"""The variable that has them all."""
_AT_ONCE = 10  # Slack: `auth.test` some hundred times a minute, `bots.info` 50 times for each token
_APP = re.compile(r"xapp-[0-9]+-(A[A-Z0-9]+)-")
_PASSES = frozenset(
    [
        "unreachable",
        "unreadable",
        "ratelimited",
        "internal_error",
        "fatal_error",
        "service_unavailable",
        "request_timeout",
    ]
)
"""Errors that say nothing of the token: it is tried again."""


@dataclass(frozen=True, slots=True)
class TokenResult:
    """What came of one token, the `number`th of the list. `identity`: whose it is; None: it is left out.

    `problem`: a sentence that says why. `passes`: it may work later. `app`: the id of its app, if known.
    """

    number: int
    client: AsyncWebClient
    identity: AuthorizeResult | None = None
    problem: str = ""
    passes: bool = False
    app: str = ""

    @property
    def name(self) -> str:
        """What people call it."""
        return name_of(self.number)

    @property
    def team(self) -> str:
        """The id of its workspace."""
        return "" if self.identity is None else self.identity.team_id or ""

    def refused(self, problem: str) -> "TokenResult":
        """It is left out for this reason."""
        return replace(self, identity=None, problem=problem)


def name_of(number: int) -> str:
    """What people call the `number`th token: nothing of it may be shown."""
    return f"token {number} of {TOKENS}"


def app_of(app_token: str) -> str:
    """The id of the app of an app-level token, which has it in front; "" if it has not."""
    match = _APP.match(app_token)
    return "" if match is None else match[1]


async def sign_in(
    clients: Sequence[tuple[int, AsyncWebClient]], app: str, taken: Iterable[TokenResult] = ()
) -> list[TokenResult]:
    """Try each token. `app`: the id of the app that gets the events; "": that of most tokens.

    `taken`: the results of others that work. Never raises for what Slack says.
    """
    few = asyncio.Semaphore(_AT_ONCE)

    async def one(number: int, client: AsyncWebClient) -> TokenResult:
        async with few:
            return await _try(number, client)

    results = await asyncio.gather(*(one(*each) for each in clients))
    return judged(results, app, tuple(taken))


async def _try(number: int, client: AsyncWebClient) -> TokenResult:
    try:
        identity = await new_authorize(client, name_of(number))()
    except SlackError as error:
        return TokenResult(number, client, problem=str(error), passes=_passes(error.error))
    try:
        found = await call_or_raise(
            client, "bots.info", setting=name_of(number), params={"bot": identity.bot_id or ""}
        )
        app = text_in(object_of(found.get("bot")), "app_id")
    except SlackError:  # without users:read nobody knows
        app = ""
    return TokenResult(number, client, identity, app=app)


def _passes(error: str) -> bool:
    return error in _PASSES or error.startswith("HTTP 5")


def judged(results: Sequence[TokenResult], app: str, taken: Sequence[TokenResult] = ()) -> list[TokenResult]:
    """The results, without the tokens that work and yet cannot be used."""
    if not app:
        apps = Counter(each.app for each in (*taken, *results) if each.app)
        app = apps.most_common(1)[0][0] if apps else ""
    numbers = {each.team: each.number for each in taken}
    found = list[TokenResult]()
    for each in results:
        if each.identity is None:
            found.append(each)
        elif problem := _problem(each, each.identity, app, numbers):
            found.append(each.refused(problem))
        else:
            numbers[each.team] = each.number
            found.append(each)
    return found


def _problem(result: TokenResult, identity: AuthorizeResult, app: str, numbers: dict[str, int]) -> str | None:
    where = f"{identity.team} ({result.team})"
    if identity.get("is_enterprise_install") is True or not result.team:
        return (
            f"{result.name} is of an organisation on Enterprise Grid, and the list is for single workspaces:"
            " install the app in the workspace itself and copy that token."
        )
    if result.app and result.app != app:
        return (
            f"{result.name} is of {where}, but of another app ({result.app}) than the others ({app}), whose"
            " events do not come here: install this app there and copy that token."
        )
    if result.team in numbers:
        return (
            f"{result.name} is of {where}, as token {numbers[result.team]} is, which counts: take one of"
            " them out of the list."
        )
    return None
