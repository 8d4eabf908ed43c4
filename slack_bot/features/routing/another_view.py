"""PURE. The modal in which a person asks another agent."""

from collections.abc import Mapping

from ...slack.blocks import Args, Block, context, plain, shorten
from ...text.words import (
    ANOTHER_ASK_LABEL,
    ANOTHER_EXPLAINED,
    ANOTHER_EXPLAINED_BARE,
    ANOTHER_EXPLAINED_WORDLESS,
    ANOTHER_QUESTION,
    ANOTHER_TITLE,
    ANOTHER_WHICH,
    FORM_CANCEL_LABEL,
    FORM_PLACEHOLDER,
)
from ...turn.buttons import AGENT, ANOTHER_MODAL, WORDS

_MOST_WORDS = 3_000  # Slack: characters of an input
_MOST_OPTIONS, _LABEL = 100, 75  # Slack: options of a select, characters of one


def another_view(metadata: str, text: str, labels: Mapping[str, str], explained: str) -> Args:
    """The view for `views.open`. `text`: what was asked before; `labels`: the names of the agents that people
    read; `explained`: what the other agent gets, as `explained_for` says.
    """
    return {
        "type": "modal",
        "callback_id": ANOTHER_MODAL,
        "private_metadata": metadata,
        "title": plain(ANOTHER_TITLE),
        "submit": plain(ANOTHER_ASK_LABEL),
        "close": plain(FORM_CANCEL_LABEL),
        "blocks": [
            context(explained),
            _input(AGENT, ANOTHER_WHICH, agent_select(labels)),
            _input(
                WORDS,
                ANOTHER_QUESTION,
                {
                    "type": "plain_text_input",
                    "multiline": True,
                    "max_length": _MOST_WORDS,
                    **({"initial_value": text[:_MOST_WORDS]} if text else {}),
                },
            ),
        ],
    }


def explained_for(answer: str, quoted: str) -> str:
    """What another agent gets of an `answer`, of which `quoted` is passed on."""
    if quoted:
        return ANOTHER_EXPLAINED
    return ANOTHER_EXPLAINED_BARE if answer.strip() else ANOTHER_EXPLAINED_WORDLESS


def agent_select(labels: Mapping[str, str], chosen: str = "") -> Block:
    """A select of agents: the names that people read, by the names in the settings."""
    options = {
        name: {"text": plain(shorten(label, _LABEL)), "value": name}
        for name, label in [*labels.items()][:_MOST_OPTIONS]
    }
    first = {"initial_option": options[chosen]} if chosen in options else {}
    shown: Block = {"options": [*options.values()], "placeholder": plain(FORM_PLACEHOLDER)}
    return {"type": "static_select", **shown, **first}


def _input(name: str, label: str, element: Block) -> Block:
    return {
        "type": "input",
        "block_id": name,
        "label": plain(label),
        "element": {**element, "action_id": name},
    }
