"""The line below an answer, and what doctor says of limits."""

from __future__ import annotations

from pathlib import Path

import pytest

from slack_bot.features.usage.feature import FEATURE
from slack_bot.observe.findings import DiagnosisState
from slack_bot.settings.load import load
from slack_bot.testing.harness import run_bot
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.features.usage.test_limits import ask, costs


@pytest.mark.parametrize(
    ("footer", "text"),
    [("time", "Took 3 s"), ("tokens", "40 tokens (40 in, 0 out)"), ("cost", "0.0100 USD · 40 tokens")],
)
@on_virtual_time
async def test_a_channel_may_show_what_an_answer_took(footer: str, text: str) -> None:
    async with run_bot(costs(40, cost=0.01), **{"channel.footer": footer}) as bot:
        root = await ask(bot)
        (seen,) = [each for each in bot.thread(root) if each.is_bot]
        assert text in str(seen.blocks)


@on_virtual_time
async def test_nothing_is_shown_unless_a_setting_wants_it() -> None:
    async with run_bot(costs(40, cost=0.01)) as bot:
        root = await ask(bot)
        (seen,) = [each for each in bot.thread(root) if each.is_bot]
        assert "tokens" not in str(seen.blocks) and "Took" not in str(seen.blocks)


async def found(**settings: str) -> list[tuple[DiagnosisState, str]]:
    env = {f"SLACK_BOT_{name}": value for name, value in settings.items()}
    env["A2A_AGENT_URL"] = "http://agent.invalid"
    assert FEATURE.check is not None
    look = FEATURE.check.look(load(env, None, None))
    return [(each.state, each.text) async for each in look]


async def test_doctor_names_the_limits_and_what_they_do_not_count() -> None:
    assert await found() == []
    assert await found(USAGE__PERSON_TOKENS="1000") == [(DiagnosisState.OK, "in a day: person 1,000 tokens")]
    first, second = await found(USAGE__TOTAL_COST="5")
    assert first == (DiagnosisState.OK, "in a day: all 5.00 USD")
    assert second[0] is DiagnosisState.UNKNOWN
    assert "default cost counts only if the agent itself reports money" in second[1]
    prices = {"AGENT__INPUT_PRICE": "1", "AGENT__OUTPUT_PRICE": "2"}
    assert len(await found(USAGE__TOTAL_COST="5", **prices)) == 1


async def test_of_several_agents_without_prices_doctor_has_one_finding(tmp_path: Path) -> None:
    prices = "input_price = 1\noutput_price = 2\n"
    tables = {"a": "", "b": prices, "c": "input_price = 1\n", "d": ""}
    (file := tmp_path / "bot.toml").write_text(
        "".join(f'[agents.{name}]\nurl = "http://{name}.invalid"\n{more}' for name, more in tables.items())
    )
    _, *rest = await found(USAGE__TOTAL_COST="5", CONFIG=str(file))
    ((state, text),) = rest
    assert state is DiagnosisState.UNKNOWN
    assert text.startswith("what the answers of default, a, c and d cost counts only if")
