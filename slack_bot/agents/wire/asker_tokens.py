"""Tokens of the people who ask, for one agent: signed by the bot for each call, or exchanged for those.

An exchanged token is used by one process, for one person and one agent, and renewed after 80 % of its life.
No call gets the token of anybody but the asker of its own question.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Protocol, TypeAlias

from ...clock import Clock
from ...errors import AskerRefused, AskerUnavailable, TokenRefused, TokenUnavailable
from ...http_client import AsyncBaseTransport
from ...settings.identity import IdentitySettings
from ...settings.models import AgentSettings
from ...text.words import ASKER_NOT_A_MEMBER
from ...turn.people import AskingPerson, ProvenPerson
from ...turn.progress import DEFAULT_AGENT
from .auth import TokenSource, bare
from .person_signer import PersonSigner
from .token_endpoint import TokenEndpoint
from .tokens import FetchedToken, FetchedTokens

_MOST_PEOPLE = 10_000  # whose tokens are kept; beyond it those of who asked longest ago are dropped


class PersonDirectory(Protocol):
    """Knows people."""

    async def proven(self, person: AskingPerson) -> ProvenPerson:
        """This person, if the bot can vouch for them. Raises AskerRefused and AskerUnavailable."""


class TokensByAsker(Protocol):
    """The tokens of people for one agent."""

    def of(self, asker: AskingPerson | None) -> TokenSource:
        """The tokens of `asker`. Without one each call fails, and nothing is sent."""

    def knows(self, addresses: Sequence[str]) -> bool:
        """Whether a security scheme with these addresses is the sign-in that the settings name."""


class ExchangedMemory(Protocol):
    """Knows the tokens that were exchanged by all processes, so that they can be masked. Raises nothing."""

    async def keep(self, agent_name: str, asker: AskingPerson, token: str) -> None:
        """Remember a token before the agent gets it."""

    async def known(self, agent_name: str, asker: AskingPerson) -> tuple[str, ...]:
        """The newest tokens of this person for this agent."""


SignedIn: TypeAlias = Callable[[str, AskingPerson], TokenSource]
"""The tokens that a person got by signing in for the agent with this name."""
KnowsServer: TypeAlias = Callable[[str, Sequence[str]], bool]
"""Whether people sign in for the agent with this name at the server of these addresses."""


class PeopleTokens(ExchangedMemory):
    """The tokens of people for all agents. No key is read if no agent gets some."""

    def __init__(self, settings: IdentitySettings, directory: PersonDirectory, clock: Clock) -> None:
        self._settings, self._clock = settings, clock
        self._directory = directory
        self._signed_in: SignedIn | None = None
        self._knows_server: KnowsServer | None = None
        self._memory: ExchangedMemory | None = None

    def remember(self, memory: ExchangedMemory) -> None:
        """Have exchanged tokens remembered."""
        self._memory = memory

    async def keep(self, agent_name: str, asker: AskingPerson, token: str) -> None:
        """As `ExchangedMemory`; does nothing without one."""
        if self._memory is not None:
            await self._memory.keep(agent_name, asker, token)

    async def known(self, agent_name: str, asker: AskingPerson) -> tuple[str, ...]:
        """As `ExchangedMemory`; none without one."""
        return () if self._memory is None else await self._memory.known(agent_name, asker)

    def offer(self, signed_in: SignedIn, knows_server: KnowsServer) -> None:
        """Let agents have the tokens of people who signed in."""
        self._signed_in, self._knows_server = signed_in, knows_server

    def of_signed_in(self, agent_name: str, asker: AskingPerson) -> TokenSource | None:
        """The tokens that `asker` got by signing in; None: no one can sign in."""
        return None if self._signed_in is None else self._signed_in(agent_name, asker)

    def knows_server(self, agent_name: str, addresses: Sequence[str]) -> bool:
        """As `KnowsServer`; False if no one can sign in."""
        return self._knows_server is not None and self._knows_server(agent_name, addresses)

    def for_agent(
        self,
        settings: AgentSettings,
        agent_name: str = DEFAULT_AGENT,
        transport: AsyncBaseTransport | None = None,
    ) -> TokensByAsker | None:
        """Those for the agent of `settings`; None: it gets none. Raises SettingsError for a bad key.

        `transport`: in place of the network.
        """
        if not settings.knows_people:
            return None
        if settings.identity == "oauth":
            return SignedInTokens(agent_name, self)
        signer = PersonSigner(self._settings, self._clock)
        endpoint = TokenEndpoint(settings.exchange, self._clock, transport)
        return AskerTokens(settings, signer, self._directory, self._clock, endpoint, self, agent_name)


class SignedInTokens(TokensByAsker):
    """Those of people who signed in for the agent with this name."""

    def __init__(self, agent_name: str, people: PeopleTokens) -> None:
        self._name, self._people = agent_name, people

    def of(self, asker: AskingPerson | None) -> TokenSource:
        tokens = None if asker is None else self._people.of_signed_in(self._name, asker)
        return tokens or _SignedTokens(_nothing)

    def knows(self, addresses: Sequence[str]) -> bool:
        return self._people.knows_server(self._name, addresses)


async def _nothing() -> str:
    raise AskerRefused("no person asks, so there is no token", safe=ASKER_NOT_A_MEMBER)


class AskerTokens(TokensByAsker):
    """Gives each asker's tokens for the agent of `settings`: those that the bot signs, or gets for these."""

    def __init__(
        self,
        settings: AgentSettings,
        signer: PersonSigner,
        directory: PersonDirectory,
        clock: Clock,
        endpoint: TokenEndpoint,
        memory: ExchangedMemory,
        agent_name: str,
    ) -> None:
        self._settings, self._signer = settings, signer
        self._directory, self._clock = directory, clock
        self._endpoint, self._memory, self._name = endpoint, memory, agent_name
        self._exchanged: OrderedDict[AskingPerson, TokenSource] = OrderedDict()

    def of(self, asker: AskingPerson | None) -> TokenSource:
        if asker is None or self._settings.identity != "exchange":
            return _SignedTokens(partial(self._signed, asker, bare(self._settings.url or "")))
        if asker not in self._exchanged:
            known = partial(self._memory.known, self._name, asker)
            self._exchanged[asker] = _ExchangedTokens(partial(self._exchange, asker), self._clock, known)
        self._exchanged.move_to_end(asker)
        if len(self._exchanged) > _MOST_PEOPLE:
            self._exchanged.popitem(last=False)
        return self._exchanged[asker]

    def knows(self, addresses: Sequence[str]) -> bool:
        """Returns False: people do not sign in for this agent."""
        return False

    async def _signed(self, asker: AskingPerson | None, audience: str) -> str:
        if asker is None:
            return await _nothing()
        return self._signer.sign(await self._directory.proven(asker), audience)

    async def _exchange(self, asker: AskingPerson) -> FetchedToken:
        """The token that the server gives for ours, which is for that server alone."""
        exchange = self._settings.exchange
        token = await self._endpoint.fetch(
            await self._signed(asker, exchange.issuer or exchange.token_url or "")
        )
        await self._memory.keep(self._name, asker, token.value)
        return token


