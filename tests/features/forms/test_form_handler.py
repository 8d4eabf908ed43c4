"""Forms in threads: what is typed there, secrets, approvals, stops; what stands there then."""

from __future__ import annotations

import asyncio
import logging

import httpx
import pytest

from slack_bot.testing.harness import CHANNEL, run_bot
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.tape.builders import answer, question, status
from slack_bot.testing.tape.tape import Moment, Tape
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.record import ThreadKey
from tests.form_tapes import (
    DONE,
    ONE,
    SECRET,
    SIX,
    approval,
    asking,
    form_in,
    press,
    sent,
    submit,
    told,
    waits,
)
from tests.store import subjects


@on_virtual_time
async def test_a_secret_reaches_the_agent_and_is_nowhere_else() -> None:
    store = MemoryStore()
    async with run_bot(asking(SECRET), DONE, store=store) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        await press(bot, root, "form_fill")
        await submit(bot, Token="hunter2hunter2")
        await bot.idle()
        assert "hunter2hunter2" in str(sent(bot))
        assert "hunter2hunter2" not in "".join(seen.read for seen in bot.thread(root))
        assert "Token: ••••" in bot.thread(root)[1].read
        assert "hunter2hunter2" not in str([await subjects.forms_in(store, ThreadKey("T1", CHANNEL, root))])


