"""Opens the workspaces of the bot: the one of its token, or those of several tokens.

Of several each is tried at Slack first, which names its workspace. One that does not work is left out and
named in the log, to probes and by `doctor`; the others go on. Where Slack only had trouble it is tried again.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import Any

from slack_bolt.authorization import AuthorizeResult

from .errors import SlackError, TokenNotGood
from .inbound.authorizer import Identities, call_or_raise, new_authorize
from .inbound.socket_mode import SocketAddress, new_address
from .inbound.token_results import TokenResult, app_of, sign_in
from .observe.health import Health
from .settings.models import SlackSettings
from .settings.teams import tokens_in
from .slack.api import new_web_client
from .slack.rate_limiter.local import RateLimiter
from .slack.workspaces import InstallationMaker, Workspaces

log = logging.getLogger(__name__)

_AGAIN = 60.0  # seconds until a token is tried again for which Slack had no answer


async def check_tokens(settings: SlackSettings, session: Any, *, http: bool) -> SocketAddress | None:
    """See whether Slack refuses a token, before anything is opened. Of several bot tokens `WorkspaceTokens`
    says it.

    Returns the address of the first connection of Socket Mode; None in HTTP mode, or if Slack gave none now.
    Raises TokenNotGood with a line for each token that Slack refuses. Nothing else is judged here.
    """
    client = new_web_client(settings, session)
    asked: list[Coroutine[Any, Any, Any]] = [] if http else [new_address(client, settings)]
    if settings.bot_tokens is None:
        asked.append(call_or_raise(client, "auth.test", setting="SLACK_BOT_TOKEN"))
    results = await asyncio.gather(*asked, return_exceptions=True)
    if refused := [each for each in results if isinstance(each, TokenNotGood)]:
        raise TokenNotGood("\n".join(map(str, refused)), error=refused[0].error)
    for each in results:
        if isinstance(each, BaseException) and not isinstance(each, SlackError):
            raise each
    return next((each for each in results if isinstance(each, SocketAddress)), None)


class WorkspaceTokens:
    """The tokens of a bot. `new_limiter`: makes the rate limiter of a workspace, "" for the only one."""

    def __init__(
        self,
        settings: SlackSettings,
        session: Any,
        maker: InstallationMaker,
        new_limiter: Callable[[str], Awaitable[RateLimiter]],
        health: Health,
    ) -> None:
        self._settings, self._session, self._maker = settings, session, maker
        self._new_limiter, self._health = new_limiter, health
        self._app = app_of(settings.app_token.get_secret_value()) if settings.app_token else ""
        self._taken: list[TokenResult] = []
        self._waiting: list[TokenResult] = []
        self._told = set[str]()  # problems
        self._opened: tuple[Workspaces, Identities] | None = None

    async def open(self) -> tuple[Workspaces, Identities]:
        """The workspaces, and who the bot is there. Of one token Slack is not asked yet.

        Raises SlackError if none of several tokens works, TokenNotGood if that will not change.
        """
        tokens = tokens_in(self._settings.bot_tokens)
        client = new_web_client(self._settings, self._session)
        if not tokens:
            authorize = new_authorize(client)
            only = self._maker.new("", client, await self._new_limiter(""), authorize)
            return Workspaces(only), Identities(authorize)
        opened = Workspaces(absent=self._maker.absent(client)), Identities()
        clients = [new_web_client(self._settings, self._session, each) for each in tokens]
        results = await sign_in(list(enumerate(clients, start=1)), self._app)
        await self._take(results, *opened)
        if not self._taken:
            more = f" None of the {len(results)} tokens works." if len(results) > 1 else ""
            kind = SlackError if self._waiting else TokenNotGood
            raise kind(f"{results[0].problem}{more}", error="no_token")
        self._opened = opened
        return opened

    async def keep_trying(self, joined: Callable[[AuthorizeResult], Awaitable[None]]) -> None:
        """Try those again for which Slack had no answer, until there are none. `joined`: called for each that
        works.
        """
        while self._waiting and self._opened is not None:
            await asyncio.sleep(_AGAIN)
            waiting = [(each.number, each.client) for each in self._waiting]
            results = await sign_in(waiting, self._app, self._taken)
            await self._take(results, *self._opened)
            for each in results:
                if each.identity is not None:
                    self._health.workspace_forgotten(each.name)
                    await joined(each.identity)

    async def _take(
        self, results: Sequence[TokenResult], workspaces: Workspaces, identities: Identities
    ) -> None:
        self._waiting = [each for each in results if each.passes]
        identities.expect(more=bool(self._waiting))
        for each in results:
            if each.identity is None:
                left = "It is tried again" if each.passes else "Its workspace is left out"
                if each.problem not in self._told:
                    log.error("%s %s; the others go on.", each.problem, left)
                    self._told.add(each.problem)
                self._health.workspace_failed(each.name, each.problem)
                continue
            limiter = await self._new_limiter(each.team)
            identity = partial(_known, each.identity)
            workspaces.add(self._maker.new(each.team, each.client, limiter, identity))
            identities.add(each.identity)
            self._taken.append(each)
            self._health.workspace_passed(each.team)


async def _known(identity: AuthorizeResult) -> AuthorizeResult:
    return identity
