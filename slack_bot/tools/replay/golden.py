"""PURE. A thread as a file to keep: what a person reads, and how the turn ended. No times, no ids.

Two runs of the same bot over the same tape give the same file, byte for byte. Of the timing only one word is
kept: whether the answer was shown while it was written. An answer that falls silent and then comes all at
once is a difference; one that comes 20 ms later is none.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ...testing.tape.json_file import Json
from .plain_text import as_thread

Verdict: TypeAlias = Literal["same", "differs", "new"]

_END = "-- "
_AROUND = 3  # lines of a difference that are the same
_LIVE = ((0.9, "shown while it was written"), (0.5, "more than half of it shown while it was written"))


@dataclass(frozen=True, slots=True)
class Compared:
    """One thread beside the one that was kept (None: none was)."""

    name: str
    kept: str | None
    now: str

    @property
    def verdict(self) -> Verdict:
        """What came of it."""
        if self.kept is None:
            return "new"
        return "same" if self.kept == self.now else "differs"


def golden(result: Json, *, asker: str, question: str) -> str:
    """The file for one thread. `result` is the object of `replay --json`."""
    outcome = str(result["outcome"] or "not taken")
    reason = f" ({result['reason']})" if result["reason"] else ""
    return f"{as_thread(result, asker=asker, question=question)}\n\n{_END}{outcome}{reason}{_live(result)}\n"


def _live(result: Json) -> str:
    share = result["live_share"]
    if share is None:
        return ", no answer text"
    said = next((said for least, said in _LIVE if share >= least), None)
    if said is None:
        said = "less than half of it shown while it was written" if share else "shown at the end only"
    return f", {said}"


def difference(compared: Compared) -> Iterator[str]:
    """The lines of a unified diff, from the kept thread to this one; each without its line end."""
    names = f"{compared.name} (kept)", f"{compared.name} (now)"
    kept, now = (compared.kept or "").split("\n"), compared.now.split("\n")
    yield from difflib.unified_diff(kept, now, *names, n=_AROUND, lineterm="")


def first_change(kept: str, now: str) -> tuple[str, Literal["more", "less"]] | None:
    """The first line that one of them has and the other has not: too much in `now`, or missing in it.

    Text comes before the last line, which says how it ended; what is too much before what is missing, because
    it can be looked for in another thread. None where the threads differ in blank lines or order alone.
    """
    more, less = _only_in(now, kept), _only_in(kept, now)
    text = [line for line in more if not line.startswith(_END)]
    lost = [line for line in less if not line.startswith(_END)]
    if text:
        return text[0], "more"
    if lost:
        return lost[0], "less"
    return (more[0], "more") if more else None


def _only_in(one: str, other: str) -> list[str]:
    known = set(other.split("\n"))
    return [line for line in one.split("\n") if line.strip() and line not in known]


def report(compared: Sequence[Compared]) -> Iterator[str]:
    """What is printed: a line a thread, the differences below it, a count at the end."""
    for each in compared:
        hint = ": nothing to compare with, --update keeps it" if each.verdict == "new" else ""
        yield f"{each.verdict:8}{each.name}{hint}"
        if each.verdict == "differs":
            yield from (f"    {line}" for line in difference(each))
    counts = [(what, sum(each.verdict == what for each in compared)) for what in ("same", "differs", "new")]
    yield ", ".join(f"{count} {what}" for what, count in counts if count)
