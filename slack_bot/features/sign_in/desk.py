"""Begins sign-ins, and completes them when a browser comes back, whichever replica it comes to."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256

from ...errors import AgentError, AskerRefused, AskerUnavailable, StoreError, TokenRefused
from ...slack.proven_people import ProvenPeople
from ...store.collection import KeptPerson
from ...store.sign_ins import SignInKey
from ...turn.json_values import object_of, read_json, text_in
from ...turn.people import AskingPerson
from .rules import (
    SIGN_INS,
    Account,
    BrowserVisit,
    PendingSignIn,
    SignInObstacle,
    SignInStage,
    account_obstacle,
    hash_of,
    issuer_obstacle,
    opening_obstacle,
    redirect_uri_below,
    return_obstacle,
    visit_of,
)
from .server import Grant
from .tokens import SignInParts, TokenStore, revoked

_log = logging.getLogger(__name__)

_SECRET_BYTES = 32
START_PATH = "/oauth/start/"


@dataclass(frozen=True, slots=True)
class Opening:
    """Where a browser that opened a link is sent, with this cookie. `obstacle`: it is not."""

    url: str = ""
    cookie_name: str = ""
    cookie: str = ""
    obstacle: SignInObstacle | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """How far a sign-in came. `host`: of the authorization server, "" if it is not known. `account`: the one
    that signed in, if one did.
    """

    obstacle: SignInObstacle | None = None
    host: str = ""
    account: Account | None = None


class SignInDesk:
    """All sign-ins of a bot. `base_url`: the address at which browsers reach it."""

    def __init__(
        self,
        sign_in_parts: SignInParts,
        token_store: TokenStore,
        directory: ProvenPeople,
        base_url: str,
    ) -> None:
        self._parts, self._token_store = sign_in_parts, token_store
        self._directory, self._now = directory, sign_in_parts.clock.wall
        self._store, self._vault = sign_in_parts.store, sign_in_parts.vault
        self._base_url = base_url.rstrip("/")
        self._changed: dict[str, asyncio.Event] = {}

    # -- for the turn that waits

    async def email_of(self, person: AskingPerson) -> str | None:
        """The verified address of a person in Slack; None if they have none in a trusted team.

        Raises AskerUnavailable if Slack does not say.
        """
        try:
            return (await self._directory.proven(person)).email or None
        except AskerRefused:
            return None

    async def of_turn(self, key: SignInKey, turn: str) -> PendingSignIn | None:
        """The last sign-in that was begun for this question. None: none can still be completed."""
        known = await self._store.of_person(SIGN_INS, KeptPerson(key.user, key.team))
        of_turn = [
            each
            for each in known
            if (each.key.agent, each.turn) == (key.agent, turn) and self._now() < each.ends_at
        ]
        return max(of_turn, key=lambda each: each.number, default=None)

    async def awaited(self, user: str, team: str) -> dict[str, str]:
        """The agents for which this person is to sign in now, by the keys of the questions that wait."""
        known = await self._store.of_person(SIGN_INS, KeptPerson(user, team))
        return {
            each.turn: each.key.agent for each in known if not each.is_over and self._now() < each.ends_at
        }

    async def begin(
        self, key: SignInKey, turn: str, device_code: str = "", *, number: int = 1
    ) -> tuple[PendingSignIn, str]:
        """A new sign-in, and its link. `device_code`: the server's, where a code is typed in at the server.

        Raises StoreError.
        """
        ticket = _new_secret()
        device = self._vault.seal(device_code, *key, "device") if device_code else ""
        sign_in = PendingSignIn(hash_of(ticket), key, turn, self._now(), device=device, number=number)
        await self._store.change(SIGN_INS, (sign_in.name,), lambda _: sign_in, sign_in.asked_at)
        return sign_in, f"{self._base_url}{START_PATH}{ticket}"

    async def wait(self, sign_in: PendingSignIn, seconds: float) -> PendingSignIn:
        """Wait so long for a change of the sign-in here, and read it: another replica may have changed it."""
        event = self._changed.setdefault(sign_in.name, asyncio.Event())
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            pass
        finally:
            self._changed.pop(sign_in.name, None)
        return await self.now(sign_in)

    async def now(self, sign_in: PendingSignIn) -> PendingSignIn:
        """The sign-in as it is now. Raises StoreError."""
        return await self._store.get(SIGN_INS, (sign_in.name,)) or sign_in.ended(SignInStage.REFUSED)

    async def note_message(self, name: str, user: str, url: str) -> PendingSignIn | None:
        """The person pressed the button of this sign-in's private message, which Slack changes at `url`.

        Returns the sign-in; None if it is not known any more. Raises StoreError.
        """

        def noted(stored: PendingSignIn | None) -> PendingSignIn | None:
            if stored is None or stored.key.user != user:
                return None
            return replace(stored, message=self._vault.seal(url, *stored.key, "message"))

        return (await self._store.change(SIGN_INS, (name,), noted, self._now())).after

    def message_url(self, sign_in: PendingSignIn) -> str:
        """Where Slack changes the private message; "" if its button was not pressed."""
        return self._vault.read(sign_in.message, *sign_in.key, "message") or "" if sign_in.message else ""

    async def withdraw(self, sign_in: PendingSignIn) -> None:
        """The question waits no longer: its link does not open any more."""
        await self._end(sign_in, SignInStage.REFUSED)

    async def poll(self, sign_in: PendingSignIn) -> Completion:
        """Whether the code of a device was typed in: if so, the sign-in is completed.

        Raises StoreError, and TokenUnavailable where the server does not say.
        """
        server = self._parts.servers[sign_in.key.agent]
        device_code = self._vault.read(sign_in.device, *sign_in.key, "device")
        try:
            grant = None if device_code is None else await server.grant_of_device(device_code)
        except TokenRefused as error:
            _log.warning("a sign-in was not completed: %s", error.brief)
            await self._end(sign_in, SignInStage.REFUSED, SignInObstacle.DENIED)
            return Completion(SignInObstacle.DENIED, server.host)
        if grant is None:
            return Completion(None, server.host)
        completion = await self.keep(sign_in, grant, None)
        await self._end_by(sign_in, completion)
        return completion

    async def _end_by(self, sign_in: PendingSignIn, completion: Completion) -> None:
        obstacle = completion.obstacle
        await self._end(sign_in, SignInStage.REFUSED if obstacle else SignInStage.DONE, obstacle or "")

    # -- for browsers

    async def open(self, ticket: str) -> Opening:
        """A browser opened the link with this ticket. Raises StoreError and AgentError."""
        sign_in = await self._store.get(SIGN_INS, (hash_of(ticket),))
        if (obstacle := opening_obstacle(sign_in, self._now())) is not None:
            return Opening(obstacle=obstacle)
        assert sign_in is not None, "there is an obstacle then"
        if (server := self._parts.servers.get(sign_in.key.agent)) is None:
            return Opening(obstacle=SignInObstacle.UNKNOWN)
        secret, cookie = _new_secret(), _new_secret()
        verifier, nonce = _new_secret(), _new_secret()
        state = f"{sign_in.name}.{secret}"
        challenge = base64.urlsafe_b64encode(sha256(verifier.encode()).digest()).decode().rstrip("=")
        hint = await self._hint_for(sign_in)
        url = await server.authorization_url(self._redirect_uri, state, challenge, nonce, hint)
        inside = json.dumps({"verifier": verifier, "nonce": nonce})
        visit = BrowserVisit(
            hash_of(secret), hash_of(cookie), self._vault.seal(inside, *sign_in.key, "visit")
        )

        def visited(stored: PendingSignIn | None) -> PendingSignIn | None:
            return None if stored is None or opening_obstacle(stored, self._now()) else stored.visited(visit)

        await self._store.change(SIGN_INS, (sign_in.name,), visited, self._now())
        return Opening(url, cookie_name(state), cookie)

    async def _hint_for(self, sign_in: PendingSignIn) -> str:
        """The address of the one account that is taken, for the server to offer; "" if Slack is silent."""
        try:
            return await self.email_of(AskingPerson(sign_in.key.team, sign_in.key.user)) or ""
        except AskerUnavailable:
            return ""

    @property
    def _redirect_uri(self) -> str:
        return redirect_uri_below(self._base_url)

    async def complete(self, query: Mapping[str, str], cookies: Mapping[str, str]) -> Completion:
        """A browser came back from the authorization server. Raises StoreError."""
        state = query.get("state", "")
        name, secret = state.partition(".")[::2]
        cookie, now = cookies.get(cookie_name(state), ""), self._now()

        def taken(stored: PendingSignIn | None) -> PendingSignIn | None:
            if stored is None or return_obstacle(stored, secret, cookie, now) is not None:
                return None
            return replace(stored, stage=SignInStage.TAKEN)

        sign_in = (await self._store.change(SIGN_INS, (name,), taken, now)).before
        if (obstacle := return_obstacle(sign_in, secret, cookie, now)) is not None:
            return Completion(obstacle)
        assert sign_in is not None, "there is an obstacle then"
        visit, server = visit_of(sign_in, secret), self._parts.servers.get(sign_in.key.agent)
        assert visit is not None, "there is an obstacle then"
        if server is None:
            return Completion(SignInObstacle.UNKNOWN)
        completion = await self._exchange(sign_in, visit, query)
        await self._end_by(sign_in, completion)
        return completion

    async def _exchange(
        self, sign_in: PendingSignIn, visit: BrowserVisit, query: Mapping[str, str]
    ) -> Completion:
        server = self._parts.servers[sign_in.key.agent]
        inside = self._vault.read(visit.sealed, *sign_in.key, "visit")
        if inside is None:  # its key was taken out meanwhile
            return Completion(SignInObstacle.EXPIRED, server.host)
        kept = object_of(read_json(inside))
        try:
            metadata = await server.metadata()
            obstacle = issuer_obstacle(query, server.issuer, is_required=metadata.names_itself)
            if obstacle is not None:
                return Completion(obstacle, server.host)
            if not (code := query.get("code")):
                return Completion(SignInObstacle.DENIED, server.host)
            grant = await server.grant_of_code(code, text_in(kept, "verifier"), self._redirect_uri)
        except AgentError as error:
            _log.warning("a sign-in was not completed: %s", error.brief)
            return Completion(SignInObstacle.NO_TOKEN, server.host)
        return await self.keep(sign_in, grant, text_in(kept, "nonce"))

    async def keep(self, sign_in: PendingSignIn, grant: Grant, nonce: str | None) -> Completion:
        """Keep tokens if the account that signed in is the asker's; else have the server forget them."""
        server = self._parts.servers[sign_in.key.agent]
        obstacle: SignInObstacle | None = SignInObstacle.NO_TOKEN
        account: Account | None = None
        try:
            account = await server.account(grant, nonce)
            obstacle = await self._obstacle_of(sign_in, account)
            if obstacle is None:
                await self._token_store.keep(sign_in.key, grant)
        except TokenRefused as error:
            _log.warning("a sign-in was not completed: %s", error.brief)
            obstacle = SignInObstacle.NO_EMAIL
        except (AgentError, StoreError) as error:
            _log.warning("a sign-in was not completed: %s", error)
            obstacle = SignInObstacle.NO_TOKEN
        if obstacle is not None and not await revoked(server, grant.access, grant.refresh):
            _log.warning("%s did not say that it revoked tokens that are not kept", server.host)
        return Completion(obstacle, server.host, account)

    async def _obstacle_of(self, sign_in: PendingSignIn, account: Account) -> SignInObstacle | None:
        return account_obstacle(
            account, await self.email_of(AskingPerson(sign_in.key.team, sign_in.key.user))
        )

    async def _end(self, sign_in: PendingSignIn, stage: SignInStage, why: str = "") -> None:
        def ended(stored: PendingSignIn | None) -> PendingSignIn | None:
            return None if stored is None or stored.is_over else stored.ended(stage, why)

        await self._store.change(SIGN_INS, (sign_in.name,), ended, self._now())
        if (event := self._changed.get(sign_in.name)) is not None:
            event.set()


def _new_secret() -> str:
    return secrets.token_urlsafe(_SECRET_BYTES)


def cookie_name(state: str) -> str:
    """One for each visit, so that two sign-ins in one browser do not take each other's."""
    return f"slack_bot_sign_in_{hash_of(state)[:12]}"
