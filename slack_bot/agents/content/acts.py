"""PURE. Finds what an agent asks the bot to do in Slack: the extension `SLACK_ACTIONS`.

An act is a data part `{"slack": {"action": "react", "name": "eyes"}}`, which is never shown.
"""

from typing import Any

from ...turn.acts import MOST_TEXT, AgentAct
from ...turn.json_values import object_of, text_of

SLACK_ACTIONS = "urn:slack-bot:extensions:slack-actions:v1"
"""The URI by which a card names the extension."""
_KEY = "slack"
_LONGEST = 200  # characters of a value: longer ones are cut, and are names of nothing then


def act_in(data: Any) -> AgentAct | None:
    """The act in the data of a part; None if it is something else."""
    if not isinstance(data, dict) or len(data) != 1:
        return None
    order = object_of(data.get(_KEY))
    kind = text_of(order.get("action"))
    if not kind:
        return None
    name, ts, channel = (text_of(order.get(key)).strip()[:_LONGEST] for key in ("name", "ts", "channel"))
    text = text_of(order.get("text")).strip()[: MOST_TEXT + 1]
    return AgentAct(kind[:_LONGEST], name.strip(":"), ts, channel, text)
