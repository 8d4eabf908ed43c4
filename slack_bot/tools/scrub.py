"""`slack-bot scrub`: a capture of any kind becomes a tape that can be shared.

Shape and times stay, and what decides how a tape is read: kinds, states, artifact names, flags, the words of
tool notifications, and their keys. All else is replaced, other keys as well: they may be people's names.
"""

from __future__ import annotations

import argparse
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..agents.content.parts import is_type
from ..agents.dialects.table import ANSWER_MARKS, DIALECTS, KEYS, NARRATION_MARKS
from ..testing.tape.items import INTERRUPTED, Moment
from ..testing.tape.json_file import Json
from ..testing.tape.tape import ENDED, TAKEN_OVER, WAITED, Tape, tape_lines
from .files import OutputFile, keep_what_is_there, open_capture, taped
from .terminal import told_if_interrupted

_PROTOCOL_KEYS = (
    "kind role state status agentType content_type mimeType mediaType media_type wire method type partial"
)
_PROTOCOL = frozenset(_PROTOCOL_KEYS.split())
_KEYS = (
    "append artifact artifactId artifact_id artifactUpdate artifact_update artifacts content contextId",
    "context_id data description detail details error extensions file fileWithBytes file_with_bytes",
    "fileWithUri file_with_uri filename fileUrl final history id index jsonrpc kind lastChunk last_chunk",
    "mediaType media_type message messageId message_id metadata method mimeType mime_type msg name params",
    "parts",
    "bytes raw base64 referenceTaskIds result role seq state status statusUpdate status_update task taskId",
    "task_id text timestamp total type update uri url",
    "artifact_name asked code content_type http_status retry_after wire",
    "agent agentType answer sourceAgent trace_id",
    "args arguments call_id callId function function_name functionName input is_error output plan_step_id",
    "response tool tool_call_id toolCallId tool_name toolName tool_title tool_use_id toolUseId",
    "object_type partial tool_calls tool_results",
    "order step_id steps title",
    "enum field_description field_name field_values fields form input_description input_fields input_title",
    "instructions interrupts label options prompt properties question reason require_user_input required",
    "schema user_input value",
    "allOf anyOf choices const default default_value enumNames field_type format help input_type items key",
    "oneOf pattern placeholder propertyOrdering writeOnly",
    "action action_request action_requests allow_edit allow_respond allowed_decisions approvals authConfig",
    "authUri auth_config auth_uri authorization_endpoint_url calls config edit exchangedAuthCredential",
    "exchanged_auth_credential form_data hint interruptId oauth2 originalFunctionCall payload responseSchema",
    "response_schema review_configs toolConfirmation",
    "categories citations columns datasets encoding field headers labels mark rows segments series spec",
    "values",
    "followUpQuestions follow_up_questions follow_ups followup_questions followups next_questions questions",
    "name slack ts",
    "suggestedQuestions suggested_prompts suggested_questions suggestions",
    "PlatformEngineerResponse ResponseFormat is_task_complete was_task_successful",
)
_FLAGS = (*NARRATION_MARKS, *ANSWER_MARKS)
KNOWN_KEYS = frozenset(name for line in _KEYS for name in line.split()) | {*_FLAGS}
"""Keys that the bot reads or A2A defines: of the protocol, of HTTP errors in a tape, of what agents say about
their answer, of tool calls, plan steps, forms, tables, charts, sources, next questions and CAIPE's
envelope."""
_SIGNS = re.compile("|".join(map(re.escape, KEYS)))
_MEANING = re.compile(r"(?:^|(?<=_))(?:type|kind|(?:is_)?(?:thought|thinking|reasoning)|is_long_running)\Z")
"""The end of a key that says what a part or its metadata is, with any prefix."""
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,40}")
_IDS = re.compile(r"(?:^id|Id|_id|_ids|Ids|ID)$")
_BYTES = frozenset({"bytes", "raw", "base64"})
_BEGINNINGS = re.compile(
    r"\s*(?:Tool call (?:started|completed|failed): |(?:\S+ )?(?:Running|Calling|Executing|Tool): ?|"
    r"⏳ Waiting for |"
    r"Returning structured response|is_task_complete=|ping\b|heartbeat\b|keep-?alive\b)"
)
_SSE_FIELD = re.compile(r"(?m)^(?:data|event|id|retry)?:(?: ?error$)?")
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?")
_ZERO = datetime(2000, 1, 1, tzinfo=UTC)
_SMALL = 1000  # smaller numbers are counts and positions; larger ones may be private
_HEAD = ("format", "version", "wire", "method", "settings")
_TOOLS = "tool_notification"


