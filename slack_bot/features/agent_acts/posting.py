"""Posts what an agent wrote into another channel, once, with a link to the question that led to it.

Who can read that channel is asked of Slack at each post: it may have been shared meanwhile. In the thread of
the question a line leads to the post.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from enum import Enum

from ...slack.blocks import NOTICE
from ...slack.faults import CallOk
from ...slack.methods import Priority
from ...slack.reconcile import SKEW
from ...slack.surfaces import PostSurface
from ...text.feature_words import (
    PLACE_UNKNOWN,
    POST_FOR_BOT,
    POST_IS_PERSONAL,
    POST_NOT_LISTED,
    POST_WITHOUT_CAUSE,
    POSTED,
    POSTED_BY,
    POSTED_BY_AGENT,
    SLACK_REFUSES_ACT,
)
from ...threads.looks import shown_name
from ...threads.ports import CommonParts
from ...turn.json_values import object_of, text_in
from ...turn.progress import Stage, TurnRecord
from ...turn.record import Question, QuestionOrigin, ThreadKey, is_direct
from .places import Channel, why_not_there
from .records import KeptAct

_POST = "post"
_BY_OPERATORS = (QuestionOrigin.SCHEDULE, QuestionOrigin.REQUEST)
_FALLBACK_URL = "https://slack.com/"

Note = Callable[[KeptAct], Awaitable[None]]
"""Keeps an act as it is now. Raises StoreError."""


class Later(Enum):
    """Slack, or the turn, does not say yet."""

    LATER = "later"


@dataclass(frozen=True, slots=True)
class _Seen:
    """A channel as Slack describes it; or why it does not."""

    channel: Channel | None
    error: str = ""


class ChannelPosts:
    """Carries out the posts of agents."""

    def __init__(self, common: CommonParts) -> None:
        self._workspaces, self._notices = common.workspaces, common.notices
        self._store = common.store
        self._policies, self._agents = common.policies, common.agents

    async def make(self, act: KeptAct, note: Note, *, is_again: bool) -> str | Later:
        """Post it, and say so in the thread. Returns why not; "": both are there.

        `is_again`: another process, or an earlier attempt, may have done it. Raises BotError.
        """
        turn = await self._store.turn(act.turn)
        if turn is None:
            return POST_WITHOUT_CAUSE
        if not turn.question.shown_in:  # its thread begins with the answer
            return POST_WITHOUT_CAUSE if turn.stage in (Stage.ENDED, Stage.WATCHED) else Later.LATER
        own = await self._workspaces.of(act.thread.team).api.identity()
        url = text_in(own, "url") or _FALLBACK_URL
        if not act.posted:
            result = await self._post(act, turn, url, is_again=is_again)
            if not isinstance(result, KeptAct):
                return result
            act = result
            await note(act)
        return await self._tell(act, turn.question, url, is_again=is_again)

    async def _post(
        self, act: KeptAct, turn: TurnRecord, url: str, *, is_again: bool
    ) -> KeptAct | str | Later:
        if (reason := await self._why_not(act, turn)) != "":
            return reason
        agents = self._agents
        name = shown_name(agents, act.agent) if agents.are_several else POSTED_BY_AGENT
        text = f"{POSTED_BY.format(name, turn.question.permalink(url))}\n\n{act.text}"
        place = ThreadKey(act.thread.team, act.channel, "")
        result = await self._write(place, act, text, _POST, is_again=is_again)
        return replace(act, posted=result) if not isinstance(result, _Refused) else result.reason

    async def _tell(self, act: KeptAct, question: Question, url: str, *, is_again: bool) -> str | Later:
        place = ThreadKey(act.thread.team, act.channel, act.posted)
        link = Question(place, act.posted, "", act.thread.team, "").permalink(url)
        words = POSTED.format(link, act.channel)
        thread = question.thread_in_slack
        result = await self._write(thread, act, words, NOTICE, is_again=is_again)
        # the post is there: what is wrong with the line cannot change that
        return Later.LATER if isinstance(result, _Refused) and result.reason is Later.LATER else ""

    async def _write(
        self, place: ThreadKey, act: KeptAct, text: str, kind: str, *, is_again: bool
    ) -> str | _Refused:
        """Returns the `ts` of the message."""
        about = Question(place, f"{act.digest} {kind}", "", place.team, "", asker_is_bot=True)
        writer = self._notices.writer(about, priority=Priority.BACKGROUND)
        posts = PostSurface(writer.calls, since=act.at - SKEW)
        body, says = ("", text) if kind == NOTICE else (text, "")
        result = await writer.carry_out(posts.post(body, (), (), kind, says=says, is_again=is_again))
        if isinstance(result, CallOk):
            return result.ts
        return _Refused(SLACK_REFUSES_ACT.format(result.error) if result.is_final else Later.LATER)

    async def _why_not(self, act: KeptAct, turn: TurnRecord) -> str | Later:
        policy = self._policies.of(act.thread.channel, act.thread.team)
        if act.channel not in policy.post_places:
            return POST_NOT_LISTED.format(f"<#{act.channel}>")
        if turn.question.asker_is_bot and turn.question.origin not in _BY_OPERATORS:
            return POST_FOR_BOT
        agent = self._agents.get(act.agent)
        if agent is None or agent.settings.is_personal:
            return POST_IS_PERSONAL
        target = await self._look(act, act.channel)
        source: _Seen | Later = _Seen(None)
        may_reveal = act.channel in policy.post_to_public
        if not (may_reveal or is_direct(act.thread.channel)):
            source = await self._look(act, act.thread.channel)
        if isinstance(target, Later) or isinstance(source, Later):
            return Later.LATER
        if target.channel is None:
            return PLACE_UNKNOWN.format(f"<#{act.channel}>", target.error)
        return why_not_there(source.channel, target.channel, act.channel, may_reveal=may_reveal)

    async def _look(self, act: KeptAct, channel: str) -> _Seen | Later:
        installed = self._workspaces.of(act.thread.team).api
        api = installed.for_turn(act.turn, act.thread.ts, Priority.BACKGROUND)
        result = await api.call("conversations.info", {"channel": channel})
        if isinstance(result, CallOk):
            return _Seen(object_of(result.data.get("channel")))
        return _Seen(None, result.error) if result.is_final else Later.LATER


@dataclass(frozen=True, slots=True)
class _Refused:
    """A message that is not there."""

    reason: str | Later
