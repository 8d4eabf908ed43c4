"""What becomes of the private message with the button of a sign-in."""

from __future__ import annotations

from slack_bot.store.sign_ins import SIGNED_IN
from slack_bot.testing.slack.workspace import SeenMessage
from slack_bot.text.sign_in_words import SIGN_IN_REFUSALS
from slack_bot.turn.buttons import TurnButton
from tests.features.sign_in.town import ALICES, Town, host, nothing_is_kept, sign_in, town
from tests.openid_server import OpenIDServer


def standing(here: Town) -> list[SeenMessage]:
    """The private messages that Alice still sees in the messages with the bot, the oldest first."""
    place = here.place()
    roots = here.workspace.history(place)
    seen = [each for root in roots for each in here.workspace.thread(place, root.ts)]
    return [each for each in seen if each.ephemeral_for == "U1"]


def buttons(message: SeenMessage) -> list[str]:
    return [each["action_id"] for block in message.blocks for each in block.get("elements", [])]


async def press(here: Town) -> None:
    """Alice presses the newest button, which opens the link too."""
    await here.until(lambda: standing(here) and buttons(standing(here)[-1]))
    message = standing(here)[-1]
    here.workspace.press("U1", here.place(), message.ts, TurnButton.SIGN_IN, now=here.app.clock.wall())


async def test_after_its_use_the_message_says_that_it_is_done(provider: OpenIDServer) -> None:
    async with town(provider) as here:
        root = here.ask("echo one")
        await here.link()
        await press(here)
        await sign_in(here)
        assert await here.answered(root) == "echo one"
        (message,) = standing(here)
        assert message.text == f"You are signed in at {host(provider)}. Your question goes on."
        assert buttons(message) == []


async def test_after_another_person_s_account_there_is_a_new_button_and_why(provider: OpenIDServer) -> None:
    async with town(provider) as here:
        root = here.ask("echo one")
        await here.link()
        await press(here)
        await sign_in(here, "bob")
        await here.link(number=2)
        await here.until(lambda: len(standing(here)) == 1)
        (message,) = standing(here)
        assert message.text.startswith(f"The account that signed in at {host(provider)} is not yours,")
        assert buttons(message) == [TurnButton.SIGN_IN]
        await nothing_is_kept(here, provider)
        await press(here)
        await sign_in(here, number=2)
        assert await here.answered(root) == "echo one"
        assert await here.app.store.get(SIGNED_IN, ALICES) is not None


async def test_after_the_third_the_question_is_not_asked(provider: OpenIDServer) -> None:
    async with town(provider) as here:
        here.ask("echo one")
        for number in (1, 2, 3):
            await sign_in(here, "bob", number=number)
        said = await here.refused(number=4)
        assert said == SIGN_IN_REFUSALS["other person"].format("default", host(provider))
        await nothing_is_kept(here, provider)


async def test_a_stop_takes_the_button_away(provider: OpenIDServer) -> None:
    async with town(provider) as here:
        root = here.ask("echo one")
        await here.link()
        await press(here)
        here.workspace.say("U1", here.place(), "stop", now=here.app.clock.wall(), thread_ts=root)
        await here.until(lambda: here.messages(root))
        await here.app.threads.idle()
        assert not any(buttons(each) for each in standing(here))


async def test_the_home_tab_says_that_a_question_waits_for_the_sign_in(provider: OpenIDServer) -> None:
    async with town(provider) as here:
        root = here.ask("echo one")
        await here.link()
        here.workspace.open_home("U1", now=here.app.clock.wall())
        await here.until(lambda: here.workspace.home("U1"))
        shown = " ".join(here.workspace.home("U1"))
        assert f"Waits until you sign in at {host(provider)}" in shown and "Being answered" not in shown
        await sign_in(here)
        assert await here.answered(root) == "echo one"
