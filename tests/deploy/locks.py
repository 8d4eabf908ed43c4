"""`python -m tests.deploy.locks [LOCK...] [--python 3.14] [--platform NAME]`: is there a wheel of everything?

For each of our Pythons and each platform: `pip download --only-binary=:all:` with the hashes of the lock,
into a folder that is thrown away. The default is deploy/build.txt and deploy/test.txt, in which the others
are (a test compares). Prints a line for each, with seconds and megabytes; needs the package index.

Environment markers of a lock (`; sys_platform ...`) are read for this machine, as pip does.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.deploy.dockerfile import ROOT

LOCKS = ("build", "run", "play", "otel", "test")
WHOLE = ("build", "test")
"""Together they hold all of the others."""
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PLATFORMS: Mapping[str, tuple[str, ...]] = {
    "linux-x86_64": ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"),
    "linux-aarch64": ("manylinux_2_28_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64"),
    "macos-arm64": ("macosx_14_0_arm64",),
    "macos-x86_64": ("macosx_14_0_x86_64",),
}
"""Linux with glibc 2.28 or newer, macOS 14 or newer."""
WITHOUT_WHEEL: Mapping[str, frozenset[str]] = {"macos-x86_64": frozenset({"cryptography"})}
"""Libraries that their makers give no wheel of: pip has to compile them there."""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.deploy.locks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("locks", nargs="*", metavar="LOCK", help=f"default: {' '.join(WHOLE)}")
    parser.add_argument("--python", choices=PYTHONS, help="this one alone")
    parser.add_argument("--platform", choices=PLATFORMS, help="this one alone")
    args = parser.parse_args()
    pythons = (args.python,) if args.python else PYTHONS
    platforms = (args.platform,) if args.platform else tuple(PLATFORMS)
    missing = 0
    for lock in args.locks or WHOLE:
        for platform in platforms:
            for python in pythons:
                began = time.monotonic()
                problem, megabytes = download(lock, python, platform)
                missing += bool(problem)
                took = time.monotonic() - began
                said = problem or f"{megabytes:.0f} MB in {took:.0f} s{_exceptions(lock, platform)}"
                sys.stdout.write(f"{lock:5} {python:5} {platform:13} {said}\n")
                sys.stdout.flush()
    return min(missing, 1)


def download(lock: str, python: str, platform: str) -> tuple[str, float]:
    """What pip says is missing ("": nothing), and the megabytes that it got."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wanted = folder / "lock.txt"
        text = (ROOT / "deploy" / f"{lock}.txt").read_text("utf-8")
        wanted.write_text("".join(_entries(text, without=WITHOUT_WHEEL.get(platform, frozenset()))), "utf-8")
        abi = f"cp{python.replace('.', '')}"
        words = [*("--implementation", "cp", "--python-version", python)]
        words += [word for each in (abi, "abi3", "none") for word in ("--abi", each)]
        words += [word for each in PLATFORMS[platform] for word in ("--platform", each)]
        words += ["--no-deps", "--require-hashes", "--only-binary=:all:"]
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "download"]
        ran = subprocess.run(
            [*pip, *words, "--dest", folder, "--requirement", wanted],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        errors = [line for line in ran.stderr.splitlines() if line.startswith("ERROR")]
        problem = "" if ran.returncode == 0 else (errors or ran.stderr.splitlines())[-1]
        return problem, sum(file.stat().st_size for file in folder.glob("*.whl")) / 1e6


def entries_of(lock: str) -> list[str]:
    """The libraries of a lock of deploy/, each with its version and hashes."""
    return list(_entries((ROOT / "deploy" / f"{lock}.txt").read_text("utf-8")))


def names_of(text: str) -> list[str]:
    """The libraries of a lock."""
    return [re.split(r"[=\[]", entry)[0] for entry in _entries(text)]


def _entries(text: str, without: frozenset[str] = frozenset()) -> Iterator[str]:
    for entry in re.findall(r"(?m)^[A-Za-z0-9].*(?:\n +--hash=.*)*\n?", text):
        if re.split(r"[=\[]", entry)[0] not in without:
            yield entry


def _exceptions(lock: str, platform: str) -> str:
    names = names_of((ROOT / "deploy" / f"{lock}.txt").read_text("utf-8"))
    lacking = sorted(WITHOUT_WHEEL.get(platform, frozenset()) & set(names))
    return f", without {', '.join(lacking)}: no wheel" if lacking else ""


if __name__ == "__main__":
    sys.exit(main())
