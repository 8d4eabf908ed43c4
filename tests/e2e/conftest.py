"""The playground and a browser that shows its page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from slack_bot.playground.server import Playground, open_playground
from slack_bot.settings.models import ReferenceSettings

from .chromium import CHROMIUM, Browser, Page, open_browser, running_chromium


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the one Chromium of this process. Skips the tests that want it where there is none."""
    if CHROMIUM is None:
        pytest.skip("no chromium")
    with running_chromium(tmp_path_factory.mktemp("chromium")) as address:
        yield address


@pytest.fixture
async def browser(chromium: str) -> AsyncIterator[Browser]:
    """A browser without what another test left."""
    async with open_browser(chromium) as opened:
        yield opened


@pytest.fixture
async def playground() -> AsyncIterator[Playground]:
    """A playground whose agent writes four times as fast as usual."""
    async with open_playground(chosen=ReferenceSettings(pace=120)) as opened:
        yield opened


@pytest.fixture
async def page(browser: Browser, playground: Playground) -> AsyncIterator[Page]:
    """The playground's page; in the end it must have had no problems."""
    opened = await browser.open(playground.url)
    await opened.until("document.body.dataset.ready")
    yield opened
    assert opened.problems == []
