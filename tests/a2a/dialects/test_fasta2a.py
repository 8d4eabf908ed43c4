"""fasta2a: every chunk appends, the first too; the result replaces them, without what preceded a tool."""

from __future__ import annotations

from tests.a2a.parser_turns import COMPLETED, FOX, SUBMITTED, WORDS, artifact, tell, text

CHUNKS = [artifact(text(word), append=True) for word in WORDS]
RESULT = artifact(text(FOX), append=False, name="result")


def test_the_replacement_says_the_same_again() -> None:
    for dialect in ("auto", "fasta2a"):
        told = tell(SUBMITTED, *CHUNKS, RESULT, COMPLETED, dialect=dialect)
        assert told.live == told.shown == FOX


def test_what_vanishes_in_the_replacement_vanishes_for_the_reader() -> None:
    before = artifact(text("Let me look that up. "), append=True)
    told = tell(SUBMITTED, before, *CHUNKS, RESULT, COMPLETED)
    assert told.live == f"Let me look that up. {FOX}"
    assert told.shown == FOX
