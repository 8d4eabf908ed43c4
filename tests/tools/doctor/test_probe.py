"""What is tried in a direct message."""

from __future__ import annotations

from dataclasses import replace

from slack_bot.settings.models import StoreSettings
from slack_bot.store.contracts import Ages, workspace_name
from slack_bot.store.sqlite import open_store

from .operator import WARNING, bad, environment, one, well

__all__ = ["environment"]


async def test_12_a_person_who_cannot_be_written_to_and_a_workspace_without_streams(
    environment: dict[str, str],
) -> None:
    async with well(environment) as setup:
        assert "U404 cannot be written to" in (await one(setup, person="U404")).text
        setup.workspace.faults.set("chat.startStream", ["feature_disabled"])
        found = await one(setup, WARNING, person="U1")
        assert found.text.startswith("Slack refuses streams here (feature_disabled)")


async def test_whether_streams_draw_tables_is_remembered_for_the_bot(environment: dict[str, str]) -> None:
    url, team = "sqlite:///bot.sqlite", "T1"
    async with well(environment) as setup:
        rules = setup.workspace.state.rules
        setup.workspace.state.rules = replace(rules, draws_tables=False)
        found = await one(setup, WARNING, person="U1")
        assert (found.check, found.text) == ("tables", "there is no store yet that could remember this")
        for draws, known in ((False, "no"), (True, "yes")):
            setup.workspace.state.rules = replace(rules, draws_tables=draws)
            store = await open_store(url, Ages(), StoreSettings().lock_wait)
            assert bad(await setup.look(person="U1")) == [], "while the bot runs"
            assert await store.profile(workspace_name(team)) == {"tables": known}
            await store.close()
