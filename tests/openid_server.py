"""The OpenID provider of `tests/peers/openid_server.py`, started and set up for a test; and a browser."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx

SECRET = "the-secret-of-the-bot"
ALICE = {"email": "alice@example.com", "email_verified": True}
BOB = {"email": "bob@example.com", "email_verified": True}


class GivenToken(NamedTuple):
    """A pair of tokens, whose they are, and whether the first one can be used."""

    access: str
    refresh: str
    account: str
    is_active: bool


class OpenIDServer:
    """A running one: its address, and what the tests may set and see."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._http = httpx.Client(base_url=url, trust_env=False)

    def set_up(self, **state: Any) -> None:
        """As new, with two people."""
        self._http.post("/control", json={"people": {"alice": ALICE, "bob": BOB}, **state}).raise_for_status()

    def change(self, **state: Any) -> None:
        self._http.post("/control", json={"keep": True, **state}).raise_for_status()

    def asked(self, grant: str = "") -> list[dict[str, str]]:
        """The forms of the requests for tokens so far; with `grant`, of that kind."""
        forms = [each["form"] for each in self._http.get("/seen").json()["seen"]]
        return [each for each in forms if not grant or each["grant_type"] == grant]

    def registrations(self) -> list[dict[str, Any]]:
        """What clients said of themselves who asked to be registered."""
        found: list[dict[str, Any]] = self._http.get("/seen").json()["registrations"]
        return found

    def tokens(self) -> list[GivenToken]:
        """All that it gave."""
        return [GivenToken(*each) for each in self._http.get("/seen").json()["tokens"]]

    async def about(self, token: str) -> dict[str, Any]:
        """RFC 7662, for a server that gets tokens."""
        async with httpx.AsyncClient(base_url=self.url, trust_env=False) as http:
            found: dict[str, Any] = (await http.post("/introspect", data={"token": token})).json()
            return found

    def close(self) -> None:
        self._http.close()


class Browser:
    """One person's: it is signed in at the authorization server as `account`, and follows redirects."""

    def __init__(self, account: str) -> None:
        limits = httpx.Limits(max_keepalive_connections=0)  # a server may end between two requests
        self._http = httpx.AsyncClient(follow_redirects=False, trust_env=False, limits=limits, timeout=30)
        self._http.cookies.set("account", account, domain="127.0.0.1")

    async def open(self, url: str, hops: int = 5) -> httpx.Response:
        """Open an address, and follow up to so many redirects."""
        answer = await self._http.get(url)
        while answer.is_redirect and hops:
            hops -= 1
            answer = await self._http.get(answer.headers["location"])
        return answer

    async def type_in(self, url: str, code: str) -> httpx.Response:
        """Type in a code that another device shows."""
        return await self._http.post(url, data={"user_code": code})

    async def close(self) -> None:
        await self._http.aclose()


@contextmanager
def openid_server() -> Iterator[OpenIDServer]:
    """The process."""
    words = [sys.executable, "-m", "tests.peers.openid_server"]
    root = Path(__file__).parents[1]
    process = subprocess.Popen(words, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    with process.stdout:
        server = OpenIDServer(process.stdout.readline().strip())
        try:
            yield server
        finally:
            server.close()
            process.kill()
            process.wait()
