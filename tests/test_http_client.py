"""The list of names is what the package needs of its HTTP client."""

from __future__ import annotations

import ast
import logging
from pathlib import Path

from slack_bot import http_client
from tests.syntax_trees import syntax_tree

PACKAGE = Path(http_client.__file__).parent


def test_each_name_is_needed_by_a_module() -> None:
    needed = {
        alias.name
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(syntax_tree(path))
        if isinstance(node, ast.ImportFrom) and node.level and node.module == "http_client"
        for alias in node.names
    }
    assert needed == set(http_client.__all__)


def test_its_loggers_are_there() -> None:
    assert set(http_client.LOGGERS) <= set(logging.root.manager.loggerDict)
