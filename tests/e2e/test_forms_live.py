"""Forms with real sockets, and between replicas on one real Redis: whichever gets the press."""

from __future__ import annotations

from contextlib import AsyncExitStack

import pytest

from slack_bot.app import App, build
from slack_bot.clock import system_clock
from slack_bot.testing.agent.scripted import ScriptedAgent, serve_scripted
from slack_bot.testing.harness import CHANNEL, bot_on_network, bot_settings, connected, emulated, wait_until
from slack_bot.testing.overrides import with_overrides
from slack_bot.testing.slack.rendering import SeenMessage
from slack_bot.testing.slack.server import SlackServer
from slack_bot.testing.slack.workspace import Workspace
from slack_bot.testing.tape.builders import answer
from tests.form_tapes import ONE, SIX, asking
from tests.redis_server import RedisServer


def forms(workspace: Workspace, root: str) -> list[SeenMessage]:
    return [each for each in workspace.thread(CHANNEL, root) if "form_" in str(each.blocks)]


def answers(workspace: Workspace, root: str) -> list[str]:
    seen = workspace.thread(CHANNEL, root)
    return [each.text for each in seen if "Deployed." in each.text and each.state != "streaming"]


def ask(workspace: Workspace, number: int = 0) -> str:
    text = f"<@{workspace.bot.user_id}> {number}"
    return workspace.say("U1", CHANNEL, text, now=system_clock().wall())


@pytest.mark.slow
@pytest.mark.parametrize("http", [False, True])
async def test_a_modal_over_the_network(http: bool) -> None:
    tapes = asking(SIX, "Tell me."), answer("Deployed.", seconds=0.2)
    async with bot_on_network(*tapes, http=http) as (workspace, _, _):
        now = system_clock().wall
        root = ask(workspace)
        await wait_until(lambda: forms(workspace, root), workspace)
        workspace.press("U1", CHANNEL, forms(workspace, root)[0].ts, "form_fill", now=now())
        await wait_until(lambda: workspace.modal("U1"), workspace)
        for name, given in (("Your name", "ann"), ("Where", "prod")):
            workspace.fill_modal("U1", name, given, now=now())
        workspace.submit("U1", now=now())
        await wait_until(lambda: workspace.modal_errors("U1"), workspace)
        workspace.fill_modal("U1", "Your name", "Ann", now=now())
        workspace.submit("U1", now=now())
        await wait_until(lambda: answers(workspace, root), workspace)
        await wait_until(lambda: "Your name: Ann" in workspace.thread(CHANNEL, root)[1].read, workspace)
        assert workspace.modal("U1") is None


@pytest.mark.slow
async def test_any_replica_takes_the_press_and_the_answer_is_given_once(redis_server: RedisServer) -> None:
    clock, workspace = system_clock(), Workspace()
    workspace.add_channel(CHANNEL).members.update(workspace.add_user(user).id for user in ("U1", "U2"))
    tapes = [asking(ONE, ids=str(number)) for number in range(4)]
    tapes += [answer("Deployed.", seconds=0.2, ids=str(number)) for number in range(4)]
    agent = ScriptedAgent(*tapes)
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(serve_scripted(agent))
        server = await stack.enter_async_context(SlackServer(workspace, clock))
        settings = emulated(bot_settings({"approvers": ["U2"]}, url), server.api_url)
        apps: list[App] = []
        for _ in range(2):
            app = await build(with_overrides(settings, {"store.url": redis_server.url}), clock=clock)
            await stack.enter_async_context(app)
            await app.threads.replicas.start()
            await stack.enter_async_context(connected(app))
            apps.append(app)
        roots = []
        for number in range(4):
            roots.append(ask(workspace, number))
            await wait_until(lambda: forms(workspace, roots[-1]), workspace)
        for root in roots:
            ts = forms(workspace, root)[0].ts
            for user in ("U1", "U2", "U1"):
                workspace.press(user, CHANNEL, ts, "form_choose-1", now=clock.wall())
        await wait_until(lambda: all(answers(workspace, root) for root in roots), workspace)
        await wait_until(lambda: not any(forms(workspace, root) for root in roots), workspace)
        await server.settle()
        for app in apps:
            await app.threads.idle()
    assert len(agent.questions) == 8
    assert all(len(answers(workspace, root)) == 1 for root in roots)