def main(args: argparse.Namespace) -> int:
    """The verb. `args`: file, output, key. Returns the exit status; raises UnreadableInput."""
    out = OutputFile(args.output, [args.file])
    if not args.force:
        keep_what_is_there(Path(out.path))
    head, moments = scrubbed(taped(open_capture(Path(args.file), args.key)))
    with out as file, told_if_interrupted(lambda: f"what was done until then is in {args.output}"):
        count = 0
        for line in tape_lines(head, moments):
            file.text(line)
            count += 1
    sys.stderr.write(f"{count - 1} lines with words, names, ids and links replaced: {args.output}\n")
    return 0


def scrubbed(tape: Tape) -> tuple[Json, Iterator[Moment]]:
    """`tape` with its content replaced: its head, and its moments one by one."""
    is_json = any(text.lstrip().startswith("{") for moment in tape.moments for text in texts_in(moment.event))
    scrubber = _Scrubber(Pseudonyms((*KEPT, *JSON_KEPT) if is_json else KEPT))
    return scrubber.head(tape.head), map(scrubber.moment, tape.moments)


def texts_in(value: Any) -> Iterator[str]:
    """Every value called `text` in an event."""
    if isinstance(value, dict):
        for name, each in value.items():
            if name == "text" and isinstance(each, str):
                yield each
            else:
                yield from texts_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts_in(each)


