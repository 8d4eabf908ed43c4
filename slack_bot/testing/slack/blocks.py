"""PURE. Block Kit and chunks, as far as a bot that answers needs them: what Slack takes, and what it shows.

Limits are Slack's documented ones (facts: Slack 1.4 and 5). A field that a type does not have is refused.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from functools import partial
from typing import Any, TypeAlias

from . import data_blocks
from .data_blocks import BadBlock as _Bad
from .data_blocks import Limit, limit_of
from .rules import WorkspaceRules
from .state import Json, Refused, SeenTask, StoredMessage, WorkspaceState

Check: TypeAlias = Callable[[Any, str, WorkspaceRules], object]
"""Raises `_Bad` for a wrong value of a field; the text is where the field is."""


def check(
    state: WorkspaceState, blocks: list[Any], *, surface: str = "message", most: int | None = None
) -> None:
    """Raises `Refused` unless Slack would take `blocks`. `most`: of a surface that counts its own."""
    limit = most if most is not None else state.rules.blocks if surface == "message" else 100
    if len(blocks) > limit:
        state.refuse(
            "blocks.too_many", "invalid_blocks", f"no more than {limit} items allowed [json-pointer:/blocks]"
        )
    rules = state.rules
    try:
        for number, block in enumerate(blocks):
            _check_object(_BLOCKS[surface], block, f"/blocks/{number}", rules)
        _check_unique([b["block_id"] for b in blocks if "block_id" in b], "/blocks: block_id")
    except _Bad as bad:
        raise Refused("invalid_blocks", str(bad)) from None
    if too_much := data_blocks.check_message(blocks, rules):
        raise Refused("invalid_blocks", too_much)
    if not state.rules.hides_buttons and any(_FOR_SOME in control for _, control in controls(blocks)):
        raise Refused("invalid_blocks", f"invalid additional property: {_FOR_SOME}")
    total = sum(len(b["text"]) for b in blocks if b["type"] == "markdown")
    if total > rules.size("markdown_block.chars", rules.call_chars):
        raise Refused("msg_blocks_too_long", f"markdown blocks hold {total} characters")


def check_chunks(state: WorkspaceState, chunks: list[Any]) -> None:
    """Raises `Refused` unless a stream would take `chunks`."""
    rules = state.rules
    try:
        for number, chunk in enumerate(chunks):
            at = f"/chunks/{number}"
            kind = _check_object(_CHUNKS, chunk, at, rules)
            part = "plan" if kind == "plan_update" else "card"
            for name in ("title", "details", "output"):
                most = rules.size(f"{part}.{name}_chars", rules.card_chars)
                _check_string(0, most, chunk.get(name, ""), f"{at}/{name}", rules)
            if kind == "blocks":
                check(state, chunk["blocks"][: state.rules.blocks])
    except _Bad as bad:
        state.refuse("card.too_long" if bad.is_size else "chunks.wrong", "invalid_chunks", str(bad))


def kept(state: WorkspaceState, args: Json) -> list[Json]:
    """The blocks of a call, as Slack keeps them. Raises `Refused`."""
    blocks = args.get("blocks") or []
    check(state, blocks)
    return with_ids(state, blocks)


def with_ids(state: WorkspaceState, blocks: list[Json]) -> list[Json]:
    """The blocks as Slack keeps them: each has a `block_id`, each input an `action_id`."""
    kept = [{**block, "block_id": block.get("block_id") or state.next_id("b")} for block in blocks]
    for block in kept:
        if block["type"] == "input" and not block["element"].get("action_id"):
            block["element"] = {**block["element"], "action_id": state.next_id("a")}
    return kept


# ---- what a field may hold


def _check_fields(item: Any, at: str, rules: WorkspaceRules) -> str:
    """The type of an object whose fields are all known, complete and right."""
    if not isinstance(item, dict) or not isinstance(item.get("type"), str):
        raise _Bad("must be an object with a type", at)
    kind: str = item["type"]
    if kind not in _FIELDS:
        raise _Bad(f"unsupported type: {kind}", at)
    fields = _FIELDS[kind]
    for name, (is_needed, _) in fields.items():
        if is_needed and item.get(name) is None:
            raise _Bad(f"missing required field: {name}", at)
    if kind == "section" and item.get("text") is None and not item.get("fields"):
        raise _Bad("must have text or fields", at)
    if extra := set(item) - fields.keys() - {"type"}:
        raise _Bad(f"invalid additional property: {min(extra)}", at)
    for name, (_, check_value) in fields.items():
        if check_value is not None and item.get(name) is not None:
            check_value(item[name], f"{at}/{name}", rules)
    if "options" in fields:
        _check_chosen(item, at)
    return kind


def _check_object(kinds: tuple[str, ...], value: Any, at: str, rules: WorkspaceRules) -> str:
    if (kind := _check_fields(value, at, rules)) not in kinds:
        raise _Bad(f"unsupported type: {kind}", at)
    return kind


def _check_string(least: int, most: Limit, value: Any, at: str, rules: WorkspaceRules) -> None:
    if not isinstance(value, str):
        raise _Bad("must be a string", at)
    most = limit_of(most, rules)
    if len(value) > most:
        raise _Bad(f"must be less than {most + 1} characters", at, is_size=True)
    if len(value) < least:
        raise _Bad(f"must be more than {least - 1} characters", at)


def _check_words(most: Limit, kinds: tuple[str, ...], value: Any, at: str, rules: WorkspaceRules) -> None:
    if _check_fields(value, at, rules) not in kinds:
        raise _Bad(f"must be {' or '.join(kinds)}", at)
    _check_string(1, most, value["text"], f"{at}/text", rules)


def _check_choice(choices: tuple[str, ...], value: Any, at: str, rules: WorkspaceRules) -> None:
    if value not in choices:
        raise _Bad(f"must be {' or '.join(choices)}", at)


def _check_items(
    least: int, most: Limit, check_item: Check, value: Any, at: str, rules: WorkspaceRules
) -> None:
    most = limit_of(most, rules)
    if not isinstance(value, list) or not least <= len(value) <= most:
        raise _Bad(f"must be an array of {least} to {most} items", at)
    for number, item in enumerate(value):
        check_item(item, f"{at}/{number}", rules)


def _check_controls(most: Limit, kinds: tuple[str, ...], value: Any, at: str, rules: WorkspaceRules) -> None:
    _check_items(1, most, partial(_check_object, kinds), value, at, rules)
    named = [element["action_id"] for element in value if "action_id" in element]
    _check_unique(named, f"{at}: action_id")


def _check_unique(values: list[Any], what: str) -> None:
    if len(values) != len(set(map(str, values))):
        raise _Bad("must be unique", what)


def _check_feedback_button(button: Any, at: str, rules: WorkspaceRules) -> None:
    if not isinstance(button, dict) or set(button) - {"text", "value", "accessibility_label"}:
        raise _Bad("must have text and value", at)
    _LABEL(button.get("text"), f"{at}/text", rules)
    _check_string(1, 2_000, button.get("value"), f"{at}/value", rules)


def _check_context_element(element: Any, at: str, rules: WorkspaceRules) -> None:
    if isinstance(element, dict) and element.get("type") == "image":
        _check_fields(element, at, rules)
    else:
        _check_words(3_000, _TEXTS, element, at, rules)


def _check_rich_part(element: Any, at: str, rules: WorkspaceRules) -> None:
    if not isinstance(element, dict) or not isinstance(element.get("elements"), list):
        raise _Bad("must be an object with elements", at)


def _check_date(value: Any, at: str, rules: WorkspaceRules) -> None:
    try:
        date.fromisoformat(value if isinstance(value, str) and len(value) == len("2026-01-31") else "")
    except ValueError:
        raise _Bad("must be a date as 2026-01-31", at) from None


def _check_number(value: Any, at: str, rules: WorkspaceRules) -> None:
    try:
        if not isinstance(value, str) or not math.isfinite(float(value)):
            raise ValueError(value)
    except ValueError:
        raise _Bad("must be a number as a string", at) from None


def _check_length(least: int, most: int, value: Any, at: str, rules: WorkspaceRules) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise _Bad(f"must be from {least} to {most}", at)


def _check_option(option: Any, at: str, rules: WorkspaceRules) -> None:
    if not isinstance(option, dict) or set(option) - {"text", "value", "description"}:
        raise _Bad("must have text and value", at)
    _check_words(75, _TEXTS, option.get("text"), f"{at}/text", rules)
    _check_string(1, 150, option.get("value"), f"{at}/value", rules)
    if "description" in option:
        _LABEL(option["description"], f"{at}/description", rules)


def _check_chosen(element: Json, at: str) -> None:
    """What is chosen at first must be among the options."""
    given = [*(element.get("initial_options") or ()), element.get("initial_option")]
    if any(each is not None and each not in element["options"] for each in given):
        raise _Bad("must match one of the options", at)


def _check_source(source: Any, at: str, rules: WorkspaceRules) -> None:
    if not isinstance(source, dict) or source.get("type") != "url" or not source.get("url"):
        raise _Bad("must be a url source", at)


_TEXTS = ("plain_text", "mrkdwn")
_LABEL = partial(_check_words, ("button.chars", 75), ("plain_text",))
_PICKERS = ("checkboxes", "datepicker", "multi_static_select", "radio_buttons", "static_select")
_VALUES: Mapping[str, Check] = {
    "id": partial(_check_string, 0, ("block_id.chars", 255)),
    "action": partial(_check_string, 1, ("action_id.chars", 255)),
    "value": partial(_check_string, 0, ("button.value_chars", 2_000)),
    "some": partial(_check_string, 1, 10**9),
    "title": partial(_check_string, 0, 10_000),
    "label": _LABEL,
    "heading": partial(_check_words, ("header.chars", 150), ("plain_text",)),
    "words": partial(_check_words, ("section.chars", 3_000), _TEXTS),
    "fields": partial(_check_items, 0, ("section.fields", 10), partial(_check_words, 2_000, _TEXTS)),
    "notes": partial(_check_items, 1, ("context.elements", 10), _check_context_element),
    "controls": partial(_check_controls, ("actions.elements", 25), ("button", *_PICKERS)),
    "accessory": partial(_check_object, ("button", "image", *_PICKERS)),
    "input": partial(_check_object, ("plain_text_input", "number_input", *_PICKERS)),
    "options": partial(_check_items, 1, ("select.options", 100), _check_option),
    "few": partial(_check_items, 1, 10, _check_option),
    "option": _check_option,
    "question": partial(_check_words, 2_000, ("plain_text",)),
    "placeholder": partial(_check_words, 150, ("plain_text",)),
    "length": partial(_check_length, 0, 3_000),
    "chars": partial(_check_string, 0, 3_000),
    "address": partial(_check_string, 1, 3_000),
    "date": _check_date,
    "number": _check_number,
    "context_controls": partial(_check_controls, 5, ("feedback_buttons", "icon_button")),
    "feedback": _check_feedback_button,
    "style": partial(_check_choice, ("primary", "danger")),
    "icon": partial(_check_choice, ("trash",)),
    "people": partial(_check_items, 1, 1_000, partial(_check_string, 1, 255)),
    "status": partial(_check_choice, ("pending", "in_progress", "complete", "error")),
    "cards": partial(_check_items, 0, 50, partial(_check_object, ("task_card",))),
    "parts": partial(_check_items, 0, 10_000, _check_rich_part),
    "name": partial(_check_string, 1, 10_000),
    "list": partial(_check_items, 0, 100, lambda item, at, rules: None),
    "blocks": partial(_check_items, 0, 10**9, lambda item, at, rules: None),
    "data_rows": data_blocks.check_data_rows,
    "table_rows": data_blocks.check_table_rows,
    "columns": data_blocks.check_columns,
    "page_size": data_blocks.check_page_size,
    "chart_title": data_blocks.check_chart_title,
    "chart": data_blocks.check_chart,
    "sources": partial(_check_items, 0, 10**9, _check_source),
}
# type: its fields, with ! where they are needed, and after a colon what they may hold
_TYPES = {
    "actions": "elements!:controls block_id:id",
    "blocks": "blocks!:blocks",
    "button": "text!:label action_id!:action value:value url style:style confirm accessibility_label"
    " visible_to_user_ids:people",
    "checkboxes": "action_id:action options!:few initial_options:few confirm focus_on_load",
    "context": "elements!:notes block_id:id",
    "context_actions": "elements!:context_controls block_id:id",
    "data_table": "rows!:data_rows caption!:some page_size:page_size row_header_column_index block_id:id",
    "data_visualization": "title!:chart_title chart!:chart block_id:id",
    "datepicker": "action_id:action placeholder:placeholder initial_date:date confirm focus_on_load",
    "divider": "block_id:id",
    "feedback_buttons": "action_id!:action positive_button!:feedback negative_button!:feedback",
    "header": "text!:heading block_id:id level",
    "icon_button": "icon!:icon text!:label action_id!:action value:value visible_to_user_ids:people"
    " accessibility_label confirm",
    "image": "image_url:address slack_file alt_text! title block_id:id",
    "input": "label!:question element!:input block_id:id hint:question optional dispatch_action",
    "markdown": "text!:some block_id:id",
    "markdown_text": "text!:some",
    "mrkdwn": "text!:some verbatim",
    "multi_static_select": "action_id:action options!:options initial_options:options"
    " placeholder:placeholder max_selected_items confirm focus_on_load",
    "number_input": "action_id:action is_decimal_allowed! initial_value:number min_value:number"
    " max_value:number placeholder:placeholder dispatch_action_config focus_on_load",
    "plain_text": "text!:some emoji",
    "plain_text_input": "action_id:action initial_value:chars multiline min_length:length max_length:length"
    " placeholder:placeholder dispatch_action_config focus_on_load",
    "plan": "title!:title tasks:cards plan_id block_id:id",
    "plan_update": "title!:some",
    "radio_buttons": "action_id:action options!:few initial_option:option confirm focus_on_load",
    "rich_text": "elements!:parts block_id:id",
    "section": "text:words fields:fields accessory:accessory block_id:id expand",
    "static_select": "action_id:action options!:options initial_option:option placeholder:placeholder confirm"
    " focus_on_load",
    "table": "rows!:table_rows column_settings:columns block_id:id",
    "task_card": "task_id!:name title!:name status!:status details output sources:list icon hide_title"
    " block_id:id",
    "task_update": "id!:some title!:some status!:status details output sources:sources hide_title icon",
}
_FIELDS = {
    kind: {
        name.rstrip("!"): (name.endswith("!"), _VALUES.get(value))
        for name, _, value in (word.partition(":") for word in words.split())
    }
    for kind, words in _TYPES.items()
}
_CHUNKS = ("blocks", "markdown_text", "plan_update", "task_update")
_BLOCKS: Mapping[str, tuple[str, ...]] = {
    "message": (
        "actions", "context", "context_actions", "data_table", "data_visualization", "divider", "header",
        "image", "input", "markdown", "plan", "rich_text", "section", "table", "task_card",
    ),
    "view": ("actions", "context", "divider", "header", "image", "input", "rich_text", "section"),
}  # fmt: skip


# ---- what a person reads and presses

_FOR_SOME = "visible_to_user_ids"
_INTERACTIVE = {"button", "feedback_buttons", "icon_button"}
_INPUTS = {"plain_text_input", "number_input", *_PICKERS}
_JOINTS = {"rich_text": "\n", "rich_text_list": "\n", "context": " ", "actions": " ", "context_actions": " "}
_DATA = {"data_table", "data_visualization", "table"}
_BODY = {"markdown", "section", "header", "rich_text"} | _DATA


def as_seen(blocks: list[Json], viewer: str) -> list[Json]:
    """`blocks` without the buttons that `viewer` does not see."""
    seen = []
    for block in blocks:
        elements = [each for each in block.get("elements") or () if _is_seen(each, viewer)]
        if "elements" not in block or len(elements) == len(block["elements"]):
            seen.append(block)
        elif elements:
            seen.append({**block, "elements": elements})
    return seen


def _is_seen(element: Any, viewer: str) -> bool:
    users = element.get(_FOR_SOME) if isinstance(element, dict) else None
    return users is None or viewer in users


def take_cards(message: StoredMessage) -> None:
    """An edited message has the cards that its new blocks hold, and no others."""
    plans = [block for block in message.blocks if block["type"] == "plan"]
    cards = [block for block in message.blocks if block["type"] == "task_card"]
    cards += [card for plan in plans for card in plan.get("tasks") or ()]
    message.tasks = {
        card["task_id"]: SeenTask(
            card["task_id"],
            card["title"],
            card["status"],
            plain(card.get("details")),
            plain(card.get("output")),
            tuple(card.get("sources") or ()),
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


def inputs(blocks: list[Json]) -> Iterator[tuple[Json, Json]]:
    """Every (block, input) that a person can fill in."""
    for block in blocks:
        elements = (block.get("element"), block.get("accessory"), *(block.get("elements") or ()))
        for element in elements:
            if isinstance(element, dict) and element.get("type") in _INPUTS:
                yield block, element


def words(blocks: list[Json]) -> tuple[str, tuple[str, ...]]:
    """What a person reads in the blocks that carry a message's body, and in all others."""
    read = [(block["type"] in _BODY, text) for block in blocks if (text := plain(block))]
    body, others = ([text for is_body, text in read if is_body is wanted] for wanted in (True, False))
    return "\n\n".join(body), tuple(others)


def plain(item: Any) -> str:
    """The words of a block, of one of its parts, or of a rich text."""
    if not isinstance(item, dict):
        words = map(plain, item) if isinstance(item, list) else item if isinstance(item, str) else ""
        return "".join(words)
    kind = item.get("type", "")
    if kind == "feedback_buttons":
        return " ".join(plain(item[name]["text"]) for name in ("positive_button", "negative_button"))
    if kind in _DATA:
        return "\n".join(data_blocks.read(item))
    if kind in _JOINTS:
        elements = item.get("elements")
        return _JOINTS[kind].join(map(plain, elements if isinstance(elements, list) else ()))
    if kind == "input":
        return " ".join(filter(None, map(plain, (item["label"], item.get("hint")))))
    named = [plain(item.get(name)) for name in ("text", "title", "fields", "elements")]
    others = (item.get(each) for each in ("url", "user_id", "channel_id", "fallback"))
    return "".join(named) or str(next(filter(None, others), ""))
