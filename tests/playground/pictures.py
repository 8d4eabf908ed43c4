"""Pictures of the playground's page: `python -m tests.playground.pictures OUTDIR [SCENE...]`.

Each scene is played in a playground of its own, in Chromium, and kept at three widths, light and dark.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from slack_bot.playground.server import Playground, open_playground
from slack_bot.settings.load import Settings
from slack_bot.settings.models import AgentSettings, ReferenceSettings
from slack_bot.testing.agent.scripted import ScriptedAgent, serve_scripted
from slack_bot.testing.overrides import with_overrides
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.tape.tape import Moment, Tape
from tests.e2e.chromium import Page, open_browser, running_chromium

from .scenes import SCENES

WIDTHS = ((1440, 900), (1024, 768), (390, 844))


async def take(page: Page, folder: Path, name: str) -> None:
    """What is seen, at each width, light and dark."""
    for width, height in WIDTHS:
        await page.size(width, height)
        for colours in ("light", "dark"):
            await page.prefer(prefers_color_scheme=colours, prefers_reduced_motion="reduce")
            await page.value(
                "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
            )
            await page.picture(folder / f"{name}-{width}-{colours}.png")
    await page.size(*WIDTHS[0])


@asynccontextmanager
async def opened(overrides: Mapping[str, object]) -> AsyncIterator[Playground]:
    """A playground. With settings of the agent it has one that breaks off and never ends. `toml`: the text of
    its file of channels, agents and schedules.
    """
    async with AsyncExitStack() as stack:
        if (toml := overrides.get("toml")) is not None:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            (file := Path(folder, "slack_bot.toml")).write_text(str(toml), "utf-8")
            overrides = {name: value for name, value in overrides.items() if name != "toml"}
            overrides = {**overrides, "config": str(file)}
        if not set(overrides) & set(AgentSettings.model_fields):
            channels = with_overrides(Settings(), overrides) if overrides else None
            opening = open_playground(chosen=ReferenceSettings(pace=120), channels=channels, has_past=True)
        else:
            whole = answer("I began to look into it, and this is what I have.", seconds=1)
            kept = whole.moments[:-3]
            agent = ScriptedAgent(Tape(whole.head, (*kept, Moment(kept[-1].t + 0.01, end="cut"))))
            url = await stack.enter_async_context(serve_scripted(agent))
            opening = open_playground(theirs=with_overrides(Settings(), {"agent.url": url, **overrides}))
        yield await stack.enter_async_context(opening)


async def main(folder: Path, names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as profile, running_chromium(Path(profile)) as address:
        for name in names or SCENES:
            scene, overrides = SCENES[name]
            async with (
                opened(overrides) as playground,
                open_browser(address) as browser,
            ):
                page = await browser.open(playground.url, *WIDTHS[0])
                await page.until("document.body.dataset.ready")
                try:
                    await scene(page, playground)
                    assert page.problems == [], page.problems
                except (AssertionError, TimeoutError) as error:
                    print(f"{name}: {error}")
                await take(page, folder, name)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("scenes", nargs="*", choices=[[], *SCENES], help="default: all")
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(chosen.folder, chosen.scenes))