class _SignedTokens(TokenSource):
    """A new token for each call."""

    def __init__(self, sign: Callable[[], Awaitable[str]]) -> None:
        self._sign = sign

    @property
    def secrets(self) -> tuple[str, ...]:
        return ()

    async def token(self) -> str:
        return await self._sign()

    async def renewed(self, refused: str) -> str | None:
        """Returns None: the agent would refuse another one for the same reason."""
        return None

    def accept(self, token: str) -> None:
        """Does nothing: it is not used again."""


class _ExchangedTokens(FetchedTokens):
    """Those of one person. What is wrong with them says nothing of the bot's own login. `known`: those of all
    processes.
    """

    def __init__(
        self,
        fetch: Callable[[], Awaitable[FetchedToken]],
        clock: Clock,
        known: Callable[[], Awaitable[tuple[str, ...]]],
    ) -> None:
        super().__init__(fetch, clock)
        self._known, self._earlier = known, tuple[str, ...]()

    @property
    def secrets(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*super().secrets, *self._earlier)))

    async def token(self) -> str:
        try:
            token = await super().token()
            self._earlier = await self._known()
            return token
        except (AskerRefused, AskerUnavailable):
            raise
        except TokenRefused as error:
            raise AskerRefused(error.brief, error=error.error, said=error.said) from error
        except TokenUnavailable as error:
            raise AskerUnavailable(error.brief, is_slow=error.is_slow) from error
