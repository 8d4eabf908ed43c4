"""The check of `doctor` for the address at which agents reach the bot."""

import asyncio
import socket
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

from ...observe.findings import Diagnosis, failed, ok, warning
from ...settings.load import Settings


async def check(settings: Settings) -> AsyncIterator[Diagnosis]:
    """Check that the host of `public_url` is known, and that it uses https."""
    push = settings.push
    if push.public_url is None:
        return
    parts = urlsplit(push.public_url)
    host = parts.hostname or ""
    try:
        await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        remedy = "check SLACK_BOT_PUSH__PUBLIC_URL"
        yield failed("push address", f"nobody knows the host {host}", remedy)
        return
    if parts.scheme != "https":
        text = "SLACK_BOT_PUSH__PUBLIC_URL is not https: what agents post can be read on its way"
        yield warning("push address", text, "put a proxy with TLS in front of it")
        return
    yield ok("push address", f"{host} is known; that agents reach it shows with their first post")
