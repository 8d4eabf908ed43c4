"""PURE. What surrounds a replayed tape: who asks, where, what goes wrong and when.

Every key and every fault is checked: a misspelt one would test something else than its author meant.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...errors import UnreadableInput
from ...settings.names import nearest
from ...testing.slack.faults import METHODS as FAULT_METHODS
from ...testing.slack.faults import method_name
from ...testing.slack.faults import parse as parse_fault
from ...testing.tape.json_file import Json, load_document
from ...testing.tape.tape import READS, Recording, Tape

_TS = re.compile(r"\d+\.\d+")

SURROUNDINGS = ("slack_faults", "cut_after", "agent_error", "stop_at")
"""What a tape's head may say of the scenario in which it was made, besides settings."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """The surroundings of one replay. Times are seconds from the question.

    `slack_faults` are lists of faults a method, used call by call, the last one repeating (None: no fault).
    `cut_after` breaks the agent's stream after so many events, `agent_error` ends it with an error
    `after` so many, saying `message`; `stop_at` is when the asker presses Stop.
    `settings` are leaf names of the settings and their values. `files` are shared with the
    question: text by name.
    """

    channel: str = "C1"
    thread_ts: str = "111.222"
    team: str = "T1"
    user: str = "U123"
    text: str = "q"
    context_id: str | None = None
    slack_faults: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)
    cut_after: int | None = None
    agent_error: Mapping[str, Any] | None = None
    stop_at: float | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def asker_is_bot(self) -> bool:
        """Slack's bot ids begin with B."""
        return self.user.startswith("B")


def read_scenario(text: str, name: str) -> Scenario:
    """The scenario in `text`, JSON from file `name`. Raises UnreadableInput with one sentence."""
    document = load_document(text, name)
    if not isinstance(document, dict):
        raise UnreadableInput(f"{name}: a scenario must be a JSON object")
    return make_scenario(document, name)


def make_scenario(document: Mapping[str, Any], name: str = "scenario") -> Scenario:
    """The scenario that `document` describes; a null is the same as leaving the key out."""
    _refuse_unknown(document, list(_SHAPES), name, "a key of a scenario")
    given = {key: value for key, value in document.items() if value is not None}
    for key, value in given.items():
        is_right, wanted = _SHAPES[key]
        if not is_right(value):
            raise UnreadableInput(f"{name}: {key} must be {wanted}")
    for key, read in {"slack_faults": _faults, "agent_error": _agent_fault}.items():
        if key in given:
            given[key] = read(given[key], name)
    return Scenario(**given)


def _faults(given: Mapping[str, Any], name: str) -> dict[str, tuple[str | None, ...]]:
    faults: dict[str, tuple[str | None, ...]] = {}
    for method, entries in given.items():
        try:
            spelled = method_name(method)
        except ValueError as error:
            meant = hint(method.replace("_", "."), sorted(FAULT_METHODS), 0.5)
            raise UnreadableInput(f"{name}: in slack_faults, {error}; {meant}") from error
        if not isinstance(entries, list) or not entries:
            raise UnreadableInput(
                f"{name}: slack_faults.{method} must be a list with one fault or null a call"
            )
        try:
            for entry in entries:
                parse_fault(entry)
        except ValueError as error:
            raise UnreadableInput(f"{name}: in slack_faults.{method}, {error}") from error
        faults[spelled] = tuple(entries)
    return faults


def _agent_fault(given: Mapping[str, Any], name: str) -> Json:
    _refuse_unknown(given, ("after", "message"), name, "a key of agent_error")
    after, message = given.get("after", 0), given.get("message", "")
    if not _is_count(after) or not isinstance(message, str):
        raise UnreadableInput(
            f"{name}: agent_error must be an object with a number `after` and a text `message`"
        )
    return {"after": after, "message": message}


def _refuse_unknown(given: Iterable[str], names: Sequence[str], where: str, what: str) -> None:
    for mistake in unknown(given, names, what):
        raise UnreadableInput(f"{where}: {mistake}")


def unknown(given: Iterable[str], names: Sequence[str], what: str) -> Iterator[str]:
    """A sentence for each of `given` that is none of `names`."""
    return (f"{key!r} is not {what}; {hint(key, names)}" for key in given if key not in names)


def hint(given: str, names: Sequence[str], cutoff: float = 0.6) -> str:
    """The one of `names` that was probably meant, else all of them."""
    near = nearest(given, names, cutoff)
    return f"did you mean {near!r}?" if near else f"there are: {', '.join(names)}"


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_number(value) and isinstance(value, int) and value >= 0


_SHAPES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "channel": (_is_text, "a channel id"),
    "thread_ts": (
        lambda value: bool(_is_text(value) and _TS.fullmatch(value)),
        'a Slack ts in quotes, such as "111.222"',
    ),
    "team": (_is_text, "a team id"),
    "user": (_is_text, "a user id (one that begins with B is a bot)"),
    "text": (_is_text, "the text of the question"),
    "context_id": (_is_text, "an A2A context id"),
    "slack_faults": (_is_object, "an object: method to list of faults"),
    "cut_after": (_is_count, "a number of events"),
    "agent_error": (_is_object, "an object with `after` and `message`"),
    "stop_at": (lambda value: _is_number(value) and 0 <= value < math.inf, "a number of seconds"),
    "settings": (_is_object, "an object: setting to value"),
    "files": (
        lambda value: _is_object(value) and all(isinstance(each, str) for each in value.values()),
        "an object: name of a file to its text",
    ),
}


def as_captured(scenario: Scenario, capture: Tape | Recording) -> Scenario:
    """The scenario; where it is as usual, what the head of a tape says of its surroundings counts instead.

    That is the question, the way of reading, and the scenario of a tape that the playground wrote.
    """
    head: Json = capture.head if isinstance(capture, Tape) else {}
    said, around, asked = head.get("settings"), head.get("scenario"), head.get("question")
    own = make_scenario(around, "the tape's head") if isinstance(around, dict) else Scenario()
    if isinstance(asked, str) and asked:
        own = replace(own, text=asked)
    reads = said if isinstance(said, dict) else {}
    kept = {name: value for name in READS if isinstance(value := reads.get(name), str)}
    usual = Scenario()
    found = {
        name: getattr(own, name)
        for name in (*SURROUNDINGS, "text", "user")
        if getattr(scenario, name) == getattr(usual, name)
    }
    return replace(scenario, **found, settings={**kept, **own.settings, **scenario.settings})
