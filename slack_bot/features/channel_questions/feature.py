"""Which new messages of a channel are questions without a mention of the bot, and what is asked then."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...errors import BotError
from ...slack.thread_messages import thread_message
from ...store.quoted import change_quoted
from ...text.mrkdwn import to_text
from ...threads.ports import ChannelQuestions, ChannelVerdict, CommonParts, ThreadPorts
from ...turn.json_values import text_in
from ...turn.people import Organisation
from ...turn.quotes import ThreadMessage
from ...turn.record import Question, QuestionOrigin, is_direct
from ..feature import Feature
from .patterns import has_match

_GROUP = re.compile(r"<!subteam\^(S[A-Z0-9]+)(?:\|[^>]*)?>[ \t]*[,:;]?[ \t]*")
_OFF = "a message that does not mention the bot"
_NOT_NEW = "it was written while the bot was away, and mentions nobody"
_FOR_OTHERS = "it mentions others, and not the bot"
_NO_MATCH = "none of its words is in the channel's `match`"
_NO_ASK = "a bot wrote it, and the channel has no `ask`"
_NO_WORDS = "nothing of it can be read"


class OpenChannels(ChannelQuestions):
    """Decides by the settings of the channel."""

    def __init__(self, common: CommonParts) -> None:
        self._policies, self._workspaces = common.policies, common.workspaces
        self._store, self._wall = common.store, common.clock.wall
        entries = common.agents.settings.entries.items()
        self._agents = {entry.group: name for name, entry in entries if entry.group is not None}

    def mention_of_agent(self, message: Question, text: str) -> tuple[Question, str] | None:
        channel = message.thread.channel
        if (
            not self._agents
            or is_direct(channel)
            or not self._policies.of(channel, message.thread.team).reads_channel
        ):
            return None
        named = (self._agents[group] for group in _GROUP.findall(text) if group in self._agents)
        if (agent := next(named, None)) is None:
            return None
        rest = _GROUP.sub(lambda found: "" if self._agents.get(found[1]) == agent else found[0], text)
        return replace(message, text=to_text(rest)), agent

    async def judge(
        self, message: Question, event: Mapping[str, Any], *, names_others: bool, is_old: bool
    ) -> ChannelVerdict:
        policy = self._policies.of(message.thread.channel, message.thread.team)
        if not policy.reads_channel or is_old:
            return ChannelVerdict(reason=_NOT_NEW if policy.reads_channel else _OFF)
        if message.asker_is_bot:
            return await self._judge_bot(message, event)
        obstacles = {
            _FOR_OTHERS: names_others,
            _NO_WORDS: message.is_empty,
            _NO_MATCH: bool(policy.match) and not has_match(message.text, policy.match),
        }
        if (reason := next((each for each, holds in obstacles.items() if holds), None)) is not None:
            return ChannelVerdict(reason=reason)
        return ChannelVerdict(replace(message, origin=QuestionOrigin.CHANNEL, is_addressed=False))

    async def _judge_bot(self, message: Question, event: Mapping[str, Any]) -> ChannelVerdict:
        """What a bot wrote is quoted: the question is the channel's own."""
        policy = self._policies.of(message.thread.channel, message.thread.team)
        if not policy.ask:
            return ChannelVerdict(reason=_NO_ASK)
        alert = await self._quote(message, event)
        if alert is None or not (alert.text or alert.files):
            return ChannelVerdict(reason=_NO_WORDS)
        if policy.match and not has_match(to_text(alert.text), policy.match):
            return ChannelVerdict(reason=_NO_MATCH)
        question = replace(
            message, text=policy.ask, origin=QuestionOrigin.CHANNEL, is_addressed=False, quoted=message.key
        )
        return ChannelVerdict(question, quoted=(alert,))

    async def requote(self, question: Question, event: Mapping[str, Any]) -> None:
        alert = await self._quote(question, event)
        if alert is not None and (alert.text or alert.files):
            await change_quoted(self._store, question.quoted, alert, self._wall())

    async def _quote(self, message: Question, event: Mapping[str, Any]) -> ThreadMessage | None:
        try:
            own = await self._workspaces.of(message.thread.team).api.identity()
        except BotError:  # its own log line says why
            own = {}
        ours = Organisation(message.thread.team, text_in(own, "enterprise_id"))
        return thread_message(event, own, ours)


def serve_threads(common: CommonParts, ports: ThreadPorts) -> ThreadPorts:
    """Add the questions of channels to the ports of threads."""
    return replace(ports, channels=OpenChannels(common))


FEATURE = Feature("channel_questions", serve_threads=serve_threads)
