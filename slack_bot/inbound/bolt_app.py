"""Bolt, with everything given that it would otherwise read from the environment."""

import logging
from collections.abc import Awaitable, Callable

from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from ..settings.models import SlackSettings
from .authorizer import Identities
from .read import teams_of

log = logging.getLogger(__name__)


class TeamSorter:
    """Finds the workspace that a body is for, where the bot is in several, before Bolt signs in there."""

    def __init__(self, identities: Identities) -> None:
        self._identities = identities
        self._unknown: set[str] = set()

    async def sort(
        self, request: AsyncBoltRequest, next_: Callable[[], Awaitable[BoltResponse]]
    ) -> BoltResponse:
        """A middleware. What is for a workspace without a token is acknowledged: sent again, nobody could
        answer it either, and Slack takes the events away from an app that refuses many (facts: Slack 3.3).
        """
        if request.body.get("type") == "url_verification":  # of HTTP mode: it is for no workspace
            return await next_()
        teams = [each for each in teams_of(request.body) if each]
        team = next((each for each in teams if self._identities.has(each)), None)
        if team is None and self._identities.may_get_more:
            return BoltResponse(status=503)  # Slack sends it again, after a minute too
        if team is None:
            self._note("".join(teams[:1]))
            return BoltResponse(status=200)
        request.context["team_id"] = team
        return await next_()

    def _note(self, team: str) -> None:
        """Once for each workspace."""
        if team not in self._unknown:
            self._unknown.add(team)
            log.warning(
                "events of the workspace %s are left out: none of SLACK_BOT_TOKENS that works is of it;"
                " slack-bot doctor tells which do not work",
                team or "that they do not name",
            )


def new_bolt(client: AsyncWebClient, identities: Identities, settings: SlackSettings) -> AsyncApp:
    """Bolt for one bot. `client` is its own and loses its token: with one, Bolt would not ask who it is."""

    async def authorize(team_id: str | None) -> AuthorizeResult:
        return await identities.of(team_id or "")

    client.token = None
    secret = settings.signing_secret
    logger = logging.getLogger("slack_bot.bolt")
    logger.setLevel(logging.ERROR)  # a token in the environment is warned about, though it is not used
    bolt = AsyncApp(
        name=logger.name,  # Bolt sets the level of the logger so named: never one of ours
        logger=logger,
        client=client,
        authorize=authorize,
        before_authorize=TeamSorter(identities).sort if identities.are_several else None,
        signing_secret="" if secret is None else secret.get_secret_value(),
        ignoring_self_events_enabled=False,  # `inbound` does: some of them show what became of a call
        attaching_conversation_kwargs_enabled=False,
    )
    logger.setLevel(logging.WARNING)
    return bolt
