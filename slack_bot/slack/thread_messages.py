"""PURE. Reads messages of a thread from Slack's JSON, so that they can be quoted."""

from collections.abc import Iterator, Mapping
from typing import Any

from ..turn.json_values import list_of, object_of, objects_of, text_in
from ..turn.people import Organisation, PersonKind
from ..turn.quotes import ThreadMessage
from ..turn.record import MESSAGE_TS, SPOKEN
from .readback import comparable, words_of

TEAMS = ("user_team", "source_team", "team")
"""Where a message names the team of its author. The last may be that of the channel."""
_TEXTS = ("pretext", "title", "text")  # of an attachment
_DEEPEST = 6  # blocks in blocks


def thread_message(
    message: Mapping[str, Any], own: Mapping[str, Any], ours: Organisation
) -> ThreadMessage | None:
    """Read one message. Returns None if no person or bot wrote it, or if only one person sees it.

    `own`: Slack's `bot_user_id` and `bot_id` of this bot. `ours`: its organisation.
    """
    ts, user, bot = (text_in(message, name) for name in ("ts", "user", "bot_id"))
    if not MESSAGE_TS.fullmatch(ts) or text_in(message, "subtype") not in SPOKEN or message.get("hidden"):
        return None
    if not (user or bot) or message.get("is_ephemeral"):
        return None
    is_own = user == own.get("bot_user_id") or (bool(bot) and bot == own.get("bot_id"))
    is_bot = bool(bot or message.get("bot_profile")) or user == "USLACKBOT"
    bot_name = text_in(object_of(message.get("bot_profile")), "name")
    names = [text_in(each, "name") or text_in(each, "title") for each in objects_of(message.get("files"))]
    return ThreadMessage(
        ts=ts,
        author=user or bot,
        kind=PersonKind.BOT if is_bot else _kind(message, ours),
        text=_words(message, is_bot=is_bot, is_own=is_own),
        files=tuple(name for name in names if name),
        name=text_in(message, "username") or bot_name if is_bot else "",
        is_own=is_own,
    )


def _kind(message: Mapping[str, Any], ours: Organisation) -> PersonKind:
    """What kind of person wrote it, as far as the message says (facts: Slack 3.2)."""
    team_ids = [team for name in TEAMS[:-1] if (team := text_in(message, name))]
    teams = team_ids or [text_in(message, TEAMS[-1]) or ours.team]
    if not ours.has(*teams):
        return PersonKind.EXTERNAL
    profile = object_of(message.get("user_profile"))
    is_guest = profile.get("is_restricted") or profile.get("is_ultra_restricted")
    return PersonKind.GUEST if is_guest else PersonKind.MEMBER


def _words(message: Mapping[str, Any], *, is_bot: bool, is_own: bool) -> str:
    """The words of a message. The blocks of a person only repeat the text; those of a bot may say more than
    the text, and so may its attachments (hermes#33469).
    """
    text, blocks = text_in(message, "text"), message.get("blocks")
    if is_own:
        return words_of(blocks).strip() or text  # without the cards
    parts = [text]
    if is_bot or not text:
        parts.append("\n".join(_of_blocks(blocks)))
    for each in objects_of(message.get("attachments")):
        parts.append("\n".join(_of_attachment(each)))
    return "\n".join(_new(parts))


def _new(parts: list[str]) -> Iterator[str]:
    """The parts that add something to the ones before."""
    known_letters = ""
    for part in parts:
        letters = comparable(part)
        if part.strip() and (not letters or letters not in known_letters):
            known_letters += letters + "\n"
            yield part.strip()


def _of_attachment(attachment: Mapping[str, Any]) -> Iterator[str]:
    texts = [text_in(attachment, name) for name in _TEXTS]
    for each in objects_of(attachment.get("fields")):
        texts.append(": ".join(filter(None, (text_in(each, "title"), text_in(each, "value")))))
    texts += _of_blocks(attachment.get("blocks"))
    yield from filter(None, texts) if any(texts) else (text_in(attachment, "fallback"),)


def _of_blocks(blocks: object, depth: int = 0) -> Iterator[str]:
    """The words of blocks, without controls."""
    for block in objects_of(blocks):
        kind = text_in(block, "type")
        if kind in ("rich_text", "markdown"):
            yield words_of([block]).strip()
        elif kind == "table":
            for row in list_of(block.get("rows")):
                yield " | ".join(_cell(cell) for cell in objects_of(row))
        elif kind not in ("actions", "input", "context_actions") and depth < _DEEPEST:
            texts = [block.get("title"), block.get("text"), *list_of(block.get("fields"))]
            yield from filter(None, map(_text_of, texts))
            yield from _of_blocks(block.get("elements"), depth + 1)
            yield from _of_blocks(block.get("blocks"), depth + 1)


def _cell(cell: Mapping[str, Any]) -> str:
    return words_of([cell]).strip() if cell.get("type") == "rich_text" else str(cell.get("text") or "")


def _text_of(value: object) -> str:
    """The text of a text object, or a plain text itself."""
    return value if isinstance(value, str) else text_in(object_of(value), "text")
