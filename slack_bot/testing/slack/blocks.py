"""PURE. Block Kit, as far as a bot that answers needs it: what Slack takes, and what it gives back.

Limits are Slack's documented ones (facts: Slack 5). A field that a block does not have is refused, as Slack
does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .state import Json, Refused, StoredMessage, Task, WorkspaceState

# type: the fields it needs ! and the fields it may have besides
_FIELDS = {
    "actions": "elements! block_id",
    "button": "text! action_id! value url style confirm accessibility_label",
    "context": "elements! block_id",
    "context_actions": "elements! block_id",
    "divider": "block_id",
    "feedback_buttons": "action_id! positive_button! negative_button!",
    "header": "text! block_id level",
    "icon_button": "icon! text! action_id! value visible_to_user_ids accessibility_label confirm",
    "image": "image_url slack_file alt_text! title block_id",
    "input": "label! element! block_id hint optional dispatch_action",
    "markdown": "text! block_id",
    "mrkdwn": "text! verbatim",
    "plain_text": "text! emoji",
    "plan": "title! tasks plan_id block_id",
    "rich_text": "elements! block_id",
    "section": "text fields accessory block_id expand",
    "table": "rows! column_settings block_id",
    "task_card": "task_id! title! status! details output sources icon hide_title block_id",
}
_BLOCKS = {
    "message": {
        "actions",
        "context",
        "context_actions",
        "divider",
        "header",
        "image",
        "input",
        "markdown",
        "plan",
    }
    | {"rich_text", "section", "table", "task_card"},
    "view": {"actions", "context", "divider", "header", "image", "input", "rich_text", "section"},
}
_INTERACTIVE = {"button", "feedback_buttons", "icon_button"}
_CARD_STATUS = {"pending", "in_progress", "complete", "error"}
_JOINTS = {"rich_text": "\n", "rich_text_list": "\n", "context": " ", "actions": " ", "context_actions": " "}
_BODY = {"markdown", "section", "header", "rich_text"}


class _Bad(Exception):
    """A block is wrong; the text says where and why."""


def check(
    state: WorkspaceState, blocks: list[Any], *, surface: str = "message", too_many: str = "invalid_blocks"
) -> None:
    """Raises `Refused` unless Slack would take `blocks`. `too_many` is what more than 50 are called here."""
    limit = state.rules.blocks if surface == "message" else 100
    if len(blocks) > limit:
        raise Refused(too_many, f"no more than {limit} items allowed [json-pointer:/blocks]")
    try:
        for number, block in enumerate(blocks):
            _block(block, f"/blocks/{number}", _BLOCKS[surface])
        _unique([b["block_id"] for b in blocks if "block_id" in b], "/blocks: block_id")
    except _Bad as bad:
        raise Refused("invalid_blocks", str(bad)) from None
    total = sum(len(b["text"]) for b in blocks if b["type"] == "markdown")
    if total > state.rules.call_chars:
        raise Refused("msg_blocks_too_long", f"markdown blocks hold {total} characters")


def with_ids(state: WorkspaceState, blocks: list[Json]) -> list[Json]:
    """The blocks as Slack keeps them: each has a `block_id`."""
    return [{**block, "block_id": block.get("block_id") or state.next_id("b")} for block in blocks]


def _block(block: Any, at: str, allowed: set[str]) -> None:
    kind = _shape(block, at)
    if kind not in allowed:
        raise _Bad(f"unsupported type: {kind} [json-pointer:{at}]")
    _length(block, "block_id", 255, at)
    check_more = _MORE.get(kind)
    if check_more is not None:
        check_more(block, at)


def _shape(item: Any, at: str) -> str:
    """The type of an object whose fields are all known and complete."""
    if not isinstance(item, dict) or not isinstance(item.get("type"), str):
        raise _Bad(f"must be an object with a type [json-pointer:{at}]")
    kind: str = item["type"]
    if kind not in _FIELDS:
        raise _Bad(f"unsupported type: {kind} [json-pointer:{at}]")
    words = _FIELDS[kind].split()
    for name in (word.rstrip("!") for word in words if word.endswith("!")):
        if item.get(name) is None:
            raise _Bad(f"missing required field: {name} [json-pointer:{at}]")
    extra = set(item) - {word.rstrip("!") for word in words} - {"type"}
    if extra:
        raise _Bad(f"invalid additional property: {min(extra)} [json-pointer:{at}]")
    return kind


def _text(item: Any, at: str, limit: int, kinds: tuple[str, ...] = ("plain_text", "mrkdwn")) -> None:
    if _shape(item, at) not in kinds:
        raise _Bad(f"must be {' or '.join(kinds)} [json-pointer:{at}]")
    _length(item, "text", limit, at, least=1)


def _length(item: Json, name: str, limit: int, at: str, least: int = 0) -> None:
    value = item.get(name)
    if value is None and least == 0:
        return
    if not isinstance(value, str):
        raise _Bad(f"must be a string [json-pointer:{at}/{name}]")
    if len(value) > limit:
        raise _Bad(f"must be less than {limit + 1} characters [json-pointer:{at}/{name}]")
    if len(value) < least:
        raise _Bad(f"must be more than {least - 1} characters [json-pointer:{at}/{name}]")


def _items(block: Json, name: str, limit: int, at: str) -> list[Any]:
    items = block.get(name)
    if items is None:
        return []
    if not isinstance(items, list) or len(items) > limit:
        raise _Bad(f"must be an array of at most {limit} items [json-pointer:{at}/{name}]")
    return items


def _elements(block: Json, at: str, limit: int) -> Iterator[tuple[Any, str]]:
    elements = block["elements"]
    if not isinstance(elements, list) or not 1 <= len(elements) <= limit:
        raise _Bad(f"must have 1 to {limit} items [json-pointer:{at}/elements]")
    for number, element in enumerate(elements):
        yield element, f"{at}/elements/{number}"


def _unique(values: list[Any], what: str) -> None:
    if len(values) != len(set(map(str, values))):
        raise _Bad(f"must be unique [json-pointer:{what}]")


def _controls(block: Json, at: str, limit: int, allowed: set[str]) -> None:
    for element, where in _elements(block, at, limit):
        _control(element, where, allowed)
    _unique([element["action_id"] for element in block["elements"]], f"{at}: action_id")


def _control(element: Any, at: str, allowed: set[str]) -> None:
    kind = _shape(element, at)
    if kind not in allowed:
        raise _Bad(f"unsupported type: {kind} [json-pointer:{at}]")
    _length(element, "action_id", 255, at, least=1)
    _length(element, "value", 2_000, at)
    if kind == "feedback_buttons":
        for name in ("positive_button", "negative_button"):
            _feedback_button(element[name], f"{at}/{name}")
        return
    _text(element["text"], f"{at}/text", 75, ("plain_text",))
    if kind == "icon_button" and element["icon"] != "trash":
        raise _Bad(f"must be trash [json-pointer:{at}/icon]")
    if element.get("style", "primary") not in ("primary", "danger"):
        raise _Bad(f"must be primary or danger [json-pointer:{at}/style]")


def _feedback_button(button: Any, at: str) -> None:
    if not isinstance(button, dict) or set(button) - {"text", "value", "accessibility_label"}:
        raise _Bad(f"must have text and value [json-pointer:{at}]")
    _text(button.get("text"), f"{at}/text", 75, ("plain_text",))
    _length(button, "value", 2_000, at, least=1)


def _section(block: Json, at: str) -> None:
    if block.get("text") is None and not block.get("fields"):
        raise _Bad(f"must have text or fields [json-pointer:{at}]")
    if block.get("text") is not None:
        _text(block["text"], f"{at}/text", 3_000)
    for number, item in enumerate(_items(block, "fields", 10, at)):
        _text(item, f"{at}/fields/{number}", 2_000)
    if block.get("accessory") is not None:
        _control(block["accessory"], f"{at}/accessory", {"button"})


def _context(block: Json, at: str) -> None:
    for element, where in _elements(block, at, 10):
        if isinstance(element, dict) and element.get("type") == "image":
            _shape(element, where)
        else:
            _text(element, where, 3_000)


def _card(block: Json, at: str) -> None:
    for name in ("task_id", "title", "status"):
        _length(block, name, 10_000, at, least=1)
    if block["status"] not in _CARD_STATUS:
        raise _Bad(f"must be one of {sorted(_CARD_STATUS)} [json-pointer:{at}/status]")
    _items(block, "sources", 100, at)


def _plan(block: Json, at: str) -> None:
    _length(block, "title", 10_000, at)
    for number, card in enumerate(_items(block, "tasks", 50, at)):
        where = f"{at}/tasks/{number}"
        if _shape(card, where) != "task_card":
            raise _Bad(f"must be a task_card [json-pointer:{where}]")
        _card(card, where)


def _rich(block: Json, at: str) -> None:
    for number, element in enumerate(_items(block, "elements", 10_000, at)):
        if not isinstance(element, dict) or not isinstance(element.get("elements"), list):
            raise _Bad(f"must be an object with elements [json-pointer:{at}/elements/{number}]")


_MORE: dict[str, Callable[[Json, str], None]] = {
    "actions": lambda block, at: _controls(block, at, 25, {"button"}),
    "context": _context,
    "context_actions": lambda block, at: _controls(block, at, 5, {"feedback_buttons", "icon_button"}),
    "header": lambda block, at: _text(block["text"], f"{at}/text", 150, ("plain_text",)),
    "markdown": lambda block, at: _length(block, "text", 10**9, at, least=1),
    "plan": _plan,
    "rich_text": _rich,
    "section": _section,
    "task_card": _card,
}


def take_cards(message: StoredMessage) -> None:
    """An edited message has the cards that its new blocks hold, and no others."""
    plans = [block for block in message.blocks if block["type"] == "plan"]
    cards = [block for block in message.blocks if block["type"] == "task_card"]
    cards += [card for plan in plans for card in plan.get("tasks") or ()]
    message.tasks = {
        card["task_id"]: Task(
            card["task_id"],
            card["title"],
            card["status"],
            plain(card.get("details")),
            plain(card.get("output")),
            card.get("sources") or [],
        )
        for card in cards
    }
    message.plan_title = plans[0]["title"] if plans else None
    message.blocks = [block for block in message.blocks if block["type"] not in ("plan", "task_card")]


def controls(blocks: list[Json]) -> Iterator[tuple[Json, Json]]:
    """Every (block, control) of a message that a person can press."""
    for block in blocks:
        elements = [*(block.get("elements") or ()), block.get("accessory")]
        for element in elements:
            if isinstance(element, dict) and element.get("type") in _INTERACTIVE:
                yield block, element


def body_text(blocks: list[Json]) -> str:
    """What a person reads in the blocks that carry a message's body."""
    return "\n\n".join(filter(None, (plain(block) for block in blocks if block["type"] in _BODY)))


def furniture(blocks: list[Json]) -> tuple[str, ...]:
    """What a person reads in the other blocks: notes, footers, labels of buttons."""
    return tuple(filter(None, (plain(block) for block in blocks if block["type"] not in _BODY)))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def plain(item: Any) -> str:
    """The words of a block, of one of its parts, or of a rich text."""
    if isinstance(item, list):
        return "".join(map(plain, item))
    if not isinstance(item, dict):
        return item if isinstance(item, str) else ""
    kind = item.get("type", "")
    if kind == "feedback_buttons":
        return " ".join(plain(item[name]["text"]) for name in ("positive_button", "negative_button"))
    if kind in _JOINTS:
        return _JOINTS[kind].join(map(plain, _listed(item.get("elements"))))
    named = [plain(item.get(name)) for name in ("text", "title", "fields", "elements")]
    return "".join(named) or str(item.get("url") or item.get("user_id") or "")
