"""PURE. What Slack is sent, as plain dictionaries: chunks of a stream, blocks, metadata.

`text` is only what a notification says: Slack reads it as another dialect (facts: Slack 6).
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from html import unescape
from typing import Any

from ..text.sanitize import sanitize
from ..text.words import (
    CARD_UNTITLED,
    GO_ON,
    GO_ON_AS_ASKER,
    GO_ON_WITH_MENTION,
    HELPFUL_LABEL,
    MARK_ANSWER,
    MORE_SOURCES,
    NOT_HELPFUL_LABEL,
    PLAN_UNTITLED,
    STOP_LABEL,
    STOPPED_BY,
    TRY_AGAIN_LABEL,
)
from ..turn.actions import TaskCard
from ..turn.buttons import TurnButton
from ..turn.extras import NextQuestion, Source
from ..turn.thread_state import ListensTo
from .odd_hosts import odd_host

EVENT_TYPE = "slack_bot_turn"
"""event_type of the metadata on our messages."""
ASKED = "asked"
"""The kind of the message that shows a question that was not written in Slack."""
NOTICE = "notice"
"""The kind of a message that says something about a question, such as which file the agent did not get."""

_GO_ON = {
    ListensTo.NOBODY: GO_ON_WITH_MENTION,
    ListensTo.ASKER: GO_ON_AS_ASKER,
    ListensTo.EVERYBODY: GO_ON,
}
_LABEL = 75  # Slack: characters of a button's text
_BUTTON_VALUE = 2_000  # Slack: characters of a button's value
_CONTEXT_TEXT = 3_000  # Slack: characters of a text object
_MAX_CARDS = 40  # Slack: 50 blocks in a message; the answer and what is under it need some
_MOST_SOURCES = 10  # Slack: elements of a context block
_SOURCE_TITLE = 75
_NO_LINK = str.maketrans("[]", "()")
_FALLBACK = 300  # enough for a notification; Slack refuses 4,000 in chat.update
_GUARD = "\u200b"

Block = dict[str, Any]
Args = dict[str, Any]


class TextForm(StrEnum):
    """How a text goes into a post or an edit."""

    WHOLE = "whole"  # as a block, with others above and below it
    MARKDOWN_TEXT = "markdown_text"  # the text alone, as an argument of its own
    MARKDOWN_BLOCK = "markdown_block"  # the text alone, as a block
    TEXT = "text"  # the text alone in Slack's own dialect: what is Markdown only shows its signs


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def plain(text: str) -> Block:
    """A text in which nothing is a mention or markup."""
    return {"type": "plain_text", "text": text}


def task_chunk(card: TaskCard, limit: int) -> Block:
    """A card, each of its values at most `limit` characters."""
    title, status = card_title(card, limit), card.state.value
    chunk: Block = {"type": "task_update", "id": card.id, "title": title, "status": status}
    if details := card_text(card.details, limit):
        chunk["details"] = details
    if card.sources:
        chunk["sources"] = _card_sources(card)
    return chunk


def _card_sources(card: TaskCard) -> list[Block]:
    named = card.sources[:_MOST_SOURCES]
    return [{"type": "url", "text": title_of(each), "url": each.url} for each in named]


def title_of(source: Source) -> str:
    """In one line; without one the address is shown. Before it the host, where that is not what it seems."""
    title, host = shorten(" ".join(source.title.split()) or source.url, _SOURCE_TITLE), odd_host(source)
    return f"⚠ {shorten(host, _SOURCE_TITLE)}: {title}" if host else title


def sources_block(sources: Sequence[Source]) -> Block:
    """Numbered links under an answer."""
    shown = [
        # a sanitized title has its mentions escaped: Slack shows what is escaped twice with its `&lt;`
        f"{number}. <{_escaped(each.url)}|{_escaped(unescape(title_of(each)))}>"
        for number, each in enumerate(sources[:_MOST_SOURCES], start=1)
    ]
    if len(sources) > _MOST_SOURCES:
        shown[-1] += MORE_SOURCES.format(len(sources) - _MOST_SOURCES)
    elements = [{"type": "mrkdwn", "text": text, "verbatim": True} for text in shown]
    return {"type": "context", "elements": elements}


def sources_text(sources: Sequence[Source]) -> str:
    """The same as Markdown; "" without any."""
    titles = (title_of(each).translate(_NO_LINK) for each in sources[:_MOST_SOURCES])
    shown = enumerate(zip(sources, titles, strict=False), start=1)
    return "\n".join(f"{number}. [{title}](<{each.url}>)" for number, (each, title) in shown)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def all_chunks(text: str, cards: Sequence[TaskCard], title: str, limit: int) -> list[Block]:
    """One write as chunks: plan title, cards, then text."""
    chunks = [{"type": "plan_update", "title": card_text(title, limit)}] if title else []
    chunks += [task_chunk(card, limit) for card in cards]
    return [*chunks, {"type": "markdown_text", "text": text}] if text else chunks


def weighted_bytes(chunks: Iterable[Block]) -> int:
    """Bytes as Slack is believed to count them: text and titles once, details twice [obs]."""
    return sum(
        (2 if name == "details" else 1) * len(str(chunk[name]).encode("utf-8", "replace"))
        for chunk in chunks
        for name in ("text", "title", "details")
        if name in chunk
    )


def card_text(text: str, limit: int) -> str:
    """Slack drops white space at its front, and shows nothing of `##` and what follows (facts: Slack 1.4)."""
    text = sanitize(text).lstrip()
    return shorten(_GUARD + text if text.startswith("##") else text, limit)


def card_title(card: TaskCard, limit: int) -> str:
    """Slack takes no card without a title, and an agent's may have nothing visible."""
    return card_text(card.title, limit) or card_text(card.id, limit) or CARD_UNTITLED


