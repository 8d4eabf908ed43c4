"""The HTTP API: off without `[keys.NAME]` and `[hooks.NAME]` in the file."""

from __future__ import annotations

import logging
from functools import partial

from ...settings.config_file import read_api
from ...settings.load import Settings
from ..feature import BotParts, Feature, FeatureWork, SettingsCheck
from .check import check
from .outbox import Outbox
from .receiver import ApiReceiver

_log = logging.getLogger(__name__)


def start(bot: BotParts) -> FeatureWork:
    """Receive requests, if there are keys or webhooks. Raises SettingsError."""
    common = bot.common
    settings = common.settings
    if not (table := read_api(settings)):
        has_file = settings.slack.config is not None
        return FeatureWork(reload=partial(_warn_if_wanted, settings) if has_file else None)

    outbox = Outbox(common.store, bot.hourly, common.clock, common.secrets)
    receiver = ApiReceiver(settings.api, table, outbox, bot.identities)

    def reload() -> None:
        receiver.use(read_api(settings, again=True))

    return FeatureWork(receiver=receiver, reload=reload)


def _warn_if_wanted(settings: Settings) -> None:
    if read_api(settings, again=True):
        _log.warning(
            "the first keys and webhooks of %s need a port: they count after a restart", settings.slack.config
        )


FEATURE = Feature("api", start, check=SettingsCheck(check, ()))
