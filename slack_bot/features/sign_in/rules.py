"""PURE. A sign-in while it is under way: what is kept of it, and who may complete it.

The link that starts it goes to the asker alone, but a link can be passed on to a victim (RFC 8628, 5.4), and
then the cookie is the victim's too. So what counts in the end is the account that signed in: its verified
e-mail address must be the asker's.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from hashlib import sha256
from typing import Any

from ...store.collection import Collection, KeptPerson
from ...store.sign_ins import SignInKey
from ...turn.json_values import text_in

LIFE = 600.0
"""Seconds for which a link or a code can be used, and for which the question waits."""
CALLBACK_PATH = "/oauth/callback"
_MOST_VISITS = 5


def redirect_uri_below(base_url: str) -> str:
    """Where browsers come back to from an authorization server."""
    return f"{base_url.rstrip('/')}{CALLBACK_PATH}"


class SignInStage(StrEnum):
    """How far a sign-in has come. `TAKEN`: a browser came back from the authorization server."""

    OPEN = "open"
    TAKEN = "taken"
    DONE = "done"
    REFUSED = "refused"


class SignInObstacle(StrEnum):
    """Why a sign-in is not completed."""

    UNKNOWN = "unknown"
    EXPIRED = "expired"
    USED = "used"
    OTHER_BROWSER = "other browser"
    OTHER_ISSUER = "other issuer"
    DENIED = "denied"
    NO_TOKEN = "no token"
    NO_EMAIL = "no email"
    OTHER_PERSON = "other person"
    UNTRUSTED = "untrusted"


@dataclass(frozen=True, slots=True)
class BrowserVisit:
    """A browser that opened the link: hashes of its state and its cookie, and the encrypted PKCE verifier and
    nonce.
    """

    state_hash: str
    cookie_hash: str
    sealed: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class PendingSignIn:
    """A sign-in of the person in `key`. `turn`: the key of the question that waits for it.

    `name`: the hash of its link's ticket. `device`: the encrypted device code, where the person types a code
    in place of opening a link. `message`: the encrypted address at which Slack changes the private message
    with the link, known since its button was pressed. `number`: how many sign-ins the question has had.
    """

    name: str
    key: SignInKey
    turn: str
    asked_at: float
    visits: tuple[BrowserVisit, ...] = ()
    stage: SignInStage = SignInStage.OPEN
    why: str = ""
    device: str = field(default="", repr=False)
    message: str = field(default="", repr=False)
    number: int = 1

    @property
    def is_over(self) -> bool:
        return self.stage in (SignInStage.DONE, SignInStage.REFUSED)

    @property
    def ends_at(self) -> float:
        """When it can be completed no longer, in seconds since 1970."""
        return self.asked_at + LIFE

    def visited(self, visit: BrowserVisit) -> PendingSignIn:
        """A copy with one more browser; beyond a few, the oldest is forgotten."""
        return replace(self, visits=(*self.visits, visit)[-_MOST_VISITS:])

    def ended(self, stage: SignInStage, why: str = "") -> PendingSignIn:
        """A copy at its end. Visits and codes are of no use any more."""
        return replace(self, stage=stage, why=why, visits=(), device="")


SIGN_INS = Collection(
    "sign_ins",
    PendingSignIn,
    age=lambda _: LIFE,
    since=lambda sign_in: sign_in.asked_at,
    people=lambda _, sign_in: [KeptPerson(sign_in.key.user, sign_in.key.team)],
    by_person=True,
    view=lambda _, sign_in, __: {"agent": sign_in.key.agent, "at": sign_in.asked_at, "stage": sign_in.stage},
    label="sign-ins under way",
)
"""By name."""


def hash_of(secret: str) -> str:
    """What is stored in place of a secret that only has to be recognised."""
    return sha256(secret.encode()).hexdigest()


def opening_obstacle(sign_in: PendingSignIn | None, now: float) -> SignInObstacle | None:
    """Why the link of this sign-in does not open."""
    if sign_in is None:
        return SignInObstacle.UNKNOWN
    if sign_in.stage is not SignInStage.OPEN:
        return SignInObstacle.USED
    return SignInObstacle.EXPIRED if now >= sign_in.ends_at else None


def return_obstacle(
    sign_in: PendingSignIn | None, secret: str, cookie: str, now: float
) -> SignInObstacle | None:
    """Why a browser that comes back with this part of the state and this cookie does not complete it."""
    if (obstacle := opening_obstacle(sign_in, now)) is not None:
        return obstacle
    assert sign_in is not None, "there is an obstacle then"
    visit = visit_of(sign_in, secret)
    if visit is None:
        return SignInObstacle.UNKNOWN
    is_same = bool(cookie) and hmac.compare_digest(visit.cookie_hash, hash_of(cookie))
    return None if is_same else SignInObstacle.OTHER_BROWSER


def visit_of(sign_in: PendingSignIn, secret: str) -> BrowserVisit | None:
    """The visit with this state."""
    state_hash = hash_of(secret)
    return next((each for each in sign_in.visits if hmac.compare_digest(each.state_hash, state_hash)), None)


def issuer_obstacle(query: Mapping[str, str], issuer: str, *, is_required: bool) -> SignInObstacle | None:
    """Whether the answer comes from another server than the one that was asked (RFC 9207, 2.4).

    `is_required`: the server's metadata promises that it names itself.
    """
    named = query.get("iss")
    if named is None:
        return SignInObstacle.OTHER_ISSUER if is_required else None
    return None if named == issuer else SignInObstacle.OTHER_ISSUER


@dataclass(frozen=True, slots=True)
class Account:
    """The account that signed in, as its server says."""

    subject: str
    email: str = field(default="", repr=False)
    is_verified: bool = False


def account_of(claims: Mapping[str, Any]) -> Account:
    """The account that these claims of OpenID Connect describe."""
    # Some servers write the text "true" (Amazon Cognito).
    is_verified = claims.get("email_verified") in (True, "true")
    return Account(text_in(claims, "sub"), text_in(claims, "email"), is_verified)


def account_obstacle(account: Account, email: str | None) -> SignInObstacle | None:
    """Why the tokens of this account are not kept for a person with the verified address `email` in Slack."""
    if email is None:
        return SignInObstacle.UNTRUSTED
    if not (account.email and account.is_verified):
        return SignInObstacle.NO_EMAIL
    return None if is_same_email(account.email, email) else SignInObstacle.OTHER_PERSON


def is_same_email(one: str, other: str) -> bool:
    """Whether two addresses are the same. Only ASCII letters may differ in their case.

    Other letters can become the same by a change of case and be another address: U+212A is a "k" in small.
    """
    if one.isascii() and other.isascii():
        return one.lower() == other.lower()
    return one == other