def feedback(turn: str) -> Block:
    """Thumbs up, thumbs down."""

    def button(label: str, word: str) -> Block:
        return {
            "text": plain(label),
            "value": f"{word}|{turn}"[:_BUTTON_VALUE],
            "accessibility_label": MARK_ANSWER.format(label.lower()),
        }

    element = {
        "type": "feedback_buttons",
        "action_id": TurnButton.FEEDBACK,
        "positive_button": button(HELPFUL_LABEL, "positive"),
        "negative_button": button(NOT_HELPFUL_LABEL, "negative"),
    }
    return {"type": "context_actions", "elements": [element]}


def context(text: str) -> Block:
    """A small grey line."""
    return {"type": "context", "elements": [{**plain(shorten(text, _CONTEXT_TEXT)), "emoji": True}]}


def context_of_people(text: str, joint: str, people: Sequence[str]) -> Block:
    """A small grey line with people in the place of `{}`, and `joint` between two."""
    named = text.format(joint.join(f"<@{each}>" for each in people))
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": named}]}


def context_of_stop(note: str, user: str) -> Block:
    """How a turn ended, and which person has stopped it."""
    person = {"type": "mrkdwn", "text": STOPPED_BY.format(user)}
    return {"type": "context", "elements": [*context(note)["elements"], person]}


def buttons(turn: str, *, can_stop: bool = False) -> Block:
    """Asks the same question again, or stops the task that is watched."""
    stop = {TurnButton.STOP: STOP_LABEL} if can_stop else {}
    return actions({TurnButton.RETRY: TRY_AGAIN_LABEL, **stop}, turn)


def actions(shown: Mapping[TurnButton, str], turn: str) -> Block:
    """Buttons of a turn, and their labels."""
    value = turn[:_BUTTON_VALUE]
    elements = [
        {"type": "button", "text": plain(label), "action_id": action, "value": value}
        for action, label in shown.items()
    ]
    return {"type": "actions", "elements": elements}


def suggestions(offered: Sequence[NextQuestion], turn: str) -> Block:
    """Buttons that ask the next questions, numbered from 1."""
    elements = [
        {
            "type": "button",
            "text": plain(shorten(each.label or each.text, _LABEL)),
            "action_id": f"{TurnButton.NEXT_QUESTION}-{number}",
            "value": f"{number}|{each.text}|{turn}",
        }
        for number, each in enumerate(offered, start=1)
    ]
    return {"type": "actions", "elements": elements}


