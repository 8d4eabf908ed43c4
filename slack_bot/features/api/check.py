"""The check of `doctor` for the HTTP API."""

from __future__ import annotations

from collections.abc import AsyncIterator

from ...errors import SettingsError
from ...inbound.http_server import answer_at, check_address
from ...observe.findings import Diagnosis, failed, ok, split, warning
from ...settings.api_access import ANYWHERE
from ...settings.config_file import read_api
from ...settings.load import Settings
from .openapi import description
from .receiver import ADDRESS, DESCRIPTION

_CHECK = "api"
_MIN_SECRET = 16  # characters


async def check(settings: Settings) -> AsyncIterator[Diagnosis]:
    """Say what programs may do, and what can be guessed."""
    try:
        table = read_api(settings)
    except SettingsError as error:
        if settings.slack.config is None:  # a variable of a webhook, and no file that names it
            yield split(_CHECK, str(error))
        return  # else the check of the file says why
    if (table.keys or table.hooks) and settings.slack.app_token is not None:
        yield await _port(settings)
    for name, key in table.keys.items():
        if not (key.channels or key.may_dm):
            text = f"the key {name} may write nowhere"
            yield warning(_CHECK, text, f"set channels or may_dm of [keys.{name}]")
        elif ANYWHERE in key.channels and key.may_mention:
            text = f"the key {name} can ping everybody in every channel of the bot"
            yield warning(_CHECK, text, f"name the channels of [keys.{name}], or take may_mention away")
        else:
            yield ok(_CHECK, f"the key {name} may write, at most {key.rate} messages an hour")
    for name, hook in table.hooks.items():
        if hook.secret is not None and len(hook.secret.get_secret_value()) < _MIN_SECRET:
            remedy = "`openssl rand -hex 32` prints one"
            yield warning(_CHECK, f"the secret of the webhook {name} is short", remedy)
        else:
            yield ok(_CHECK, f"the webhook {name} is at /v1/hooks/{name}")


async def _port(settings: Settings) -> Diagnosis:
    """Whether the port of Socket Mode is free; in HTTP mode the requests come to Slack's."""
    host, port = settings.api.host, settings.api.port
    if port == settings.health.port:
        remedy = "give SLACK_BOT_API__PORT another one"
        return failed(_CHECK, f"health and the API have the same port, {port}", remedy)
    try:
        await check_address(ADDRESS, host, port)
    except SettingsError as error:
        if await answer_at(host, port, DESCRIPTION) != description():
            return split(_CHECK, str(error))
        return ok(_CHECK, f"a bot that runs has the port {port}")
    return ok(_CHECK, f"the port {port} is free")
