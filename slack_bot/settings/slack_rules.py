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
_CHUNKS = "[doc] chunks of chat.startStream"
_BLOCKS, _LIMITS = "[doc] Block Kit reference", "[doc] Rate limits"
_OWN = "[own] what the emulated workspace does; nobody says so"
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

_EIGHT_K = "[own] the emulator's guess; the page gives no number"
_TEXTS = (
    _number("call.chars", 12_000, _CHARS, "Characters of Markdown in one call", _POST),
    _answer("call.too_long", "msg_too_long", "A call with more is refused", _POST),
    _number("update.chars", 4_000, _CHARS, "Characters of text in an edit", _UPDATE),
    _answer("update.too_long", "msg_too_long", "An edit with more is refused", _UPDATE),
    _flag("update.drops_cards", True, "An edit without cards takes them away", _FAKE),
    _number("post.chars", 40_000, _CHARS, "Characters of text that a post keeps", _POST),
    _answer("post.two_texts", "markdown_text_conflict", "A post has one kind of text", _POST),
    _answer("post.empty", "no_text", "A post has some text", _POST),
    _answer("thread.reply_as_root", "invalid_thread_ts", "A reply is not the root of a thread", _OWN),
    _number("metadata.bytes", 8_000, "bytes", "Metadata of a message, as JSON", _EIGHT_K),
    _answer("metadata.too_large", "metadata_too_large", "Larger metadata is refused", _POST),
    _number("blocks.count", 50, "blocks", "Blocks of a message", _BLOCKS),
    _answer("blocks.too_many", "invalid_blocks", "A message with more is refused", _BLOCKS),
    _number("chunk_blocks.kept", 50, "blocks", "Blocks that chunks add; the rest is dropped", _APPEND),
)  # fmt: skip

_READ = (
    _word("read.leading_space", "dropped kept",
          "White space before the first word of a stream vanishes", _HERMES),
    _word("read.blank_append", "dropped kept", "An append of white space alone adds nothing", _HERMES),
    _word("read.heading", "plain bold marked other", "A heading reads back as its words", _FAKE),
    _word("read.bold", "mrkdwn markdown other", "Bold reads back with single stars", _FAKE),
    _word("read.strike", "mrkdwn markdown other", "Struck words read back with single tildes", _FAKE),
    _word("read.link", "mrkdwn markdown other", "A link reads back in angle brackets", _FAKE),
    _word("read.escape", "escaped raw other", "The signs &, < and > read back as entities", _FAKE),
    _word("read.bullet", "bullet dash other", "The points of a list read back with bullets", _FAKE),
    _word("read.nested", "indented flat other", "Points of points are indented", _FAKE),
    _word("read.fence", "preformatted section other", "A fence is a preformatted rich text", _FAKE),
    _flag("read.table", True, "A Markdown table in a stream is a table block",
          "[obs] vercel/chat#349; others tell of plain text"),
    _word("read.mention", "live text other", "A mention in streamed text is one that pings",
          "[obs] hermes#47051"),
    _flag("read.titles", True, "The text of a stream has the titles of its cards", _FAKE),
    _flag("read.state", True, "An open stream reads back as in_progress", _WIRE),
    _flag("read.whole_thread", True, "A thread of twenty messages comes in one page",
          "[doc] Rate limits; 15 for apps sold outside the Marketplace"),
)  # fmt: skip

