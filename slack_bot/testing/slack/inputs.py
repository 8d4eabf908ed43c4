"""PURE. What people fill in, in messages and modals, and what Slack's client checks before it sends."""

import math
from typing import Any, TypeAlias

from . import blocks as blockkit
from .state import Json

Filled: TypeAlias = str | list[str] | None
"""Text, a number, a date, the label of an option, or several labels. None: nothing."""

_CHOICES = ("selected_option", "selected_options")
_KEYS = {
    "plain_text_input": ("value", "initial_value"),
    "number_input": ("value", "initial_value"),
    "datepicker": ("selected_date", "initial_date"),
    "static_select": ("selected_option", "initial_option"),
    "radio_buttons": ("selected_option", "initial_option"),
    "multi_static_select": ("selected_options", "initial_options"),
    "checkboxes": ("selected_options", "initial_options"),
}

_WANTED = {
    "plain_text_input": "write a text",
    "number_input": "write a number",
    "datepicker": "choose a date",
    "static_select": "choose one",
    "radio_buttons": "choose one",
    "multi_static_select": "choose at least one",
    "checkboxes": "choose at least one",
}


def begun(blocks: list[Json]) -> Json:
    """`state.values` of what nobody has touched."""
    values: Json = {}
    for block, element in blockkit.inputs(blocks):
        name, initial = _KEYS[element["type"]]
        given = element.get(initial, [] if name == "selected_options" else None)
        filled = {"type": element["type"], name: given}
        values.setdefault(block["block_id"], {})[element["action_id"]] = filled
    return values


def fill(blocks: list[Json], values: Json, label: str, given: Filled) -> Json | None:
    """Fill in the input with this label, `action_id` or `block_id`. Returns what the app is told at once.

    None: nothing, as of an `input` block that does not dispatch its action. LookupError: there is no such
    input or option, so a person could not have done it.
    """
    for block, element in blockkit.inputs(blocks):
        if label in (blockkit.plain(block.get("label")), element["action_id"], block["block_id"]):
            name, _ = _KEYS[element["type"]]
            value = _chosen(element, name, given) if name in _CHOICES else given
            place = {"block_id": block["block_id"], "action_id": element["action_id"]}
            filled = values[block["block_id"]][element["action_id"]] = {"type": element["type"], name: value}
            is_told = block["type"] != "input" or block.get("dispatch_action")
            return {**filled, **place} if is_told else None
    raise LookupError(f"no input {label}")


def _chosen(element: Json, name: str, given: Filled) -> Any:
    labels = given if isinstance(given, list) else [] if given is None else [given]
    options = {blockkit.plain(option["text"]): option for option in element["options"]}
    if unknown := [label for label in labels if label not in options]:
        raise LookupError(f"no option {unknown[0]}")
    found = [options[label] for label in labels]
    return found if name == "selected_options" else found[0] if found else None


def mistakes(blocks: list[Json], values: Json) -> dict[str, str]:
    """What Slack's client complains of under an input of a modal, by `block_id`: it sends nothing then."""
    found: dict[str, str] = {}
    for block, element in blockkit.inputs(blocks):
        given = values[block["block_id"]][element["action_id"]][_KEYS[element["type"]][0]]
        if not given and block["type"] == "input" and not block.get("optional"):
            found[block["block_id"]] = f"Please complete this required field: {_WANTED[element['type']]}."
        elif given and (problem := _problem(element, given)):
            found[block["block_id"]] = problem
    return found


def _problem(element: Json, given: Any) -> str:
    if element["type"] == "plain_text_input":
        least, most = element.get("min_length", 0), element.get("max_length", 3_000)
        return "" if least <= len(given) <= most else f"Must be {least} to {most} characters."
    if element["type"] != "number_input":
        return ""
    try:
        number = float(given)
    except ValueError:
        return "Must be a number."
    least, most = float(element.get("min_value", -math.inf)), float(element.get("max_value", math.inf))
    if (element["is_decimal_allowed"] or number.is_integer()) and least <= number <= most:
        return ""
    bounds = [f"at least {least:g}"] * (least > -math.inf) + [f"at most {most:g}"] * (most < math.inf)
    kind = "a number" if element["is_decimal_allowed"] else "a whole number"
    return f"Must be {kind}{': ' * bool(bounds)}{', '.join(bounds)}."
