"""PURE. Where people have signed in, so that agents act with their rights."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from .collection import Collection, KeptPerson, Key


class SignInKey(NamedTuple):
    """A person of a workspace, and the agent that acts with that person's rights."""

    team: str
    user: str
    agent: str


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A person's tokens for an agent. Times are seconds since 1970.

    `host`: of the authorization server; `sealed`: the tokens, encrypted; `version` counts their renewals.
    `renewer`: who renews them, until `renewing_until`.
    """

    host: str
    issuer: str
    sealed: str = field(repr=False)
    signed_in_at: float
    renewed_at: float
    renew_at: float
    ends_at: float
    version: int = 0
    renewer: str = ""
    renewing_until: float = 0.0

    def claimed(self, renewer: str, now: float, until: float) -> SignedIn | None:
        """A copy that `renewer` renews; None: another one does."""
        if self.renewer and now < self.renewing_until:
            return None
        return replace(self, renewer=renewer, renewing_until=until)

    def released(self, renewer: str) -> SignedIn | None:
        """A copy that may be renewed; None: another one renews it."""
        return replace(self, renewer="", renewing_until=0.0) if self.renewer == renewer else None


def _person_of(key: Key, _record: SignedIn) -> list[KeptPerson]:
    return [KeptPerson(key[1], key[0])]


def _without_tokens(key: Key, record: SignedIn, _user: str) -> dict[str, str | float]:
    return {"agent": key[2], "host": record.host, "signed_in_at": record.signed_in_at}


SIGNED_IN = Collection(
    "signed_in",
    SignedIn,
    age=lambda ages: ages.conversations,
    made=lambda record: record.signed_in_at,
    people=_person_of,
    view=_without_tokens,
    label="sign-ins",
)
"""By workspace, person and agent. The age begins with the last renewal of the tokens."""
