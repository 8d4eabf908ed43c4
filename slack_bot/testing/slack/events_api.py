"""The Events API's sending side: signed HTTP requests to the app's address.

No 2xx in time means: again, up to three times, with headers that say so; then lost. An app ends the retries
with `x-slack-no-retry: 1` (facts: Slack 3.3).
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import aiohttp

from ...clock import Clock
from .socket_mode import RETRY_DELAYS
from .workspace import SIGNING_SECRET, Envelope


def sign(secret: str, timestamp: int, body: str) -> str:
    """Slack's signature of a request: `v0=` and the HMAC of version, time and body."""
    digest = hmac.new(secret.encode(), f"v0:{timestamp}:{body}".encode(), hashlib.sha256)
    return f"v0={digest.hexdigest()}"


class EventsApi:
    """Delivers envelopes to `url`. Times are in seconds.

    `acknowledged` keeps what the app answered, by envelope id; `lost` what it never took.
    """

    def __init__(
        self,
        url: str,
        clock: Clock,
        *,
        secret: str = SIGNING_SECRET,
        ack_timeout: float = 3.0,
        retry_delays: Sequence[float] = RETRY_DELAYS,
    ) -> None:
        self.acknowledged: dict[str, Any] = {}
        self.lost: list[Envelope] = []
        self._url = url
        self._clock = clock
        self._secret = secret
        self._retry_delays = tuple(retry_delays)
        self._http = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=ack_timeout))

    async def close(self) -> None:
        """Release the connections."""
        await self._http.close()

    async def verify(self) -> bool:
        """The handshake when an address is entered in Slack's settings: the app must echo the challenge."""
        challenge = "emulated-challenge"
        body = json.dumps({"type": "url_verification", "token": "verification-token", "challenge": challenge})
        async with self._http.post(self._url, data=body, headers=self._headers(body, "json", {})) as response:
            return challenge in await response.text()

    async def deliver(self, envelope: Envelope) -> None:
        """Send an envelope until it is taken or lost."""
        if envelope.type == "interactive":
            kind, body = "form", urlencode({"payload": json.dumps(envelope.payload)})
        else:
            kind, body = "json", json.dumps(envelope.payload)
        retry: dict[str, str] = {}
        for attempt, delay in enumerate((0.0, *self._retry_delays), 1):
            await asyncio.sleep(delay)
            reason = await self._attempt(envelope, body, self._headers(body, kind, retry))
            if reason is None:
                return
            retry = {"X-Slack-Retry-Num": str(attempt), "X-Slack-Retry-Reason": reason}
        self.lost.append(envelope)

    async def _attempt(self, envelope: Envelope, body: str, headers: Mapping[str, str]) -> str | None:
        """None: the matter is settled. Otherwise Slack's word for why it comes again."""
        try:
            async with self._http.post(self._url, data=body, headers=headers) as response:
                if response.ok:
                    self.acknowledged[envelope.id] = await response.text()
                    return None
                if response.headers.get("x-slack-no-retry") == "1":
                    self.lost.append(envelope)
                    return None
                return "http_error"
        except TimeoutError:
            return "http_timeout"
        except aiohttp.ClientError:
            return "connection_failed"

    def _headers(self, body: str, kind: str, retry: Mapping[str, str]) -> dict[str, str]:
        now = int(self._clock.wall())
        types = {"json": "application/json", "form": "application/x-www-form-urlencoded"}
        return {
            "Content-Type": types[kind],
            "X-Slack-Request-Timestamp": str(now),
            "X-Slack-Signature": sign(self._secret, now, body),
            **retry,
        }
