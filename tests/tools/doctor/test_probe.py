"""What is tried in a direct message."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from slack_bot.observe.outage import Outage
from slack_bot.settings.store import StoreSettings
from slack_bot.slack.features import DAY, FeatureFinding, WorkspaceFeature
from slack_bot.store.knowledge import workspace_name
from slack_bot.store.stores import open_store
from tests.store import subjects

from .operator import OK, WARNING, Setup, bad, environment, one, well

__all__ = ["environment"]


async def test_12_a_person_who_cannot_be_written_to_and_a_workspace_without_streams(
    environment: dict[str, str],
) -> None:
    async with well(environment) as setup:
        assert "U404 cannot be written to" in (await one(setup, person="U404")).text
        setup.workspace.faults.set("chat.startStream", ["feature_disabled"])
        found, not_kept = bad(await setup.look(person="U1"))
        assert found.text.startswith("Slack refuses streams here (feature_disabled)")
        assert not_kept.text.startswith("there is no store yet that could remember")


async def test_a_connection_that_breaks_is_a_finding(environment: dict[str, str]) -> None:
    async with well(environment) as setup:
        setup.workspace.faults.set("chat.startStream", ["cut"])
        setup.workspace.faults.set("apps.manifest.export", ["cut"])
        found = {each.check: each.text for each in await setup.look(person="U1") if each.state != OK}
        assert "no answer" in found["streams"]
        assert found["events"].startswith("Slack did not answer the configuration token")


async def test_whether_streams_draw_tables_is_remembered_for_the_bot(environment: dict[str, str]) -> None:
    url, team = "sqlite:///bot.sqlite", "T1"
    async with well(environment) as setup:
        rules = setup.workspace.state.rules
        setup.workspace.state.rules = replace(rules, draws_tables=False)
        found = await one(setup, WARNING, person="U1")
        assert (
            found.text == "there is no store yet that could remember what is missing: the bot tries it again"
        )
        for draws, known in ((False, "no"), (True, "yes")):
            setup.workspace.state.rules = replace(rules, draws_tables=draws)
            store = await open_store(subjects.options(url, lock_wait=StoreSettings().lock_wait), Outage())
            assert bad(await setup.look(person="U1")) == [], "while the bot runs"
            profile = await subjects.profile(store, workspace_name(team))
            assert {name: value.split()[0] for name, value in profile.items()} == {
                "streams": "yes", "tables": known, "sessions": "yes", "files": "yes",
            }  # fmt: skip
            await store.close()


async def remembered(setup: Setup, **given: float) -> list[tuple[str, str]]:
    """What the doctor shows without a probe, and how it counts."""
    return [(each.text, each.state) for each in await setup.look(**given) if each.check == "workspace"]


async def test_the_doctor_shows_what_is_remembered_and_since_when(environment: dict[str, str]) -> None:
    store = await open_store(
        subjects.options("sqlite:///bot.sqlite", lock_wait=StoreSettings().lock_wait), Outage()
    )
    async with well(environment) as setup:
        assert await remembered(setup) == []
        refused = {"chat.startStream": "feature_disabled", "files.getUploadURLExternal": "missing_scope"}
        for method, error in refused.items():
            setup.workspace.faults.set(method, [error])
        assert [each.check for each in bad(await setup.look(person="U1"))] == ["streams", "files"]
        known = {
            name: FeatureFinding.parse(text)
            for name, text in (await subjects.profile(store, workspace_name("T1"))).items()
        }
        assert {name: found and found.error for name, found in known.items()} == {
            "streams": "feature_disabled", "sessions": "", "files": "missing_scope",
        }  # fmt: skip
        (streams, bad_one), (sessions, good), (files, _) = await remembered(setup)
        assert streams.startswith("streams: does not work (feature_disabled), found on 20")
        assert (bad_one, good) == (WARNING, OK)
        assert sessions.startswith("sessions: works") and files.endswith("the bot does not try")
        (streams, state), *_ = await remembered(setup, ahead=31 * DAY)
        assert streams.endswith("the bot tries again") and state is OK
    await store.close()


async def test_what_may_work_elsewhere_or_later_is_not_remembered(environment: dict[str, str]) -> None:
    store = await open_store(
        subjects.options("sqlite:///bot.sqlite", lock_wait=StoreSettings().lock_wait), Outage()
    )
    async with well(environment) as setup:
        for error in ("channel_type_not_supported", "internal_error"):
            setup.workspace.faults.set("chat.startStream", [error])
            await one(setup, WARNING, person="U1")
            assert WorkspaceFeature.STREAMS not in await subjects.profile(store, workspace_name("T1"))
    await store.close()


async def test_whether_streams_show_the_names_of_several_agents(environment: dict[str, str]) -> None:
    store = await open_store(
        subjects.options("sqlite:///bot.sqlite", lock_wait=StoreSettings().lock_wait), Outage()
    )
    async with well(environment) as setup:
        file = f'[agents.ops]\nurl = "{environment["A2A_AGENT_URL"]}"\n'
        Path("agents.toml").write_text(file, "utf-8")  # noqa: ASYNC240
        environment["SLACK_BOT_CONFIG"] = "agents.toml"
        scope, names = bad(await setup.look(person="U1"))
        assert scope.text.startswith("chat:write.customize is missing: the answers of all agents stand under")
        assert names.text == ("Slack refuses them (missing_scope): the agent's name is below its answers")
        state = setup.workspace.state
        state.manifest = replace(state.manifest, scopes=state.manifest.scopes | {"chat:write.customize"})
        for shows, words in ((False, "streams do not show them"), (True, "answers stand under the name")):
            state.rules = replace(state.rules, names_streams=shows)
            found = {each.check: each for each in await setup.look(person="U1")}
            assert found["names"].state is OK and found["names"].text.startswith(words)
            kept = await subjects.profile(store, workspace_name("T1"))
            assert kept["names"].startswith("yes" if shows else "no")
        assert setup.workspace.history(setup.workspace.direct("U1")) == []
    await store.close()
