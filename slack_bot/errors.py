"""PURE. Every error of ours, in one tree.

BotError                      what a person may be told is `str(error)`: one clear sentence, no secret
  SettingsError               wrong or contradictory configuration: names the setting and the remedy
  UnreadableInput             a tape, scenario or file that cannot be read: names file, line, reason
  AgentError                  anything about the agent; `safe` is what a reader in Slack may be told
    AgentUnreachable          nothing was sent: connect refused, DNS, connect timeout. Safe to try again
    CardError                 no agent card, or one that cannot be used
      NoCard                  nothing at the address is a card
    AgentRefused              HTTP 401, 403, 429, 503 ...: the question was not taken
    AgentFailed               a JSON-RPC error; `code` is its number
    BadAgentData              not JSON, not SSE, too large, nested too deep: we cannot read it
      BadEncoding             compressed in a way that was not asked for, or to grow without bound
    StreamLost                the stream broke after the question may have been taken
      StreamCut               the connection ended in the middle
      StreamIdle              no event for too long (pings do not count)
  SlackError                  a Web API call that failed for good; `fault` is its class
  StoreError                  the store cannot be opened, read or written
"""

from __future__ import annotations

_SAID_CHARS = 300


class BotError(Exception):
    """Base of all errors raised on purpose. `str()` is fit for an operator or a developer."""


class SettingsError(BotError):
    """A setting is missing, malformed or contradicts another. One line a problem."""


class UnreadableInput(BotError):
    """A file given by the user cannot be read. Names file, line and reason."""


class AgentError(BotError):
    """Something about the agent.

    `safe` is one sentence for the reader in Slack: it names no host, no header and nothing the server wrote.
    `said` is what the server wrote, on one line, "" for nothing. It may hold internals: it is no text for a
    reader, nor for a log at info. `brief` is `str()` without it.
    """

    safe = "The agent could not answer."

    def __init__(self, message: str, *, safe: str | None = None, said: str = "") -> None:
        clipped = said if len(said) <= _SAID_CHARS else f"{said[:_SAID_CHARS]}..."
        super().__init__(f"{message}: {clipped}" if said else message)
        self.brief, self.said = message, said
        if safe is not None:
            self.safe = safe


class AgentUnreachable(AgentError):
    """The request did not leave: nothing was taken, so it may be sent again."""

    safe = "The agent cannot be reached right now."


class CardError(AgentError):
    """The agent card is missing or unusable."""

    safe = "The agent cannot be reached right now."


CARD_ADDRESS = "must be the agent's base address or the full address of its card"
"""What an address has to be where no card was found; behind the name of what gave it."""


class NoCard(CardError):
    """Nothing at the address is a card. `tried` says where and why not, without the remedy."""

    def __init__(self, tried: str) -> None:
        super().__init__(f"{tried}; A2A_AGENT_URL {CARD_ADDRESS}")
        self.tried = tried


class AgentRefused(AgentError):
    """The agent's server refused the request before taking it. `status` is the HTTP status."""

    safe = "The agent refused the request."

    def __init__(
        self,
        message: str,
        *,
        status: int,
        retry_after: float | None = None,
        safe: str | None = None,
        said: str = "",
    ) -> None:
        super().__init__(message, safe=safe, said=said)
        self.status = status
        self.retry_after = retry_after


class AgentFailed(AgentError):
    """The agent answered with a JSON-RPC error. `code` is its number (facts: A2A section 5)."""

    safe = "The agent reported an error."

    def __init__(self, message: str, *, code: int, safe: str | None = None, said: str = "") -> None:
        super().__init__(message, safe=safe, said=said)
        self.code = code


class BadAgentData(AgentError):
    """What came cannot be read as A2A."""

    safe = "The agent sent something that could not be understood."


class BadEncoding(BadAgentData):
    """The body is compressed as it cannot be taken. Names the remedy."""


class StreamLost(AgentError):
    """The stream broke after the question may have been taken: never send it again."""

    safe = "The connection to the agent was lost."


class StreamCut(StreamLost):
    """The connection ended in the middle of the stream."""


class StreamIdle(StreamLost):
    """No event came for too long. Pings keep a dead stream alive, so they do not count."""

    safe = "The agent has gone silent."


class SlackError(BotError):
    """A Slack call failed and nothing on this side can mend it. `error` is Slack's own name for it."""

    def __init__(self, message: str, *, error: str) -> None:
        super().__init__(message)
        self.error = error


class StoreError(BotError):
    """The store cannot be opened, read or written."""
