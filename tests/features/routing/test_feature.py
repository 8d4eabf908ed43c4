"""What the feature adds to a bot, and that it adds nothing where there is one agent."""

from __future__ import annotations

from pathlib import Path

import pytest

from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.threads.ports import AgentRouting
from tests.features.routing.town import FILE, SKILLS, choice_in, press, skilled, town


@on_virtual_time
async def test_a_bot_with_one_agent_has_nothing_of_it(tmp_path: Path) -> None:
    async with town(tmp_path, "") as there:
        assert type(there.bot.app.threads.routing) is AgentRouting
        work = there.bot.app.features["routing"]
        assert work.buttons == () and work.run is None
    async with town(tmp_path, FILE) as there:
        work = there.bot.app.features["routing"]
        assert "choose_agent" in {button.name for button in work.buttons} and work.run is not None


SIGN_IN = f"""
[agents.files]
url = "http://files.invalid/"
identity = "oauth"
[agents.files.oauth]
issuer = "https://login.invalid"
id = "bot"
{SKILLS}"""
KEYS = {"sign_in.keys": "a" * 43 + "=", "sign_in.base_url": "https://bot.example"}


@on_virtual_time
async def test_an_agent_at_which_people_sign_in_takes_nothing_of_it_away(tmp_path: Path) -> None:
    """The buttons of a choice, and who is listed on the Home tab."""
    async with town(tmp_path, SIGN_IN, agents=skilled(), **KEYS) as there:
        root = await there.bot.ask("write a report")
        await there.bot.idle()
        await press(there.bot, choice_in(there.bot, root), 0)
        assert there.bot.read(root)[-1] == "R."
        assert len(await there.bot.app.threads.routing.listed("U1", "T1")) == 4
        await there.bot.ask("sign out")
        await there.bot.idle()
        assert "You are not signed in" in str(there.bot.workspace.calls[-1].args)


HERE_WITHOUT = f"""{SIGN_IN}
[channels.C1]
agents = ["default", "research"]
"""


@pytest.mark.parametrize(("text", "is_named"), [(SIGN_IN, True), (FILE, False), (HERE_WITHOUT, False)])
@on_virtual_time
async def test_help_names_sign_out_where_an_agent_has_people_sign_in(
    text: str, is_named: bool, tmp_path: Path
) -> None:
    async with town(tmp_path, text, **KEYS) as there:
        await there.bot.ask("help")
        await there.bot.idle()
        (said,) = [str(each["text"]) for each in there.bot.calls("chat.postEphemeral")]
        assert "`status` says what runs here" in said
        assert ("`sign out` ends your sign-ins" in said) is is_named
