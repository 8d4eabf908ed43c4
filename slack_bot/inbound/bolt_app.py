"""Bolt, with everything given that it would otherwise read from the environment."""

import logging

from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from ..settings.models import SlackSettings
from .authorizer import Authorize


def new_bolt(client: AsyncWebClient, authorize: Authorize, settings: SlackSettings) -> AsyncApp:
    """Bolt for one bot. `client` is its own and loses its token: with one, Bolt would not ask `authorize`."""
    client.token = None
    secret = settings.signing_secret
    logger = logging.getLogger("slack_bot.bolt")
    logger.setLevel(logging.ERROR)  # a token in the environment is warned about, though it is not used
    bolt = AsyncApp(
        name=logger.name,  # Bolt sets the level of the logger so named: never one of ours
        logger=logger,
        client=client,
        authorize=authorize,
        signing_secret="" if secret is None else secret.get_secret_value(),
        ignoring_self_events_enabled=False,  # `inbound` does: some of them show what became of a call
        attaching_conversation_kwargs_enabled=False,
    )
    logger.setLevel(logging.WARNING)
    return bolt
