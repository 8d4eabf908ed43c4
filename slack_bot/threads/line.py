"""PURE. One thread as one process sees it: what runs there, waits, is watched, or is being claimed.

`handle` takes what happened (a command) and gives what is to be done (orders). It knows no clock, no store
and no Slack; `Conversation` carries the orders out. A line exists while it is *needed*, and a little longer:
the word "stop" may come just after an answer has ended.

Whose thread it is. Several processes may work for one bot; a lease in the store says which one has a thread.
A question is stored by whichever process got it, so it is *claimed* before anything else happens: the store
gives the thread to this process, or has the process that holds it claim the question. So the word "stop",
sent to one replica while the question waits at another, is decided at that other one, like any question. A
process in which nothing runs or waits in the thread also gets what others left there, and goes on with that
first. The lease is let go when nothing is left to do; not between claim and begin, and not before an end is
stored: else another process would begin the same question again.

What a question of this process may be:

- *claiming*: stored, and not known yet whether it is this process's. An edit of its message is kept until
  then.
- *waiting*: behind the running turn, with a mark (a reaction), in the order it came. One turn runs at a time:
  agents drop or mix up what comes while they work (facts: A2A 2.6).
- *held*: waiting where nothing runs, without a mark. Where the channel collects, the asker of the first one
  may be writing more, so it begins when they have been still for `collect_delay`.
- *running*: asked. Waiting questions of the same asker are asked with it, as one in the order in which they
  were written, if the channel merges: only new ones that were not stopped, no retries, no answers to forms.
  In the store they are one before they are asked, all or none; where that fails the others go back to the
  front.
- *watched*: its turn is over, its task is not. Where the task has news, the turn comes back. Where a stop
  came too late for the turn, it comes back at once, to cancel the task.
- *ending*: not asked, or broken off; its end is being stored.

A turn that has begun already (taken over after the agent was asked, or watched and with news) has a task at
the agent. It is not held: it begins at once where nothing runs, and else waits behind what came before it. It
is not dropped like a question: stopped, it runs once more, to cancel its task. An edit does not change it.

Who may stop what. Slack's own Stop ends what runs, whoever presses it (Slack shows it to all). If it names
only messages of other turns, it came too late for those, and what runs goes on. A Stop that ends nothing that
runs ends what is watched for the person who pressed. If there is nothing, and nothing runs here, it is passed
on to the process that has the thread; if no process has it, it ends the forms that wait for the person. It
ends no question that waits.

By the word "stop" people end what is theirs: what runs; else what is watched; else all of theirs that waits.
If nothing of theirs is here, and no answer to them has just ended, it ends the forms that wait for them, or
if no form does, a notice says that only the asker can stop this. Where nothing runs, waits or is watched,
the word is a question like any other. By our buttons people end or drop only their own. What runs is stopped
in the store too, so that a takeover ends it. Questions of the person who stopped it go on waiting; a button
that drops them is offered, once for the same last question, because people press twice.

What an edit of a message does. A question that is being claimed, or waits, is asked as its message reads now;
if nothing is left of the message, it is not asked. What runs goes on as it was asked: its asker is offered
to ask again, once (pressed, it asks what the message says then), and a deletion changes nothing. A question
that is not here is changed in the store, and the process that has it is informed; see `Leases.edit`.

What a second question does to the running turn of its asker. Where the agent waits for their sign-in, the
turn steps aside, and the question continues its task. Where the channel interrupts, the agent is to cancel
the task, and the question refers to it. That is asked for once in a turn, and never for an answer to a form.
If the agent refuses, the question waits, and its asker gets a notice.

While the process closes nothing begins, and no question is claimed. What runs or is watched goes on as long
as the process does. What waits stays for the next process, mark and all; where the store ends with the
process, its asker gets a notice instead. When the lease is lost, what runs writes no more and takes no
command, and what waits or is watched is forgotten here: the other process has it from the store.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..text import words
from ..turn.buttons import TurnButton
from ..turn.progress import Stage, TurnRecord
from ..turn.record import Outcome, Question
from . import commands as c
from .edits import edited, is_reworded, message_key, offer_to_ask_again
from .waiting import WaitingQuestion, WaitingQuestions, merged, said_of_drop

_GOES_ON = (None, Outcome.ASKED, Outcome.WATCHED)
"""Results of a turn that do not end its answer."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What holds in a thread's channel. Times in seconds.

    `collects`: a question begins when its asker has written nothing for `collect_delay`; `merges`: what waits
    of one asker is asked together; `interrupts`: a message of the asker ends what runs; `follows`: replies
    may be questions without a mention. `max_waiting` questions, `max_takeovers` of a turn. `stop_grace`:
    after an answer's end, in which "stop" is about that answer.
    """

    collects: bool = True
    merges: bool = True
    interrupts: bool = False
    follows: bool = True
    collect_delay: float = 0.0
    max_waiting: int = 10
    max_takeovers: int = 3
    stop_grace: float = 5.0


@dataclass(slots=True)
class RunningTurn:
    """What runs. `turn` is asked, made of the questions `asked`.

    `is_awaited`: the agent waits for a sign-in; `steps_aside`: for the question that continues its task;
    `is_interrupted`: the agent was asked to end the task for another question; `is_lost`: another process has
    the thread; `offered`: the key of the last waiting question when a button was offered that drops them;
    `reworded`: what its message says now.
    """

    turn: TurnRecord
    asked: tuple[TurnRecord, ...]
    stopped_by: str | None = None
    is_awaited: bool = False
    steps_aside: bool = False
    is_interrupted: bool = False
    is_lost: bool = False
    offered: str = ""
    reworded: str = ""

    def is_of(self, user: str) -> bool:
        """Whether it is theirs to stop."""
        return self.turn.question.is_of(user)

    def has(self, key: str) -> bool:
        """Whether the turn with this key is it, or a part of it."""
        return key in {self.turn.key, *(each.key for each in self.asked)}


class ThreadLine:
    """What one process knows of one thread. `rules` are those of the time when it began."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._now = 0.0
        self._orders: list[c.Order] = []
        self._claiming: dict[str, c.Edit | None] = {}  # with what became of their messages meanwhile
        self._hold_until: float | None = None
        self._ending: set[str] = set()
        self._answered: list[tuple[Question, float]] = []  # with the time of the end, since 1970
        self._may_hold_lease = False
        self._closing: c.Close | None = None
        self.waiting = WaitingQuestions()
        self.running: RunningTurn | None = None
        self.watched: dict[str, TurnRecord] = {}

    # -- what is known

    @property
    def is_needed(self) -> bool:
        """There is something to do in the thread."""
        return bool(self.running or self.waiting or self.watched or self._claiming or self._ending)

    def is_over(self, at: float) -> bool:
        """Nothing is to do, and it is too late for a word about it. `at`: seconds since 1970."""
        grace = self._rules.stop_grace
        return not self.is_needed and all(ended + grace < at for _, ended in self._answered)

    def deadline(self) -> float | None:
        """When a `Timer` is due."""
        return self._hold_until

    def has(self, key: str) -> bool:
        """This turn is being claimed, runs, waits, is watched, or its end is being stored."""
        is_running = self.running is not None and self.running.has(key)
        is_known = key in self._claiming or key in self.watched or key in self._ending
        return is_running or is_known or self.waiting.find(key) is not None

    @property
    def _live(self) -> RunningTurn | None:
        """What runs and may still be steered: the thread is this process's."""
        return None if self.running is None or self.running.is_lost else self.running

    def is_under_way_for(self, user: str) -> bool:
        """Something of theirs runs, waits or is watched: so that "stop" ends it."""
        is_running = self._live is not None and self._live.is_of(user)
        return is_running or bool(self._watched_of(user)) or bool(self.waiting.of(user))

    def ended_at_for(self, word: Question) -> float | None:
        """When an answer to the author of `word` ended, if that was just before: a "stop" came too late.

        Like `is_over`, in seconds since 1970.
        """
        written, grace = float(word.ts), self._rules.stop_grace
        ends = [
            at
            for question, at in self._answered
            if question.is_of(word.user) and float(question.ts) < written <= at + grace
        ]
        return max(ends, default=None)

    # -- what happens

    def handle(self, command: c.Command, now: float) -> list[c.Order]:  # noqa: C901  an arm for each kind
        """What `command` asks for, at `now` on the clock, in order."""
        self._now, self._orders = now, []
        match command:
            case c.Ask(turn=turn):
                self._ask(turn)
            case c.ClaimResult():
                self._claimed(command)
            case c.TakeOver(turn=turn):
                self._take_over(turn)
            case c.Edit() | c.Stop() | c.StopTurn() | c.StopWatch() | c.Drop() | c.PassedOn():
                self._do_as_people_want(command)
            case c.PushOffer() | c.PushHint() | c.News() | c.WatchFailure():
                self._look_at_watched(command)
            case c.Timer() if self._hold_until is not None:
                self._begin_or_hold()
            case c.LeaseLoss():
                self._lose()
            case c.Close():
                self._close(command)
            case c.HumanAwaited() | c.Interrupted() | c.MergeFailure() | c.TurnResult() | c.EndStored():
                self._go_on(command)
        if self._may_hold_lease and not self.is_needed:
            self._may_hold_lease = False
            self._order(c.LetGo(ends=self._closing is not None))
        return self._orders

    def _do_as_people_want(self, wish: c.PersonsCommand) -> None:
        match wish:
            case c.Edit():
                self._edit(wish)
            case c.Stop():
                self._stop(wish)
            case c.StopTurn():
                self._stop_turn(wish)
            case c.StopWatch():
                self._stop_task(wish)
            case c.Drop():
                self._drop(wish)
            case c.PassedOn():
                self._passed_on(wish)

    def _go_on(self, news: c.TurnCommand) -> None:
        """With a turn."""
        match news:
            case c.Interrupted():
                self._interrupted(news)
            case c.TurnResult():
                self._turn_is_over(news)
            case c.EndStored(key=key):
                self._ending.discard(key)
            case c.HumanAwaited(is_awaited=is_awaited) if self.running is not None:
                self.running.is_awaited = is_awaited
            case c.MergeFailure() if self.running is not None:
                self._ask_first_alone(self.running)

    def _look_at_watched(self, news: c.WatchCommand) -> None:
        match news:
            case c.PushHint():
                self._hint(news)
            case c.PushOffer(turn=turn) if turn.key in self.watched:
                self.watched[turn.key] = turn
            case c.News(turn=turn) if turn.key in self.watched:
                del self.watched[turn.key]
                self._admit(turn)
            case c.WatchFailure(turn=turn, note=note) if turn.key in self.watched:
                del self.watched[turn.key]
                self._break_off(turn, "watched no longer", note)

    def _order(self, *orders: c.Order) -> None:
        self._orders.extend(orders)

    # -- questions

    def _ask(self, turn: TurnRecord) -> None:
        if self._closing is None and not self.has(turn.key):
            self._claiming[turn.key] = None
            self._may_hold_lease = True
            self._order(c.Claim(turn, with_left=self.running is None and not self.waiting))

    def _claimed(self, claim: c.ClaimResult) -> None:
        edit = self._claiming.pop(claim.key, None)
        for left in claim.left:
            self._take_over(left)
        turn = claim.turn
        if turn is None or turn.stage is not Stage.ACCEPTED:
            if turn is not None:  # another process had begun it, and is gone
                self._take_over(turn)
            if edit is not None:
                self._edit(edit)
        elif edit is None:
            self._admit(turn, is_new=True)
        elif (changed := edited(turn, edit)) is not None:
            self._order(c.Save(changed), c.Respond(edit, True))
            self._admit(changed, is_new=True)
        else:
            self._end(turn, Outcome.STOPPED)
            self._order(c.Respond(edit, True))

    def _take_over(self, turn: TurnRecord) -> None:
        if self.has(turn.key):  # where it is being claimed, the answer to that counts
            return
        self._may_hold_lease = True
        if self._closing is not None:
            return
        if turn.stage is Stage.WATCHED and turn.stopped_by is None:
            self._watch(turn)
        elif turn.stage is Stage.WATCHED:  # stopped, and its task not cancelled yet
            self._admit(turn, is_left=True)
        elif turn.takeovers < self._rules.max_takeovers:
            self._order(c.ReportTakeover(turn))
            self._admit(turn, is_left=True)
        else:
            self._order(c.ReportTakeover(turn, is_given_up=True))
            self._break_off(turn, "the bot was restarted too often meanwhile", words.GIVEN_UP)

    def _admit(self, turn: TurnRecord, *, is_new: bool = False, is_left: bool = False) -> None:
        """`turn` is this process's: end it, obey it if it is a word like "stop", or line it up.

        `is_new`: it was just asked. `is_left`: another process may have marked it.
        """
        question, is_unasked = turn.question, turn.stage is Stage.ACCEPTED
        if self._closing is not None:
            self._leave(turn)
        elif question.is_empty:
            self._end(turn, Outcome.REFUSED, words.HOW_TO_ASK, is_public=True)
        elif is_unasked and question.is_stop_word and self._is_about_something(question):
            self._stop_by_word(turn)
        elif is_unasked and self._rules.follows and question.is_stop_listening:
            self._ending.add(turn.key)
            self._order(c.StopFollowing(turn))
        elif is_new and not question.handle and len(self.waiting) >= self._rules.max_waiting:
            self._end(turn, Outcome.REFUSED, words.TOO_MANY_WAIT)
        else:
            self._line_up(turn, is_left=is_left)
            if is_new:
                self._tell_place(turn)
                self._interrupt_for(question)

    def _is_about_something(self, word: Question) -> bool:
        is_theirs = self.is_under_way_for(word.user) or self.ended_at_for(word) is not None
        return is_theirs or (bool(self._live or self.watched or self.waiting) and not word.handle)

    def _line_up(self, turn: TurnRecord, *, is_left: bool = False) -> None:
        """Begin `turn`, or let it wait. `is_left`: another process may have marked it."""
        if self._closing is not None:  # the next process begins it
            return
        entry = WaitingQuestion(turn, self._now)
        if is_left:
            self._mark(entry, is_shown=True)
        if self.running is not None:
            self.waiting.append(entry)
            if self._is_signed_in_by(turn):
                self.running.steps_aside = True
                self._order(c.StepAside())
            self._mark_all()
        elif turn.stage is not Stage.ACCEPTED:
            self.waiting.insert(0, entry)
            self._begin_next()
        else:
            self.waiting.append(entry)
            if self._hold_until is None:
                self._begin_or_hold()

    def _is_signed_in_by(self, turn: TurnRecord) -> bool:
        """The agent waits for a sign-in of its asker, and this is what they write then."""
        running, is_new = self._live, turn.stage is Stage.ACCEPTED
        return running is not None and running.is_awaited and is_new and running.is_of(turn.question.user)

    def _tell_place(self, turn: TurnRecord) -> None:
        place = 0 if self.running is None else self.waiting.place_of(turn, merges=self._rules.merges)
        if place > 1:  # the next one has its mark
            self._order(c.Say(turn.question, words.PLACE_IN_LINE.format(place)))

    def _interrupt_for(self, question: Question) -> None:
        running = self._live
        if not self._rules.interrupts or question.handle or running is None or running.has(question.key):
            return
        is_theirs = running.turn.question.user == question.user != ""
        is_ending = running.is_interrupted or running.steps_aside or running.stopped_by is not None
        if is_theirs and not is_ending:
            running.is_interrupted = True
            self._order(c.Interrupt(question))

    def _interrupted(self, interruption: c.Interrupted) -> None:
        question, entry = interruption.question, self.waiting.find(interruption.question.key)
        if self._live is None or self._live.turn.key != interruption.turn_key:  # it has ended meanwhile
            return
        if interruption.task_id is None:
            self._order(c.Say(question, words.NOT_INTERRUPTED))
            return
        if entry is not None:
            asked = replace(entry.turn.question, references=(interruption.task_id,))
            entry.turn = replace(entry.turn, question=asked)
        self._order(c.StepAside(interrupted_by=question.user))

    # -- turns

    def _begin_or_hold(self) -> None:
        """Nothing runs. Begin the first question, as soon as its asker has written nothing for a moment."""
        self._hold_until = None
        if self._closing is not None or not self.waiting:
            return
        due = self.waiting.last_of_first_asker() + self._rules.collect_delay
        if self._rules.collects and not self.waiting[0].is_begun and due > self._now:
            self._hold_until = due
        else:
            self._begin_next()

    def _begin_next(self) -> None:
        self._hold_until = None
        entries = self.waiting.take_next(merges=self._rules.merges)
        for each in entries:
            self._unmark(each)
        asked = tuple(each.turn for each in entries)
        turn = merged(asked)
        self.running = RunningTurn(turn, asked, turn.stopped_by, reworded=turn.reworded)
        self._order(c.Begin(turn, asked))
        self._mark_all()

    def _ask_first_alone(self, running: RunningTurn) -> None:
        """The others go back to the front; stopped, they are not asked."""
        first, *others = running.asked
        running.turn, running.asked = first, (first,)
        is_wanted = running.stopped_by is None
        if is_wanted and self._closing is None and not running.is_lost:
            self.waiting[:0] = [WaitingQuestion(each, self._now) for each in others]
            self._mark_all()
            return
        for each in others:
            if is_wanted:
                self._leave(each)
            else:
                self._end(each, Outcome.STOPPED)

    def _turn_is_over(self, result: c.TurnResult) -> None:
        turn, running, self.running = result.turn, self.running, None
        is_lost = running is not None and running.is_lost
        is_outlived = result.outcome is Outcome.WATCHED and self._closing is None and not is_lost
        if is_outlived and running is not None and running.stopped_by is not None:
            self._line_up(replace(turn, stopped_by=running.stopped_by))
            return
        if is_outlived:
            self._watch(turn)
        elif result.outcome not in _GOES_ON and turn.ended_at is not None:
            grace = self._rules.stop_grace
            recent = [each for each in self._answered if each[1] + grace >= turn.ended_at]
            self._answered = [*recent, (turn.question, turn.ended_at)]
        self._begin_or_hold()

    def _hint(self, hint: c.PushHint) -> None:
        keys = [turn.key for turn in self.watched.values() if turn.push_id == hint.push_id]
        self._order(*(c.ReadTask(key) for key in keys))
        if not keys:
            self._order(c.PassOn(hint))

    def _watch(self, turn: TurnRecord) -> None:
        self.watched[turn.key] = turn
        self._order(c.Watch(turn))

    # -- stops

    def _stop(self, stop: c.Stop) -> None:
        running, watched = self._live, self._watched_of(stop.user)
        if running is not None and stop.messages and stop.is_about_others is None:
            self._order(c.CheckMessages(stop))
        elif running is not None and not stop.is_about_others:
            self._stop_running(running, stop.user)
            self._order(c.Respond(stop, True))
        elif watched:
            for turn in watched:
                self._stop_watched(turn, stop.user)
            self._order(c.Respond(stop, True))
        elif running is None:
            self._order(c.PassOn(stop))
        else:
            self._order(c.StopForms(stop))

    def _stop_running(self, running: RunningTurn, user: str) -> None:
        running.stopped_by = running.stopped_by or user
        self._order(c.StopRunning(user))
        waiting = self.waiting.of(user)
        if waiting and (last := waiting[-1].turn).key != running.offered:
            running.offered = last.key
            labels = {TurnButton.DROP: words.DROP_WAITING.format(len(waiting))}
            self._order(c.Offer(last.question, user, words.STOPPED_WAITING_KEPT, labels))

    def _stop_watched(self, turn: TurnRecord, user: str) -> None:
        """It runs once more, to cancel its task."""
        turn = replace(turn, stopped_by=user)
        del self.watched[turn.key]
        self._order(c.Unwatch(turn.key), c.Save(turn))
        self._line_up(turn)

    def _stop_by_word(self, word: TurnRecord) -> None:
        """`word` is not asked: it is about what runs, or is watched, or waits, or about what is another's."""
        user, said = word.question.user, ""
        if (running := self._live) is not None and running.is_of(user):
            self._stop_running(running, user)
        elif watched := self._watched_of(user):
            for turn in watched:
                self._stop_watched(turn, user)
        elif mine := self.waiting.of(user):
            said = said_of_drop(self._drop_all(mine, user))
        elif self.ended_at_for(word.question) is not None:
            said = words.STOP_TOO_LATE
        else:
            self._ending.add(word.key)
            self._order(c.StopAnothers(word))
            return
        self._end(word, Outcome.STOPPED, said)

    def _stop_turn(self, stop: c.StopTurn) -> None:
        turn, user = stop.turn, stop.user
        running, waiting = self._live, self.waiting.find(turn.key)
        if running is not None and running.has(turn.key):
            self._stop_running(running, user)
        elif waiting is not None and waiting.is_begun:
            self._stop_begun(waiting, user)
        elif turn.stage is Stage.WATCHED or turn.key in self.watched:
            self._stop_task(c.StopWatch(self.watched.get(turn.key, turn), user))
        elif turn.stage is Stage.ACCEPTED:
            is_elsewhere = self._is_elsewhere(turn.key)
            self._edit(c.Edit(turn.key, None))
            if is_elsewhere:  # in the store it is ACCEPTED for some time after it has begun
                self._order(c.PassOn(stop))
                return
        elif turn.stage is Stage.SENT and running is None:
            self._order(c.PassOn(stop))
            return
        self._order(c.Respond(stop, None))

    def _stop_task(self, stop: c.StopWatch) -> None:
        """The task is to end of a turn that is watched, or was: since it has news, it runs or waits."""
        key, user = stop.turn.key, stop.user
        running = self._live
        watched, waiting = self.watched.get(key), self.waiting.find(key)
        is_open = stop.turn.stage is Stage.WATCHED and stop.turn.question.is_of(user)
        answer: str | None = None
        if watched is not None and not watched.question.is_of(user):
            answer = words.NOT_YOURS_TO_STOP
        elif watched is not None:
            self._stop_watched(watched, user)
        elif not is_open:
            answer = words.ALREADY_OVER
        elif running is not None and running.has(key):
            self._stop_running(running, user)
        elif waiting is not None:
            self._stop_begun(waiting, user)
        else:
            self._order(c.PassOn(stop))
            return
        self._order(c.Respond(stop, answer))

    def _passed_on(self, passed: c.PassedOn) -> None:
        command = passed.command
        match command:
            case c.Stop() if passed.is_passed:
                self._order(c.Respond(command, True))
            case c.Stop():
                self._order(c.StopForms(command))
            case c.StopTurn():
                self._order(c.Respond(command, None))
            case c.StopWatch():
                self._order(c.Respond(command, None if passed.is_passed else words.ALREADY_OVER))
            case c.Drop():
                self._order(c.Respond(command, None if passed.is_passed else words.NONE_WAIT))

    def _drop(self, drop: c.Drop) -> None:
        user, running = drop.user, self._live
        until = drop.last.accepted_at
        if running is None and not self.waiting:
            self._order(c.PassOn(drop))
            return
        waiting = [each for each in self.waiting.of(user) if each.turn.accepted_at <= until]
        dropped = self._drop_all(waiting, user)
        is_theirs = running is not None and running.turn.question.user == user
        if (
            running is None
            or not is_theirs
            or running.stopped_by is not None
            or any(each.accepted_at > until for each in running.asked)
        ):
            said = said_of_drop(dropped)
        else:  # it has begun since that was offered
            self._stop_running(running, user)
            said = words.DROPPED_AND_STOPPED.format(dropped) if dropped else words.STOPPED_THE_BEGUN_ONE
        self._order(c.Respond(drop, said))

    def _drop_all(self, entries: list[WaitingQuestion], user: str) -> int:
        """`user` wants none of them. How many there are."""
        for each in entries:
            if each.is_begun:
                self._stop_begun(each, user)
            else:
                self._remove(each)
        return len(entries)

    def _stop_begun(self, entry: WaitingQuestion, user: str) -> None:
        """It has a task, which is cancelled when its place comes."""
        entry.turn = replace(entry.turn, stopped_by=user)
        self._order(c.Save(entry.turn))

    def _remove(self, entry: WaitingQuestion) -> None:
        """It waits no longer, and is not asked."""
        self.waiting.remove(entry)
        self._unmark(entry)
        self._end(entry.turn, Outcome.STOPPED)
        if not self.waiting:
            self._hold_until = None

    def _edit(self, edit: c.Edit) -> None:
        entry = self.waiting.find_of_message(edit.key)
        if edit.key in self._claiming:
            if (older := self._claiming[edit.key]) is not None:
                self._order(c.Respond(older, True))
            self._claiming[edit.key] = edit
        elif entry is not None and entry.is_begun:
            self._order(c.Respond(edit, False))
        elif entry is not None and (changed := edited(entry.turn, edit)) is not None:
            entry.turn = changed
            self._order(c.Save(changed), c.Respond(edit, True))
        elif entry is not None:
            self._remove(entry)
            self._order(c.Respond(edit, True))
        elif edit.key in self._ending:
            self._order(c.Respond(edit, True))
        elif self._is_elsewhere(edit.key) or (edit.text and not self._is_here(edit.key)):
            self._order(c.EditElsewhere(edit))
        else:
            self._offer_to_ask_again(edit)
            self._order(c.Respond(edit, False))

    def _is_elsewhere(self, key: str) -> bool:
        """The question with this key may be another process's, or while this one ends, wait for the next."""
        if self.waiting or key in self._claiming or key in self._ending:
            return False
        return self._live is None or (self._closing is not None and not self.has(key))

    def _is_here(self, key: str) -> bool:
        """The message with this key is that of a turn of this thread, or of one that asks it again."""
        return self.has(key) or (self._live is not None and message_key(self._live.turn.question) == key)

    def _offer_to_ask_again(self, edit: c.Edit) -> None:
        """If it is the message of the question that runs, its asker may want the new words answered."""
        running = self._live
        if running is None or not edit.text or not is_reworded(running.turn.question, running.reworded, edit):
            return
        was_offered, running.reworded = bool(running.reworded), edit.text
        self._order(c.Reword(edit.text))
        if not was_offered:  # else that offer asks this too
            self._order(offer_to_ask_again(running.turn.question, words.QUESTION_REWORDED))

    # -- the process

    def _lose(self) -> None:
        for key in tuple(self.watched):
            del self.watched[key]
            self._order(c.Unwatch(key))
        self._forget_waiting(stays=True)
        self._may_hold_lease = bool(self._claiming)
        if self.running is not None:
            self.running.is_lost = True
            self._order(c.AbandonRunning())

    def _close(self, close: c.Close) -> None:
        self._closing = close
        for turn in self._forget_waiting(stays=close.is_durable):
            self._leave(turn)

    def _leave(self, turn: TurnRecord) -> None:
        """The process ends. The next one asks it from the store; if that ends too, there is a notice."""
        if self._closing is not None and not self._closing.is_durable:
            self._order(c.Notify(turn.question, words.RESTARTING))

    def _forget_waiting(self, *, stays: bool) -> list[TurnRecord]:
        self._hold_until = None
        entries, self.waiting = self.waiting, WaitingQuestions()
        for each in entries:
            self._unmark(each, stays=stays)
        return [each.turn for each in entries]

    # -- small things

    def _watched_of(self, user: str) -> list[TurnRecord]:
        return [turn for turn in self.watched.values() if turn.question.is_of(user)]

    def _end(self, turn: TurnRecord, outcome: Outcome, said: str = "", *, is_public: bool = False) -> None:
        self._ending.add(turn.key)
        self._order(c.End(turn, outcome, said, is_public))

    def _break_off(self, turn: TurnRecord, reason: str, note: str) -> None:
        self._ending.add(turn.key)
        self._order(c.BreakOff(turn, reason, note))

    def _mark_all(self) -> None:
        for each in self.waiting:
            self._mark(each)

    def _mark(self, entry: WaitingQuestion, *, is_shown: bool = False) -> None:
        if not entry.is_marked:
            entry.is_marked = True
            self._order(c.Mark(entry.turn.question, is_shown))

    def _unmark(self, entry: WaitingQuestion, *, stays: bool = False) -> None:
        if entry.is_marked:
            entry.is_marked = False
            self._order(c.Unmark(entry.turn.key, stays))
