"""What a program wants the bot to say, read from JSON, and whether its key may."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from ...settings.api_access import ANYWHERE, KeyEntry
from ...settings.names import nearest
from ...settings.places import Channel, Headline, Person
from ...text.sanitize import sanitize
from ...turn.json_values import has_halves
from ...turn.outbound import OutboundMessage, place_of_link
from ...turn.record import MESSAGE_TS, QuestionOrigin, is_direct
from .answers import Problem, RequestRefused

_MOST_TEXT = 100_000  # characters
_MOST_ASK = 20_000
_MOST_ID = 200


def _ts(value: str) -> str:
    if not MESSAGE_TS.fullmatch(value):
        raise ValueError("should be the ts of a message, as 1700000000.123456")
    return value


class ThreadPlace(BaseModel):
    """A thread: its channel, and the `ts` of its first message."""

    model_config = ConfigDict(extra="forbid", strict=True)
    channel: Channel
    ts: Annotated[str, AfterValidator(_ts)]


class WantedMessage(BaseModel):
    """The body of `POST /v1/messages`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    team: str | None = Field(default=None, max_length=_MOST_ID)
    channel: Channel = None
    user: Person = None
    thread: ThreadPlace | None = None
    permalink: str | None = Field(default=None, max_length=1_000)
    headline: Headline = ""
    text: str | None = Field(default=None, max_length=_MOST_TEXT)
    ask: str | None = Field(default=None, max_length=_MOST_ASK)
    agent: str | None = Field(default=None, max_length=_MOST_ID)
    context_id: str | None = Field(default=None, max_length=_MOST_ID)
    broadcast: bool = False


def read_request(body: Any) -> WantedMessage:
    """Read the JSON of a body. Raises RequestRefused."""
    if not isinstance(body, dict):
        raise _bad("the body should be a JSON object")
    if has_halves(body):
        raise _bad("a text holds half of a character (a lone surrogate); write it again")
    try:
        return WantedMessage.model_validate(body)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        raise _bad(_sentence(problem["loc"], problem["type"], problem["msg"])) from None


def message_in(request: WantedMessage, name: str, key: KeyEntry) -> OutboundMessage:
    """What the bot is to say, if the key `name` may have it said. Raises RequestRefused."""
    place = _place(request)
    _check_place(place, name, key)
    is_question, text = _words(request)
    if is_question or request.agent is not None or request.context_id is not None:
        _check_question(request, name, key)
    if request.broadcast and not (place.thread_ts and not is_question):
        raise _bad("broadcast is for a text in a thread: give thread or permalink, and text")
    said = (request.headline, text)
    if not key.may_mention:
        said = (sanitize(request.headline), text if is_question else sanitize(text))
    return OutboundMessage(
        said[1],
        channel=place.channel,
        user=place.user,
        thread_ts=place.thread_ts,
        headline=said[0] or _headline_of(text, is_question=is_question, key=key),
        is_question=is_question,
        origin=QuestionOrigin.REQUEST,
        agent=request.agent or "",
        context_id=request.context_id or "",
        is_broadcast=request.broadcast,
    )


def _headline_of(text: str, *, is_question: bool, key: KeyEntry) -> str:
    """A question without a headline is shown itself: its mentions would take effect."""
    return sanitize(" ".join(text.split()))[:150] if is_question and not key.may_mention else ""


class _Place(NamedTuple):
    """Where it goes; "" where a part is not given."""

    channel: str = ""
    user: str = ""
    thread_ts: str = ""


def _place(request: WantedMessage) -> _Place:
    given = {
        name: value
        for name in ("channel", "user", "thread", "permalink")
        if (value := getattr(request, name)) is not None
    }
    if len(given) != 1:
        raise _bad("give one of channel, user, thread and permalink, which is where it goes")
    if request.thread is not None:
        return _Place(request.thread.channel or "", thread_ts=request.thread.ts)
    if request.permalink is not None:
        if (linked := place_of_link(request.permalink)) is None:
            raise _bad("permalink should be the link of a message (Slack: Copy link)")
        return _Place(linked[0], thread_ts=linked[1])
    return _Place(request.channel or "", request.user or "")


def _words(request: WantedMessage) -> tuple[bool, str]:
    """Whether it is a question to an agent, and the words."""
    if (request.text is None) == (request.ask is None):
        raise _bad("give either text, which is posted, or ask, which an agent answers")
    text = (request.ask if request.text is None else request.text) or ""
    if not text.strip():
        raise _bad(f"{'ask' if request.text is None else 'text'} should not be empty")
    return request.text is None, text.strip()


def _check_place(place: _Place, name: str, key: KeyEntry) -> None:
    channel, user = place.channel, place.user
    if (user or is_direct(channel)) and not key.may_dm:
        raise _forbidden(f"the key {name} may not write to people: set may_dm", name)
    if user and key.people and user not in key.people:
        raise _forbidden(f"the key {name} may not write to {user}: add the id to people", name)
    if is_direct(channel) and key.people:
        raise _forbidden(
            f"the key {name} may write to some people only: give user in place of {channel}", name
        )
    if channel and not is_direct(channel) and not {channel, ANYWHERE} & {*key.channels}:
        raise _forbidden(f"the key {name} may not write into {channel}: add the id to channels", name)


def _check_question(request: WantedMessage, name: str, key: KeyEntry) -> None:
    if not key.may_ask:
        raise _forbidden(f"the key {name} may not ask an agent: set may_ask", name)
    if request.agent is not None and request.agent not in key.agents:
        raise _forbidden(f"the key {name} may not choose the agent {request.agent}: add it to agents", name)


def _sentence(loc: tuple[int | str, ...], kind: str, message: str) -> str:
    """What is wrong with one field, in plain words."""
    path = ".".join(map(str, loc))
    if kind == "extra_forbidden":
        known = ThreadPlace.model_fields if len(loc) > 1 else WantedMessage.model_fields
        guess = nearest(str(loc[-1]), known)
        return f"the field {path} is not known here; " + (
            f"did you mean {guess}?" if guess else f"there are {', '.join(known)}"
        )
    if kind == "missing":
        return f"{path} is missing"
    words = message.removeprefix("Value error, ")
    return f"{path} {words if words.startswith('should') else words.replace('Input should', 'should')}"


def _bad(sentence: str) -> RequestRefused:
    end = "" if sentence.endswith("?") else "."
    return RequestRefused(Problem.BAD_REQUEST, f"{sentence[0].upper()}{sentence[1:]}{end}")


def _forbidden(sentence: str, name: str) -> RequestRefused:
    return RequestRefused(Problem.FORBIDDEN, f"{sentence[0].upper()}{sentence[1:]} of [keys.{name}].")


def about_fields() -> Mapping[str, Any]:
    """The JSON Schema of the body."""
    return WantedMessage.model_json_schema(ref_template="#/components/schemas/{model}")
