"""What budgets on lines do not see, counted in the source of the bot: the lab (`LAB`) is not part of it."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from typing import TypeVar

from tests.syntax_trees import syntax_tree

PACKAGE = Path(__file__).parents[2] / "slack_bot"
LAB = {"testing", "tools", "playground"}
MOST_METHODS, MOST_ATTRIBUTES, MOST_LINES, MOST_TYPES = 20, 12, 500, 5
MANNERED = re.compile(
    r"\b(is none|are none|stands?|stood|told|tells?|nobody|somebody|whoever|whom"
    r"|thereby|anew|laid|heed\w*)\b",
    re.IGNORECASE,
)
"""Words that are right now and then, and a manner where they come by the hundred."""
HTTPX = r"^\s*(?:import httpx\b|from httpx import)"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Node = TypeVar("Node", bound=ast.AST)


def modules(*, but: Collection[str] = LAB) -> list[Path]:
    """The modules of the package; not those of the rooms `but`."""
    return [path for path in sorted(PACKAGE.rglob("*.py")) if path.relative_to(PACKAGE).parts[0] not in but]


def wide_classes() -> dict[str, str]:
    """The classes with too many methods or attributes, each with its numbers. A plain record may be wide."""
    wide = {}
    for node in nodes(ast.ClassDef):
        methods = sum(isinstance(each, FUNCTIONS) for each in node.body)
        attributes = 0 if is_record(node, methods) else len(set(attributes_of(node)))
        if methods > MOST_METHODS or attributes > MOST_ATTRIBUTES:
            wide[node.name] = f"{methods} methods, {attributes} attributes"
    return wide


def is_record(node: ast.ClassDef, methods: int) -> bool:
    decorators = " ".join(ast.unparse(each) for each in node.decorator_list)
    return "dataclass" in decorators and ("frozen=True" in decorators or methods <= 3)


def attributes_of(node: ast.ClassDef) -> Iterator[str]:
    """What a class sets on itself, and the fields of a dataclass."""
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store) and owner(each) == "self":
            yield each.attr
    if any("dataclass" in ast.unparse(each) for each in node.decorator_list):
        for field in node.body:
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                yield field.target.id


def owner(node: ast.Attribute) -> str:
    return node.value.id if isinstance(node.value, ast.Name) else ""


@cache
def figures() -> dict[str, int]:
    """Every figure by its name."""
    calls = list(nodes(ast.Call))
    outside = [each for each in nodes(ast.Attribute) if isinstance(each.ctx, ast.Store)]
    targets = [each.targets[0] for each in nodes(ast.Assign)]
    return {
        "classes that do too much": len(wide_classes()),
        "attributes set from outside": sum(owner(each) not in ("self", "cls") for each in outside),
        "splats into constructors": sum(is_splat(each) for each in calls),
        "conditional callees": sum(isinstance(each.func, ast.IfExp) for each in calls),
        "assignments to three or more": sum(
            isinstance(each, ast.Tuple) and len(each.elts) >= 3 for each in targets
        ),
        "parameter names with five or more types": len(parameter_types()),
        "modules over 500 lines": sum(lines(path) > MOST_LINES for path in modules()),
        "modules that import httpx": sum(map(bool, found(HTTPX, but=()))),
        "places outside the store that ask for its lease": sum(found(r"store\.lease\b", but={*LAB, "store"})),
        "places that ask whether the store is shared": sum(found(r"(?:kept|store)\.is_shared\b")),
        "words of manner": sum(len(MANNERED.findall(each)) for each in prose()),
    }


def is_splat(node: ast.Call) -> bool:
    """A call of a constructor with `*values`: a swap of two of them is found by no type checker."""
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    is_constructor = name[:1].isupper() or name in ("replace", "partial")
    return is_constructor and any(isinstance(each, ast.Starred) for each in node.args)


def parameter_types() -> dict[str, set[str]]:
    """The names of parameters that have too many types."""
    types: defaultdict[str, set[str]] = defaultdict(set)
    for each in nodes(ast.arg):
        if each.annotation is not None:
            types[each.arg].add(ast.unparse(each.annotation).strip("'\""))
    return {name: found for name, found in types.items() if len(found) >= MOST_TYPES}


def found(pattern: str, but: Collection[str] = LAB) -> list[int]:
    """How often `pattern` is in each module; not in those of the rooms `but`."""
    return [len(re.findall(pattern, path.read_text("utf-8"), re.MULTILINE)) for path in modules(but=but)]


def prose() -> Iterator[str]:
    """The docstrings and the comments."""
    for path in modules():
        yield from re.findall(r"^\s*# (.*)", path.read_text("utf-8"), re.MULTILINE)
    for node in nodes(ast.Module, ast.ClassDef, *FUNCTIONS):
        yield ast.get_docstring(node) or ""


def lines(path: Path) -> int:
    return path.read_text("utf-8").count("\n")


def nodes(*kinds: type[Node]) -> Iterator[Node]:
    return (each for each in all_nodes() if isinstance(each, kinds))


@cache
def all_nodes() -> list[ast.AST]:
    """Of the modules of the bot. To parse them for each figure took most of the time of all."""
    return [each for path in modules() for each in ast.walk(syntax_tree(path))]
