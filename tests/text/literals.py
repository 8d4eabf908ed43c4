"""The texts in the source of the bot, each with the names of where it goes."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
FOR_PROGRAMS = re.compile(
    r"(\A|\.)(getall|removeprefix|removesuffix|r?split|r?partition|startswith|endswith|encode|decode|compile"
    r"|fullmatch|match|search|normalize|re\.sub|getLogger|TypeVar|TypeVarTuple|_?log\.\w+)\Z"
)
"""Functions whose arguments nobody reads in Slack."""
ERRORS = re.compile(r"(\A|\.)\w*[eE]rror\Z")
HAND_ON = {"format", "join", "filter", "next", "shorten", "strip", "rstrip", "get"}
"""Functions whose arguments go where their result goes."""


class Place(NamedTuple):
    """Where a text goes: names of the parameter, the field, the key or the variable that it is for."""

    names: frozenset[str] = frozenset()
    is_variable: bool = False


class Literal(NamedTuple):
    """A text and its place."""

    text: str
    place: Place


NOWHERE = Place()


class Signatures:
    """What functions and classes take by position. Several may have one name."""

    def __init__(self, trees: Iterable[ast.Module]) -> None:
        self._names: defaultdict[str, list[list[str]]] = defaultdict(list)
        self._bases: defaultdict[str, set[str]] = defaultdict(set)
        for node in (each for tree in trees for each in ast.walk(tree)):
            if isinstance(node, FUNCTIONS):
                self._names[node.name].append(parameters(node))
            elif isinstance(node, ast.ClassDef):
                if names := taken_by(node):
                    self._names[node.name].append(names)
                self._bases[node.name] |= {ast.unparse(base).rpartition(".")[2] for base in node.bases}

    def __contains__(self, name: str) -> bool:
        return name in self._names or name in self._bases

    def at(self, name: str, place: int) -> frozenset[str]:
        """The names of the parameter at `place`."""
        if name in self._names:
            return frozenset(names[place] for names in self._names[name] if place < len(names))
        return frozenset().union(*(self.at(base, place) for base in self._bases.get(name, ())))


def taken_by(node: ast.ClassDef) -> list[str]:
    """What a class takes by position; nothing where a base says it."""
    for each in node.body:
        if isinstance(each, FUNCTIONS) and each.name == "__init__":
            return parameters(each)
    fields = (each for each in node.body if isinstance(each, ast.AnnAssign))
    return [ast.unparse(each.target) for each in fields if "kw_only=True" not in ast.unparse(each)]


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    names = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
    return names[names[:1] in (["self"], ["cls"]) :]


class Literals:
    """The texts of a module. An f-string is one text, with `{}` for each value. `everywhere`: of all modules.

    Left out are docstrings, keys, what is compared, log lines, patterns and the messages of errors.
    """

    def __init__(self, tree: ast.Module, everywhere: Signatures) -> None:
        self._tree, self._here, self._everywhere = tree, Signatures([tree]), everywhere
        self._readers: dict[type[ast.AST], Callable[..., Iterator[Literal]]] = {
            ast.Constant: self._of_constant,
            ast.JoinedStr: self._of_f_string,
            ast.Subscript: self._of_subscript,
            ast.Dict: self._of_dict,
            ast.Call: self._of_call,
            **dict.fromkeys((*FUNCTIONS, ast.Lambda), self._of_function),
            **dict.fromkeys((ast.Assign, ast.AnnAssign, ast.AugAssign), self._of_assignment),
        }

    def __iter__(self) -> Iterator[Literal]:
        return self._in(self._tree, NOWHERE)

    def _in(self, node: ast.AST | None, to: Place) -> Iterator[Literal]:
        is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if node is None or is_docstring or isinstance(node, ast.Compare | ast.Assert | ast.pattern):
            return
        if (read := self._readers.get(type(node))) is not None:
            yield from read(node, to)
            return
        for child in ast.iter_child_nodes(node):
            yield from self._in(child, to)

    def _of_constant(self, node: ast.Constant, to: Place) -> Iterator[Literal]:
        if isinstance(node.value, str):
            yield Literal(node.value, to)

    def _of_f_string(self, node: ast.JoinedStr, to: Place) -> Iterator[Literal]:
        pieces = (each.value if isinstance(each, ast.Constant) else "{}" for each in node.values)
        yield Literal("".join(map(str, pieces)), to)
        for each in node.values:
            yield from self._in(each.value if isinstance(each, ast.FormattedValue) else None, to)

    def _of_subscript(self, node: ast.Subscript, to: Place) -> Iterator[Literal]:
        return self._in(node.value, to)

    def _of_dict(self, node: ast.Dict, to: Place) -> Iterator[Literal]:
        for key, value in zip(node.keys, node.values, strict=True):
            is_named = isinstance(key, ast.Constant) and isinstance(key.value, str)
            yield from self._in(value, Place(frozenset([key.value])) if is_named else to)

    def _of_function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, _: Place
    ) -> Iterator[Literal]:
        given = node.args
        last = [*given.posonlyargs, *given.args][-len(given.defaults) :]
        defaults = [
            *zip(last, given.defaults, strict=False),
            *zip(given.kwonlyargs, given.kw_defaults, strict=True),
        ]
        for argument, default in defaults:
            yield from self._in(default, Place(frozenset([argument.arg])))
        for each in [node.body] if isinstance(node, ast.Lambda) else node.body:
            yield from self._in(each, NOWHERE)

    def _of_assignment(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign, _: Place) -> Iterator[Literal]:
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        pairs = [(target, node.value)]
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=True))
        for name, value in pairs:
            names = frozenset([ast.unparse(name).rpartition(".")[2]])
            yield from self._in(value, Place(names, is_variable=True))

    def _of_call(self, node: ast.Call, to: Place) -> Iterator[Literal]:
        called, of = ast.unparse(node.func), getattr(node.func, "value", None)
        name, is_for_programs = called.rpartition(".")[2], FOR_PROGRAMS.search(called) is not None
        yield from self._in(None if is_for_programs and isinstance(of, ast.Constant) else of, to)
        if is_for_programs:
            return
        known = self._here if name in self._here else self._everywhere
        for place, value in enumerate(node.args):
            if place or not (name == "get" or ERRORS.search(called)):
                goes_on = name in HAND_ON
                yield from self._in(value, to if goes_on else Place(known.at(name, place)))
        for keyword in node.keywords:
            yield from self._in(keyword.value, Place(frozenset([keyword.arg])) if keyword.arg else to)
