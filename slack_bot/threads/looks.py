"""The name and the picture of the answers of an agent in Slack."""

from ..agents.agents import Agents
from ..slack.blocks import shorten
from ..slack.look import MOST_NAME, Look, may_show
from ..text.sanitize import sanitize
from ..turn.record import Introduction


def look_of(agents: Agents, name: str) -> Look | None:
    """That of the agent `name`; None where the bot has only one, which answers under the bot's own.

    The settings count, then what the agent's card said when it was last read. Of two with one name each has
    the name of the settings behind it.
    """
    if not agents.are_several:
        return None
    entry = agents.settings.entries.get(name)
    emoji, picture = (entry.icon or "", entry.icon_url or "") if entry is not None else ("", "")
    picture = picture or _said(agents, name).icon
    return Look(shown_name(agents, name), emoji, picture if may_show(picture) else "")


def shown_name(agents: Agents, name: str) -> str:
    """What people read as the name of the agent `name`; of one that the settings do not have, that name."""
    names = {each.name: _own_name(agents, each.name) for each in agents}
    shown = names.get(name, name)
    if sum(each.casefold() == shown.casefold() for each in names.values()) > 1:
        shown = f"{shorten(shown, MOST_NAME - len(name) - 3)} ({name})"
    return shown


def _own_name(agents: Agents, name: str) -> str:
    entry = agents.settings.entries[name]
    said = " ".join(sanitize(_said(agents, name).name[: 2 * MOST_NAME]).split())
    return shorten(entry.name or said or name, MOST_NAME)


def _said(agents: Agents, name: str) -> Introduction:
    agent = agents.get(name)
    card = None if agent is None else agent.cards.card
    return Introduction() if card is None else card.introduction
