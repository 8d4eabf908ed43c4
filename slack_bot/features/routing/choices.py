"""Lets the asker of a question choose its agent, by buttons in the thread.

The question waits in the store, so the message with the buttons is posted though its process ends, and a
press counts in any process. Accepting the question is what makes a press count once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ...slack.blocks import Block, plain, shorten
from ...slack.faults import CallOk
from ...slack.form_messages import write_record
from ...slack.reconcile import SKEW
from ...slack.surfaces import PostSurface
from ...slack.visibility import shown_to
from ...store.collection import Collection, KeptPerson, Key
from ...text.words import CHOICE_IS_MADE, WHICH_AGENT
from ...threads.looks import shown_name
from ...threads.ports import CommonParts
from ...turn.buttons import TurnButton
from ...turn.progress import MessageRecord
from ...turn.record import Question
from ..due_posts import DuePosts, KeptPost

_MOST = 5  # agents among which a person chooses
_LABEL = 75  # Slack: characters of a button
_POSTED = "post"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenChoice(KeptPost):
    """A question whose asker is to choose one of `agents`."""

    question: Question
    agents: tuple[str, ...]


AGENT_CHOICES = Collection(
    "agent_choices",
    OpenChoice,
    age=lambda ages: ages.forms,
    since=lambda choice: choice.at,
    thread=lambda _, choice: choice.question.thread,
    people=lambda _, choice: [KeptPerson(choice.question.user, choice.question.thread.team)],
    due=lambda choice: choice.due,
    label="questions that wait for a choice of their agent",
)
"""By the key of the question."""


class AgentChoices:
    """Keeps the questions that wait for a choice, and posts the buttons."""

    def __init__(self, common: CommonParts) -> None:
        self._agents, self._notices = common.agents, common.notices
        self._wall, self._spawn = common.clock.wall, common.background.spawn
        self._posts = DuePosts(common.store, AGENT_CHOICES, common.clock.wall)
        self._interval = common.settings.store.outbound_interval

    async def offer(self, question: Question, near: Sequence[str]) -> None:
        """Let the asker choose. The same question is offered once. Raises StoreError."""
        choice = OpenChoice(at=self._wall(), question=question, agents=tuple(near[:_MOST]))
        if await self._posts.add(_key(choice), choice):
            posting = self._posts.make(_key(choice), self._post(choice, is_again=False))
            self._spawn(posting, question.key)

    async def find(self, key: str) -> OpenChoice | None:
        """The choice for the question with this key. Raises StoreError."""
        return await self._posts.find((key,))

    async def reword(self, key: str, text: str | None) -> bool:
        """The message of the question says `text` now; None: it is deleted. False: no such question waits.

        Raises StoreError.
        """
        if await self.find(key) is None:
            return False
        if text is None:
            await self._posts.remove((key,))
        else:
            said = text
            await self._posts.change(
                (key,), lambda known: replace(known, question=replace(known.question, text=said))
            )
        return True

    async def close(self, choice: OpenChoice, agent: str) -> None:
        """The question is asked: the buttons go, and the message names the agent."""
        await self._posts.remove(_key(choice))
        if choice.ts:
            writer = self._notices.writer(choice.question)
            words = CHOICE_IS_MADE.format(shown_name(self._agents, agent))
            shown = MessageRecord(choice.ts, _POSTED, body=words)
            await writer.carry_out(write_record(writer.calls, shown, ()))

    async def run(self) -> None:
        """Post what a process that ended did not. Never returns."""
        await self._posts.run(_key, lambda choice: self._post(choice, is_again=True), self._interval)

    async def _post(self, choice: OpenChoice, *, is_again: bool) -> None:
        writer = self._notices.writer(choice.question)
        names = {name: shown_name(self._agents, name) for name in choice.agents}
        buttons = shown_to([_buttons(choice, names)], [choice.question.user])
        posting = PostSurface(writer.calls, since=choice.at - SKEW).post(
            "", (), (_section(WHICH_AGENT), *buttons), "choice", says=WHICH_AGENT, is_again=is_again
        )
        result = await writer.carry_out(posting)
        await self._posts.note(_key(choice), result.ts if isinstance(result, CallOk) else "")


def _key(choice: OpenChoice) -> Key:
    return (choice.question.key,)


def _section(text: str) -> Block:
    return {"type": "section", "text": plain(text)}


def _buttons(choice: OpenChoice, labels: Mapping[str, str]) -> Block:
    elements = [
        {
            "type": "button",
            "text": plain(shorten(label, _LABEL)),
            "action_id": f"{TurnButton.CHOOSE_AGENT}-{number}",
            "value": f"{name}|{choice.question.key}",
        }
        for number, (name, label) in enumerate(labels.items())
    ]
    return {"type": "actions", "elements": elements}
