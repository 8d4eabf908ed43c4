"""Lets a question wait until its asker has signed in, over restarts and replicas."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from ...agents.task.stream_consumer import TurnHandle
from ...agents.wire.asker_tokens import SignedIn
from ...errors import AskerUnavailable, StoreError, TokenRefused, TokenUnavailable
from ...slack.blocks import Args, shorten
from ...slack.faults import CallOk
from ...slack.forms import link_blocks
from ...slack.workspaces import Workspaces
from ...store.sign_ins import SignInKey
from ...text.sign_in_words import (
    SIGN_IN_ASKED,
    SIGN_IN_ASKED_AGAIN,
    SIGN_IN_CODE_ASKED,
    SIGN_IN_CODE_OF_ANOTHER,
    SIGN_IN_IS_DONE,
    SIGN_IN_NOT_POSSIBLE,
    SIGN_IN_REFUSALS,
    SIGN_IN_STORE_AWAY,
    SIGN_IN_TOO_LATE,
    SIGN_IN_UNTRUSTED,
    SIGN_IN_WITH_YOURS,
)
from ...text.words import SIGN_IN_TO_LABEL
from ...threads.journal import TurnJournal
from ...threads.ports import PersonalSignIn
from ...turn.buttons import TurnButton
from ...turn.json_values import object_of, text_in
from ...turn.people import AskingPerson
from ...turn.record import Question
from .desk import SignInDesk
from .rules import PendingSignIn, SignInObstacle, SignInStage
from .server import AuthorizationServer
from .tokens import SignInParts, TokenStore

_log = logging.getLogger(__name__)

_MOST_SIGN_INS = 3  # of one question, if the account of another person signs in
_NAME_ON_BUTTON = 30  # characters of an agent's name: the host must fit too
_LOOK = 1.0  # seconds between two looks at the store: the browser may come to another replica


class SignInGate(PersonalSignIn):
    """Asks people to sign in before an agent is asked that acts with their rights."""

    def __init__(
        self,
        sign_in_parts: SignInParts,
        token_store: TokenStore,
        desk: SignInDesk,
        workspaces: Workspaces,
        signed_in: SignedIn,
    ) -> None:
        self.parts, self._token_store = sign_in_parts, token_store
        self._workspaces, self._signed_in = workspaces, signed_in
        self.desk = desk

    async def before(self, turn: TurnJournal, agent_name: str, handle: TurnHandle) -> str | None:
        """Return when the asker is signed in, or the turn is to end. Words: the question is not asked."""
        server, question = self.parts.servers.get(agent_name), turn.question
        if server is None or question.asker is None:
            return None
        key = SignInKey(question.thread.team, question.user, agent_name)
        try:
            if not _must_be_new(question) and await self._is_signed_in(key):
                return None
            words = await self._sign_in(turn, key, server, handle)
            if words is None and not handle.must_exit:
                await self._is_signed_in(key)  # so that the new token is known, and masked
            return words
        except AskerUnavailable as error:
            return error.safe
        except StoreError as error:
            _log.error("a sign-in could not be stored: %s", error, extra={"turn": question.key})
            return SIGN_IN_STORE_AWAY

    async def awaited(self, user: str, team: str) -> Mapping[str, str]:
        agents = await self.desk.awaited(user, team)
        return {
            turn: self.parts.servers[name].host for turn, name in agents.items() if name in self.parts.servers
        }

    async def _is_signed_in(self, key: SignInKey) -> bool:
        try:
            await self._signed_in(key.agent, AskingPerson(key.team, key.user)).token()
        except TokenRefused:
            return False
        except TokenUnavailable as error:  # the question will say so
            _log.info("the tokens of a person could not be renewed: %s", error.brief)
        return True

    async def _sign_in(
        self, turn: TurnJournal, key: SignInKey, server: AuthorizationServer, handle: TurnHandle
    ) -> str | None:
        question, agent_name = turn.question, key.agent
        if await self.desk.email_of(AskingPerson(key.team, key.user)) is None:
            return SIGN_IN_UNTRUSTED.format(self.parts.shown(agent_name))
        sign_in = await self.desk.of_turn(key, question.key) or await self._begin(question, key, server)
        while sign_in is not None:
            words = await self._wait(sign_in, server, handle, must_be_new=_must_be_new(question))
            sign_in = await self._closed(sign_in, is_done=words is None and not handle.must_exit)
            if sign_in.why != SignInObstacle.OTHER_PERSON or sign_in.number >= _MOST_SIGN_INS:
                return words
            sign_in = await self._begin(question, key, server, number=sign_in.number + 1)
        return SIGN_IN_NOT_POSSIBLE.format(self.parts.shown(agent_name))

    async def _closed(self, sign_in: PendingSignIn, *, is_done: bool) -> PendingSignIn:
        """The sign-in as it ended, after its message says so: its button is of no use any more. Raises
        StoreError, but not of one that is done: its question goes on.
        """
        try:
            if self.parts.clock.wall() < sign_in.ends_at:
                await self.desk.withdraw(sign_in)
            ended = await self.desk.now(sign_in)
        except StoreError as error:
            if not is_done:
                raise
            _log.log(error.log_level, "the message of a sign-in stays as it is: %s", error)
            return sign_in
        await self.close_message(ended, self.desk.message_url(ended), is_done=is_done)
        return ended

    async def close_message(self, sign_in: PendingSignIn, url: str, *, is_done: bool) -> None:
        """Say in the private message with the button, which Slack changes at `url`, that it was used; if
        the sign-in failed, the message goes: another one says why.
        """
        server = self.parts.servers.get(sign_in.key.agent)
        if url and server is not None:
            words = SIGN_IN_IS_DONE.format(server.host)
            body: Args = {"replace_original": True, "text": words} if is_done else {"delete_original": True}
            await (
                self._workspaces.of(sign_in.key.team).api.for_turn(sign_in.turn).transport.respond(url, body)
            )

    async def _begin(
        self, question: Question, key: SignInKey, server: AuthorizationServer, *, number: int = 1
    ) -> PendingSignIn | None:
        """Give the asker a link, or a code. None: Slack did not take it, or the server gave no code.

        `number`: from the second on, another person's account was refused.
        """
        shown_name = self.parts.shown(key.agent)
        asked = SIGN_IN_ASKED_AGAIN if _must_be_new(question) else SIGN_IN_ASKED
        words = asked.format(shown_name, server.host)
        try:
            await server.prepare()
            device = await server.begin_device() if server.has_devices else None
        except (TokenRefused, TokenUnavailable) as error:
            _log.warning("a sign-in was not begun: %s", error.brief, extra={"turn": question.key})
            return None
        if device is not None:
            sign_in, _ = await self.desk.begin(key, question.key, device.device_code, number=number)
            words, link = SIGN_IN_CODE_ASKED.format(shown_name, server.host, device.user_code), device.url
        else:
            sign_in, link = await self.desk.begin(key, question.key, number=number)
        if number > 1:
            words = f"{SIGN_IN_WITH_YOURS.format(server.host)}\n\n{words}"
        label = SIGN_IN_TO_LABEL.format(shorten(shown_name, _NAME_ON_BUTTON), server.host)
        if await self._tell(question, words, label, link, sign_in.name):
            return sign_in
        await self.desk.withdraw(sign_in)
        return None

    async def _wait(
        self, sign_in: PendingSignIn, server: AuthorizationServer, handle: TurnHandle, *, must_be_new: bool
    ) -> str | None:
        key = sign_in.key
        while not handle.must_exit:
            if sign_in.stage is SignInStage.DONE:
                return None
            if not must_be_new and await self._token_store.of(key) is not None:
                return None
            if sign_in.stage is SignInStage.REFUSED:
                refusal = SIGN_IN_REFUSALS.get(sign_in.why, SIGN_IN_TOO_LATE)
                return refusal.format(self.parts.shown(key.agent), server.host)
            if self.parts.clock.wall() >= sign_in.ends_at:
                return SIGN_IN_TOO_LATE.format(self.parts.shown(key.agent), server.host)
            pause = server.device_interval if sign_in.device else _LOOK
            sign_in = await handle.race(self.desk.wait(sign_in, pause)) or sign_in
            if sign_in.device and not handle.must_exit:
                sign_in = await self._poll(sign_in)
        return None

    async def _poll(self, sign_in: PendingSignIn) -> PendingSignIn:
        """The sign-in after the server was asked whether its code was typed in."""
        try:
            completion = await self.desk.poll(sign_in)
        except TokenUnavailable as error:
            _log.info("a sign-in was not asked for: %s", error.brief)
            return sign_in
        if completion.obstacle is SignInObstacle.OTHER_PERSON and completion.account is not None:
            await self._warn(sign_in.key.team, completion.account.email)
        if completion.obstacle is not None:
            return sign_in.ended(SignInStage.REFUSED, completion.obstacle)
        return sign_in

    async def _warn(self, team: str, email: str) -> None:
        """Warn the person who typed another one's code in: no page of ours does. `team`: the workspace of the
        sign-in.
        """
        api = self._workspaces.of(team).api
        found = await api.call("users.lookupByEmail", {"email": email})
        user = text_in(object_of(found.data.get("user")), "id") if isinstance(found, CallOk) else ""
        if user:
            await api.call("chat.postMessage", {"channel": user, "text": SIGN_IN_CODE_OF_ANOTHER})

    async def _tell(self, question: Question, words: str, label: str, link: str, name: str) -> bool:
        """The link of the sign-in `name`, for the asker alone. False: Slack did not take it."""
        thread = question.thread
        button = TurnButton.SIGN_IN, f"{name}|{question.key}"
        said: Args = {"text": words, "blocks": link_blocks(words, label, link, button)}
        # Slack shows nothing private in a thread without replies
        place = {} if thread.ts == question.ts else {"thread_ts": thread.ts}
        api = self._workspaces.of(thread.team).api.for_turn(question.key, thread.ts)
        sent = await api.call(
            "chat.postEphemeral", {"channel": thread.channel, "user": question.user, **place, **said}
        )
        return isinstance(sent, CallOk)


def _must_be_new(question: Question) -> bool:
    """The agent asked for a sign-in in the middle of its task: what the asker has does not do."""
    form = question.form
    return form is not None and form.is_auth and bool(form.schemes)
