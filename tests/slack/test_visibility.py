"""Buttons for those who may use them: who sees which, and what is done where Slack does not know that."""

from __future__ import annotations

from pathlib import Path

import pytest

from slack_bot.slack.blocks import actions, context
from slack_bot.slack.visibility import answerers, has_field, shown_to, without_field
from slack_bot.testing.harness import CHANNEL, run_bot
from slack_bot.testing.slack.rules import WorkspaceRules
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.buttons import TurnButton
from slack_bot.turn.form import Form, FormKind
from tests.form_tapes import approval, press

APPROVAL = Form("Deploy?", kind=FormKind.APPROVAL)


def test_only_buttons_are_hidden_and_nothing_of_it_stays_without_the_field() -> None:
    blocks = [context("Note."), actions({TurnButton.RETRY: "Try again"}, "t")]
    shown = shown_to(blocks, ["U1"])
    assert shown[0] == blocks[0]
    assert shown[1]["elements"][0]["visible_to_user_ids"] == ["U1"]
    assert shown_to(blocks, []) == blocks
    assert has_field({"blocks": shown}) and not has_field({"blocks": blocks}) and not has_field({"text": "x"})
    assert without_field({"blocks": shown, "text": "x"}) == {"blocks": blocks, "text": "x"}


@pytest.mark.parametrize(
    ("form", "asker", "approvers", "who"),
    [
        (Form("Which?"), "U1", (), ("U1",)),
        (Form("Which?"), "U1", ("U2",), ("U2", "U1")),
        (Form("Which?"), "", (), ()),
        (APPROVAL, "U1", (), ("U1",)),
        (APPROVAL, "U1", ("U2", "U3"), ("U2", "U3")),
        (APPROVAL, "U1", ("U1",), ("U1",)),
        (APPROVAL, "", ("U2",), ("U2",)),
        (APPROVAL, "U1", ("U2", "S9"), ()),
    ],
)
def test_who_may_answer_sees_the_buttons(
    form: Form, asker: str, approvers: tuple[str, ...], who: tuple[str, ...]
) -> None:
    assert answerers(form, asker, approvers) == who


@on_virtual_time
async def test_an_approval_is_seen_by_its_approvers_and_refused_to_all_others(tmp_path: Path) -> None:
    (file := tmp_path / "slack_bot.toml").write_text('[channel]\napprovers = ["U2"]\n', "utf-8")
    async with run_bot(approval(), config=str(file)) as bot:
        root = await bot.ask("deploy")
        await bot.idle()
        seen = {user: bot.workspace.thread(CHANNEL, root, viewer=user)[-1].read for user in ("U1", "U2")}
        assert "Approve" in seen["U2"] and "Approve" not in seen["U1"]
        await press(bot, root, "form_approve", user="U1")  # as somebody could who forges it
        assert bot.ephemeral(root)[-1][1] == "Only those who may approve in this channel can decide this."


@on_virtual_time
async def test_where_slack_does_not_know_the_field_everybody_sees_the_buttons(tmp_path: Path) -> None:
    rules = WorkspaceRules(hides_buttons=False)
    async with run_bot(approval(), approval(), rules=rules) as bot:
        for _ in range(2):
            root = await bot.ask("deploy")
            await bot.idle()
            assert "Approve" in bot.workspace.thread(CHANNEL, root, viewer="U2")[-1].read
        refused = [call for call in bot.workspace.calls if call.error == "invalid_blocks"]
        assert len(refused) == 1
