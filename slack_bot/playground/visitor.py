"""What a visitor of the page can do: write as one of the people, press a button, stop, replay a file.

An order becomes an action of a person in the emulated workspace, and reaches the bot as Slack delivers it.
"""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ..clock import Clock
from ..errors import SettingsError, UnreadableInput
from ..observe.facts import Fact
from ..slack.rate_limiter.local import RateLimiter
from ..testing.slack.faults import METHODS as FAULT_METHODS
from ..testing.slack.workspace import Workspace
from ..testing.tape.tape import SeveralStreams, read_tape, write_tape
from ..tools.replay.scenario import Scenario, as_captured, make_scenario
from ..turn.buttons import TurnButton
from ..turn.record import message_id_of
from .feed import Feed, PageUpdate
from .others.accounts import email_of
from .page_orders import PageOrders, RefusedOrder
from .recorder import ReplayRouter
from .replays import REPLAYER, REPLAYING_BOT, PlannedReplay, Replays

PARTNER = "U0RIVER"  # of another organisation
PEOPLE = {"U0MAYA": "Maya", "U0JONAS": "Jonas", "U0PRIYA": "Priya", PARTNER: "River (partner)"}
CHANNEL = "C0GENERAL"
CHANNELS = {CHANNEL: "general", "C0INCIDENTS": "incidents"}
GROUP = "S0OPS"
"""A user group: Maya and Priya."""
SUGGESTIONS = (
    "What is this bot?",
    "How does streaming work?",
    "Plan a release",
    "Restart the search service",
    "Show me a chart",
    "Write a long answer",
    "Fail on purpose",
    "What does it cost?",
    "What is AGNTCY?",
    "Connect my calendar",
    "Deploy the bot",
    "Show me a table",
    "Show me a file",
    "Tell me a joke",
)
"""Questions that can be asked with one click, the most telling ones first. Each is posted as it reads."""
_FIRST = 8  # of them stand before those for other agents
_LONGEST_FILE_NAME = 40


