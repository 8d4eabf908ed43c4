"""PURE. Every error of ours, in one tree. `str(error)` is one clear sentence without a secret."""

from .text.words import (
    AGENT_ENDED_TASK,
    AGENT_ERROR,
    AGENT_FAILED,
    AGENT_LOGIN_REFUSED,
    AGENT_LOGIN_UNAVAILABLE,
    AGENT_NOT_THERE,
    AGENT_NOT_UNDERSTOOD,
    AGENT_PROTOCOL_UNKNOWN,
    AGENT_REFUSED,
    AGENT_SERVER_ERROR,
    AGENT_SILENT,
    AGENT_UNREACHABLE,
    AGENT_UNTRUSTED,
    AGENT_UNUSABLE,
    ASKER_LOGIN_REFUSED,
    ASKER_LOGIN_UNAVAILABLE,
    ASKER_REFUSED_BY_AGENT,
    CONNECTION_LOST,
)

_SAID_CHARS = 300

CARD_ADDRESS = "must be the agent's base address or the full address of its card"
"""Follows the name of the setting or option that gave an address without a card."""
ADD_SCOPE = "add it under OAuth & Permissions in your Slack app settings and install the app again"
"""The remedy where the Slack app lacks a scope."""


class BotError(Exception):
    """Base of all errors raised on purpose, for an operator or a developer."""


class SettingsError(BotError):
    """A setting is missing, malformed or contradicts another. One line a problem."""

    @property
    def problems(self) -> list[str]:
        """A sentence for each thing that is wrong."""
        return str(self).splitlines()


class PortInUse(SettingsError):
    """Another process listens there. It may end, and then the port is free."""


class UnreadableInput(BotError):
    """A file cannot be read. Names file, line and reason."""


_LOGIN_REFUSED = "The agent refused the bot's login when it was last asked; see the log."


class AgentError(BotError):
    """An error of the agent. `safe` is for the reader in Slack. `brief` is `str()` without `said`.

    `said` is the server's text in one line, or "": not for a reader, nor for a log at info. `problem`: for a
    probe. `is_lasting`: asking again would end so too.
    """

    safe = AGENT_FAILED
    problem = "The agent could not be reached when it was last asked; see the log."
    is_lasting = False

    def __init__(self, message: str, *, safe: str | None = None, said: str = "") -> None:
        clipped = said if len(said) <= _SAID_CHARS else f"{said[:_SAID_CHARS]}..."
        super().__init__(f"{message}: {clipped}" if said else message)
        self.brief, self.said, self.safe = message, said, safe or self.safe


class AgentUnreachable(AgentError):
    """Nothing was sent: connect refused, DNS, connect timeout. It may be sent again."""

    safe = AGENT_UNREACHABLE


class WrongAddress(AgentUnreachable):
    """No connection, for a reason that lies in the address: its scheme, its name, or its certificate."""


class TokenUnavailable(AgentUnreachable):
    """No token could be had, for a reason that may pass: the token endpoint or a file is away.

    `is_slow`: it took as long as it may to find that out.
    """

    safe = AGENT_LOGIN_UNAVAILABLE
    problem = "No token for the agent could be had when it was last asked; see the log."

    def __init__(self, message: str, *, is_slow: bool = False, safe: str | None = None) -> None:
        super().__init__(message, safe=safe)
        self.is_slow = is_slow


class TokenRefused(AgentError):
    """No token could be had, and asking again cannot help. `error` is OAuth's name for it, or ""."""

    safe = AGENT_LOGIN_REFUSED
    problem = "The bot gets no token for the agent; see the log."
    is_lasting = True

    def __init__(self, message: str, *, error: str = "", said: str = "", safe: str | None = None) -> None:
        super().__init__(message, safe=safe, said=said)
        self.error = error


class AskerUnavailable(TokenUnavailable):
    """No token for the asker could be had, for a reason that may pass."""

    safe = ASKER_LOGIN_UNAVAILABLE


class AskerRefused(TokenRefused):
    """There is no token for this asker. It says nothing of others."""

    safe = ASKER_LOGIN_REFUSED
    is_lasting = False


class CardError(AgentError):
    """The agent card is missing or unusable."""

    safe = AGENT_UNREACHABLE


class UnusableCard(CardError):
    """What is there cannot be used, and no waiting changes that: the card or a setting has to be mended."""

    safe = AGENT_UNUSABLE
    problem = "The agent's card cannot be used; see the log."


