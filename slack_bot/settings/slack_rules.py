"""PURE. The catalogue of Slack's rules: what the emulated workspace, and with it this bot, takes for true.

Each rule is an experiment that `slack-bot rules` makes: `slack_bot/tools/rules/` has the probe of each id.
The emulated workspace keeps it, and behaves otherwise where it was measured otherwise.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

RuleValue: TypeAlias = bool | int | float | str
"""What is observed: true or false, a number, or a word. Never a text, an id or a token."""
RuleKind: TypeAlias = Literal["answer", "number", "word", "flag"]
OK = "ok"
"""The answer of Slack that is no error."""


@dataclass(frozen=True, slots=True)
class SlackRule:
    """One rule. `says`: it in a sentence. `source`: [doc], [obs] or [code], and where.

    `kind`: an `answer` is Slack's error or `ok`; a `word` is one of `words`. A number has a `unit`, its
    limits `least` and `most`, and counts as expected within this `share` of it.
    """

    id: str
    kind: RuleKind
    expected: RuleValue
    says: str
    source: str
    words: tuple[str, ...] = ()
    unit: str = ""
    least: float = 1
    most: float = 0
    share: float = 0.0

    def is_as_expected(self, value: RuleValue) -> bool:
        """Whether a probe that saw `value` agrees."""
        if self.kind != "number":
            return value == self.expected
        return abs(float(value) - float(self.expected)) <= self.share * float(self.expected)

    @property
    def is_documented(self) -> bool:
        """Whether Slack's own pages say so."""
        return self.source.startswith("[doc]")


def _answer(name: str, expected: str, says: str, source: str) -> SlackRule:
    return SlackRule(name, "answer", expected, says, source)


def _number(
    name: str, expected: float, unit: str, says: str, source: str, *, least: float = 1, share: float = 0.0
) -> SlackRule:
    most = max(10.0, expected * 100)
    return SlackRule(name, "number", expected, says, source, unit=unit, least=least, most=most, share=share)


def _word(name: str, words: str, says: str, source: str) -> SlackRule:
    """The first of `words` is expected."""
    known = tuple(words.split())
    return SlackRule(name, "word", known[0], says, source, words=known)


def _flag(name: str, expected: bool, says: str, source: str) -> SlackRule:
    return SlackRule(name, "flag", expected, says, source)


_START, _APPEND, _STOP = "[doc] chat.startStream", "[doc] chat.appendStream", "[doc] chat.stopStream"
_POST, _UPDATE = "[doc] chat.postMessage", "[doc] chat.update"
_SET_STATUS, _SESSION = "[doc] assistant.threads.setStatus", "[doc] agents.sessions.setStatus"
_FAKE = "[obs] FakeSlack, a public test double measured 2026-09-28 to 2026-10-08"
_MATE = "[obs] a public TypeScript surface with measured comments"
_WIRE = "[obs] a public Socket Mode capture of 2026-09-26"
_HERMES = "[obs] hermes#59010, #100992"
_BLOCKS, _LIMITS = "[doc] Block Kit reference", "[doc] Rate limits"
_EMULATOR = "[obs] nobody's word: what the emulated workspace does"
_CHARS = "characters"