_CARDS = (
    _number("card.title_chars", 256, _CHARS, "Characters of a card's title", _CHUNKS),
    _number("card.details_chars", 256, _CHARS, "Characters of details in one call", _CHUNKS),
    _number("card.output_chars", 256, _CHARS, "Characters of output in one call", _CHUNKS),
    _number("plan.title_chars", 256, _CHARS, "Characters of a plan's title", _CHUNKS),
    _answer("card.too_long", "invalid_chunks", "A card with more is refused", _CHUNKS),
    _word("card.title", "replaces appends", "A card's new title takes the place of the old one", _CHUNKS),
    _word("card.details", "appends replaces", "Details are added to those before", _CHUNKS),
    _word("card.output", "appends replaces", "Output is added to that before", _FAKE),
    _word("card.hashes", "empty shown", "Details that begin with ## show nothing", _HERMES),
    _word("card.leading_space", "dropped kept", "White space at the start of details vanishes", _HERMES),
    _word("card.open_after_stop", "in_progress complete error pending none",
          "A card that is open at the stop stays as it is", _OWN),
    _word("plan.open_after_stop", "failed kept",
          "A plan with an open card at the stop is called Something went wrong", _MATE),
    _number("card.weight", 2, "times", "How often a byte of details counts in a stream's size",
            "[obs] CopilotKit#6244"),
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
    _word("event.edit", "message_changed message none",
          "A person's edit is told as message_changed", "[doc] message_changed"),
    _flag("event.edit_mention", True, "An edit of what mentions the app is told as app_mention too",
          "[obs] PostHog#59517, inkeep/agents#2284; recorded: slack-go#1256"),
    _flag("event.reaction_thread", False, "A reaction names the thread of its message",
          "[doc] reaction_added"),
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

_CHART = "[doc] data_visualization block"
_DATA = (
    _number("data_table.rows", 201, "rows", "Rows of a data table, with its head", "[doc] data_table block"),
    _number("data_table.columns", 20, "columns", "Columns of it", "[doc] data_table block"),
    _number("data_table.chars", 20_000, _CHARS, "Characters of all its cells", "[doc] data_table block"),
    _answer("data_table.uneven", "invalid_blocks", "Its rows are of one length", "[doc] data_table block"),
    _number("table.rows", 100, "rows", "Rows of a table", "[doc] table block"),
    _number("table.columns", 20, "columns", "Columns of it", "[doc] table block"),
    _number("table.chars", 10_000, _CHARS, "Characters of all its cells", "[doc] table block"),
    _number("chart.count", 2, "charts", "Charts of a message", _CHART),
    _number("chart.title_chars", 50, _CHARS, "Characters of a chart's title", _CHART),
    _number("chart.label_chars", 20, _CHARS, "Characters of a label", _CHART),
    _number("chart.series", 12, "series", "Series of a chart", _CHART),
    _number("chart.points", 20, "points", "Points of a series", _CHART),
    _number("chart.segments", 12, "segments", "Segments of a pie", _CHART),
)  # fmt: skip

_SIZES = (
    _number("section.chars", 3_000, _CHARS, "Characters of a section", _BLOCKS),
    _number("section.fields", 10, "fields", "Fields of a section", _BLOCKS),
    _number("header.chars", 150, _CHARS, "Characters of a header", _BLOCKS),
    _number("context.elements", 10, "elements", "Elements of a context block", _BLOCKS),
    _number("actions.elements", 25, "elements", "Elements of an actions block", _BLOCKS),
    _number("button.chars", 75, _CHARS, "Characters of a button's label", _BLOCKS),
    _number("button.value_chars", 2_000, _CHARS, "Characters of a button's value", _BLOCKS),
    _flag("button.hidden", True, "A button may name those who see it", "[code] slack_sdk 3.46"),
    _number("action_id.chars", 255, _CHARS, "Characters of an action_id", _BLOCKS),
    _number("block_id.chars", 255, _CHARS, "Characters of a block_id", _BLOCKS),
    _number("select.options", 100, "options", "Options of a menu", _BLOCKS),
    _number("markdown_block.chars", 12_000, _CHARS, "Characters of all markdown blocks", _BLOCKS),
)  # fmt: skip

_UPLOAD = "[doc] files.getUploadURLExternal, files.completeUploadExternal"
_THREADS = (
    _number("status.timeout", 120, "s", "A typing status goes away by itself", _SET_STATUS, share=0.1),
    _flag("status.gone_by_reply", True, "A reply of the app ends its typing status", _SET_STATUS),
    _number("status.messages", 10, "texts", "Loading messages of a typing status", _SET_STATUS),
    _answer("session.available", OK, "A thread is a session with an agent", _SESSION),
    _answer("session.wrong_state", "invalid_status", "A session has one of four states", _SESSION),
    _answer("session.no_thread", "thread_ts_required", "A session has a thread", _SESSION),
    _answer("session.rename_before", "not_authorized", "Only a session that exists gets a title",
            "[doc] agents.sessions.rename"),
    _number("session.title_chars", 200, _CHARS, "Characters of its title", "[doc] agents.sessions.rename"),
    _word("session.at_start", "processing active none", "A stream makes it processing", _SESSION),
    _word("session.at_stop", "active processing none", "A stop makes it active", _SESSION),
    _number("prompts.count", 4, "prompts", "Suggested prompts",
            "[doc] assistant.threads.setSuggestedPrompts"),
    _flag("ephemeral.unlisted", True, "What one person alone sees is not read back",
          "[doc] chat.postEphemeral"),
    _answer("ephemeral.edit", "message_not_found", "And cannot be edited", "[doc] chat.postEphemeral"),
    _answer("reaction.twice", "already_reacted", "A reaction is added once", "[doc] reactions.add"),
    _answer("reaction.none", "no_reaction", "Only one that is there is removed", "[doc] reactions.remove"),
    _answer("file.empty", "missing_argument", "A file has a byte at least", _UPLOAD),
    _answer("file.unfinished", "file_not_found", "Only bytes that came are shared", _UPLOAD),
    _word("file.wrong_length", "refused taken", "As many bytes come as were announced", _OWN),
    _flag("file.in_thread", True, "A file can be shared in a thread", _UPLOAD),
)  # fmt: skip

_PRESSES = (
    _number("press.trigger_life", 3, "s", "A press opens a modal for so long", "[doc] Interactivity",
            share=0.4),
    _answer("press.late", "expired_trigger_id", "Later it does not", "[doc] views.open"),
    _number("press.responses", 5, "messages", "A response_url is good for so many", "[doc] Interactivity"),
)  # fmt: skip

_RETRY_DOC = "[doc] Events API"
_DELIVERY = tuple(
    rule
    for group, way, reason, source in (
        ("delivery", "by Socket Mode", "timeout other", "[code] slack_bolt 1.30; [obs] slack-mock"),
        ("http", "by HTTP", "http_timeout other", _RETRY_DOC),
    )
    for rule in (
        _number(f"{group}.ack", 3, "s", f"What has no ack comes again {way}", source, share=0.5),
        _number(f"{group}.retries", 3, "times", f"So often it comes again {way}", source),
        _number(f"{group}.second_pause", 60, "s", f"The second time after a pause, {way}", source, share=0.2),
        _number(f"{group}.third_pause", 300, "s", f"The third time after a pause, {way}", source, share=0.2),
        _word(f"{group}.reason", reason, f"And it says why, {way}", source),
    )
)  # fmt: skip
_NO_RETRY = (_flag("http.no_retry", True, "The header x-slack-no-retry ends the retries", _RETRY_DOC),)

RATED: Mapping[str, tuple[int, int]] = {
    "chat.startStream": (20, 20),
    "chat.appendStream": (100, 100),
    "chat.stopStream": (20, 20),
    "chat.update": (50, 50),
    "chat.delete": (50, 50),
    "chat.postMessage": (60, 5),
    "chat.postEphemeral": (100, 100),
    "assistant.threads.setStatus": (600, 600),
    "agents.sessions.setStatus": (50, 50),
    "conversations.replies": (50, 50),
    "conversations.history": (50, 50),
    "reactions.add": (50, 50),
    "users.info": (100, 100),
    "files.getUploadURLExternal": (100, 100),
}
"""Methods whose rates are tried: calls a minute, and at once."""
_RATES = tuple(
    rule
    for method, (calls, burst) in RATED.items()
    for rule in (
        _number(f"rate.{method}", calls, "calls a minute", f"{method} may be called so often",
                _LIMITS, share=0.2),
        _number(f"burst.{method}", burst, "calls", f"{method} may be called so often at once",
                "[obs] a minute's calls; Slack says that bursts are allowed, and not how many", share=0.2),
    )
)  # fmt: skip
_LIMITED = (
    _word("rate.form", "both http body",
          "A stream that is written too often hears it by HTTP 429 or in the body",
          "[doc] chat.appendStream, Rate limits"),
)  # fmt: skip

CATALOGUE: Mapping[str, SlackRule] = {
    rule.id: rule
    for rules in (
        _STREAMS, _TEXTS, _READ, _CARDS, _DATA, _SIZES, _THREADS, _EVENTS, _PRESSES, _SOCKETS, _DELIVERY,
        _NO_RETRY, _RATES, _LIMITED,
    )
    for rule in rules
}  # fmt: skip
"""All rules by id, in the order of the report."""
