"""PURE. The blocks of the bot's Home tab, and the prompts above its messages.

Everything an agent says of itself is shown as plain text: nothing in it is a mention, a link or markup.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..text.sanitize import sanitize
from ..text.words import (
    HOME_AGENT_AWAY,
    HOME_HOW,
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
from ..turn.buttons import TurnButton
from ..turn.extras import Source
from ..turn.record import Introduction, Skill, is_direct
from ..web.addresses import may_fetch
from .blocks import Args, Block, context, shorten
from .odd_hosts import odd_host

_QUESTION = 300
_HEADER = 150  # Slack: characters of a header
_LABEL = 75  # Slack: characters of a button
_TEXT = 1_000  # of a description: people come here to look, not to read
_URL = 3_000  # Slack: characters of an image's address
_MOST_SKILLS = 10
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


def home_view(
    agent: Introduction | None, turns: Sequence[ShownTurn], signed_in: Sequence[tuple[str, str]] = ()
) -> Args:
    """A view for `views.publish`. No `agent`: it cannot be reached.

    `signed_in`: the agents that act with the person's rights, and where the person signed in for that.
    """
    blocks = [_header(_plain(agent.name if agent else "", _HEADER) or HOME_UNNAMED_AGENT)]
    if agent is None:
        blocks.append(context(HOME_AGENT_AWAY))
    elif about := _plain(agent.description, _TEXT):
        blocks.append(
            _section(about) | ({"accessory": _image(agent.icon, agent.name)} if may_show(agent.icon) else {})
        )
    blocks += [_header(HOME_HOW_TITLE), _section(HOME_HOW)]
    if skills := [skill for skill in (agent.skills if agent else ()) if _plain(skill.name, _LABEL)]:
        shown = [_words(*_skill(skill)) for skill in skills[:_MOST_SKILLS]]
        blocks += [_header(HOME_SKILLS_TITLE), _rich("rich_text_list", *shown, style="bullet")]
    if signed_in:
        lines = [_section(HOME_SIGNED_IN.format(*each)) for each in signed_in]
        blocks += [_header(HOME_SIGNED_IN_TITLE), *lines, context(HOME_SIGN_OUT)]
    blocks.append(_header(HOME_QUESTIONS_TITLE))
    blocks += [block for turn in turns[:_MOST_TURNS] for block in _turn(turn)] or [context(HOME_NO_QUESTIONS)]
    if len(turns) > _MOST_TURNS:
        blocks.append(context(HOME_MORE_QUESTIONS.format(len(turns) - _MOST_TURNS)))
    return {"type": "home", "blocks": blocks}


def may_show(icon: str) -> bool:
    """Slack may fetch this picture: by https, from a host that has a name and is what it seems."""
    is_web = len(icon) <= _URL and may_fetch(icon, {icon.partition("://")[2].partition("/")[0]})
    return is_web and not odd_host(Source(icon))


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
    yield _rich("rich_text_section", _text(turn.state), *place, _text(" · "), link)


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
