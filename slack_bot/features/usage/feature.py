"""What answers use: counted, shown below them, and kept within limits. Off as long as no setting wants it."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from ...agents.agents import Agents
from ...errors import SettingsError
from ...observe.findings import Diagnosis, ok, unknown
from ...settings.channels import ChannelPolicies
from ...settings.config_file import read_agents
from ...settings.load import Settings
from ...settings.usage import UsageSettings
from ...threads.ports import CommonParts, ThreadPorts, UsageMeters
from ...turn.record import Question
from ...turn.usage import UsageMeter
from ..feature import BotParts, Feature, FeatureWork, SettingsCheck
from .limits import DayLimits, limits_of
from .meter import Prices, TurnMeter
from .records import DAY_USAGE


class Meters(UsageMeters):
    """Gives a meter to each turn whose use is shown or limited."""

    def __init__(self, settings: UsageSettings, policies: ChannelPolicies, agents: Agents) -> None:
        self._settings, self._policies, self._agents = settings, policies, agents

    def of_turn(self, question: Question, agent: str) -> UsageMeter | None:
        """None: nothing of this turn is counted."""
        shows = self._policies.of(question.thread.channel, question.thread.team).footer
        if shows == "none" and not self._settings.has_limits:
            return None
        entry = self._agents.settings.entries.get(agent)
        prices = (None, None) if entry is None else (entry.input_price, entry.output_price)
        prices_of_agent = Prices(*prices, self._settings.currency)
        return TurnMeter(prices_of_agent, shows, is_limited=self._settings.has_limits)


def serve_threads(common: CommonParts, ports: ThreadPorts) -> ThreadPorts:
    """Count what turns use."""
    return replace(ports, usage=Meters(common.settings.usage, common.policies, common.agents))


def start(bot: BotParts) -> FeatureWork:
    """Keep people and channels within the limits, if there are some."""
    common, settings = bot.common, bot.common.settings.usage
    if not settings.has_limits:
        return FeatureWork()
    limits = DayLimits(
        settings, common.store, common.clock, common.notices, common.background,
        common.workspaces.total_of,
    )  # fmt: skip
    bot.hourly.add(limits)
    bot.home_sections.append(limits.section)
    return FeatureWork(observe=limits.observe)


async def check(settings: Settings) -> AsyncIterator[Diagnosis]:
    """What the limits count."""
    if not settings.usage.has_limits:
        return
    limits = limits_of(settings.usage)
    said = ", ".join(f"{each.kind} {each.amount(settings.usage.currency)}" for each in limits)
    yield ok("usage", f"in a day: {said}")
    if not any(each.is_money for each in limits):
        return
    try:
        entries = read_agents(settings).entries
    except SettingsError:
        return  # the check of the file says why
    no_price = [name for name, each in entries.items() if None in (each.input_price, each.output_price)]
    if no_price:
        text = f"what the answers of {_joined(no_price)} cost counts only if the agent itself reports money"
        remedy = "set input_price and output_price of the agent, for a million tokens"
        yield unknown("usage", text, remedy)


def _joined(names: Sequence[str]) -> str:
    """`a`, `a and b`, or `a, b and c`."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


FEATURE = Feature("usage", start, serve_threads, check=SettingsCheck(check, ()), collections=(DAY_USAGE,))
