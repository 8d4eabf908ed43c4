"""The steps of a release (docs/development.md), from a checkout:

    python -m tests.deploy.release cut 0.2.0    the version and the changelog's heading, to be committed
    python -m tests.deploy.release build dist   wheel, sdist, SBOMs and checksums of what is committed
    python -m tests.deploy.release audit        are there known weaknesses in what the locks name?
    python -m tests.deploy.release begin 0.3.0  the version that comes next, once this one is out

The tools come from tests/peers/release.txt, into an environment of their own. `build` gives the same bytes
for the same commit, whenever and wherever it runs with the same Python. Exit status 3: the list of known
weaknesses was not to be had, and nothing was audited.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.deploy.container import NOT_POSSIBLE
from tests.deploy.sbom import BOMS, bom_of

_VERSION = r"\d+\.\d+\.\d+"
_PLACES: Mapping[str, str] = {
    "slack_bot/__init__.py": rf'(?m)^__version__ = "({_VERSION})"$',
    "Dockerfile": rf'(?m)image\.version="({_VERSION})"',
    "deploy/kubernetes.yml": rf"(?m)image: \S+/slack-bot:({_VERSION})$",
}
"""The version is the first one; `cut` and `begin` write it into the others too, and a test compares."""
_HEADING = re.compile(rf"(?m)^## ({_VERSION}) \((unreleased|\d{{4}}-\d\d-\d\d)\)$")
_LOCKS = ("deploy/build.txt", "tests/peers/release.txt")
_AUDITED = ("build", "run", "play", "otel")
_BUILD = (
    "import os, sys; os.umask(0o022); from setuptools import build_meta; build_meta.build_{}(sys.argv[1])"
)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.deploy.release",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb in ("cut", "begin"):
        verbs.add_parser(verb).add_argument("version")
    building, auditing = verbs.add_parser("build"), verbs.add_parser("audit")
    building.add_argument("target", type=Path, help="a folder that is not there yet")
    for each in (building, auditing):
        each.add_argument("--tools", type=Path, help="where the tools are kept; default: nowhere")
    args, root = parser.parse_args(), Path.cwd()
    if args.verb == "cut":
        cut(root, args.version, datetime.datetime.now(datetime.UTC).date())
        return 0
    if args.verb == "begin":
        begin(root, args.version)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        where = args.tools or Path(folder) / "tools"
        if args.verb == "audit":
            return _audit(root, tools(root, where))
        source, committed = _committed(root, Path(folder) / "source")
        for path in release(source, committed, tools(root, where), args.target.resolve()):
            sys.stdout.write(f"{path.stat().st_size:9,} {path}\n")
    return 0


# -- version and changelog


def versions(root: Path) -> dict[str, str]:
    """The version by the file that names it."""
    found = {}
    for name, pattern in _PLACES.items():
        (found[name],) = re.findall(pattern, (root / name).read_text("utf-8"))
    return found


def cut(root: Path, version: str, day: datetime.date) -> None:
    """What is unreleased becomes `version`. Raises SystemExit with a sentence if it is not to be."""
    _change_top(root, version, "unreleased", f"## {version} ({day.isoformat()})")
    _set_version(root, version)


def begin(root: Path, version: str) -> None:
    """Open the changelog for the version that comes next."""
    top = _top(root)
    new = f"## {version} (unreleased)\n\n{top[0]}"
    if top[2] == "unreleased":
        raise SystemExit(f"CHANGELOG.md begins with {top[0]!r}, which is open already.")
    if _as_numbers(version) <= _as_numbers(top[1]):
        raise SystemExit(f"{version} does not come after {top[1]}, the last one in CHANGELOG.md.")
    _change_top(root, version, top[2], new)
    _set_version(root, version)


def _top(root: Path) -> re.Match[str]:
    top = _HEADING.search((root / "CHANGELOG.md").read_text("utf-8"))
    if top is None:
        raise SystemExit("CHANGELOG.md has no heading like '## 0.2.0 (unreleased)'.")
    return top


def _change_top(root: Path, version: str, state: str, new: str) -> None:
    if re.fullmatch(_VERSION, version) is None:
        raise SystemExit(f"{version!r} is no version; write it like 0.2.0")
    text, top = (root / "CHANGELOG.md").read_text("utf-8"), _top(root)
    if top[2] != state:
        raise SystemExit(f"CHANGELOG.md begins with {top[0]!r}: nothing is unreleased.")
    earlier = [found[1] for found in _HEADING.finditer(text, top.end())]
    if earlier and _as_numbers(version) <= _as_numbers(earlier[0]):
        raise SystemExit(f"{version} does not come after {earlier[0]}, the last one in CHANGELOG.md.")
    (root / "CHANGELOG.md").write_text(text[: top.start()] + new + text[top.end() :], "utf-8")


def _set_version(root: Path, version: str) -> None:
    for name, pattern in _PLACES.items():
        text = (root / name).read_text("utf-8")
        (found,) = re.finditer(pattern, text)
        (root / name).write_text(text[: found.start(1)] + version + text[found.end(1) :], "utf-8")


def _as_numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


# -- what is built


def tools(root: Path, folder: Path) -> Path:
    """An environment with setuptools and the tools of a release, by their locks. Returns its Python."""
    python = folder.resolve() / "bin" / "python"
    if python.exists():
        return python
    venv.create(folder, with_pip=True)
    for lock in _LOCKS:
        _run([python, "-m", "pip", "install", "-q", "--require-hashes", "-r", root / lock], root)
    return python


def _committed(root: Path, folder: Path) -> tuple[Path, int]:
    """The files of the last commit in `folder`, and its time."""
    if changed := _run(["git", "status", "--porcelain"], root):
        raise SystemExit(f"Commit first; a release is what is committed, and this is not:\n{changed}")
    top = _top(root)
    if top[2] == "unreleased" or top[1] != versions(root)["slack_bot/__init__.py"]:
        raise SystemExit(f"CHANGELOG.md begins with {top[0]!r}: cut the version first.")
    folder.mkdir()
    _run(["git", "archive", "--format=tar", f"--output={folder}.tar", "HEAD"], root)
    with tarfile.open(f"{folder}.tar") as packed:
        packed.extractall(folder, filter="data")
    return folder, int(_run(["git", "log", "-1", "--format=%ct"], root))


def release(source: Path, committed: int, python: Path, target: Path) -> list[Path]:
    """All files of a release of `source` in `target`, checked. `committed`: seconds since 1970."""
    if target.exists():
        raise SystemExit(
            f"{target} is there already: name a folder that is not, so that nothing old is in it."
        )
    target.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as name:
        sdist, wheel = build(source, committed, python, Path(name))
        archives = [Path(shutil.copy(each, target)) for each in (sdist, wheel)]
    _run([python, "-m", "twine", "check", "--strict", *archives], source)
    version = versions(source)["slack_bot/__init__.py"]
    boms = []
    for bom in BOMS:
        boms.append(target / f"slack-bot-a2a-{version}.{bom}.cdx.json")
        boms[-1].write_text(bom_of(bom, source, committed, python), "utf-8")
    files = sorted([*archives, *boms])
    sums = target / "SHA256SUMS"
    sums.write_text(
        "".join(f"{hashlib.sha256(each.read_bytes()).hexdigest()}  {each.name}\n" for each in files)
    )
    return [*files, sums]


def build(source: Path, committed: int, python: Path, folder: Path) -> tuple[Path, Path]:
    """The sdist, and the wheel that is built from it alone. Their bytes depend on `source` alone."""
    clean = folder / "clean"
    shutil.copytree(source, clean, ignore=shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache"))
    _make_alike(clean, committed)
    packed, wheels = folder / "packed", folder / "wheels"
    packed.mkdir(), wheels.mkdir()
    env = {"PATH": os.environ["PATH"], "SOURCE_DATE_EPOCH": str(committed), "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    _run([python, "-c", _BUILD.format("sdist"), packed], clean, env)
    (sdist,) = packed.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    _make_alike(unpacked, committed)
    _pack(unpacked, committed, sdist)
    _run([python, "-c", _BUILD.format("wheel"), wheels], unpacked, env)
    (wheel,) = wheels.glob("*.whl")
    return sdist, wheel


def _make_alike(folder: Path, committed: int) -> None:
    """Times and modes that a checkout, its user or its file system gave are no part of a release."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
        os.utime(path, (committed, committed))