_STREAMS = (
    _answer("stream.recipient_user", "missing_recipient_user_id",
            "In a channel a stream names the person it is for", _START),
    _answer("stream.recipient_team", "missing_recipient_team_id",
            "In a channel a stream names the team of that person", _START),
    _answer("stream.direct", OK, "In a direct message a stream needs no recipient",
            "[obs] openclaw#72340, shipwright#3149; hermes says otherwise"),
    _answer("stream.recipient_bot", "user_not_found", "A bot is no recipient",
            "[obs] cnoe-io/ai-platform-engineering"),
    _answer("stream.recipient_of_other_team", "user_not_found", "Person and team belong together",
            "[obs] openclaw#70295, #70370"),
    _answer("stream.no_thread", "invalid_thread_ts", "A stream has a thread", _START),
    _answer("stream.unknown_thread", "invalid_thread_ts", "The thread of a stream exists", _START),
    _answer("stream.display", "invalid_arguments",
            "Cards are drawn as timeline or plan, and dense is no choice", _MATE),
    _answer("stream.text_and_chunks", "cannot_provide_both_markdown_text_and_chunks",
            "A call has text or chunks", _START),
    _answer("stream.mode", "streaming_mode_mismatch",
            "A stream that began with text goes on with text", _APPEND),
    _answer("stream.empty_append", "markdown_text_or_chunks_required",
            "An append adds something", _APPEND),
    _answer("stream.append_after_stop", "message_not_in_streaming_state",
            "A stopped stream takes no text", _APPEND),
    _answer("stream.stop_after_stop", "message_not_in_streaming_state",
            "A stream is stopped once", _STOP),
    _answer("stream.update_while_open", "streaming_state_conflict",
            "An open stream cannot be edited", _FAKE),
    _answer("stream.delete_while_open", "cant_delete_message",
            "An open stream cannot be deleted", _FAKE),
    _number("stream.life", 300, "s",
            "A stream ends this long after its start, though text goes on coming",
            f"{_FAKE}; python-slack-sdk#1859, node-slack-sdk#2702, vercel/chat#607", share=0.1),
    _number("stream.idle", 300, "s", "A stream that gets nothing ends this long after its start",
            "[obs] told as 30 (aura#421) and as 300 (suna#3438)", share=0.1),
    _number("stream.bytes", 11_000, "bytes", "UTF-8 bytes of text that a streamed message holds",
            "[obs] CopilotKit#6063, #6064, #6244; agno#7219 says 39,000", share=0.05),
    _answer("stream.full", "msg_too_long", "A full stream takes no text", "[obs] CopilotKit#6063"),
    _flag("stream.name", True, "A stream shows the name that it was started with", _START),
    _flag("stop.tells_message", True, "The answer to chat.stopStream has the message",
          "[code] ChatStopStreamResponse of node-slack-sdk"),
    _number("stop.blocks", 50, "blocks", "Blocks that a stop may add", _STOP),
    _answer("stop.too_many_blocks", "msg_blocks_too_many", "A stop with more is refused", _STOP),
    _word("stop.place", "below above", "Blocks of a stop stand below the text", _STOP),
    _flag("stop.metadata", True, "Metadata of a stop can be read back", _STOP),
    _answer("stop.session", "invalid_arguments", "A stop names a state that a session can have", _STOP),
)  # fmt: skip

_EVENTS_DOC = "[doc] Events API; [obs] letta#1789, cc-connect#1822"
_EVENTS = (
    _flag("event.own_post", True, "The app hears of what it posts itself", "[doc] message event"),
    _word("event.stream_start", "empty written",
          "A stream begins with a message event without text", _WIRE),
    _number("event.appends", 0, "events", "Events of three appends", _WIRE, least=0),
    _word("event.stream_end", "message_changed message none",
          "A stream ends with a hidden message_changed", _WIRE),
    _word("event.delete", "message_deleted message_changed none",
          "A deleted message is told as message_deleted", "[doc] message_deleted"),
    _flag("event.reaction", True, "The app hears of its own reactions", "[doc] reaction_added"),
    _number("event.twins", 2, "events", "A mention in a channel is app_mention and message", _EVENTS_DOC),
    _word("event.first", "app_mention message",
          "Of these two, which comes first; Slack keeps no order", _EVENTS_DOC),
)  # fmt: skip

_SOCKET_DOC = "[doc] Socket Mode"
_SOCKETS = (
    _number("socket.count", 10, "connections", "Connections of an app at once", _SOCKET_DOC),
    _word("socket.refusal", "too_many_websockets other", "One more is told so",
          "[code] a comment in slack_sdk"),
    _flag("socket.ticket_once", True, "The address of a connection is good for one", _SOCKET_DOC),
)  # fmt: skip

CATALOGUE: Mapping[str, SlackRule] = {
    rule.id: rule for rules in (_STREAMS, _EVENTS, _SOCKETS) for rule in rules
}
"""All rules by id, in the order of the report."""