class _Scrubber:
    def __init__(self, words: Pseudonyms) -> None:
        self._words = words
        self._streams: dict[tuple[str, ...], Scrambler] = {}
        self._ids: dict[str, str] = {}
        self._new_ids: set[str] = set()
        self._first: datetime | None = None

    def head(self, head: Json) -> Json:
        kept: Json = {name: head[name] for name in _HEAD if name in head}
        if head.get(TAKEN_OVER):
            kept[TAKEN_OVER] = True
        if isinstance(waited := head.get(WAITED), int | float):
            kept[WAITED] = waited
        around = head.get("scenario")
        if isinstance(around, dict) and isinstance(stop_at := around.get("stop_at"), int | float):
            kept["scenario"] = {"stop_at": stop_at}
        if isinstance(ended := head.get(ENDED), str):
            kept[ENDED] = ended.partition(" ")[0]
        if isinstance(question := head.get("question"), str):
            kept["question"] = self._words.text(question)
        return kept

    def moment(self, moment: Moment) -> Moment:
        changes: dict[str, Callable[[Any], Any]] = {
            "event": self._event,
            "error": self._object,
            "comment": lambda text: text if text == INTERRUPTED else self._text(text),
            "raw": self._raw,
            "question": self._words.text,
        }
        for name, change in changes.items():
            if (value := getattr(moment, name)) is not None:
                return replace(moment, **{name: change(value)})
        return moment

    # -- events ----------------------------------------------------------------------------------------------

    def _event(self, event: Json) -> Json:
        """One event. The text of an artifact that grows is continued."""
        wrapper = event.get("artifactUpdate")
        update = wrapper if isinstance(wrapper, dict) else event
        artifact = update.get("artifact")
        if not isinstance(artifact, dict):
            return self._object(event)
        name = str(artifact.get("name") or "")
        if _TOOLS in name:
            for stream in self._streams.values():
                stream.pause()
            return self._object(event)
        stream = self._stream(artifact, name, begins=update.get("append") is False)
        texts = iter([stream.push(part["text"]) for part in _text_parts(artifact)])
        found = self._object(event)
        inner = (found["artifactUpdate"] if update is wrapper else found)["artifact"]
        for part in _text_parts(inner):
            part["text"] = next(texts)
        return found

    def _stream(self, artifact: Json, name: str, *, begins: bool) -> Scrambler:
        metadata = artifact.get("metadata")
        flags = [str(metadata.get(flag)) for flag in _FLAGS] if isinstance(metadata, dict) else []
        key = (str(artifact.get("artifactId")), name, *flags)
        if begins or key not in self._streams:
            self._streams[key] = self._words.stream()
        return self._streams[key]

    # -- values ----------------------------------------------------------------------------------------------

    def _object(self, value: Json) -> Json:
        found: Json = {}
        for name, each in value.items():
            shown = self._key(name)
            while shown in found or (shown != name and shown in KNOWN_KEYS):
                shown = self._words.text(f"{shown}x")  # the name is taken
            found[shown] = self._value(name, each)
        return found

    def _key(self, name: str) -> str:
        if name in KNOWN_KEYS:
            return name
        if name in self._ids:
            return self._ids[name]
        signed, means = _SIGNS.match(name), _MEANING.search(name)
        begin, end = signed.end() if signed else 0, means.start() if means else len(name)
        return name[:begin] + self._words.text(name[begin:end]) + name[end:]

    def _value(self, name: str, value: Any) -> Any:
        if isinstance(value, dict):
            return self._object(value)
        if isinstance(value, list):
            return [self._value(name, each) for each in value]
        if isinstance(value, str):
            return self._string(name, value)
        if isinstance(value, bool) or name == "code":
            return value
        if isinstance(value, int | float) and abs(value) >= _SMALL:
            return type(value)(self._words.text(str(abs(int(value)))))
        return value

    def _string(self, name: str, text: str) -> str:
        if name in _PROTOCOL or (name in ("name", "artifact_name") and _WORD.fullmatch(text)):
            return text if _WORD.fullmatch(text) or "/" in text else self._words.text(text)
        if _MEANING.search(name) and is_type(text):
            return text
        if _IDS.search(name):
            return self._id(text)
        if _STAMP.fullmatch(text):
            return self._stamp(text)
        if name in _BYTES:
            return "A" * len(text)
        return self._text(text)

    def _text(self, text: str) -> str:
        """A text; a beginning that says how to read it stays, and so do announcements."""
        begins = _BEGINNINGS.match(text)
        at = begins.end() if begins else 0
        rest = text[at:]
        is_word = _WORD.fullmatch(rest.strip()) is not None
        if is_word and any(dialect.announcements.search(rest.strip()) for dialect in DIALECTS):
            return text
        return text[:at] + self._words.text(rest)

    def _raw(self, text: str) -> str:
        found, at = "", 0
        for match in _SSE_FIELD.finditer(text):
            found += self._words.text(text[at : match.start()]) + match.group()
            at = match.end()
        return found + self._words.text(text[at:])

    def _id(self, text: str) -> str:
        """Another id of the same shape, always the same one."""
        found, attempt = self._ids.get(text, text), 0
        while text not in self._ids and (found == text or found in self._new_ids):
            digest = sha256(f"{len(self._ids)} {attempt}".encode()).hexdigest() * (len(text) // 64 + 1)
            kinds = zip(text, digest, strict=False)
            found = "".join(new if old.isalnum() else old for old, new in kinds)
            found += digest[: attempt // 50]  # there may be no other free id of this length
            attempt += 1
        self._ids[text] = found
        self._new_ids.add(found)
        return found

    def _stamp(self, text: str) -> str:
        """The first timestamp becomes 2000-01-01; distances stay."""
        moment = datetime.fromisoformat(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        self._first = self._first or moment
        return (_ZERO + (moment - self._first)).isoformat().replace("+00:00", "Z")


def _text_parts(artifact: Json) -> list[Json]:
    parts = artifact.get("parts")
    found = parts if isinstance(parts, list) else []
    return [part for part in found if isinstance(part, dict) and isinstance(part.get("text"), str)]


# -- words ---------------------------------------------------------------------------------------------------
# Each letter's replacement depends on the letters before it in the word. So equal words stay equal, different
# ones different, and a text may come in deltas cut anywhere. Replacements are chosen in the order of the
# text: without the tape nothing can be looked up. After `MOST_NODES` of them, new words are shifted letter by
# letter, by a hash of all text read so far.

KEPT = ("https", "http", "FINAL", "ANSWER")
"""Words that every parser of a tape needs. Their first letters stay in other words, too."""
JSON_KEPT = (
    *("is_task_complete", "require_user_input", "was_task_successful", "content", "metadata", "true"),
    *("false", "null", "user_input", "input_fields", "field_name", "field_description", "field_values"),
    "required",
)
"""Further words where an agent writes its answer as JSON text."""

MOST_NODES = 200_000
"""Beginnings of words that are remembered: about 60 MB, more than the words of a tape need."""

_LOWER, _UPPER, _DIGITS = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
_TWO_BYTES = "àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþÿ"
_WIDE = (0x4E00, 0x9FA5)  # three bytes
_WIDER = (0x20000, 0x2A6D6)  # four bytes


@dataclass(slots=True)
class _Node:
    """The replacement of each next letter after the letters of a word, of which `seed` is a hash."""

    seed: bytes = b""
    next: dict[str, tuple[str, _Node]] = field(default_factory=dict)

    @property
    def taken(self) -> set[str]:
        return {chosen for chosen, _ in self.next.values()}


class Pseudonyms:
    """The replacements of all words of one tape. `kept` are not replaced."""

    def __init__(self, kept: Iterable[str] = KEPT, most: int = MOST_NODES) -> None:
        self._root = _Node()
        self._read, self._key = sha256(), b""
        self._left = most
        for word in kept:
            node = self._root
            for letter in word:
                node = self._next(node, letter, letter)[1]

    def stream(self) -> Scrambler:
        return Scrambler(self)

    def text(self, text: str) -> str:
        return self.stream().push(text)

    def note(self, text: str) -> None:
        if not self._key:
            self._read.update(text.encode("utf-8", "surrogatepass"))

    def step(self, node: _Node | None, letter: str) -> tuple[str, _Node | None]:
        """The replacement of `letter` after `node` (None: a word begins), and the node after it."""
        if letter == "_" or unicodedata.category(letter) in ("Mn", "Mc"):
            return letter, self._next(node or self._root, letter, letter)[1]
        if not (letter.isalpha() or letter in _DIGITS):
            return letter, None
        return self._next(node or self._root, letter, None)

    def _next(self, node: _Node, letter: str, wanted: str | None) -> tuple[str, _Node]:
        if letter in node.next:
            return node.next[letter]
        if self._key:
            return _shifted(node, letter, wanted, self._key)
        chosen = wanted or _chosen(node, letter)
        found = node.next[letter] = chosen, _Node(_hash(node.seed, chosen)[:8])
        self._left -= 1
        if self._left <= 0:
            self._key = self._read.digest()
        return found


class Scrambler:
    """One text in pieces. A word may be cut by the border of two pieces."""

    def __init__(self, words: Pseudonyms) -> None:
        self._words = words
        self._node: _Node | None = None
        self._kept = 0  # letters to keep: hexadecimal digits of a JSON escape
        self._escaped = False

    def push(self, text: str) -> str:
        self._words.note(text)
        return "".join(map(self._letter, text))

    def pause(self) -> None:
        """The next piece begins a new word."""
        self._node = None

    def _letter(self, letter: str) -> str:
        if self._escaped:
            self._escaped = False
            self._kept = 4 if letter == "u" else 0
            return letter
        if letter == "\\":
            self._escaped, self._node = True, None
            return letter
        if self._kept and letter in "0123456789abcdefABCDEF":
            self._kept -= 1
            return letter
        self._kept = 0
        shown, self._node = self._words.step(self._node, letter)
        return shown


def _chosen(node: _Node, letter: str) -> str:
    """A letter of the same kind that replaces no other one here."""
    if letter in _DIGITS:
        return _first_free(node, _DIGITS, letter)
    if letter.isascii():
        return _first_free(node, _UPPER if letter.isupper() else _LOWER, letter)
    size = len(letter.encode("utf-8", "surrogatepass"))
    if size == 2:
        found = _first_free(node, _TWO_BYTES, letter.lower())
        return found.upper() if letter.isupper() and len(found.upper()) == 1 else found
    low, high = _WIDE if size == 3 else _WIDER
    taken = node.taken
    at = _number(_hash(node.seed, letter), high - low - len(taken))
    return next(chr(n) for n in range(low + at, high) if chr(n) not in taken)


def _first_free(node: _Node, letters: str, own: str) -> str:
    shift, taken = _number(_hash(node.seed, ""), len(letters)), node.taken
    order = letters[shift:] + letters[:shift]
    free = [each for each in order if each not in taken]
    return next((each for each in free if each != own), free[0] if free else order[0])


def _shifted(node: _Node, letter: str, wanted: str | None, key: bytes) -> tuple[str, _Node]:
    """As `_chosen`, but nothing is remembered: different letters of one alphabet stay different."""
    digest = _hash(key + node.seed, "")
    after = _Node(digest[8:16] + letter.encode("utf-8", "surrogatepass"))
    if wanted is not None:
        return wanted, after
    letters = next((each for each in (_LOWER, _UPPER, _DIGITS) if letter in each), "")
    if not letters:
        return _chosen(_Node(digest), letter), after
    taken = node.taken
    mine = [each for each in letters if each not in node.next] if taken else letters
    free = [each for each in letters if each not in taken] if taken else letters
    turn = 1 + _number(digest, len(free) - 1)
    return free[(mine.index(letter) + turn) % len(free)], after


def _hash(seed: bytes, text: str) -> bytes:
    return sha256(seed + text.encode("utf-8", "surrogatepass")).digest()


def _number(digest: bytes, below: int) -> int:
    return int.from_bytes(digest[:4]) % max(1, below)
