"""PURE. The blocks of the bot's Home tab, and the prompts above its messages.

Everything an agent says of itself is shown as plain text: nothing in it is a mention, a link or markup.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..text.home_words import (
    HOME_AGENT_ASKED,
    HOME_AGENT_AWAY,
    HOME_AGENT_SKILLS,
    HOME_AGENTS_TITLE,
    HOME_DIRECT,
    HOME_HOW,
    HOME_HOW_AGENTS,
    HOME_HOW_TITLE,
    HOME_MORE_QUESTIONS,
    HOME_NO_QUESTIONS,
    HOME_OPEN,
    HOME_QUESTIONS_TITLE,
    HOME_SIGN_OUT,
    HOME_SIGNED_IN,
    HOME_SIGNED_IN_TITLE,
    HOME_SKILLS_TITLE,
    HOME_STOP_LABEL,
    HOME_UNNAMED_AGENT,
    HOME_UNNAMED_ICON,
)
from ..text.sanitize import sanitize
from ..turn.buttons import TurnButton
from ..turn.record import Introduction, Skill, is_direct
from .blocks import Args, Block, context, shorten
from .look import may_show

_QUESTION = 300
_HEADER = 150  # Slack: characters of a header
_LABEL = 75  # Slack: characters of a button
_TEXT = 1_000  # of a description: people come here to look, not to read
_ABOUT = 300  # of a description among others
_MOST_SKILLS = 10
_MOST_AGENTS = 20  # each needs two blocks
_MOST_OPTIONS = 100  # Slack: options of a select
_MOST_BLOCKS = 100  # Slack: blocks of a view
_MOST_TURNS = 20  # Slack takes 100 blocks; each turn needs two
_MOST_PROMPTS = 4  # Slack: prompts of a conversation


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """A question of the person who looks. `state` says how far it is, `link` leads to it.

    `key` "": it is the agent's question to them, which is answered in its thread.
    """

    key: str
    text: str
    channel: str
    state: str
    link: str


@dataclass(frozen=True, slots=True)
class ShownAgent:
    """`name`: that of the settings, with which it is asked; "": the bot has no other agent. No `says`: it
    cannot be reached. `note`: who may ask it, and how it is. `is_chosen`: it answers direct messages.
    """

    name: str
    says: Introduction | None
    note: str = ""
    may_ask: bool = True
    is_chosen: bool = False


def home_view(
    shown_agents: Sequence[ShownAgent],
    turns: Sequence[ShownTurn],
    signed_in: Sequence[tuple[str, str]] = (),
    more: Sequence[Block] = (),
) -> Args:
    """A view for `views.publish`.

    `signed_in`: the agents that act with the person's rights, and where the person signed in for that.
    `more`: blocks of features; those that find no place are left out.
    """
    if shown_agents[0].name:
        blocks = [
            _header(HOME_AGENTS_TITLE),
            *(block for each in shown_agents[:_MOST_AGENTS] for block in _agent(each)),
        ]
        blocks += [*_direct(shown_agents), _header(HOME_HOW_TITLE), _section(HOME_HOW_AGENTS)]
    else:
        blocks = [*_only_agent(shown_agents[0].says)]
    if signed_in:
        lines = [_section(HOME_SIGNED_IN.format(*each)) for each in signed_in]
        blocks += [_header(HOME_SIGNED_IN_TITLE), *lines, context(HOME_SIGN_OUT)]
    blocks.append(_header(HOME_QUESTIONS_TITLE))
    blocks += [block for turn in turns[:_MOST_TURNS] for block in _turn(turn)] or [context(HOME_NO_QUESTIONS)]
    if len(turns) > _MOST_TURNS:
        blocks.append(context(HOME_MORE_QUESTIONS.format(len(turns) - _MOST_TURNS)))
    return {"type": "home", "blocks": [*blocks, *more][:_MOST_BLOCKS]}


def _only_agent(says: Introduction | None) -> Iterator[Block]:
    yield _header(_plain(says.name if says else "", _HEADER) or HOME_UNNAMED_AGENT)
    if says is None:
        yield context(HOME_AGENT_AWAY)
    elif about := _plain(says.description, _TEXT):
        yield _section(about) | _picture(says)
    yield from (_header(HOME_HOW_TITLE), _section(HOME_HOW))
    if skills := [skill for skill in (says.skills if says else ()) if _plain(skill.name, _LABEL)]:
        shown = [_words(*_skill(skill)) for skill in skills[:_MOST_SKILLS]]
        yield from (_header(HOME_SKILLS_TITLE), _rich("rich_text_list", *shown, style="bullet"))


def _agent(shown_agent: ShownAgent) -> Iterator[Block]:
    """One of several: what it is for and what it can do, in few words."""
    says = shown_agent.says or Introduction()
    title = _plain(says.name, _LABEL) or shown_agent.name
    about = _plain(says.description, _ABOUT)
    yield _section(f"{title}: {about}" if about else title) | _picture(says)
    skills = ", ".join(filter(None, (_plain(each.name, _LABEL) for each in says.skills[:_MOST_SKILLS])))
    lines = [
        HOME_AGENT_ASKED.format(shown_agent.name),
        shown_agent.note,
        *([HOME_AGENT_SKILLS.format(skills)] if skills else []),
    ]
    yield context("\n".join(lines))


def _direct(shown_agents: Sequence[ShownAgent]) -> Iterator[Block]:
    """The select of who answers direct messages."""
    options = {
        each.name: {
            "text": {
                "type": "plain_text",
                "text": _plain(each.says.name if each.says else "", _LABEL) or each.name,
            },
            "value": each.name,
        }
        for each in shown_agents[:_MOST_OPTIONS]
        if each.may_ask
    }
    chosen = next(
        (options[each.name] for each in shown_agents if each.is_chosen and each.name in options), None
    )
    if len(options) > 1:
        select: Block = {
            "type": "static_select",
            "action_id": TurnButton.DIRECT_AGENT,
            "options": [*options.values()],
        }
        yield _section(HOME_DIRECT) | {
            "accessory": select | ({"initial_option": chosen} if chosen is not None else {})
        }


def _picture(says: Introduction) -> Block:
    return {"accessory": _image(says.icon, says.name)} if may_show(says.icon) else {}


def prompts(given: Sequence[str], skills: Sequence[Skill]) -> list[Block]:
    """For `assistant.threads.setSuggestedPrompts`: the given ones, or examples, one of each skill first."""
    texts = (_plain(each, _TEXT) for each in given or _examples(skills))
    found = list(dict.fromkeys(filter(None, texts)))[:_MOST_PROMPTS]
    return [{"title": shorten(text, _LABEL), "message": text} for text in found]


def _examples(skills: Sequence[Skill]) -> Iterator[str]:
    for place in range(max((len(skill.examples) for skill in skills), default=0)):
        yield from (skill.examples[place] for skill in skills if place < len(skill.examples))


def _turn(turn: ShownTurn) -> Iterator[Block]:
    label = {"type": "plain_text", "text": HOME_STOP_LABEL}
    stop = {"type": "button", "text": label, "action_id": TurnButton.STOP_IN_HOME, "value": turn.key}
    yield _section(_plain(turn.text, _QUESTION) or "…") | ({"accessory": stop} if turn.key else {})
    in_channel = {"type": "channel", "channel_id": turn.channel}
    place = () if is_direct(turn.channel) else (_text(" · "), in_channel)
    link = {"type": "link", "url": turn.link, "text": HOME_OPEN}
    yield _rich("rich_text_section", _text(_plain(turn.state, _QUESTION)), *place, _text(" · "), link)


def _skill(skill: Skill) -> Iterator[Block]:
    yield {**_text(_plain(skill.name, _LABEL)), "style": {"bold": True}}
    if about := _plain(skill.description, _TEXT):
        yield _text(f": {about}")
    if examples := [text for each in skill.examples[:2] if (text := _plain(each, _HEADER))]:
        yield _text("\n" + " ".join(f"“{each}”" for each in examples))


def _rich(kind: str, *elements: Block, **more: str) -> Block:
    return {"type": "rich_text", "elements": [{"type": kind, **more, "elements": list(elements)}]}


def _words(*elements: Block) -> Block:
    return {"type": "rich_text_section", "elements": list(elements)}


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _header(text: str) -> Block:
    return {"type": "header", "text": {"type": "plain_text", "text": text}}


def _image(url: str, name: str) -> Block:
    return {"type": "image", "image_url": url, "alt_text": _plain(name, _LABEL) or HOME_UNNAMED_ICON}


def _section(text: str) -> Block:
    return {"type": "section", "text": {"type": "plain_text", "text": text}}


def _plain(text: str, most: int) -> str:
    """One line."""
    return shorten(" ".join(sanitize(text[: 2 * most]).split()), most)
