"""A second opinion on the blocks and chunks that we send: Slack's own types for TypeScript.

A plugin for pytest. While tests run, it keeps one of each shape that the emulated workspace takes, and writes
them into the file that BLOCK_TYPES names, for the compiler:

    BLOCK_TYPES=/tmp/types/sent.ts python -m pytest -n 0 -p tests.block_types tests/slack
    cd /tmp/types && npm install @slack/types@3.2.0 typescript@5.9.3
    npx tsc --noEmit --strict --target es2022 --moduleResolution node sent.ts

It knows no `data_visualization`. Lengths and numbers of items are not in the types.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from slack_bot.testing.slack import blocks as blockkit

_KINDS = {"block": "KnownBlock", "chunk": "AnyChunk"}
_NOT_KNOWN = frozenset({"data_visualization"})
_LONGEST = 40  # characters of a text, items of a list
_seen: dict[tuple[str, str], str] = {}


def _short(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _short(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [_short(each) for each in value[:_LONGEST]]
    return value[:_LONGEST] if isinstance(value, str) and key != "type" else value


def _shape(value: Any, key: str = "") -> Any:
    """Without the words, so that there is one of each kind."""
    if isinstance(value, dict):
        return {name: _shape(each, name) for name, each in sorted(value.items())}
    if isinstance(value, list):
        return sorted({json.dumps(_shape(each)) for each in value})
    return value if key in ("type", "status", "style", "icon") else type(value).__name__


def _keep(kind: str, item: dict[str, Any]) -> None:
    if item["type"] in _NOT_KNOWN or any(each["type"] in _NOT_KNOWN for each in item.get("blocks", ())):
        return
    _seen.setdefault((kind, json.dumps(_shape(item))), json.dumps(_short(item)))


def _keeping(kind: str, check: Callable[..., None]) -> Callable[..., None]:
    def checked(state: Any, items: list[Any], **given: Any) -> None:
        check(state, items, **given)
        for item in items:
            _keep(kind, item)

    return checked


def pytest_configure() -> None:
    blockkit.check = _keeping("block", blockkit.check)
    blockkit.check_chunks = _keeping("chunk", blockkit.check_chunks)


def pytest_sessionfinish() -> None:
    lines = ['import type { AnyChunk, KnownBlock } from "@slack/types";']
    for number, ((kind, _), item) in enumerate(sorted(_seen.items())):
        lines.append(f"export const sent{number}: {_KINDS[kind]} = {item};")
    Path(os.environ["BLOCK_TYPES"]).write_text("\n".join(lines) + "\n", "utf-8")
