"""All that a thread has to do with, as far as its line can tell: for tests of what always holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from slack_bot.threads.commands import (
    AbandonRunning,
    Ask,
    Begin,
    BreakOff,
    CheckMessages,
    Claim,
    ClaimResult,
    Close,
    Command,
    Drop,
    Edit,
    EditElsewhere,
    End,
    EndStored,
    HumanAwaited,
    Interrupt,
    Interrupted,
    LeaseLoss,
    LetGo,
    Mark,
    MergeFailure,
    News,
    Notify,
    Order,
    PassedOn,
    PassOn,
    PushHint,
    PushOffer,
    ReadTask,
    Request,
    Respond,
    Reword,
    Save,
    StepAside,
    Stop,
    StopAnothers,
    StopFollowing,
    StopForms,
    StopRunning,
    StopTurn,
    StopWatch,
    TakeOver,
    Timer,
    TurnResult,
    Unmark,
    Unwatch,
    Watch,
    WatchFailure,
)
from slack_bot.threads.line import Rules, ThreadLine
from slack_bot.turn.progress import Stage, TurnRecord
from slack_bot.turn.record import Outcome, Question, ThreadKey

THREAD = ThreadKey("T1", "C1", "0.5")


def asked(at: float, user: str = "U1", text: str = "what?", **more: Any) -> TurnRecord:
    """A question that was written and accepted `at` seconds."""
    return TurnRecord(Question(THREAD, f"{at:.6f}", user, "T1", text, **more), at)


def begun(turn: TurnRecord, stage: Stage = Stage.SENT, **more: Any) -> TurnRecord:
    return replace(turn, stage=stage, **more)


Draw = Callable[[st.SearchStrategy[Any]], Any]
OPEN, HERE, ENDING, LEFT_OVER, DONE = "claimed", "here", "ending", "left", "over"


class ThreadWorld:
    """The store, the agent, Slack, people and other processes, as one thread meets them.

    `where` each question is: its claim is open; it is this process's; its end is being stored; another
    process or the next one has it; it is over. `edits`: the last one of each, `texts`: of those that were
    taken. `open`: what people wait for.
    """

    def __init__(self, draw: Draw, rules: Rules) -> None:
        self.draw, self.line, self.now = draw, ThreadLine(rules), 100.0
        self.turns: dict[str, TurnRecord] = {}
        self.where: dict[str, str] = {}
        self.claims: list[Claim] = []
        self.edits: dict[str, Edit] = {}
        self.texts: dict[str, str | None] = {}
        self.running: Begin | None = None
        self.is_stopped = False
        self.marks: set[str] = set()
        self.watches: set[str] = set()
        self.open: list[Request] = []
        self.passed: list[PassOn] = []
        self.finding: list[Stop] = []
        self.interrupts: list[tuple[str, Question]] = []  # with the key of the turn
        self.may_hold = self.is_lost = self.is_running_lost = self.is_closing = False

    def keys(self, *where: str) -> list[str]:
        return [key for key, each in self.where.items() if each in where]

    def pick(self, choices: Iterable[Any]) -> Any:
        return self.draw(st.sampled_from(list(choices)))

    def tell(self, command: Command) -> list[Order]:
        """All that must hold after each command is looked at here."""
        if isinstance(command, Request):
            self.open.append(command)
        orders = self.line.handle(command, self.now)
        for order in orders:
            self.carry_out(order)
        is_needed = bool(self.claims or self.keys(HERE, ENDING))
        assert self.line.is_needed == is_needed
        assert all(self.line.has(key) for key in self.keys(HERE, ENDING))
        let_go = [LetGo(ends=self.is_closing)] if self.may_hold and not is_needed else []
        assert (
            [each for each in orders if isinstance(each, LetGo)]
            == let_go
            == orders[len(orders) - len(let_go) :]
        )
        self.may_hold = self.may_hold and is_needed
        return orders

    def carry_out(self, order: Order) -> None:  # noqa: C901, PLR0912  an arm for each kind
        match order:
            case Claim():
                assert not self.is_closing
                self.claims.append(order)
                self.may_hold = True
            case Begin(turn=turn, asked=together):
                assert not (self.is_closing or self.is_lost or self.running)
                assert turn.key == together[0].key
                for each in together:
                    assert self.where[each.key] == HERE and each.key not in self.watches
                    assert each.question.text == self.texts.get(each.key, each.question.text)
                self.running, self.is_stopped = order, turn.stopped_by is not None
                self.is_running_lost = False
                self.turns[turn.key] = begun(turn)
            case StopRunning():
                self.is_stopped = True
            case CheckMessages(command=stop):
                self.finding.append(stop)
            case Interrupt(question=question):
                assert self.running is not None
                self.interrupts.append((self.running.turn.key, question))
            case PassOn():
                self.passed.append(order)
            case StopForms(command=request) | EditElsewhere(command=request) | Respond(command=request):
                self.answer(request)
                is_taken = isinstance(order, Respond) and order.value is True
                if is_taken and isinstance(request, Edit) and self.edits.get(request.key) is request:
                    self.texts[request.key] = request.text
            case Mark(question=question):
                assert question.key not in self.marks
                self.marks.add(question.key)
            case Unmark(key=key):
                self.marks.remove(key)
            case Save(turn=turn):
                self.turns[turn.key] = turn
            case End(turn=turn) | BreakOff(turn=turn) | StopAnothers(word=turn) | StopFollowing(turn=turn):
                assert self.where[turn.key] == (LEFT_OVER if self.is_closing else HERE)
                assert not self.running or turn.key not in {each.key for each in self.running.asked}
                self.where[turn.key] = ENDING
            case Watch(turn=turn):
                assert turn.key not in self.watches
                self.watches.add(turn.key)
            case Unwatch(key=key):
                self.watches.remove(key)
                if self.is_closing:
                    self.where[key] = LEFT_OVER
            case ReadTask(key=key):
                assert key in self.watches
        if isinstance(order, StopRunning | StepAside | AbandonRunning | Interrupt | Reword | CheckMessages):
            assert self.running is not None

    def answer(self, request: Request) -> None:
        """Each once. What the line tells itself is none of `open`."""
        self.open = [each for each in self.open if each is not request]

    # -- what happens, if it can

    def possible(self) -> list[Callable[[], None]]:
        """What the world may do now."""
        always = [self.ask, self.ask, self.leave, self.edit, self.stop, self.hint]
        turns = [self.stop_turn, self.stop_turn, self.stop_watch, self.drop] if self.turns else []
        found = [self.take_over] if self.keys(OPEN, LEFT_OVER) and not self.is_lost else []
        again = [self.ask_again] if self.keys(HERE, ENDING) else []
        news = [self.offer_push, self.end_watch, self.get_news] if self.watches else []
        process = [self.lose, *([self.regain] if self.is_lost else [])]
        return [*always, *turns, *found, *again, *news, *process, *self.running_works(), *self.works()]

    def works(self) -> list[Callable[[], None]]:
        """What is under way and goes on by itself."""
        pending = {
            self.answer_claim: self.claims,
            self.store_end: self.keys(ENDING),
            self.pass_on: self.passed,
            self.find: self.finding,
            self.interrupt: self.interrupts,
        }
        works = [work for work, what in pending.items() if what]
        works += [self.wake] if self.line.deadline() is not None else []
        return works + ([self.end_turn] if self.running else [])

    def running_works(self) -> list[Callable[[], None]]:
        if self.running is None:
            return []
        return [self.wait_for_human, *([self.fail_to_merge] if len(self.running.asked) > 1 else [])]

    def ask(self) -> None:
        self.now += self.pick([0.0, 0.5, 3.0])
        text = self.pick(["what?", "what?", "what?", "stop", "stop", "", "stop listening"])
        more = self.pick([{}, {}, {}, {"handle": "form"}, {"attempt": 1}])
        turn = asked(100 + len(self.turns), self.pick(["U1", "U1", "U2"]), text, **more)
        self.turns[turn.key] = turn
        self.where[turn.key] = LEFT_OVER if self.is_closing else OPEN
        self.tell(Ask(turn))

    def ask_again(self) -> None:
        """A signal may come twice."""
        assert not [each for each in self.tell(Ask(self.turns[self.pick(self.keys(HERE, ENDING))])) if each]

    def leave(self) -> None:
        """A process is gone, and a turn of it is left."""
        turn = asked(100 + len(self.turns), self.pick(["U1", "U2"]))
        stage = self.pick([Stage.ACCEPTED, Stage.SENT, Stage.WATCHED])
        turn = begun(turn, stage, takeovers=self.pick([0, 0, 3]), push_id=turn.key)
        self.turns[turn.key], self.where[turn.key] = turn, LEFT_OVER

    def take_over(self) -> None:
        key = self.pick(self.keys(OPEN, LEFT_OVER))
        if key not in {each.turn.key for each in self.claims}:
            self.where[key] = LEFT_OVER if self.is_closing else HERE
            self.may_hold = True
        self.tell(TakeOver(self.turns[key]))

    def answer_claim(self) -> None:
        claim, is_closing = self.claims.pop(0), self.is_closing
        key = claim.turn.key
        if self.where[key] == DONE or self.is_lost or self.pick([False] * 5 + [True]):
            self.where[key] = LEFT_OVER if self.where[key] == OPEN else self.where[key]
            self.tell(ClaimResult(key, None))
            return
        found = self.keys(HERE, ENDING, LEFT_OVER, OPEN) if claim.with_left else []
        left = tuple(self.turns[each] for each in found if each != key)
        is_new, running = self.where[key] in (OPEN, LEFT_OVER), self.running
        waiting_for_claim = {each.turn.key for each in self.claims}
        for each in (key, *found):
            if self.where[each] in (OPEN, LEFT_OVER) and each not in waiting_for_claim:
                self.where[each] = LEFT_OVER if is_closing else HERE
        turn = self.turns[key]
        orders = self.tell(ClaimResult(key, turn, left))
        is_stop = turn.question.is_stop_word and turn.stage is Stage.ACCEPTED and key not in self.edits
        if (
            is_new
            and is_stop
            and running
            and not self.is_running_lost
            and running.turn.question.user == turn.question.user
            and not is_closing
        ):
            assert StopRunning(turn.question.user) in orders

    def store_end(self) -> None:
        key = self.pick(self.keys(ENDING))
        self.where[key] = DONE
        self.tell(EndStored(key))

    def wake(self) -> None:
        self.now = max(self.now, self.line.deadline() or 0.0)
        self.tell(Timer())

    def fail_to_merge(self) -> None:
        assert self.running is not None
        first, *others = self.running.asked
        self.running = Begin(first, (first,))
        if self.is_running_lost or self.is_closing:
            self.where |= dict.fromkeys((each.key for each in others), LEFT_OVER)
        self.tell(MergeFailure())

    def wait_for_human(self) -> None:
        self.tell(HumanAwaited(self.pick([True, False])))

    def interrupt(self) -> None:
        key, question = self.interrupts.pop(0)
        self.tell(Interrupted(key, question, self.pick(["t", None])))

    def end_turn(self) -> None:
        assert self.running is not None
        turn, together, self.running = self.running.turn, self.running.asked, None
        may_outlive = turn.stopped_by is None
        ends = [Outcome.ANSWERED, Outcome.ASKED, *([Outcome.WATCHED] if may_outlive else []), None]
        outcome = None if self.is_running_lost else self.pick(ends)
        goes_on = outcome is Outcome.WATCHED or (
            outcome is None and (self.is_running_lost or self.is_closing)
        )
        is_watched = outcome is Outcome.WATCHED and not self.is_closing
        self.where |= {each.key: DONE for each in together}
        self.where[turn.key] = HERE if is_watched else LEFT_OVER if goes_on else DONE
        stage = Stage.WATCHED if outcome is Outcome.WATCHED else Stage.SENT if goes_on else Stage.ENDED
        ended = begun(turn, stage, push_id=turn.key, ended_at=None if goes_on else self.now, outcome=outcome)
        self.turns[turn.key] = ended
        was_stopped = self.is_stopped
        orders = self.tell(TurnResult(ended, outcome))
        assert (Watch(ended) in orders) == (is_watched and not was_stopped)
        assert not (is_watched and was_stopped) or self.running.turn.key == turn.key

    def offer_push(self) -> None:
        key = self.pick(sorted(self.watches))
        self.turns[key] = replace(self.turns[key], push_id=self.pick([key, "p"]))
        self.tell(PushOffer(self.turns[key]))

    def end_watch(self) -> None:
        self.watches.remove(key := self.pick(sorted(self.watches)))
        if self.is_closing:
            self.where[key] = LEFT_OVER
        self.tell(WatchFailure(self.turns[key], "why"))

    def get_news(self) -> None:
        self.watches.remove(key := self.pick(sorted(self.watches)))
        if self.is_closing:
            self.where[key] = LEFT_OVER
        self.tell(News(self.turns[key]))

    def hint(self) -> None:
        self.tell(PushHint(self.pick(["p", *self.turns])))

    # -- people

    def edit(self) -> None:
        key = self.pick([*self.turns, "unknown"])
        edit = self.edits[key] = Edit(key, self.pick(["else?", "third?", "", None]))
        self.tell(edit)

    def stop(self) -> None:
        messages, running = self.pick([frozenset(), frozenset({"5.0"})]), self.running
        orders = self.tell(stop := Stop(self.pick(["U1", "U2"]), messages))
        if running is not None and not self.is_running_lost and not messages:
            assert StopRunning(stop.user) in orders

    def find(self) -> None:
        """It comes back, and its answer is for who asked first."""
        stop = self.finding.pop(0)
        self.answer(stop)
        self.tell(replace(stop, is_about_others=self.pick([True, False])))

    def stop_turn(self) -> None:
        key = self.pick(self.turns)
        turn, running = self.turns[key], self.running_keys()
        self.edits[key] = Edit(key, None)  # none of theirs counts any more
        orders = self.tell(StopTurn(turn, turn.question.user))
        if running and not self.is_running_lost:
            assert (StopRunning(turn.question.user) in orders) == (key in running)

    def stop_watch(self) -> None:
        self.tell(StopWatch(self.turns[self.pick(self.turns)], self.pick(["U1", "U2"])))

    def drop(self) -> None:
        self.tell(Drop(self.turns[self.pick(self.turns)], self.pick(["U1", "U2"])))

    def pass_on(self) -> None:
        self.tell(PassedOn(self.passed.pop(0).command, self.pick([True, False])))

    # -- the process

    def lose(self) -> None:
        self.is_lost = self.is_running_lost = True
        self.may_hold = bool(self.claims)
        self.forget(self.running_keys())
        self.tell(LeaseLoss())

    def regain(self) -> None:
        """The other process has let go."""
        self.is_lost = False

    def close(self, *, is_durable: bool) -> None:
        self.is_closing = True
        forgotten = self.forget(self.running_keys() | self.watches)
        orders = self.tell(Close(is_durable))
        told = [each.question.key for each in orders if isinstance(each, Notify)]
        assert sorted(told) == ([] if is_durable else sorted(forgotten))

    def running_keys(self) -> set[str]:
        return {each.key for each in self.running.asked} if self.running else set()

    def forget(self, but: set[str]) -> list[str]:
        forgotten = [key for key in self.keys(HERE) if key not in but]
        self.where |= dict.fromkeys(forgotten, LEFT_OVER)
        return forgotten

    def come_to_rest(self) -> None:
        """Nothing new happens, and all that is under way ends."""
        while works := self.works():
            works[0]()
        while self.watches:
            self.end_watch()
        while works := self.works():
            works[0]()
