"""The authorization server of `tests/peers/authorization_server.py`, started and set up for a test."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

CLUSTER, ACCOUNT = "https://cluster.example", "system:serviceaccount:bots:slack-bot"
EXCHANGE = "api://AzureADTokenExchange"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
SECRET = "the-secret-of-the-bot"
BOT = {
    "secret": SECRET,
    "methods": ["client_secret_basic", "client_secret_post"],
    "scopes": ["ask", "tell", "api://agent/.default"],
}


class TokenServer:
    """A running one: its address, and what the tests may set and see."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._http = httpx.Client(base_url=url, trust_env=False)

    def set_up(self, **state: Any) -> None:
        """As new, with the client `bot`, and with this."""
        self._http.post("/control", json={"clients": {"bot": BOT}, **state}).raise_for_status()

    def change(self, **state: Any) -> None:
        self._http.post("/control", json={"keep": True, **state}).raise_for_status()

    def asked(self) -> list[dict[str, Any]]:
        """The requests for tokens so far."""
        found: list[dict[str, Any]] = self._http.get("/seen").json()["seen"]
        return found

    def tokens(self) -> list[str]:
        """The tokens that it gave and that were not revoked."""
        found: list[str] = self._http.get("/seen").json()["tokens"]
        return found

    async def about(self, token: str) -> dict[str, Any]:
        """RFC 7662, for a server that gets tokens."""
        async with httpx.AsyncClient(base_url=self.url, trust_env=False) as http:
            answer = await http.post("/introspect", data={"token": token})
            found: dict[str, Any] = answer.json()
            return found

    def close(self) -> None:
        self._http.close()


@contextmanager
def authorization_server(*tls: Path) -> Iterator[TokenServer]:
    """`tls`: its certificate, and the authority of those that it wants; then only its address can be used."""
    words = [sys.executable, "-m", "tests.peers.authorization_server", *map(str, tls)]
    root = Path(__file__).parents[1]
    process = subprocess.Popen(words, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    with process.stdout:
        server = TokenServer(process.stdout.readline().strip())
        try:
            yield server
        finally:
            server.close()
            process.kill()
            process.wait()