class ForeignBinding(UnusableCard):
    """The card names no way to ask that this bot speaks."""

    is_lasting = True

    def __init__(self, found_at: str, bindings: str) -> None:
        said = (
            f"offers {bindings} only; let the agent offer A2A over JSON-RPC or HTTP+JSON too: this bot speaks"
            " nothing else"
        )
        super().__init__(f"the agent card at {found_at} {said}", safe=AGENT_PROTOCOL_UNKNOWN.format(bindings))
        self.problem = f"The agent's card offers {bindings} only, and the bot speaks JSON-RPC and HTTP+JSON."


class NoCard(CardError):
    """No card at the address, or something else. `tried`: where and why not, without the remedy."""

    safe = AGENT_NOT_THERE
    problem = "There is no agent card at the agent's address; see the log."

    def __init__(self, tried: str) -> None:
        super().__init__(f"{tried}; A2A_AGENT_URL {CARD_ADDRESS}")
        self.tried = tried


class CardRefused(CardError):
    """The server gives the card only to those who log in (HTTP 401, 403). `tried`: where and why not."""

    safe = AGENT_LOGIN_REFUSED
    problem = _LOGIN_REFUSED
    is_lasting = True

    def __init__(self, tried: str, remedy: str) -> None:
        super().__init__(f"{tried}; {remedy}")
        self.tried = tried


class CardUntrusted(CardError):
    """The card may not be believed until the operator says so."""

    safe = AGENT_UNTRUSTED
    problem = "The agent's card is refused; see the log."
    is_lasting = True


class AgentRefused(AgentError):
    """The agent's server did not accept the question. `status` is HTTP's."""

    safe = AGENT_REFUSED

    def __init__(
        self, message: str, *, status: int, retry_after: float | None = None, said: str = ""
    ) -> None:
        super().__init__(message, said=said)
        self.status, self.retry_after = status, retry_after
        if status in (401, 403):
            self.safe, self.problem = AGENT_LOGIN_REFUSED, _LOGIN_REFUSED
            self.is_lasting = True

    def blame_asker(self) -> None:
        """The agent refused this asker: another person may be let in."""
        self.safe, self.problem = ASKER_REFUSED_BY_AGENT, AgentError.problem
        self.is_lasting = False


class NothingToAsk(AgentError):
    """A question without words, of whose files the agent gets none. `safe` says why."""


class TaskOver(AgentError):
    """The task ended before what it had asked was answered."""

    safe = AGENT_ENDED_TASK


class AgentFailed(AgentError):
    """The agent answered with a JSON-RPC error. `code` is its number (facts: A2A section 5)."""

    safe = AGENT_ERROR

    def __init__(self, message: str, *, code: int, safe: str | None = None, said: str = "") -> None:
        super().__init__(message, safe=safe, said=said)
        self.code = code


class BadAgentData(AgentError):
    """Not JSON, not SSE, too large, nested too deep."""

    safe = AGENT_NOT_UNDERSTOOD


class ServerFailed(BadAgentData):
    """HTTP 5xx, from the agent's server or a proxy: it may have taken the question. `status` is HTTP's."""

    safe = AGENT_SERVER_ERROR

    def __init__(self, message: str, *, status: int, said: str = "") -> None:
        super().__init__(message, said=said)
        self.status = status


class BadEncoding(BadAgentData):
    """A compression that was not asked for, or that expands without limit. Names the remedy."""


class StreamLost(AgentError):
    """It may have been accepted: never send the question again."""

    safe = CONNECTION_LOST


class StreamCut(StreamLost):
    """The connection ended in the middle."""


class StreamIdle(StreamLost):
    """No event for too long. Pings do not count: a dead stream sends them too."""

    safe = AGENT_SILENT


class SlackError(BotError):
    """A Slack call failed for good. `error` is Slack's name for it."""

    def __init__(self, message: str, *, error: str) -> None:
        super().__init__(message)
        self.error = error


class TokenNotGood(SlackError):
    """Slack refuses a token of the settings: asking again would end so too."""


class StoreError(BotError):
    """The store cannot be opened, read or written. `log_level` is one of `logging`."""

    log_level = 40


class StoreAway(StoreError):
    """It does not answer. That is said once, not for each call."""

    log_level = 10


class StoreFailover(StoreAway):
    """Its servers are about to put another one in the place of one that is gone."""


class StoreInUse(StoreError):
    """Another process holds the store."""


class StoreMissing(StoreError):
    """It was never begun."""


class StoreOutdated(StoreError):
    """An older version of the bot wrote it."""


class StoreForeign(StoreError):
    """A newer version of the bot, or another program, wrote it: no waiting changes that."""


LASTING = (SettingsError, UnreadableInput, TokenNotGood, StoreForeign)
"""What has to be mended by a person before the same command can work."""
