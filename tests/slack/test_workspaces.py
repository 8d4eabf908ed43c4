"""Which installation acts: that of the workspace, the only one, or none."""

from __future__ import annotations

from slack_bot.observe.health import Health
from slack_bot.settings.load import Settings
from slack_bot.slack.faults import CallFailed, Fault
from slack_bot.slack.workspaces import NO_TOKEN, Installation, InstallationMaker, Workspaces
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.slack.scene import Scene, unlimited


def installation(scene: Scene, team: str) -> Installation:
    async def identity() -> dict[str, str]:
        return {"team_id": team}

    maker = InstallationMaker(Settings(), scene.clock, scene.facts.append, Health())
    return maker.new(team, scene.client, unlimited(scene.clock), identity)


@on_virtual_time
async def test_the_only_one_is_for_every_workspace() -> None:
    only = installation(scene := Scene(), "")
    workspaces = Workspaces(only)
    assert workspaces.of("T1") is workspaces.of("T2") is only
    assert not workspaces.are_several
    assert workspaces.has("T9")
    assert [*workspaces] == [only]
    assert workspaces.total_of("T1") == ""
    assert only.api.log_fields == {}
    assert scene.workspace.calls == []


@on_virtual_time
async def test_of_several_each_is_for_its_own_workspace_and_a_call_elsewhere_is_not_made() -> None:
    scene = Scene()
    maker = InstallationMaker(Settings(), scene.clock, scene.facts.append, Health())
    workspaces = Workspaces(absent=maker.absent(scene.client))
    one, two = installation(scene, "T1"), installation(scene, "T2")
    workspaces.add(one)
    workspaces.add(two)
    assert (workspaces.of("T1"), workspaces.of("T2"), len(workspaces)) == (one, two, 2)
    assert workspaces.total_of("T1") == "T1"
    assert one.api.for_turn("T1:C1:1.0").log_fields["team"] == "T1"
    assert not workspaces.has("T3")
    absent = workspaces.of("T3").api.for_turn("T3:C1:1.0")
    said = {"channel": scene.channel, "text": "hello"}
    assert await absent.call("chat.postMessage", said) == CallFailed(Fault.DEAD, NO_TOKEN)
    transport = absent.transport
    assert await transport.upload("https://slack.example/", b"x") == CallFailed(Fault.DEAD, NO_TOKEN)
    assert await transport.download("https://slack.example/", 1) == CallFailed(Fault.DEAD, NO_TOKEN)
    assert await transport.respond("https://slack.example/", {}) == CallFailed(Fault.DEAD, NO_TOKEN)
    assert scene.workspace.calls == []