class Visitor:
    """The people and places of the playground. `feed` sends the pages what happens.

    `agent`: the address, without secrets, of an agent that is not the playground's own; it gets no
        suggestions. `asked`: questions for other agents, and whether each is one for a direct message.
    `rate_limiter` is for the bots of the replays. `planned` begins with the first page. Without
    `has_bot` a bot from somewhere else answers, and there are no suggestions either.
    """

    def __init__(
        self,
        workspace: Workspace,
        router: ReplayRouter,
        clock: Clock,
        agent: str | None = None,
        rate_limiter: RateLimiter | None = None,
        *,
        asked: Mapping[str, bool] = MappingProxyType({}),
        has_bot: bool = True,
    ) -> None:
        for user, name in PEOPLE.items():
            team = "T0PARTNER" if user == PARTNER else None
            workspace.add_user(user, name, team=team, email=email_of(name))
        workspace.add_user(REPLAYER, "Replay")
        workspace.add_user(REPLAYING_BOT, "Replay", is_bot=True)
        for channel, name in CHANNELS.items():
            # all of them are members, or what is for one of them alone could not be shown
            workspace.add_channel(channel, name).members.update([*PEOPLE, REPLAYER])
        workspace.add_group(GROUP, "U0MAYA", "U0PRIYA")
        for user in PEOPLE:
            workspace.direct(user)
        self.replays = Replays(workspace, clock, CHANNEL, router.recorder, self.on_fact, rate_limiter)
        questions = (*SUGGESTIONS[:_FIRST], *asked, *SUGGESTIONS[_FIRST:])
        suggestions = questions if agent is None and has_bot else ()
        self.feed = Feed(
            workspace,
            now=clock.monotonic,
            virtual=[REPLAYER],
            suggestions=[(text, text) for text in suggestions],
            direct=[text for text, is_direct in asked.items() if is_direct],
            agent=agent,
            has_bot=has_bot,
        )
        self._workspace, self.router = workspace, router
        self._orders = PageOrders(workspace, self.feed, clock, self._meet)
        self._faults, self._is_away = Scenario(), False
        router.on_ask = self.feed.asked
        self.planned: list[PlannedReplay] = []

    def on_fact(self, fact: Fact) -> None:
        self.feed(fact)
        self.replays(fact)

    def welcome(self) -> list[PageUpdate]:
        """Begin the planned replays. The updates are for the page that was opened."""
        planned, self.planned = self.planned, []
        return [self._play(each) for each in planned]

    def set_faults(self, around: Scenario, *, away: bool = False) -> None:
        """What goes wrong from the next question on: the scenario's `slack_faults` and `cut_after`.

        `away`: the agent is not there, until somebody presses "Try again".
        """
        self._is_away = away
        self._faults = Scenario(slack_faults=around.slack_faults, cut_after=around.cut_after)
        faults = {method: list(entries) for method, entries in around.slack_faults.items()}
        self.feed.set_faults({"slack_faults": faults, "cut_after": around.cut_after, "away": away})

    async def take(self, order: Mapping[str, Any]) -> PageUpdate | None:
        """Carry out an order: what `PageOrders` knows, `replay`, `faults` or `export`.

        The update is for the page that gave it.
        """
        try:
            return self._do(order)
        except (RefusedOrder, UnreadableInput, SettingsError) as refused:
            return {"type": "refused", "text": str(refused)}
        except LookupError:
            return {"type": "refused", "text": "That is not there any more."}

    def _do(self, order: Mapping[str, Any]) -> PageUpdate | None:
        if order.get("user") not in (None, *PEOPLE):
            raise RefusedOrder("Nobody here has that name.")
        if self._orders.knows(order):
            return self._orders.do(order)
        match order:
            case {"type": "replay", "name": str(name), "text": str(text), "speed": int() | float() as speed}:
                return self._replay(name, text, float(speed), order.get("key"))
            case {"type": "faults", "slack_faults": dict(faults)}:
                given = {"slack_faults": faults, "cut_after": order.get("cut_after")}
                self.set_faults(make_scenario(given, "faults"), away=bool(order.get("away")))
            case {"type": "export", "turn": str(turn)}:
                return self._export(turn)
            case _:
                raise RefusedOrder("The page asked for something that the playground does not know.")
        return None

    def _replay(self, name: str, text: str, speed: float, key: object) -> PageUpdate:
        name = " ".join(name.replace("`", "'").split())[:80] or "file"
        chosen = key if isinstance(key, str) else None
        try:
            capture = read_tape(text, name, chosen)
        except SeveralStreams as several:
            return {"type": "choose", "name": name, "keys": several.keys}
        return self._play(PlannedReplay(name, capture, speed, chosen))

    def _play(self, planned: PlannedReplay) -> PageUpdate:
        around = as_captured(planned.around or self._faults, planned.capture)
        ts = self.replays.begin(planned, around)
        self._arm(around)
        return {"type": "said", "channel": CHANNEL, "ts": ts, "thread_ts": None}

    def _meet(self, order: Mapping[str, Any]) -> None:
        """Before a question of a person, or a press that may ask again."""
        is_new = order["type"] == "say"
        if is_new or order["action_id"] == TurnButton.RETRY:
            self._arm()
            self.router.away = is_new and (self._is_away or bool(order.get("away")))

    def _arm(self, around: Scenario | None = None) -> None:
        """The next question meets the faults from the beginning of their script."""
        met = around or self._faults
        for method in FAULT_METHODS:
            self._workspace.faults.set(method, met.slack_faults.get(method, ()))
        self.router.cut_after = self._faults.cut_after

    def _export(self, turn: str) -> PageUpdate:
        facts = self.feed.facts_of(turn)
        if not facts or facts[-1]["kind"] != "closed":
            raise RefusedOrder("This turn is not over yet; its tape can be had when it is.")
        recorder, message = self.router.recorder, message_id_of(turn)
        began = recorder.began(message)
        replayed = self.replays.around(facts[0]["thread_ts"])
        head = head_of(facts, facts[0]["at"] if began is None else began, replayed)
        tape = recorder.tape(message, head)
        if tape is None:
            raise RefusedOrder("Nothing was heard of the agent in this turn, so there is no tape of it.")
        return {"type": "tape", "name": f"{file_name(head['question'])}.jsonl", "text": write_tape(tape)}


def head_of(
    facts: Sequence[Mapping[str, Any]], began: float, replayed: Scenario | None = None
) -> dict[str, Any]:
    """A tape's head, from the turn's facts as the page has them.

    Its scenario is what a replay needs besides the events. `began` is second 0 of the tape, on the clock of
    the facts. `replayed`: the scenario of a turn that was a replay itself.
    """
    opened, scenario = facts[0], dict[str, Any]()
    if faults := opened.get("slack_faults") if replayed is None else replayed.slack_faults:
        scenario["slack_faults"] = {method: list(entries) for method, entries in faults.items()}
    if replayed is not None and replayed.settings:
        scenario["settings"] = dict(replayed.settings)
    decisions = (fact for fact in facts if fact["kind"] == "decision")
    stopped = next((fact["at"] for fact in decisions if fact["event"]["name"] == "StopRequested"), None)
    if stopped is not None:
        scenario["stop_at"] = max(0.0, round(stopped - began, 4))
    return {"question": opened["text"], "agent": "playground", **({"scenario": scenario} if scenario else {})}


def file_name(question: str) -> str:
    """A name for a tape, from what was asked."""
    words = re.sub(r"[^\w]+", "-", question.lower()).strip("-_")
    return words[:_LONGEST_FILE_NAME].strip("-_") or "answer"
