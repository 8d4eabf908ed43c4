"""The record of a form, and a private link: also where Slack refuses. Their use: `test_form_handler`."""

from __future__ import annotations

from slack_bot.slack import forms
from slack_bot.slack.form_messages import send_sign_in, write_record
from slack_bot.testing.harness import run_bot
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.form import Form, FormKind
from slack_bot.turn.progress import MessageRecord
from slack_bot.turn.record import Question, ThreadKey

SIGN_IN = Form("", kind=FormKind.AUTH, url="https://login.example/x")


@on_virtual_time
async def test_a_record_takes_the_place_of_what_is_below_the_text() -> None:
    async with run_bot(faults={"chat.update": [None, "message_not_found"]}) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        (shown,) = [seen for seen in bot.thread(root) if seen.is_bot]
        writer = bot.app.threads.notices.writer(Question(ThreadKey("T1", "C1", root), root, "U1", "T1", "hi"))
        message = MessageRecord(shown.ts, "stream", body=shown.text)
        assert await writer.carry_out(write_record(writer.calls, message, forms.note_of_end("Stopped.")))
        assert bot.thread(root)[1].read == f"{shown.text}\n\nStopped."
        assert not await writer.carry_out(
            write_record(writer.calls, message, forms.note_of_end("Stopped again."))
        )


@on_virtual_time
async def test_a_link_that_slack_takes_in_no_way() -> None:
    faults = {"chat.postEphemeral": ["user_not_in_channel"], "conversations.open": ["user_not_found"]}
    async with run_bot(faults=faults) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        writer = bot.app.threads.notices.writer(Question(ThreadKey("T1", "C1", root), root, "U1", "T1", "hi"))
        assert not await writer.carry_out(send_sign_in(writer.calls, SIGN_IN, "U1"))
