"""An answer whose orders an emulated workspace carries out at once: Slack's rules, and no loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from slack_bot.slack.faults import CallFailed, CallOk, CallResult, Fault, fault_of
from slack_bot.slack.methods import METHODS, Body
from slack_bot.slack.orders import CallSlack, Order, ReadMessages
from slack_bot.testing.slack.workspace import BOT_TOKEN, SeenMessage, Workspace
from slack_bot.turn.record import ThreadKey
from tests.slack.pure_answer import PureAnswer

_NO_ANSWER = 30.0  # seconds until a call without an answer is given up


class Killed(Exception):
    """The process ended while a call was under way, which was made."""


class WorkspaceAnswer(PureAnswer):
    """`faults`: a script for each method, as the emulated workspace reads it. `before`: the answer of a
    process that was killed, in the same thread. `dies_after`: calls that are made before it is.
    """

    dies_after = 1_000_000

    def __init__(
        self,
        faults: Mapping[str, Sequence[str | None]] | None = None,
        before: WorkspaceAnswer | None = None,
        **settings: Any,
    ) -> None:
        if before is None:
            self.workspace = Workspace(faults=faults)
            self.workspace.add_user("U1", team="T1")
            self.workspace.add_channel("C1")
            root = self.workspace.say("U1", "C1", "question", now=1_000.0)
            thread = ThreadKey("T1", "C1", root)
        else:
            self.workspace, thread = before.workspace, before.calls.question.thread
        super().__init__(thread=thread, **settings)
        if before is not None:
            self.calls.now = before.calls.now + 10.0

    def _answered(self, call: CallSlack) -> CallResult | Exception:
        result = self._call(call.method, call.args)
        return result if len(self.made) <= self.dies_after else Killed()

    def _result(self, order: Order[Any]) -> Any:
        if not isinstance(order, ReadMessages):
            return super()._result(order)
        result = self._call(order.method, {**order.args, "limit": 200, "include_all_metadata": True})
        return result if isinstance(result, CallFailed) else result.page[0]

    def _call(self, method: str, args: Mapping[str, object]) -> CallResult:
        self.pass_time(0.05)
        self.workspace.pass_time(self.calls.wall)
        given = {name: value for name, value in args.items() if value is not None}
        is_json = METHODS[method].body is Body.JSON
        answer = self.workspace.call(
            method,
            given if is_json else {name: str(value) for name, value in given.items()},
            now=self.calls.wall,
            token=BOT_TOKEN,
            is_json=is_json,
        )
        if answer.silence:
            self.pass_time(_NO_ANSWER)
            return CallFailed(Fault.UNKNOWN, "timeout")
        if answer.body.get("ok") and not answer.is_page:
            return CallOk(answer.body)
        error = str(answer.body.get("error") or "")
        return CallFailed(fault_of(answer.status, error), error)

    def read(self) -> list[SeenMessage]:
        """What the bot wrote, as a person sees it."""
        messages = self.workspace.thread("C1", self.calls.thread_ts)
        return [message for message in messages if message.is_bot]

    def text(self) -> str:
        """The answer's part of all messages."""
        added = {record.ts: record for record in self.answer.state.records}
        texts: list[str] = []
        for message in self.read():
            record = added.get(message.ts)
            text = message.text
            if record is not None:
                text = text.removeprefix(record.opening).removesuffix(record.closing)
            texts.append(text)
        return "".join(texts)
