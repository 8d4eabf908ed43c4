"""Signs agent cards with a2a-sdk's own signer, which is not ours."""

from __future__ import annotations

from typing import Any

from a2a.types import AgentCard
from a2a.utils.signing import ProtectedHeader, create_agent_card_signer

from tests.signing_keys import KeyPair


def signed(card: AgentCard, pair: KeyPair, **header: Any) -> AgentCard:
    """`card`, with one signature more. `header`: what its protected header says besides, or instead."""
    algorithm = "RS256" if pair.key.key_type == "RSA" else "ES256"
    told: Any = {"kid": pair.key.kid, "alg": algorithm, "typ": "JOSE", **header}
    return sign_by(card, pair.key.as_pem(private=True), told)


def sign_by(card: AgentCard, key: Any, header: ProtectedHeader) -> AgentCard:
    """`card`, signed with any key."""
    return create_agent_card_signer(key, header)(card)
