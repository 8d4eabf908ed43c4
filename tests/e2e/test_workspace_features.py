"""What a probe found missing in the workspace is not tried."""

from __future__ import annotations

from dataclasses import replace

from slack_bot.settings.models import StreamSettings
from slack_bot.slack.features import FeatureFinding, WorkspaceFeature
from slack_bot.store.knowledge import workspace_name
from slack_bot.testing.harness import BotHarness, run_bot
from slack_bot.testing.slack.workspace import WorkspaceRules
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.form_tapes import ONE, asking
from tests.store import subjects

TEXT = "A line of the answer.\n" * 40
NO_SESSIONS = replace(WorkspaceRules.real(), agent_sessions=False)


async def lacking(bot: BotHarness, *features: WorkspaceFeature, days: float = 0.0) -> None:
    """As `doctor --probe` stored it so many days ago."""
    for feature in features:
        finding = FeatureFinding(False, bot.now - days * 86_400.0, "feature_disabled")
        await subjects.save_fact(bot.store, workspace_name("T1"), feature, str(finding), bot.now)


def called(bot: BotHarness) -> set[str]:
    return {call.method for call in bot.workspace.calls}


@on_virtual_time
async def test_without_streams_an_answer_is_edited_from_its_first_message_on() -> None:
    async with run_bot(answer(TEXT, seconds=20.0)) as bot:
        await lacking(bot, WorkspaceFeature.STREAMS)
        root = await bot.ask("hi")
        await bot.idle()
        assert "".join(bot.read(root)).strip() == TEXT.strip()
        assert "chat.startStream" not in called(bot) and "chat.update" in called(bot)


@on_virtual_time
async def test_after_the_days_streams_are_tried_again() -> None:
    days = StreamSettings().workspace_days
    async with run_bot(answer(TEXT, seconds=20.0)) as bot:
        await lacking(bot, WorkspaceFeature.STREAMS, days=days + 1)
        await bot.ask("hi")
        await bot.idle()
        assert "chat.startStream" in called(bot)


@on_virtual_time
async def test_without_agent_sessions_none_is_set_or_named() -> None:
    for is_known in (False, True):
        async with run_bot(asking(ONE, "Where?"), answer("Done."), rules=NO_SESSIONS) as bot:
            if is_known:
                await lacking(bot, WorkspaceFeature.SESSIONS)
            bot.workspace.add_channel("D1", kind="im")
            await bot.say("hi", channel="D1")
            await bot.idle()
            sessions = {method for method in called(bot) if method.startswith("agents.sessions.")}
            stops = bot.calls("chat.stopStream")
            assert bool(sessions) is not is_known
            assert any("session_status" in args for args in stops) is not is_known
            assert bot.outcomes == ["asked"]


@on_virtual_time
async def test_without_uploads_an_answer_has_as_many_messages_as_it_needs() -> None:
    async with run_bot(answer(TEXT * 20, seconds=20.0), max_segments=2, rotate_bytes=2_000) as bot:
        await lacking(bot, WorkspaceFeature.FILES)
        root = await bot.ask("hi")
        await bot.idle()
        assert "".join(bot.read(root)).replace("\n", "") == (TEXT * 20).replace("\n", "")
        assert not any(method.startswith("files.") for method in called(bot))
