"""Syntax trees of the project's files."""

from __future__ import annotations

import ast
import gc
from pathlib import Path


def syntax_tree(path: Path) -> ast.Module:
    """Without the collector: Python 3.11 fails where one tree is built within another (cpython 106905), as by
    the traceback of what an earlier test has left, told when it is collected."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(path.read_text("utf-8"))
    finally:
        if was_enabled:
            gc.enable()
