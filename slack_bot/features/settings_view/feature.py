"""On the Home tab of operators: which settings count in a channel, and where they are from."""

import asyncio
from collections.abc import Iterator, Sequence
from functools import partial

from ...inbound.access import Operators
from ...inbound.buttons import Afterwards, Button, PressReply
from ...inbound.read import Press
from ...settings.channels import ChannelPolicies
from ...slack.blocks import Block
from ...slack.workspaces import Workspaces
from ...threads.notices import Notices
from ...turn.buttons import TurnButton
from ..feature import BotParts, Feature, FeatureWork
from .view import channel_of, settings_section, settings_view

_FAILURE = "the settings of a channel were not shown: %s"


class SettingsView:
    """The section of the tab, and the modal."""

    def __init__(
        self, operators: Operators, policies: ChannelPolicies, workspaces: Workspaces, notices: Notices
    ) -> None:
        self._operators, self._policies = operators, policies
        self._workspaces, self._notices = workspaces, notices

    async def section(self, user: str, team: str) -> Sequence[Block]:
        """For the Home tab of an operator; empty for others. Where there are several workspaces, those of its
        own channels: the others are not found in it.
        """
        if not await self._operators.has(user, team):
            return ()
        channels = self._policies.channels
        found = await asyncio.gather(*map(self._workspaces.people(team).channel, channels))
        if self._workspaces.are_several:
            known = [
                (channel, each) for channel, each in zip(channels, found, strict=True) if each is not None
            ]
            channels, found = [channel for channel, _ in known], [each for _, each in known]
        names = {
            channel: name
            for channel, each in zip(channels, found, strict=True)
            if each is not None and isinstance(name := each.get("name"), str)
        }
        return settings_section(channels, names)

    def buttons(self) -> Iterator[Button]:
        yield Button(
            TurnButton.SETTINGS_OF,
            self.press,
            failure=_FAILURE,
            opens_modal=True,
            is_own=True,
        )

    async def press(self, press: Press) -> PressReply:
        """Open the modal for the chosen channel; nothing for a person who is no operator any more."""
        if not await self._operators.has(press.user, press.workspace):
            return PressReply()
        view = settings_view(press.value, self._policies.effective(channel_of(press.value), press.workspace))
        opening = partial(self._notices.open_view, press.workspace, press.turn, press.trigger, view)
        return PressReply(afterwards=Afterwards(opening, failure=_FAILURE))


def start(bot: BotParts) -> FeatureWork:
    """Show settings to operators, where there are some."""
    operators, common = bot.operators, bot.common
    if not operators.are_set:
        return FeatureWork()
    view = SettingsView(operators, common.policies, common.workspaces, common.notices)
    bot.home_sections.append(view.section)
    return FeatureWork(tuple(view.buttons()))


FEATURE = Feature("settings_view", start)
