"""The guard of a live agent that takes tokens of a real authorization server."""

from __future__ import annotations

from tests.authorization_server import TokenServer
from tests.openid_server import OpenIDServer


class TokenGuard:
    """Takes tokens that are active at the server, with this audience and scope. Keeps all that came."""

    def __init__(self, server: TokenServer | OpenIDServer, audience: str = "", scope: str = "") -> None:
        self.server, self.audience, self.scope = server, audience, scope
        self.taken: list[str] = []
        self.refused: list[str] = []

    async def __call__(self, headers: dict[str, str]) -> tuple[int, str] | None:
        token = headers.get("authorization", "").removeprefix("Bearer ")
        about = await self.server.about(token)
        status, error, why = 401, "invalid_token", "The token has expired"
        if about["active"]:
            if about["aud"] != self.audience:
                why = "The audience is wrong"
            elif self.scope not in about["scope"]:
                status, error, why = 403, "insufficient_scope", f"The scope {self.scope} is wanted"
            else:
                self.taken.append(token)
                return None
        self.refused.append(token)
        return status, f'Bearer realm="agent", error="{error}", error_description="{why}"'
