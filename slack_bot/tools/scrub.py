"""`slack-bot scrub`: a capture of any kind becomes a tape that can be shared.

Shape and times stay, and what decides how a tape is read: kinds, states, artifact names, flags, the words of
tool notifications, and their keys. All else is replaced, other keys as well: they may be people's names.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..a2a.content.parts import is_type
from ..a2a.dialects import BY_NAME
from ..testing.tape.items import INTERRUPTED, Moment
from ..testing.tape.json_file import Json
from ..testing.tape.tape import Tape, tape_lines
from .interruption import told_if_interrupted
from .open_capture import open_capture, taped
from .output_file import OutputFile
from .pseudonyms import JSON_KEPT, KEPT, Pseudonyms, Scrambler

_PROTOCOL_KEYS = (
    "kind role state status agentType content_type mimeType mediaType media_type wire method type"
)
_PROTOCOL = frozenset(_PROTOCOL_KEYS.split())
_KEYS = (
    "append artifact artifactId artifact_id artifactUpdate artifact_update artifacts content contextId",
    "context_id data description error extensions file fileWithBytes file_with_bytes fileWithUri",
    "file_with_uri filename fileUrl final history id index jsonrpc kind lastChunk last_chunk mediaType",
    "media_type message messageId message_id metadata method mimeType mime_type msg name params parts",
    "bytes raw base64 referenceTaskIds result role seq state status statusUpdate status_update task taskId",
    "task_id text timestamp total type update uri url",
    "artifact_name asked code content_type http_status retry_after wire",
    "agent agentType answer sourceAgent trace_id is_final_answer is_narration",
    "args arguments call_id callId function function_name functionName input is_error output plan_step_id",
    "response tool tool_call_id toolCallId tool_name toolName tool_title tool_use_id toolUseId",
    "order step_id steps title",
    "enum field_description field_name field_values fields form input_description input_fields input_title",
    "instructions interrupts label options prompt properties question reason require_user_input required",
    "schema user_input value",
    "PlatformEngineerResponse ResponseFormat is_task_complete was_task_successful",
)
KNOWN_KEYS = frozenset(name for line in _KEYS for name in line.split())
"""Keys that the bot reads or A2A defines: of the protocol, of HTTP errors in a tape, of what agents say about
their answer, of tool calls, plan steps, forms and CAIPE's envelope."""
_SIGNS = re.compile("|".join(sign for dialect in BY_NAME.values() for sign in dialect.signs) or r"(?!)")
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
_FLAGS = ("is_narration", "is_final_answer")
_TOOLS = "tool_notification"


def main(args: argparse.Namespace) -> int:
    """The verb. `args`: file, output, key. Returns the exit status; raises UnreadableInput."""
    out = OutputFile(args.output, [args.file])
    head, moments = scrubbed(taped(open_capture(Path(args.file), args.key)))
    with out as file, told_if_interrupted(lambda: f"what was done until then is in {args.output}"):
        for line in tape_lines(head, moments):
            file.text(line)
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
        if is_word and any(dialect.announcements.search(rest.strip()) for dialect in BY_NAME.values()):
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
