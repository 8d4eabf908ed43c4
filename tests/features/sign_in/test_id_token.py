"""An ID token counts only if it is the issuer's, for the bot, of this sign-in, and still good."""

from __future__ import annotations

from typing import Any

import pytest

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
