"""Where the skills of several agents fit, the asker chooses by a button: only the asker, and once."""

from __future__ import annotations

from pathlib import Path

from slack_bot.testing.harness import CHANNEL
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.features.routing.town import SKILLS, choice_in, press, skilled, town


@on_virtual_time
async def test_the_agent_whose_skills_fit_is_asked_and_else_the_default_one(tmp_path: Path) -> None:
    async with town(tmp_path, SKILLS, agents=skilled()) as there:
        for text, said in {"deploy it": "O.", "which papers are there?": "R.", "hello": "D."}.items():
            root = await there.bot.ask(text)
            await there.bot.idle()
            assert there.bot.read(root) == [said]
        turn = await there.bot.store.turn(f"T1:{CHANNEL}:{root}")
        assert turn is not None and turn.agent_reason == "nothing else was said (no agent's skills fit)"


@on_virtual_time
async def test_where_two_are_near_the_asker_chooses_and_nothing_is_asked_before(tmp_path: Path) -> None:
    async with town(tmp_path, SKILLS, agents=skilled()) as there:
        root = await there.bot.ask("write a report")
        await there.bot.idle()
        seen = choice_in(there.bot, root)
        assert there.asked("research") == there.asked("ops") == there.asked("default") == []
        await press(there.bot, seen, 1, user="U2")
        assert there.bot.ephemeral(root)[-1] == ("U2", "Only the person who asked can choose.")
        assert there.asked("research") == there.asked("ops") == []
        await press(there.bot, seen, 1)
        assert there.bot.read(root) == ["I asked Operations.", "O."]
        assert there.asked("ops") == ["write a report"]
        turn = await there.bot.store.turn(f"T1:{CHANNEL}:{root}")
        assert turn is not None and (turn.agent, turn.agent_reason) == ("ops", "its asker chose it")
        await there.bot.ask("and shorter", thread_ts=root)  # the thread is its
        await there.bot.idle()
        assert there.asked("ops") == ["write a report", "and shorter"]


@on_virtual_time
async def test_two_presses_ask_one_agent_once(tmp_path: Path) -> None:
    async with town(tmp_path, SKILLS, agents=skilled()) as there:
        root = await there.bot.ask("write a report")
        await there.bot.idle()
        seen = choice_in(there.bot, root)
        for number in (0, 1, 0):
            there.bot.workspace.press("U1", CHANNEL, seen.ts, f"choose_agent-{number}", now=there.bot.now)
        await there.bot.deliver()
        await there.bot.idle()
        assert len(there.asked("research")) + len(there.asked("ops")) == 1


@on_virtual_time
async def test_a_press_counts_after_a_restart(tmp_path: Path) -> None:
    agents = skilled()
    async with town(tmp_path, SKILLS, agents=agents) as there:
        root = await there.bot.ask("write a report")
        await there.bot.idle()
        old, seen = there.bot, choice_in(there.bot, root)
    async with town(tmp_path, SKILLS, agents=agents, after=old) as there:
        await press(there.bot, seen, 0)
        assert there.bot.read(root) == ["I asked Library.", "R."]
        assert there.asked("ops") == []


@on_virtual_time
async def test_an_agent_that_is_gone_meanwhile_is_not_asked(tmp_path: Path) -> None:
    agents, changed = skilled(), '[agents.ops]\nurl = "http://ops.invalid/"\n'
    words = "research is not one of my agents any more. To ask default or ops,"
    async with town(tmp_path, SKILLS, agents=agents) as there:
        root = await there.bot.ask("write a report")
        await there.bot.idle()
        old, seen = there.bot, choice_in(there.bot, root)
    async with town(tmp_path, changed, agents=agents, after=old) as there:
        await press(there.bot, seen, 0)
        assert there.bot.ephemeral(root)[-1][1].startswith(words)
        await press(there.bot, seen, 1)
        assert there.bot.read(root) == ["I asked Operations.", "O."]


@on_virtual_time
async def test_who_names_an_agent_is_never_asked_to_choose(tmp_path: Path) -> None:
    async with town(tmp_path, SKILLS, agents=skilled()) as there:
        root = await there.bot.ask("ops: write a report")
        await there.bot.idle()
        assert there.bot.read(root) == ["O."]