def _pack(folder: Path, committed: int, target: Path) -> None:
    with (
        target.open("wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=committed) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path in sorted((folder, *folder.rglob("*"))):
            member = archive.gettarinfo(path, str(path.relative_to(folder.parent)))
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mtime = committed
            if member.isfile():
                with path.open("rb") as content:
                    archive.addfile(member, content)
            else:
                archive.addfile(member)


# -- known weaknesses


def _audit(root: Path, python: Path) -> int:
    status = 0
    for lock in _AUDITED:
        words = ["-m", "pip_audit", "--requirement", root / "deploy" / f"{lock}.txt", "--require-hashes"]
        words += ["--disable-pip", "--format", "json", "--progress-spinner", "off"]
        ran = subprocess.run([python, *words], capture_output=True, text=True, check=False)
        try:
            reports = json.loads(ran.stdout)["dependencies"]
        except ValueError:
            reports = []
        worse, said = verdict(reports)
        status = max(status, worse)
        sys.stdout.write(f"deploy/{lock}.txt: {said}\n")
    return status


def verdict(reports: Iterable[Mapping[str, Any]]) -> tuple[int, str]:
    """The exit status for what pip-audit reports of each library, and a sentence."""
    reports = list(reports)
    weak = [
        f"{report['name']} {report['version']} ({', '.join(found['id'] for found in report['vulns'])})"
        for report in reports
        if report.get("vulns")
    ]
    unknown = [report["name"] for report in reports if "skip_reason" in report]
    if weak:
        return 1, f"known weaknesses: {'; '.join(weak)}"
    if unknown or not reports:
        of = f"{len(unknown)} of {len(reports)} libraries" if reports else "its libraries"
        return NOT_POSSIBLE, f"NOT AUDITED: what is known of {of} could not be asked for here."
    return 0, f"nothing is known against its {len(reports)} libraries"


def _run(words: list[str | Path], cwd: Path, env: Mapping[str, str] | None = None) -> str:
    ran = subprocess.run(
        [str(word) for word in words], cwd=cwd, env=env, capture_output=True, text=True, check=False
    )
    if ran.returncode:
        raise SystemExit(f"{' '.join(map(str, words[:5]))} ... failed:\n{ran.stdout}{ran.stderr}")
    return ran.stdout


if __name__ == "__main__":
    sys.exit(main())