@on_virtual_time
@pytest.mark.parametrize("mention", [False, True])
async def test_what_is_typed_where_a_form_wants_a_secret_is_told_privately_and_goes_nowhere(
    mention: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    store = MemoryStore()
    async with run_bot(asking(SECRET), DONE, answer("Later."), store=store) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        shown = form_in(bot, root)
        assert "answer only in the form" in shown.read
        assert "reply in this thread" not in shown.read
        name = f"<@{bot.workspace.bot.user_id}> " if mention else ""
        await bot.say(f"{name}hunter2hunter2", thread_ts=root)
        await bot.say("somebody else speaks", thread_ts=root, user="U2")
        await bot.idle()
        assert len(bot.agent.questions) == 1
        assert told(bot, root, "U1")[0].startswith("The form above asks for a secret: please answer it there")
        await press(bot, root, "form_fill")
        await submit(bot, Token="another-secret")
        await bot.idle()
        await bot.ask("and now?", thread_ts=root)  # what was said in the thread goes along
        await bot.idle()
        assert bot.outcomes == ["asked", "answered", "answered"]
        assert "somebody else speaks" in str(bot.agent.questions)
        kept = [
            await subjects.forms_in(store, ThreadKey("T1", CHANNEL, root)),
            await store.unfinished(),
            vars(store),
        ]
        own = [each.getMessage() for each in caplog.records if each.name.startswith("slack_bot")]
        for place in (kept, bot.agent.questions, bot.facts, own):
            assert "hunter2hunter2" not in str(place)


@on_virtual_time
async def test_stop_ends_a_form_that_wants_a_secret() -> None:
    async with run_bot(asking(SECRET), DONE) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        await bot.say("stop", thread_ts=root)
        await bot.idle()
        assert "Stopped." in bot.thread(root)[1].read


@on_virtual_time
async def test_stop_ends_the_form_of_its_author_while_another_s_answer_runs() -> None:
    async with run_bot(approval(), answer("Hello.", seconds=20, ids="2")) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        await bot.ask("and me?", user="U2", thread_ts=root)
        await bot.ask("stop", thread_ts=root)
        await bot.idle()
        assert "Stopped." in bot.thread(root)[1].read
        assert not [words for words in told(bot, root, "U1") if words.startswith("Only the person who asked")]
        assert bot.outcomes == ["asked", "answered"]
        assert [call.method for call in bot.agent.calls].count("tasks/cancel") == 1


# -- approvals


@on_virtual_time
async def test_a_tool_call_is_shown_neutral_and_approved() -> None:
    async with run_bot(approval(), DONE) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        shown = form_in(bot, root)
        assert "deploy" in shown.text
        assert "The agent waits for the decision of <@U1>." in str(shown.blocks)
        assert "<!channel>" not in str(bot.calls("chat.startStream") + bot.calls("chat.stopStream"))
        await bot.say("yes", thread_ts=root)
        await bot.idle()
        assert "please use the buttons" in told(bot, root, "U1")[0]
        assert len(bot.agent.questions) == 1
        await press(bot, root, "form_approve")
        await bot.idle()
        assert sent(bot)["parts"][-1]["data"] == {"resume": {"decisions": [{"type": "approve"}]}}
        assert "<@U1> approved this" in bot.thread(root)[1].read
        assert bot.outcomes == ["asked", "answered"]


@on_virtual_time
async def test_words_of_an_approver_do_not_reach_the_agent_while_their_decision_is_waited_for() -> None:
    """Those of people who may not decide are questions of their own."""
    async with run_bot(approval(), answer("Hello.", ids="2"), DONE, approvers=["U2"]) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert "The agent waits for the decision of <@U2>." in str(form_in(bot, root).blocks)
        await bot.ask("yes, approved", user="U2", thread_ts=root)
        await bot.idle()
        words = "Words do not decide this: please use the buttons of the approval above."
        assert told(bot, root, "U2") == [words]
        assert len(bot.agent.questions) == 1
        await bot.ask("what is this?", user="U3", thread_ts=root)
        await bot.idle()
        assert told(bot, root, "U3") == []
        assert "what is this?" in str(sent(bot)) and "taskId" not in sent(bot)
        await press(bot, root, "form_approve", user="U2")
        await bot.idle()
        assert sent(bot)["metadata"]["slack"]["answered_by"] == "U2"
        await bot.ask("thank you", user="U2", thread_ts=root)
        await bot.idle()
        assert "thank you" in str(sent(bot))


# -- words, and a stop


@on_virtual_time
async def test_a_typed_reply_answers_in_words_and_the_form_becomes_its_record() -> None:
    async with run_bot(asking(ONE, "Where?"), DONE) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        shown = form_in(bot, root)
        await bot.say("prod, please", thread_ts=root)
        await bot.idle()
        assert "prod, please" in str(sent(bot))
        assert sent(bot)["taskId"] == "task-1"
        assert "answered in this thread" in bot.thread(root)[1].read
        bot.workspace.state.messages[CHANNEL][shown.ts].blocks = [dict(block) for block in shown.blocks]
        await press(bot, root, "form_choose-0")
        assert "answered already" in told(bot, root, "U1")[-1]


@pytest.mark.parametrize("how", ["word", "native"])
@on_virtual_time
async def test_a_stop_cancels_the_task_and_closes_the_form(how: str) -> None:
    async with run_bot(asking(ONE, "Where?"), answer("Something else.", ids="2")) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        if how == "word":
            await bot.say("stop", thread_ts=root)
        else:
            bot.workspace.stop("U1", CHANNEL, root, now=bot.now)
            await bot.deliver()
        await bot.idle()
        assert [call.method for call in bot.agent.calls].count("tasks/cancel") == 1
        assert "form_" not in str(bot.thread(root)[1].blocks)
        assert len(bot.agent.questions) == 1
        await bot.ask("Another one", thread_ts=root)
        await bot.idle()
        assert "taskId" not in sent(bot)


@on_virtual_time
async def test_a_question_of_somebody_else_leaves_the_form() -> None:
    async with run_bot(asking(ONE, "Where?"), answer("42.", ids="2"), DONE) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        await bot.ask("What is the answer?", user="U2", thread_ts=root)
        await bot.idle()
        await press(bot, root, "form_choose-0")
        await bot.idle()
        assert sent(bot)["taskId"] == "task-1"
        assert bot.outcomes == ["asked", "answered", "answered"]


@on_virtual_time
async def test_an_answer_waits_for_its_turn_and_is_not_merged_with_what_waits() -> None:
    async with run_bot(asking(ONE), answer("42.", seconds=60, ids="2"), DONE, DONE, busy="collect") as bot:
        root = await bot.ask("hi")
        await bot.idle()
        await bot.ask("What is the answer?", user="U2", thread_ts=root)
        await asyncio.sleep(5)
        await press(bot, root, "form_choose-0")
        await asyncio.sleep(5)
        assert len(bot.agent.questions) == 2
        await bot.idle()
        assert sent(bot)["taskId"] == "task-1"
        assert {"kind": "data", "data": {"env": "dev"}} in sent(bot)["parts"]


# -- when something fails


@on_virtual_time
async def test_an_answer_to_a_task_that_has_ended_is_not_sent() -> None:
    asks = asking(ONE)
    ended = Moment(60.0, event=status("canceled"))
    tape = Tape({"wire": "0.3"}, (*asks.moments[:-1], Moment(0.6, end="cut"), ended))
    async with run_bot(tape, DONE) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        await asyncio.sleep(100)
        await press(bot, root, "form_choose-0")
        await bot.idle()
        assert len(bot.agent.questions) == 1
        assert "has ended this meanwhile" in bot.thread(root)[-1].read
        assert bot.outcomes == ["asked", "failed"]


class Line(httpx.AsyncBaseTransport):
    """The way to the agent. `is_away`: nothing comes through."""

    is_away = False

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if Line.is_away:
            raise httpx.ConnectError("away")
        return await self._inner.handle_async_request(request)


@on_virtual_time
async def test_where_the_agent_is_away_the_answer_can_be_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async with run_bot(asking(ONE), DONE, through=Line) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        monkeypatch.setattr(Line, "is_away", True)
        await press(bot, root, "form_choose-1")
        await bot.idle()
        monkeypatch.setattr(Line, "is_away", False)
        failed = [seen for seen in bot.thread(root) if "retry" in str(seen.blocks)]
        bot.workspace.press("U1", CHANNEL, failed[-1].ts, "retry", now=bot.now)
        await bot.deliver()
        await bot.idle()
        assert bot.outcomes == ["asked", "refused", "answered"]
        assert {"kind": "data", "data": {"env": "prod"}} in sent(bot)["parts"]


@on_virtual_time
async def test_where_slack_refuses_the_blocks_the_form_is_a_text() -> None:
    refused = ["invalid_blocks", "invalid_blocks", None]  # also with buttons for everybody
    faults = {"chat.stopStream": refused, "chat.update": refused, "chat.postMessage": refused}
    async with run_bot(asking(SIX, "Tell me."), DONE, faults=faults) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        read = "\n".join(seen.read for seen in bot.thread(root))
        assert "Your name" in read
        assert "Reply in this thread to answer." in read
        await bot.say("Ann, prod", thread_ts=root)
        await bot.idle()
        assert bot.outcomes == ["asked", "answered"]


@on_virtual_time
async def test_who_is_erased_has_no_form_left() -> None:
    store = MemoryStore()
    async with run_bot(asking(ONE), DONE, store=store) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert (await subjects.erase(store, "U1", None)).records["forms"] == 1
        await press(bot, root, "form_choose-0")
        assert told(bot, root, "U1")[0].startswith("I no longer know this form.")
        assert len(bot.agent.questions) == 1


# -- a form that is not needed, and none


@on_virtual_time
async def test_a_form_that_nobody_needs_any_more_is_closed() -> None:
    done = answer("You are in.").moments[1:]
    later = [Moment(600.0 + each.t, event=each.event, end=each.end) for each in done]
    async with run_bot(waits(*later)) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(60)
        assert "form_link" in str(bot.thread(root)[1].blocks)
        await bot.idle()
        assert "form_link" not in str(bot.thread(root)[1].blocks)
        assert bot.outcomes == ["answered"]


@on_virtual_time
async def test_a_question_in_words_has_no_form() -> None:
    async with run_bot(question("Which?"), DONE) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert "form_" not in str(bot.thread(root)[1].blocks)
        await bot.say("That.", thread_ts=root)
        await bot.idle()
        assert bot.calls("chat.update") == []
