"""Puts sign-ins together: who waits, who comes back, whose tokens go to which agent, and `sign out`."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial

from ...agents.wire.auth import TokenSource
from ...settings.sign_in import keys_in
from ...store.sign_ins import SIGNED_IN, SignInKey
from ...text.sign_in_words import NOT_SIGNED_IN, SIGNED_OUT, SIGNED_OUT_HERE_ONLY
from ...threads.looks import shown_name
from ...threads.ports import CommonParts, Route, ThreadPorts, WordsForBot
from ...turn.people import AskingPerson
from ...turn.record import Question
from ..feature import BotParts, Feature, FeatureWork, SettingsCheck
from ..vault import Vault
from .card_check import warn_of_cards
from .desk import SignInDesk
from .gate import SignInGate
from .in_task import SignInsInTasks
from .pages import SignInPages
from .private_message import PrivateMessage
from .registrar import RegistrationParts
from .registration import REGISTRATIONS
from .rules import SIGN_INS, redirect_uri_below
from .server import AuthorizationServer
from .server_check import check
from .tokens import PersonTokenSource, SignInParts, TokenStore

_MOST_PEOPLE = 10_000  # whose last token is known, so that it can be masked


class SignOut(WordsForBot):
    """Answers the words `sign out` after a mention."""

    def __init__(self, sign_in_parts: SignInParts, token_store: TokenStore) -> None:
        self._parts, self._token_store = sign_in_parts, token_store

    async def route(self, question: Question, *, is_mention: bool) -> Route | None:
        """Sign the asker out. Raises StoreError."""
        is_word = question.text.strip(" .!").casefold().split() == ["sign", "out"]
        if not (is_word and is_mention and question.asker is not None):
            return None
        words = await self._sign_out(question.asker)
        return Route(question, reason="it is a word for the bot itself", words=words)

    async def _sign_out(self, person: AskingPerson) -> str:
        names, hosts = list[str](), dict[str, None]()
        for name in self._parts.servers:
            key = SignInKey(person.team, person.user, name)
            if await self._parts.store.get(SIGNED_IN, key) is None:
                continue
            names.append(self._parts.shown(name))
            if host := await self._token_store.forget(key):
                hosts[host] = None
        if not names:
            return NOT_SIGNED_IN
        return SIGNED_OUT.format(", ".join(names)) + "".join(map(SIGNED_OUT_HERE_ONLY.format, hosts))


def new_parts(common: CommonParts) -> SignInParts | None:
    """What sign-ins work with; None: no agent needs them."""
    entries = common.agents.settings.entries
    oauth = {name: entry.oauth for name, entry in entries.items() if entry.identity == "oauth"}
    keys = common.settings.sign_in.keys
    if not oauth or keys is None:
        return None
    vault, redirect_uri = Vault(keys_in(keys)), redirect_uri_below(common.settings.sign_in.base_url or "")
    registering = RegistrationParts(redirect_uri, vault, common.store, common.background)
    return SignInParts(
        servers={
            name: AuthorizationServer(
                each, common.clock, common.agents.transport, registering.for_agent(name)
            )
            for name, each in oauth.items()
        },
        vault=vault,
        store=common.store,
        clock=common.clock,
        background=common.background,
        renewal_seconds=max(each.token_timeout for each in oauth.values()),
        shown=partial(shown_name, common.agents),
    )


def serve_threads(common: CommonParts, ports: ThreadPorts) -> ThreadPorts:
    """Have people sign in, if an agent wants that."""
    if (parts := new_parts(common)) is None:
        return ports
    tokens = TokenStore(parts)

    @lru_cache(_MOST_PEOPLE)
    def signed_in(agent_name: str, person: AskingPerson) -> TokenSource:
        return PersonTokenSource(parts, tokens, SignInKey(person.team, person.user, agent_name))

    if common.agents.people is not None:
        common.agents.people.offer(signed_in, parts.knows_server)
    desk = SignInDesk(parts, tokens, common.directory, common.settings.sign_in.base_url or "")
    gate = SignInGate(parts, tokens, desk, common.workspaces, signed_in)
    return replace(ports, sign_in=gate, words=SignOut(parts, tokens))


def start(bot: BotParts) -> FeatureWork:
    """Let browsers come back, if people sign in through them, and agents ask for it in a task."""
    gate, settings = bot.threads.sign_in, bot.common.settings.sign_in
    if not isinstance(gate, SignInGate):
        return FeatureWork()
    in_tasks = SignInsInTasks(bot.threads.intake, bot.common.background)
    pages = None if settings.base_url is None else SignInPages(settings, gate.desk)
    compare = partial(warn_of_cards, bot.common, gate.parts)
    buttons = tuple(PrivateMessage(gate).buttons())
    return FeatureWork(buttons, observe=in_tasks, receiver=pages, run=compare)


FEATURE = Feature(
    "sign_in",
    start,
    serve_threads,
    check=SettingsCheck(check, ("keys",)),
    collections=(SIGN_INS, SIGNED_IN, REGISTRATIONS),
)
