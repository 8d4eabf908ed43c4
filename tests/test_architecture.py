"""The rules of the house, read off the source: who may import whom, what is pure, how big a thing gets."""

from __future__ import annotations

import ast
import functools
import importlib
import re
import shutil
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import distributions, packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.syntax_trees import syntax_tree

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "slack_bot"
MODULES = sorted(PACKAGE.rglob("*.py"))

SMALL = {"clock", "paths", "http_client", "installing", "completion", "store_kinds"}
"""Modules that import nothing of ours."""
VALUES = {"text", "turn", "errors", "clock"}
# room -> the rooms it may import besides itself. The order is the path a turn takes.
ROOMS: dict[str, set[str]] = {
    **{name: set() for name in SMALL},
    "text": set(),
    "errors": {"text"},
    "manifest": {"text", "errors"},
    "turn": {"text"},
    "settings": {"text", "turn", "errors", "installing", "paths", "store_kinds"},
    "observe": {*VALUES, "http_client", "settings"},
    "agents": {*VALUES, "http_client", "settings", "observe"},
    "web": {"text", "http_client", "settings"},
    "slack": {*VALUES, "web", "settings", "observe"},
    "store": {*VALUES, "paths", "observe", "store_kinds"},
    "threads": {*VALUES, "agents", "slack", "store", "web", "settings", "observe"},
    "inbound": {*VALUES, "threads", "agents", "store", "settings", "observe"},
    "features": {
        *VALUES, "inbound", "threads", "agents", "slack", "store", "http_client", "settings", "observe",
    },
    "workspace_tokens": {*VALUES, "inbound", "slack", "settings", "observe"},
    "app": {
        *VALUES, "workspace_tokens", "manifest", "features", "inbound", "threads", "agents", "slack", "store",
        "http_client", "settings", "observe",
    },
    "testing": {
        *VALUES, "app", "manifest", "agents", "slack", "store", "http_client", "settings", "observe",
    },
    "tools": {
        *VALUES, "testing", "app", "features", "inbound", "manifest", "threads", "agents", "slack", "store",
        "http_client", "installing", "paths", "store_kinds", "settings", "observe",
    },
    "playground": {
        *VALUES, "testing", "tools", "app", "agents", "slack", "store", "http_client", "installing",
        "settings", "observe",
    },
    "say": {*VALUES, "app", "features", "store", "settings"},
    "cli": {"completion", "say", "app", "errors", "settings", "observe"},
    "__init__": set(),
    "__main__": {"cli"},
}  # fmt: skip
IN_VERBS = {"cli": {"tools", "playground", "testing"}}
WORLDLY = {"asyncio", "time", "logging", "socket", "threading", "subprocess", "ssl", "sqlite3", "os"}
OWNED = {
    "httpx": {"http_client"},
    "httpcore": {"http_client"},
    "httpx_sse": {"http_client"},
    "aiohappyeyeballs": {"agents"},
    "slack_sdk": {"slack", "inbound", "app", "testing", "playground", "tools"},
    "slack_bolt": {"inbound", "features", "workspace_tokens", "app", "testing"},
    "redis": {"store", "slack", "app"},
    "sqlite3": {"store", "playground"},
    "msgspec": {"turn"},
    "jwt": {"features"},
    "authlib": {"agents"},
    "joserfc": {"agents", "features"},
    "cryptography": {"features"},
    "prometheus_client": {"observe"},
    "cronsim": {"settings"},
    "opentelemetry": {"features"},
    "a2a": {"playground"},
    "starlette": {"playground"},
    "uvicorn": {"playground"},
}
EXTRAS = {
    "jwt": ["pyjwt"],
    "authlib": ["authlib"],
    "joserfc": ["joserfc"],
    "cryptography": ["cryptography"],
}
"""Imported only where a setting asks for them: they may be missing here."""
BANNED_NAMES = re.compile(r"(^|_)(utils?|helpers?|common|misc|managers?|services?)$")
BODY, MODULE = 40, 700


