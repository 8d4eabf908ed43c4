"""Several agents on the page: names and pictures of their own, a choice that its asker sees, the Home tab."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from slack_bot.playground.visitor import CHANNEL
from slack_bot.playground.workspace import RunningWorkspace, open_workspace
from slack_bot.testing.agent.scripted import serve_scripted
from slack_bot.testing.harness import wait_until
from tests.features.routing.town import CUSTOMIZED, skilled
from tests.playground.test_workspace import ask, bot_of

from .chromium import Browser

_AUTHORS = "[...document.querySelectorAll('#thread .message')].map((one) => one.dataset.by)"


@asynccontextmanager
async def three_agents(folder: Path) -> AsyncIterator[RunningWorkspace]:
    async with AsyncExitStack() as stack:
        alone = await stack.enter_async_context(open_workspace(manifest=CUSTOMIZED))
        research, ops = [await stack.enter_async_context(serve_scripted(each)) for each in skilled().values()]
        file = folder / "slack_bot.toml"
        file.write_text(
            f'[agents.research]\nurl = "{research}"\nicon = ":mag:"\n[agents.ops]\nurl = "{ops}"\n'
            '[routing]\nchoose = "skills"\n',
            "utf-8",
        )
        store = f"sqlite:///{folder}/bot.sqlite"
        bot = bot_of(
            alone, "http://127.0.0.1:9/", folder, SLACK_BOT_CONFIG=str(file), SLACK_BOT_STORE__URL=store
        )
        await stack.enter_async_context(bot)
        yield alone


async def test_names_pictures_a_choice_and_the_home_tab(browser: Browser, tmp_path: Path) -> None:
    async with three_agents(tmp_path) as alone:
        page = await browser.open(alone.url)
        await page.until("document.body.dataset.ready")
        root = await ask(alone, "write a report")
        await wait_until(lambda: len(alone.workspace.thread(CHANNEL, root)) > 1, alone.workspace)
        await page.click(f"#roots [data-ts='{root}'] .replies")
        buttons = "document.querySelectorAll('#thread [data-action^=choose_agent]').length"
        await page.until(f"{buttons} === 2")
        await page.click("#people button:nth-child(2)")
        await page.until(f"{buttons} === 0")
        await page.click("#people button:nth-child(1)")
        await page.until(f"{buttons} === 2")
        await page.click("#thread [data-action^=choose_agent]")
        await page.until(f"String({_AUTHORS}) === 'Maya,slack_bot,Library'")
        await page.until("document.querySelector('#thread .message:last-child .face .emoji')")
        direct = alone.workspace.direct("U0MAYA")
        await page.click(f"#places [data-channel={direct}]")
        await page.click("[data-tab=home]")
        await page.until("document.querySelector('#home select')")
        await page.value(
            "(() => { const it = document.querySelector('#home select'); it.value = 'Operations';"
            " it.dispatchEvent(new Event('change')); })()"
        )
        view = alone.workspace.state.views
        chosen = "'initial_option': {'text': {'type': 'plain_text', 'text': 'Operations'}"
        await wait_until(lambda: chosen in str(view.get("home-U0MAYA")), alone.workspace)
        assert page.problems == []
