"""What readers are told stands in `text/words.py`: modules that talk to people hold no sentence."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.syntax_trees import syntax_tree

PACKAGE = Path(__file__).parents[2] / "slack_bot"
ROOMS = ("threads",)
SENTENCE = re.compile(r"\W*[A-Z].* |.* .*\.\s*\Z", re.DOTALL)
FOR_OPERATORS = re.compile(r"(\A|\.)_?log\.\w+\Z|Error\Z")
EXCEPTIONS = {
    " questions in a row could not be stored. ": "an error for the operator",
    "The bot is ending and takes no more questions.": "an error: who calls `accept` decides what is said",
    "The bot ends so that it is started again and opens the store again.": "an error for the operator",
}


def sentences(node: ast.AST) -> Iterator[str]:
    """Literals that read as a sentence, without docstrings, errors that are raised and log lines."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Raise) or (
            isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
        ):
            continue
        if isinstance(child, ast.Call) and FOR_OPERATORS.search(ast.unparse(child.func)):
            continue
        if isinstance(child, ast.Constant) and isinstance(child.value, str) and SENTENCE.match(child.value):
            yield child.value
        yield from sentences(child)


def test_rooms_that_talk_to_people_hold_no_sentence_of_their_own() -> None:
    modules = [path for room in ROOMS for path in (PACKAGE / room).rglob("*.py")]
    assert {text for path in modules for text in sentences(syntax_tree(path))} == EXCEPTIONS.keys()
