"""The Home tab: which agent answers here, how to ask, and the open questions of the person who looks."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ...agents.agents import Agents
from ...errors import AgentError
from ...settings.models import SlackSettings
from ...slack.blocks import Args
from ...slack.faults import CallFailed, CallResult, Fault
from ...slack.home import ShownAgent, ShownTurn, home_view, prompts
from ...slack.look import may_show
from ...slack.methods import Priority
from ...slack.workspaces import Workspaces
from ...store.contracts import Store
from ...store.knowledge import open_forms_of
from ...store.sign_ins import SIGNED_IN
from ...text.home_words import (
    HOME_ASKED,
    HOME_ASKED_FOR,
    HOME_AWAY,
    HOME_FOR_ALL,
    HOME_FOR_YOU,
    HOME_NOT_FOR_YOU,
    HOME_REACHABLE,
    HOME_RUNS,
    HOME_SIGN_IN,
    HOME_UNTITLED_FORM,
    HOME_WAITS,
    HOME_WATCHED,
)
from ...threads.looks import shown_name
from ...threads.ports import AgentRouting, ListedAgent, PersonalSignIn
from ...turn.open_form import OpenForm
from ...turn.progress import Stage, TurnRecord
from ...turn.record import Introduction, Question, ThreadKey
from ..feature import HomeSection

_MOST_FORMS = 20  # rows, as the tab shows


class Home:
    """Shows the tab. A refusal by Slack is only logged: an app may have no Home tab, and no prompts."""

    def __init__(
        self,
        agents: Agents,
        store: Store,
        workspaces: Workspaces,
        settings: SlackSettings,
        routing: AgentRouting,
        sign_in: PersonalSignIn,
        sections: Sequence[HomeSection] = (),
    ) -> None:
        self._sections, self._sign_in = sections, sign_in
        self._agent, self._store, self._settings = agents.default, store, settings
        self._workspaces = workspaces
        self._agents = agents
        entries, self._routing = agents.settings.entries, routing
        self._with_sign_in = [name for name, each in entries.items() if each.identity == "oauth"]
        self._refused_icons = set[str]()  # pictures with which Slack does not take the tab

    async def show(self, user: str, team: str, workspace: str) -> None:
        """Write the Home tab of `user`. `workspace`: the address of the workspace. Raises StoreError."""
        open_forms = await open_forms_of(self._store, user, team)
        open_forms = open_forms[-_MOST_FORMS:]
        questions = {form.turn: await self._words_of(form.turn) for form in open_forms}
        forms = shown_forms(open_forms, questions, workspace)
        waits = {form.turn: HOME_ASKED for form in open_forms}
        for key, host in (await self._sign_in.awaited(user, team)).items():
            waits[key] = HOME_SIGN_IN.format(host)
        turns = [*forms, *shown_turns(await self._store.unfinished(), user, team, workspace, waits)]
        signed_in = await self._signed_in(user, team)
        agents = [_shown_agent(each) for each in await self._routing.listed(user, team)]
        if not agents:
            agents = [ShownAgent("", await self._introduction())]
        more = [block for section in self._sections for block in await section(user, team)]
        result = await self._publish(
            team, user, home_view(self._with_pictures(agents), turns, signed_in, more)
        )
        is_refused = isinstance(result, CallFailed) and result.fault is Fault.WRONG_CALL
        icons = {each.says.icon for each in agents if each.says is not None} - self._refused_icons
        if is_refused and any(map(may_show, icons)):  # Slack could not fetch a picture
            self._refused_icons |= icons
            await self._publish(team, user, home_view(self._with_pictures(agents), turns, signed_in, more))

    async def _words_of(self, key: str) -> str:
        """What was asked; "" where the turn is not kept any more. Raises StoreError."""
        turn = await self._store.turn(key)
        return "" if turn is None else _first_words(turn.question)

    def _with_pictures(self, agents: Sequence[ShownAgent]) -> list[ShownAgent]:
        """Without those that Slack refused."""
        return [
            replace(each, says=replace(each.says, icon=""))
            if each.says is not None and each.says.icon in self._refused_icons
            else each
            for each in agents
        ]

    async def _signed_in(self, user: str, team: str) -> list[tuple[str, str]]:
        """The agents that act with the rights of `user`, and where the person signed in."""
        found = list[tuple[str, str]]()
        for name in self._with_sign_in:
            if (record := await self._store.get(SIGNED_IN, (team, user, name))) is not None:
                found.append((shown_name(self._agents, name), record.host))
        return found

    async def _publish(self, team: str, user: str, view: Args) -> CallResult:
        return await self._call(team, "views.publish", {"user_id": user, "view": view})

    async def suggest(self, team: str, channel: str, thread_ts: str = "") -> None:
        """Set the suggested prompts of a direct message with the bot, or of one thread in it."""
        agent = await self._introduction()
        if suggestions := prompts(self._settings.suggested_prompts, agent.skills if agent else ()):
            place = {"channel_id": channel} | ({"thread_ts": thread_ts} if thread_ts else {})
            await self._call(team, "assistant.threads.setSuggestedPrompts", {**place, "prompts": suggestions})

    async def _introduction(self) -> Introduction | None:
        try:
            return await self._agent.introduction()
        except AgentError:
            return None

    async def _call(self, team: str, method: str, args: dict[str, object]) -> CallResult:
        api = self._workspaces.of(team).api.for_turn("", priority=Priority.BACKGROUND)
        return await api.call(method, args, patience=0.0)


def _shown_agent(listed: ListedAgent) -> ShownAgent:
    """One of several. It has its own name where its card was never read."""
    says = replace(listed.introduction, name=listed.shown)
    who = HOME_FOR_ALL
    if listed.is_for_some:
        who = HOME_FOR_YOU if listed.may_ask else HOME_NOT_FOR_YOU
    reached = HOME_REACHABLE if listed.is_reachable else HOME_AWAY
    return ShownAgent(listed.name, says, " · ".join([who, reached]), listed.may_ask, listed.is_chosen)


def shown_forms(
    forms: Iterable[OpenForm], questions: Mapping[str, str], workspace: str
) -> Iterator[ShownTurn]:
    """The rows for forms that wait for the person who looks, the newest first: what they asked, and below it
    what the agent asks. `questions`: the words of the person, by the key of the turn.
    """
    for form in sorted(forms, key=lambda each: each.opened_at, reverse=True):
        thread, agent_form = form.thread, form.form
        ts = form.message.ts if form.message is not None and form.message.ts else thread.ts
        asked = " ".join((agent_form.title or agent_form.prompt).split())
        words = questions.get(form.turn, "")
        state = HOME_ASKED_FOR.format(asked) if words and asked else HOME_ASKED
        text = words or asked or HOME_UNTITLED_FORM
        link = Question(thread, ts, form.user, form.user_team, text).permalink(workspace)
        yield ShownTurn("", text, thread.channel, state, link)


def shown_turns(
    unfinished: list[TurnRecord],
    user: str,
    team: str,
    workspace: str,
    waits: Mapping[str, str],
) -> Iterator[ShownTurn]:
    """The rows for a person's unfinished questions, the newest first.

    The first turn of a thread is running. `waits`: what those wait for that wait for the person, by key.
    """
    before: Counter[ThreadKey] = Counter()
    rows: list[ShownTurn] = []
    for turn in unfinished:
        question = turn.question
        thread = question.thread
        is_first = not before[thread]
        line = waits.get(turn.key, HOME_RUNS) if is_first else HOME_WAITS.format(before[thread])
        state = HOME_WATCHED if turn.stage is Stage.WATCHED else line
        before[thread] += turn.stage is not Stage.WATCHED
        if (question.user, thread.team) == (user, team):
            link = question.permalink(workspace)
            rows.append(ShownTurn(turn.key, _first_words(question), thread.channel, state, link))
    return reversed(rows)


def _first_words(question: Question) -> str:
    """Its first paragraph. Below it a question for another agent has what was answered before."""
    return question.title.partition("\n\n")[0]
