"""The Dockerfile, read, and built without a container engine: each step as written, in a root of its own.

The base image is this machine's /usr, read-only, in an otherwise empty root; all else that the image has
comes from the Dockerfile's own steps. Needs root, and a mount namespace of its own: `unshare --mount`.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
_BASE_PATH = "/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin"
_ETC = ("ld.so.cache", "nsswitch.conf", "login.defs", "ssl", "hosts", "resolv.conf", "pip.conf")
"""What programs of this machine need of /etc. An address for pip may be there."""
DEVICES = ("null", "zero", "urandom", "random")


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction: `RUN`, and what follows it, with the lines joined."""

    name: str
    rest: str


def steps(text: str) -> Iterator[Step]:
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    for line in re.sub(r"\\\n", "", "\n".join(lines)).splitlines():
        name, _, rest = line.strip().partition(" ")
        yield Step(name.upper(), rest.strip())


@dataclass(slots=True)
class Image:
    """A stage after its steps: where its files are, and what the last of its kind said."""

    root: Path
    env: dict[str, str] = field(default_factory=lambda: {"PATH": _BASE_PATH})
    arguments: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    ports: list[int] = field(default_factory=list)
    volumes: list[str] = field(default_factory=list)
    workdir: str = "/"
    user: str = "0:0"
    stopsignal: str = "SIGTERM"
    entrypoint: list[str] = field(default_factory=list)
    cmd: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)

    def declare(self, step: Step) -> None:
        """What changes no file. Raises ValueError for an instruction that is not known here."""
        match step.name:
            case "ENV":
                self.env |= _pairs(step.rest, self.env)
            case "ARG":
                self.arguments |= _pairs(step.rest, {})
            case "LABEL":
                self.labels |= _pairs(step.rest, {})
            case "EXPOSE":
                self.ports += map(int, step.rest.split())
            case "VOLUME":
                self.volumes.append(step.rest)
            case "USER" | "STOPSIGNAL":
                setattr(self, step.name.lower(), step.rest)
            case "ENTRYPOINT" | "CMD":
                setattr(self, step.name.lower(), json.loads(step.rest))
            case "HEALTHCHECK":
                self.health = json.loads(step.rest.partition(" CMD ")[2])
            case _:
                raise ValueError(f"{step.name} is not known here")


def _pairs(text: str, known: Mapping[str, str]) -> dict[str, str]:
    pairs = (word.partition("=") for word in shlex.split(text))
    return {name: re.sub(r"\$(\w+)", lambda found: known[found[1]], value) for name, _, value in pairs}


def declared() -> Image:
    """What the Dockerfile's last stage says, without building it."""
    image = Image(Path())
    for step in steps((ROOT / "Dockerfile").read_text("utf-8")):
        if step.name == "FROM":
            image = Image(Path())
        elif step.name == "WORKDIR":
            image.workdir = step.rest
        elif step.name not in ("RUN", "COPY"):
            image.declare(step)
    return image


def build(folder: Path) -> Image:
    """Carry out all steps of the Dockerfile in `folder`. Raises CalledProcessError where one fails."""
    context = folder / "context"
    send_context(context)
    stages: dict[str, Image] = {}
    image = Image(folder)
    for step in steps((ROOT / "Dockerfile").read_text("utf-8")):
        if step.name == "FROM":
            image = Image(folder / f"stage{len(stages)}")
            stages[step.rest.partition(" AS ")[2] or "last"] = image
            _make_base(image.root)
        elif step.name == "RUN":
            given = {**way_to_packages(image.root), **image.arguments, **image.env, "HOME": "/root"}
            enter(image.root, ["/bin/sh", "-c", f"cd {image.workdir} && {step.rest}"], given)
        elif step.name == "COPY":
            _copy(step.rest, context, stages, image)
        elif step.name == "WORKDIR":
            image.workdir = step.rest
            (image.root / step.rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
        else:
            image.declare(step)
    return image


def enter(root: Path, words: list[str], env: Mapping[str, str]) -> None:
    """Run a command as root inside `root`, with no other environment. Raises CalledProcessError."""
    assigned = [f"{name}={value}" for name, value in env.items()]
    command = ["chroot", str(root), "/usr/bin/env", "-i", *assigned, *words]
    ran = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd="/", check=False
    )
    if ran.returncode:
        print(ran.stdout, file=sys.stderr)
    ran.check_returncode()


