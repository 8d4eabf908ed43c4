"""PURE. Puts together what an agent said of its work in one step, for the card of that step."""

from collections.abc import Iterable

_ENDS = (".", "!", "?", "…", ":")
_TRAILS_OFF = ("...", "…")


def join_narration(pieces: Iterable[str]) -> str:
    """Pieces as they came: deltas of one text, or texts of their own, which get a blank between them.

    Agents do not say which of both a piece is. A delta may end anywhere, also behind the full stop in a
    name, so only a whole sentence is known as a text of its own.
    """
    joined, last = list[str](), ""
    for piece in pieces:
        if _is_text(last) and _begins(piece, trails_off=last.endswith(_TRAILS_OFF)):
            joined.append(" ")
        joined.append(piece)
        last = piece or last
    return "".join(joined)


def _is_text(piece: str) -> bool:
    """A sentence in one piece. One letter before its full stop may be the beginning of `U.S.`"""
    *others, word = piece.split() or [""]
    is_ended = piece.endswith(_ENDS) and len(word.rstrip(".!?…:")) > 1
    return piece.endswith(_TRAILS_OFF) or (bool(others) and is_ended)


def _begins(piece: str, *, trails_off: bool) -> bool:
    return piece[:1].isalpha() if trails_off else piece[:1].isupper()
