"""PURE. Text of an agent, shown on a terminal."""

from __future__ import annotations


def printable(text: str) -> str:
    """`text` with a space for each control character: it must not move the cursor."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
