"""Looks for reactions that asked while the bot was away, and that Slack no longer delivers.

Slack keeps no time of a reaction: it comes with its message. So the recent messages are read, outside of
threads, of the channels that have settings of their own; each reaction that asks is asked unless it was asked
before, which the store knows. Nothing else is looked for: of a button's reaction nobody knows whether it was
done.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeAlias

from ...inbound.read import BotIdentity, Reaction, read_reaction
from ...settings.channels import ChannelPolicies
from ...settings.reactions import ReactionUse
from ...slack.history import History
from ...turn.json_values import Object, list_of, objects_of, text_in
from ...turn.record import ThreadKey

_log = logging.getLogger(__name__)

AskLate: TypeAlias = Callable[[Reaction, Object, BotIdentity], Awaitable[bool]]
"""Asks what a reaction to a message asks. False: it is not asked, or was before. Raises BotError."""

_MOST_CHANNELS, _MOST_ASKED = 20, 20


class MissedReactions:
    """Reads the channels in which a reaction may ask."""

    def __init__(self, ask: AskLate, policies: ChannelPolicies, history_of: Callable[[str], History]) -> None:
        self._ask, self._policies, self._history_of = ask, policies, history_of

    async def look(self, me: BotIdentity, since: float, until: float) -> None:
        """Ask what was not asked. Times are seconds since 1970. Raises BotError."""
        team = me.ours.team
        channels = [each for each in self._policies.channels if self._has_asks(each, team)]
        if not channels:
            return
        history = self._history_of(team)
        taken = read = 0
        for channel in channels:
            if read == _MOST_CHANNELS:
                break
            messages = await history.read(ThreadKey(team, channel, ""), since, until)
            if messages is None:  # or it is a channel of another workspace
                continue
            read += 1
            for message in sorted(messages, key=lambda each: text_in(each, "ts")):
                for reaction in self._asking(channel, message, me):
                    if taken < _MOST_ASKED and await self._ask(reaction, message, me):
                        taken += 1
        _log.info(
            "reactions that asked while the bot was away: %d; channels read: %d, not looked at: %d",
            *(taken, read, len(channels) - read),
        )

    def _has_asks(self, channel: str, team: str) -> bool:
        return any(use is ReactionUse.ASK for _, use in self._policies.of(channel, team).reactions)

    def _asking(self, channel: str, message: Object, me: BotIdentity) -> Iterator[Reaction]:
        policy = self._policies.of(channel, me.ours.team)
        for each in objects_of(message.get("reactions")):
            if policy.use_of(text_in(each, "name")) is not ReactionUse.ASK:
                continue
            for user in list_of(each.get("users")):
                event = {
                    "type": "reaction_added",
                    "user": user,
                    "reaction": text_in(each, "name"),
                    "item": {"type": "message", "channel": channel, "ts": text_in(message, "ts")},
                }
                reaction = read_reaction({"team_id": me.ours.team, "event": event}, me)
                if reaction is not None:
                    yield reaction