def room(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def where(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@functools.cache
def imports(path: Path) -> list[tuple[str, bool]]:
    """Every import of a module as an absolute dotted name, and whether it stands inside a function."""
    package = ["slack_bot", *path.relative_to(PACKAGE).parts[:-1]]
    found = []
    nodes: list[tuple[ast.AST, bool]] = [(parsed(path), False)]
    while nodes:
        node, inside = nodes.pop()
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            continue  # the type of what a module is handed is not imported when it runs
        inside = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        nodes += [(child, inside) for child in ast.iter_child_nodes(node)]
        if isinstance(node, ast.Import):
            found += [(name.name, inside) for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            for name in node.names:
                full = f"{module}.{name.name}"
                found.append((full if is_module(full) else module, inside))
    return found


def is_module(name: str) -> bool:
    """`name` is a module or a package of ours."""
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


@functools.cache
def parsed(path: Path) -> ast.Module:
    return syntax_tree(path)


def for_each(paths: list[Path]) -> Callable[[Callable[[Path], None]], Callable[[], None]]:
    """One test for all of `paths`: a test of its own for each takes longer than what it looks at."""

    def over_all(check: Callable[[Path], None]) -> Callable[[], None]:
        def test() -> None:
            for path in paths:
                check(path)

        return test

    return over_all


@for_each(MODULES)
def test_a_room_imports_only_what_it_may(path: Path) -> None:
    ours = room(path)
    assert ours in ROOMS, f"{ours} is not in the table of rooms"
    for name, in_function in imports(path):
        if not name.startswith("slack_bot"):
            continue
        parts = name.split(".")
        target = parts[1] if len(parts) > 1 and parts[1] != "__version__" else "__init__"
        allowed = {ours, "__init__"} | ROOMS[ours] | (IN_VERBS.get(ours, set()) if in_function else set())
        assert target in allowed, f"{where(path)} may not import {name}"


@for_each(MODULES)
def test_a_feature_is_known_to_the_list_of_all_and_to_its_own_verbs(path: Path) -> None:
    """So that it can be taken out with its folder."""
    for name, _ in imports(path):
        _, *folder = name.split(".")[:3]
        if folder[:1] == ["features"] and PACKAGE.joinpath(*folder).is_dir():
            is_own = path.is_relative_to(PACKAGE.joinpath(*folder))
            assert is_own or room(path) in ("app", "say", "tools"), f"{where(path)} imports {name}"


def test_the_rooms_make_no_circle() -> None:
    def reach(name: str, seen: tuple[str, ...]) -> None:
        assert name not in seen, " -> ".join((*seen, name))
        for each in ROOMS[name]:
            reach(each, (*seen, name))

    for name in ROOMS:
        reach(name, ())


def test_the_modules_make_no_circle() -> None:
    """Within a room, too. What a function imports when it runs does not count."""
    names = {module_name(path): path for path in MODULES}
    done: set[str] = set()

    def reach(name: str, seen: tuple[str, ...]) -> None:
        assert name not in seen, " -> ".join((*seen[seen.index(name) :], name))
        if name not in done:
            for target in imported_modules(names[name], names):
                reach(target, (*seen, name))
            done.add(name)

    for name in names:
        reach(name, ())


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imported_modules(path: Path, names: Mapping[str, Path]) -> Iterator[str]:
    """The modules that `path` imports when it is loaded. Packages import nothing themselves."""
    for name, in_function in imports(path):
        if not in_function and name in names and names[name].name != "__init__.py":
            yield name


@for_each(MODULES)
def test_our_own_modules_are_imported_relatively(path: Path) -> None:
    for node in ast.walk(parsed(path)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names.append(node.module or "")
        assert not [name for name in names if name.split(".")[0] == "slack_bot"], where(path)


def is_pure(path: Path) -> bool:
    """`text/` and `turn/` as a whole, and every module that says PURE first of all."""
    return room(path) in ("text", "turn") or (ast.get_docstring(parsed(path)) or "").startswith("PURE.")


@functools.cache
def pure() -> frozenset[Path]:
    return frozenset(path for path in MODULES if is_pure(path))


@for_each(MODULES)
def test_a_pure_file_touches_nothing_of_the_world(path: Path) -> None:
    for name, _ in imports(path) if path in pure() else ():
        top = name.split(".")[0]
        assert top not in WORLDLY, f"{where(path)} imports {name}"
        if top == "slack_bot":
            base = PACKAGE.joinpath(*name.split(".")[1:])
            target = base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
            assert target in pure() or target.name == "__init__.py", (
                f"{where(path)} imports {name}, which is not pure"
            )
        else:
            assert top in STDLIB | PURE_LIBRARIES, f"{where(path)} imports {name}"


STDLIB = {
    "__future__", "array", "ast", "base64", "binascii", "bisect", "collections", "contextlib", "copy", "csv",
    "dataclasses", "datetime", "decimal", "difflib", "enum", "functools", "hashlib", "heapq", "hmac", "html",
    "io", "ipaddress", "itertools", "json", "math",
    "operator", "pathlib", "re", "statistics", "string", "struct", "sys", "textwrap", "types", "typing",
    "unicodedata", "urllib", "uuid", "random", "secrets", "xml", "zipfile", "zlib",
}  # fmt: skip
PURE_LIBRARIES = {"msgspec"}  # they read and write values, and nothing else


def test_what_decides_is_pure() -> None:
    for name in (
        "observe/facts", "observe/health", "store/contracts", "errors", "agents/parser",
        "agents/recovery_policy",
        "slack/readback", "slack/rate_limiter/governor", "inbound/read",
        "slack/answer", "slack/answer_state", "slack/delivery", "slack/ending", "slack/extras",
        "slack/reconcile",
        "slack/surfaces", "slack/turn_calls", "threads/line",
        "testing/slack/workspace",
    ):  # fmt: skip
        assert PACKAGE / f"{name}.py" in pure()


@for_each(MODULES)
def test_each_library_stays_where_it_belongs(path: Path) -> None:
    for name, _ in imports(path):
        top = name.split(".")[0]
        if top in OWNED:
            assert room(path) in OWNED[top], f"{where(path)} imports {name}"


STILL_PRIVATE = {
    # argparse does not say which options and verbs there are
    "slack_bot/cli.py": {"_SubParsersAction", "_option_string_actions", "_subparsers"},
    "slack_bot/completion.py": {"_SubParsersAction", "_actions"},
    "slack_bot/slack/api.py": {"_upload_file"},  # the one step of an upload that has no public method
}
"""These only become fewer."""
DOCUMENTED = {"_asdict", "_replace"}  # of a NamedTuple


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__") and name not in DOCUMENTED


def is_own(owner: ast.expr) -> bool:
    return isinstance(owner, ast.Name) and owner.id in ("self", "cls")


@functools.cache
def given_names(path: Path) -> frozenset[str]:
    """What the functions, classes and attributes of a module are called."""
    names: set[str] = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_own(node.value):
            names.add(node.attr)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, FUNCTIONS):
            names.add(node.name)
    return frozenset(names)


def names_of_others(path: Path, ours: frozenset[str]) -> Iterator[str]:
    """The names that a module uses and does not give itself; `ours` may be inherited."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Attribute):
            if node.attr not in (ours if is_own(node.value) else given_names(path)):
                yield node.attr
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("getattr", "setattr", "hasattr"):
            yield str(getattr(node.args[1], "value", ""))
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (node.module or "").split(".")
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (part for alias in node.names for part in alias.name.split("."))


def test_no_private_name_of_a_library_is_used() -> None:
    """Any release may take it away."""
    ours = frozenset().union(*map(given_names, MODULES))
    used = {where(path): set(filter(is_private, names_of_others(path, ours))) for path in MODULES}
    assert {path: names for path, names in used.items() if names} == STILL_PRIVATE


def test_no_group_of_a_pattern_is_possessive() -> None:
    """Up to Python 3.11.4 such a group takes what its lookahead forbids (cpython#100061): an atomic one."""
    possessive = re.compile(r"\(\?[\s\S]*(?<!\\)\)[*+?]\+")
    found = [
        (path.relative_to(ROOT).as_posix(), node.value)
        for path in MODULES
        for node in ast.walk(syntax_tree(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and possessive.search(node.value)
    ]
    assert found == []


def test_every_library_that_is_imported_is_named_as_a_dependency_and_locked() -> None:
    """What comes only with something else may go with it, too."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = {"run": project["dependencies"] + extras["jwt"] + extras["oauth"] + extras["redis"]}
    wanted |= {name: extras[name] for name in ("play", "otel")}
    named = {lock: {re.split(r"[\[<>=]", each)[0] for each in rows} for lock, rows in wanted.items()}
    for lock, names in named.items():
        rows = (ROOT / "deploy" / f"{lock}.txt").read_text("utf-8")
        assert names <= set(re.findall(r"(?m)^([a-z0-9-]+)[\[=]", rows))
    installed_by = packages_distributions()
    for path in MODULES:
        known = named["run"] | (named["play"] if room(path) in ("testing", "playground") else named["otel"])
        for name, _ in imports(path):
            top = name.split(".")[0]
            if top not in {"slack_bot", *sys.stdlib_module_names}:
                installed = installed_by.get(top, EXTRAS.get(top, []))
                names = {re.sub("[_.]", "-", each).lower() for each in installed}
                assert names & known, f"{where(path)} imports {name}"


@for_each(sorted((ROOT / "deploy").glob("*.txt")))
def test_a_lock_names_the_extras_that_its_libraries_want(path: Path) -> None:
    """Else pip 23 looks for `coverage[toml]` apart from `coverage`: a newer one has no hash, and it stops."""
    rows = re.findall(r"(?m)^([a-z0-9-]+)(?:\[([a-z0-9,-]+)\])?==", path.read_text("utf-8"))
    locked = {name: set(extras.split(",")) for name, extras in rows}
    installed = {re.sub("[_.]", "-", each.name).lower() for each in distributions()}
    for name in locked.keys() & installed:
        for wanted in map(Requirement, requires(name) or []):
            if wanted.name in locked and (wanted.marker is None or wanted.marker.evaluate({"extra": ""})):
                assert wanted.extras <= locked[wanted.name], f"{path.name}: {name} wants {wanted}"


def test_every_file_beside_the_modules_is_in_the_package() -> None:
    setuptools = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    packed = {path for pattern in setuptools["package-data"]["slack_bot"] for path in PACKAGE.glob(pattern)}
    found = {path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert found - packed == set(MODULES)


@for_each(MODULES)
def test_the_environment_and_the_time_are_read_in_one_place(path: Path) -> None:
    source = path.read_text("utf-8")
    if where(path) != "slack_bot/settings/load.py":
        assert not re.search(r"os\.(environ|getenv)", source), where(path)
    if where(path) not in ("slack_bot/clock.py", "slack_bot/testing/virtual_clock.py"):
        assert not re.search(r"\btime\.(time|monotonic|perf_counter)\(", source), (
            f"{where(path)}: the time comes from Clock"
        )


@for_each(MODULES)
def test_the_budgets_are_kept(path: Path) -> None:
    source = path.read_text("utf-8")
    assert source.count("\n") <= MODULE, where(path)
    assert not BANNED_NAMES.search(path.stem), f"{where(path)}: a name that says nothing"
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            if body:
                size = (body[-1].end_lineno or 0) - body[0].lineno + 1
                assert size <= BODY, f"{where(path)}: {node.name}: {size} lines"


def test_one_place_catches_everything() -> None:
    blind = [
        f"{where(path)}:{handler.lineno}"
        for path in MODULES
        for handler in ast.walk(parsed(path))
        if isinstance(handler, ast.ExceptHandler)
        and (handler.type is None or getattr(handler.type, "id", "") in ("Exception", "BaseException"))
    ]
    # the writer throws what it caught into the answer's step, which raises it again
    assert {place.split(":")[0] for place in blind} <= {
        "slack_bot/slack/writer.py",
        "slack_bot/threads/turn_run.py",
    }
    assert len(blind) <= 2


@for_each(MODULES)
def test_public_things_say_what_they_are(path: Path) -> None:
    tree = parsed(path)
    assert ast.get_docstring(tree), f"{where(path)} does not say why it is there"
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.name[0] != "_":
            assert ast.get_docstring(node), f"{where(path)}: {node.name}"


READ_IN_SLACK = [
    PACKAGE / f"{name}.py"
    for name in (
        *("text/words", "threads/notices", "threads/follow", "threads/line"),
        *("threads/watch", "threads/runner", "features/forms/form_handler", "features/home/home"),
        *("agents/task/task_consumer", "inbound/access", "inbound/events", "inbound/buttons"),
        *("features/forms/form_presses", "features/feedback/buttons", "slack/blocks", "slack/answer"),
        *("slack/ending", "slack/home", "slack/forms", "slack/surfaces", "agents/wire/frames"),
        *("turn/notices", "turn/form"),
    )
]


@for_each(READ_IN_SLACK)
def test_what_people_read_in_slack_says_i(path: Path) -> None:
    """It is in sentences that begin with a capital and end as one. Docstrings are for us."""
    nodes = list(ast.walk(parsed(path)))
    docs = {id(each.value) for each in nodes if isinstance(each, ast.Expr)}
    texts = [each.value for each in nodes if isinstance(each, ast.Constant) and id(each) not in docs]
    said = [text for text in texts if isinstance(text, str) and re.match(r"[A-Z].* .*[.!?]\s*\Z", text)]
    assert [text for text in said if re.search(r"\b[Tt]h(e|is) bot\b", text)] == []


def test_a_public_class_name_has_one_meaning() -> None:
    places: dict[str, list[str]] = {}
    for path in MODULES:
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(where(path))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def has_functions(path: Path) -> bool:
    """Values alone are made by the tests of their users. Each worker asks this: nothing is parsed."""
    return re.search(r"^ *(?:async )?def ", path.read_text("utf-8"), re.MULTILINE) is not None


@for_each([path for path in MODULES if path.stem[:2] != "__" and has_functions(path)])
def test_each_module_has_its_own_tests(path: Path) -> None:
    twin = ROOT / "tests" / path.relative_to(PACKAGE).with_name(f"test_{path.name}")
    assert twin.exists(), f"{where(path)} has no {where(twin)}"


# -- what only tests call -----------------------------------------------------------------------------------

TEST_KIT = ["testing/**/*.py"]  # public: others call it, too
CALLED_ELSEWHERE = {
    **{
        f"{store}.watched": "for posts of agents to another replica"
        for store in ("TurnStore", "SqliteStore", "RedisStore")
    },
    "LogObserver.wants_details": "`facts.wants_details` reads it by its name",
}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def defined(tree: ast.AST, owner: str = "") -> Iterator[tuple[str, ast.AST, bool]]:
    """Every function, method and class: its dotted name, its node, whether it is a method."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            is_method = isinstance(tree, ast.ClassDef) and not isinstance(node, ast.ClassDef)
            name = f"{owner}.{node.name}" if is_method else node.name
            if not node.name.startswith("__"):
                yield name, node, is_method
            yield from defined(node, node.name)
        elif not isinstance(node, ast.expr):
            yield from defined(node, owner)


def mentioned(tree: ast.AST) -> Iterator[tuple[str, str, int]]:
    """Every name that is read: what it is called, in which way it is written, its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id, "name", node.lineno
        elif isinstance(node, ast.Attribute):
            yield node.attr, "attribute", node.lineno
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value, "string", node.lineno


def is_registered(node: ast.AST) -> bool:
    """A decorator with arguments hands it to somebody who calls it."""
    return isinstance(node, FUNCTIONS) and any(isinstance(each, ast.Call) for each in node.decorator_list)


def is_override(path: Path, name: str) -> bool:
    """A class that is not ours has this method: whoever wrote that class calls it."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    owner, _, method = name.partition(".")
    bases = getattr(getattr(importlib.import_module(".".join(parts)), owner, None), "__mro__", ())
    return any(method in vars(base) for base in bases if not base.__module__.startswith("slack_bot"))


def test_nothing_in_the_package_is_called_by_tests_alone() -> None:
    kit = {found for pattern in TEST_KIT for found in PACKAGE.glob(pattern)}
    trees = {path: parsed(path) for path in MODULES}
    read = defaultdict[str, list[tuple[str, Path, int]]](list)
    for path, tree in trees.items():
        for name, written, line in mentioned(tree):
            read[name].append((written, path, line))

    def is_used(node: ast.AST, home: Path, is_method: bool) -> bool:
        own = range(getattr(node, "lineno", 0), (getattr(node, "end_lineno", 0) or 0) + 1)
        return any(
            (path == home if written == "string" else written == "attribute" or not is_method)
            and not (path == home and line in own)
            for written, path, line in read[getattr(node, "name", "")]
        )

    unused = [
        (path, name)
        for path in MODULES
        if path not in kit
        for name, node, is_method in defined(trees[path])
        if not is_used(node, path, is_method) and not is_registered(node) and name not in CALLED_ELSEWHERE
    ]
    assert not [f"{where(path)}: {name}" for path, name in unused if not is_override(path, name)]


# -- tests that cannot fail ---------------------------------------------------------------------------------

TESTS = sorted((ROOT / "tests").rglob("*.py"))
ASSERTS = {"raises", "warns", "fail", "AssertionError"}


def asserts_itself(tree: ast.AST) -> bool:
    """It holds an `assert`, or what raises as one does."""
    return any(
        isinstance(node, ast.Assert)
        or (isinstance(node, ast.Attribute) and node.attr in ASSERTS and ast.unparse(node.value) == "pytest")
        or (isinstance(node, ast.Name) and node.id in ASSERTS)
        for node in ast.walk(tree)
    )


class Asserting:
    """Which functions, tables and methods of the tests hold an assertion, themselves or by what they name."""

    def __init__(self) -> None:
        self._trees = {module_of(path): parsed(path) for path in TESTS}
        self._known = dict[tuple[str, str], bool]()
        self._things = {module: dict(top_level(tree)) for module, tree in self._trees.items()}
        self._imported = {module: dict(taken_in(tree, module)) for module, tree in self._trees.items()}
        self._methods = {
            module: {
                method.name
                for thing in things.values()
                if isinstance(thing, ast.ClassDef)
                for method in thing.body
                if isinstance(method, FUNCTIONS) and asserts_itself(method)
            }
            for module, things in self._things.items()
        }

    def tests(self) -> Iterator[tuple[str, str, ast.AST]]:
        """Every test: its module, its name and its node."""
        for module, tree in self._trees.items():
            for _, node, _ in defined(tree):
                if isinstance(node, FUNCTIONS) and node.name.startswith("test_"):
                    yield module, node.name, node

    def holds(self, module: str, node: ast.AST) -> bool:
        """`node` asserts something, or names in its body what does."""
        if asserts_itself(node):
            return True
        body = node.body if isinstance(node, FUNCTIONS) else [node]
        for each in (inner for part in body for inner in ast.walk(part)):
            if isinstance(each, ast.Name) and self._named(module, each.id):
                return True
            if isinstance(each, ast.Attribute) and self._method(module, each.attr):
                return True
        return False

    def _named(self, module: str, name: str) -> bool:
        module, name = self._imported[module].get(name, (module, name))
        thing = self._things.get(module, {}).get(name)
        if thing is None or isinstance(thing, ast.ClassDef):
            return False
        if (module, name) not in self._known:
            self._known[module, name] = False  # one that names itself
            self._known[module, name] = self.holds(module, thing)
        return self._known[module, name]

    def _method(self, module: str, name: str) -> bool:
        """A class of the tests that this module can have an object of has such a method, and it asserts."""
        near = {module, *(source for source, _ in self._imported[module].values())}
        return any(name in self._methods.get(source, ()) for source in near)


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def top_level(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """The functions, classes and tables of a module by name."""
    for node in tree.body:
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            yield node.name, node
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    yield target.id, node.value


def taken_in(tree: ast.Module, module: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """What a module imports by name: from which module, and what it is called there."""
    nodes: list[ast.AST] = [tree]
    while nodes:
        node = nodes.pop()
        nodes += [each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.expr)]
        if isinstance(node, ast.ImportFrom):
            base = module.split(".")[: -node.level] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            for name in node.names:
                yield name.asname or name.name, (source, name.name)


def test_every_test_asserts_something() -> None:
    asserting = Asserting()
    assert not [
        f"{module}.{name}" for module, name, node in asserting.tests() if not asserting.holds(module, node)
    ]


def test_the_top_level_is_what_was_agreed() -> None:
    agreed = {"pyproject.toml", "slack_bot", "tests", ".env.example", "Dockerfile", "README.md", "LICENSE"}
    agreed |= {"CHANGELOG.md", ".ci", ".gitignore", ".dockerignore", "docs", "deploy"}
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("no checkout, or no git beside it, to tell what belongs to the project")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert {path.partition("/")[0] for path in listed.stdout.splitlines()} <= agreed


def test_the_budgets_of_the_linter_are_those_of_the_house() -> None:
    lint = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["ruff"]["lint"]
    assert {"C90", "PLR", "BLE", "ASYNC", "TID", "T20", "S110", "UP", "I", "RUF"} <= set(lint["select"])
    assert (lint["mccabe"]["max-complexity"], lint["pylint"]["max-args"], lint["pylint"]["max-returns"]) == (
        10,
        8,
        6,
    )