def mount(*words: str | Path) -> None:
    subprocess.run(["mount", *words], check=True)


def send_context(context: Path) -> None:
    """The files that .dockerignore lets through."""
    rules = (ROOT / ".dockerignore").read_text("utf-8").split()
    assert rules[0] == "*", rules
    for pattern in (rule[1:] for rule in rules if rule.startswith("!")):
        for path in ROOT.glob(pattern):
            target = context / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir():
                without = shutil.ignore_patterns("__pycache__")
                shutil.copytree(path, target, symlinks=True, ignore=without)
            else:
                shutil.copy2(path, target)


def _make_base(root: Path) -> None:
    """As the base image: only `python` is in /usr/local/bin, and its library has no bytecode."""
    for name in ("usr", "etc", "dev", "proc", "root", "tmp", "opt", "var", "home"):
        (root / name).mkdir(parents=True)
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / name).symlink_to(f"usr/{name}")
    mount("--rbind", "/usr", root / "usr")
    mount("-o", "remount,ro,bind", root / "usr")
    mount("-t", "tmpfs", "tmpfs", root / "usr" / "local")
    (root / "usr/local/bin").mkdir()
    for name in ("python", "python3"):
        (root / "usr/local/bin" / name).symlink_to("/usr/bin/python3")
    library = Path("/usr/lib") / Path("/usr/bin/python3").resolve().name
    inside = root / library.relative_to("/")
    mount("-t", "tmpfs", "tmpfs", inside)
    without = shutil.ignore_patterns("__pycache__")
    shutil.copytree(library, inside, symlinks=True, ignore=without, dirs_exist_ok=True)
    for name in _ETC:
        bring(Path("/etc") / name, root)
    for name, line in (("passwd", "root:x:0:0::/root:/bin/sh\n"), ("group", "root:x:0:\n")):
        (root / "etc" / name).write_text(line)
    for name in DEVICES:
        (root / "dev" / name).touch()
        mount("--bind", f"/dev/{name}", root / "dev" / name)


def way_to_packages(root: Path) -> dict[str, str]:
    """What pip on this machine is told of its index and of certificates."""
    names = [name for name in os.environ if re.match(r"PIP_|SSL_CERT_|(?i:https?|no)_proxy$", name)]
    for file in (*(os.environ[name] for name in names), "~/.config/pip/pip.conf", "~/.pip/pip.conf"):
        if re.match("[/~]", file):
            bring(Path(file).expanduser(), root)
    return {name: os.environ[name] for name in names}


def bring(path: Path, root: Path) -> None:
    """A file or folder of this machine, at its place in `root`, unless something is there."""
    target = root / path.relative_to("/")
    if target.exists() or not path.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        target.mkdir()
        mount("--bind", path, target)
    else:
        shutil.copy2(path, target)


def _copy(rest: str, context: Path, stages: Mapping[str, Image], image: Image) -> None:
    *words, target = rest.split()
    source = context
    if words[0].startswith("--from="):
        source = stages[words.pop(0).removeprefix("--from=")].root
    to = image.root / target.lstrip("/")
    for word in words:
        folder, pattern = (source / word.lstrip("/")).parent, Path(word).name
        found = [path for path in folder.iterdir() if fnmatch.fnmatch(path.name, pattern)]
        assert found, f"COPY {rest}: nothing is there"
        for path in found:
            if path.is_dir():
                shutil.copytree(path, to, symlinks=True)
            else:
                assert target.endswith("/"), f"COPY {rest}: its target is no directory"
                to.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, to, follow_symlinks=False)
