"""PURE. Whether the word before a colon is probably an agent's name, written wrong.

People write `note: ...` and `question: ...` too, and must never be asked what they meant by it. So the word
must begin as the name does, be nearly the same, and be none that people write before a colon anyway.
"""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

_WORD = re.compile(r"\s*([\w.-]{4,40})\s*:(?!//)\s*\S")
_SHORTEST = 5  # letters of a name: one letter more or less makes another word of "ops"
_NEAR = 0.8  # of difflib's ratio: one wrong, missing, doubled or swapped letter in a word of five
_ORDINARY_WORDS = (
    "about action actions agenda also answer answers author background bonus branch caution check cause "
    "code comment comments conclusion config context customer date deadline decision default details "
    "docs done edit email error errors example examples fact facts fail file files filename final "
    "finally first fixed format from goal goals hello help here hint hints host http https idea ideas "
    "image important info input issue issues item items later link links list location main meeting "
    "message name news next nota note noted notes notice option options order orders output owner page "
    "password path people person place plan plans please port problem problems project question "
    "questions quote reason remark remarks reminder report reports request requests research result "
    "results review said says schedule search second seconds server service services sidenote solution "
    "source sources spoiler start status step steps stop subject suggestion sum summary system task "
    "tasks team test testing tests text thanks then there these thing things this time times tip tips "
    "title today todo todos tomorrow topic topics trip trips update updated updates url urgent usage "
    "user users value values version wait warning week weekly what when where which while with work "
    "yesterday"
)
_ORDINARY = frozenset(_ORDINARY_WORDS.split())


def near_name(text: str, names: Iterable[str]) -> tuple[str, str] | None:
    """The word before the first colon of `text`, and the one of `names` that was probably meant.

    None: the word is a name, or is near none.
    """
    known = {name.casefold(): name for name in names}
    found = _WORD.match(text)
    word = found[1].casefold() if found is not None else ""
    if not word or word in known or word in _ORDINARY:
        return None
    ratios = {name: _ratio(word, name) for name in known if len(name) >= _SHORTEST and name[0] == word[0]}
    best = max(ratios, key=lambda name: ratios[name], default="")
    return (found[1], known[best]) if found is not None and best and ratios[best] >= _NEAR else None


def _ratio(word: str, name: str) -> float:
    return SequenceMatcher(None, word, name, autojunk=False).ratio()
