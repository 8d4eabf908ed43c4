"""An ID token counts only if it is the issuer's, for the bot, of this sign-in, and still good."""

from __future__ import annotations

from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey

from slack_bot.errors import TokenRefused
from slack_bot.features.sign_in.id_token import claims_of
from tests.features.sign_in.town import nothing_is_kept, sign_in, town
from tests.openid_server import ALICE, OpenIDServer


@pytest.mark.parametrize(
    "claims",
    [
        pytest.param({"iss": "https://other.example"}, id="issuer"),
        pytest.param({"aud": "another"}, id="audience"),
        pytest.param({"exp": 1_000_000_000}, id="expired"),
        pytest.param({"nonce": "another"}, id="nonce"),
    ],
)
async def test_an_id_token_of_something_else_is_not_believed(
    provider: OpenIDServer, claims: dict[str, Any]
) -> None:
    provider.change(claims=claims, people={"alice": ALICE})
    async with town(provider) as here:
        here.ask("echo")
        assert "Nothing was kept." in await sign_in(here)
        assert "was not asked" in await here.refused()
        await nothing_is_kept(here, provider)


@pytest.mark.parametrize("ends", [10**400, -(10**400), True, "soon", None], ids=range(5))
def test_any_end_of_an_id_token_is_read(ends: Any) -> None:
    key = RSAKey.generate_key(2048, {"kid": "one"})
    claims = {"iss": "https://login.example", "aud": "bot", "sub": "alice", "exp": ends}
    token = jwt.encode({"alg": "RS256", "kid": "one"}, claims, key)
    keys = {"keys": [key.as_dict(private=False)]}
    about: dict[str, Any] = {"issuer": "https://login.example", "client_id": "bot", "nonce": None, "now": 1.0}
    if ends == 10**400:
        assert claims_of(token, keys, **about)["sub"] == "alice"
    else:
        with pytest.raises(TokenRefused, match="has expired"):
            claims_of(token, keys, **about)
