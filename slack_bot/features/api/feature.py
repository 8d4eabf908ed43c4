"""The HTTP API: off without `[keys.NAME]` and `[hooks.NAME]` in the file."""

from __future__ import annotations

from ...settings.config_file import read_api
from ..feature import BotParts, Feature, FeatureWork, SettingsCheck
from .check import check
from .outbox import Outbox
from .receiver import ApiReceiver


def start(bot: BotParts) -> FeatureWork:
    """Receive requests, if there are keys or webhooks. Raises SettingsError."""
    common, authorize = bot.common, bot.authorize
    table = read_api(common.settings)
    if not table:
        return FeatureWork()

    async def team() -> str:
        return (await authorize()).team_id or ""

    outbox = Outbox(common.store, bot.hourly, common.clock)
    return FeatureWork(receiver=ApiReceiver(common.settings.api, table, outbox, team))


FEATURE = Feature("api", start, check=SettingsCheck(check, ()))
