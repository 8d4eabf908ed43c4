"""The playground and a browser that shows its page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from slack_bot.playground.server import Playground, open_playground

from .chromium import Browser, Page, open_browser


@pytest.fixture
async def browser(tmp_path: Path) -> AsyncIterator[Browser]:
    """A Chromium without any page."""
    async with open_browser(tmp_path) as opened:
        yield opened


@pytest.fixture
async def playground() -> AsyncIterator[Playground]:
    """A playground whose agent writes four times as fast as usual."""
    async with open_playground(pace=120) as opened:
        yield opened


@pytest.fixture
async def page(browser: Browser, playground: Playground) -> AsyncIterator[Page]:
    """The playground's page; in the end it must have had no problems."""
    opened = await browser.open(playground.url)
    await opened.until("document.body.dataset.ready")
    yield opened
    assert opened.problems == []