def footer(listens_to: ListensTo) -> Block:
    """How to go on."""
    return context(_GO_ON[listens_to])


def markdown(text: str) -> Block:
    """Slack: 12,000 characters in all of a message."""
    return {"type": "markdown", "text": text}


def forms(
    text: str, above: Sequence[Block], under: Sequence[Block], *, says: str = ""
) -> list[tuple[TextForm, Block]]:
    """The arguments of a post or an edit in every form, best first. `says` is said where there is no text."""
    words = text or says
    said, shown = fallback(words), [*above, *([markdown(text)] if text else []), *under]
    whole: Block = {**({"text": said} if said else {}), "blocks": shown}
    alone: list[tuple[TextForm, Block]] = [
        (TextForm.MARKDOWN_TEXT, {"markdown_text": words}),
        (TextForm.MARKDOWN_BLOCK, {"text": said, "blocks": [markdown(words)]}),
        (TextForm.TEXT, {"text": words}),
    ]
    return [*([(TextForm.WHOLE, whole)] if above or under else []), *(alone if words else [])]


def cards(shown: Sequence[TaskCard], title: str, mode: str, limit: int) -> list[Block]:
    """Task cards as blocks: an update replaces all that a message showed."""
    if not shown:
        return []
    tasks = [_card(card, limit) for card in shown]
    if mode != "plan":
        return tasks[-_MAX_CARDS:]
    heading = card_text(title or shown[-1].title, limit) or PLAN_UNTITLED
    return [{"type": "plan", "title": heading, "tasks": tasks}]


def _card(card: TaskCard, limit: int) -> Block:
    title, status = card_title(card, limit), card.state.value
    block: Block = {"type": "task_card", "task_id": card.id, "title": title, "status": status}
    if card.details:
        section = {"type": "rich_text_section", "elements": [{"type": "text", "text": card.details}]}
        block["details"] = {"type": "rich_text", "elements": [section]}
    if card.sources:
        block["sources"] = _card_sources(card)
    return block


def fallback(text: str) -> str:
    """What a notification says of `text`: its beginning, in one line."""
    return shorten(" ".join(text[: 2 * _FALLBACK].split()), _FALLBACK)


def metadata(turn: str, kind: str, part: int | None = None) -> Block:
    """Metadata of our messages; `kind` is "answer", "question", "extra", "asked" or "note".

    `part` counts the posts of a turn, so that one can be found again whose call had no answer.
    """
    payload: Block = {"turn": turn, "kind": kind}
    if part is not None:
        payload["part"] = part
    return {"event_type": EVENT_TYPE, "event_payload": payload}


def is_ours(found: object, wanted: Block) -> bool:
    """Whether `found`, read back from a message, is `wanted`."""
    payload, ours = _payload(found), wanted["event_payload"]
    return bool(payload) and all(
        str(payload.get(name)) == str(ours.get(name)) for name in ours.keys() | payload.keys()
    )


def turn_of(found: object) -> str | None:
    """The turn that metadata read back from a message names."""
    turn = _payload(found).get("turn")
    return turn if isinstance(turn, str) else None


def is_beside_answer(found: object) -> bool:
    """Whether metadata read back from a message says that it is about the question, and no part of its
    answer.
    """
    return _payload(found).get("kind") in (ASKED, NOTICE)


def part_of(found: object) -> int:
    """The number of a post in its turn that metadata read back from a message gives; 0: none."""
    part = str(_payload(found).get("part"))  # Slack may give a number back as text
    return int(part) if part.isdecimal() else 0


def _payload(found: object) -> Mapping[str, Any]:
    is_event = isinstance(found, dict) and found.get("event_type") == EVENT_TYPE
    payload = found.get("event_payload") if is_event else None  # type: ignore[attr-defined]
    return payload if isinstance(payload, dict) else {}
