"""What is tried in a direct message."""

from __future__ import annotations

from .operator import WARNING, environment, one, well

__all__ = ["environment"]


async def test_12_a_person_who_cannot_be_written_to_and_a_workspace_without_streams(
    environment: dict[str, str],
) -> None:
    async with well(environment) as setup:
        assert "U404 cannot be written to" in (await one(setup, person="U404")).text
        setup.workspace.faults.set("chat.startStream", ["feature_disabled"])
        found = await one(setup, WARNING, person="U1")
        assert found.text.startswith("Slack refuses streams here (feature_disabled)")
