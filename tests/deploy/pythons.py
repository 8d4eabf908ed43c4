"""`python -m tests.deploy.pythons [RELEASE...] [-- PYTEST WORDS]`: the suite on the Pythons of other Debians.

For each release (default: trixie with Python 3.13, forky with 3.14) debootstrap makes a root, from the mirror
that apt uses on this machine. In it, with Debian's own Python and nothing else installed: the first command
of the README, whose bot and agent pass `conform`; the wheel, installed into an environment of its own and run
from an empty folder; the second command of the README, which is the suite. `-n 2` and the like go to pytest.
`-m python` is the part of the suite that another Python could break (tests/rings.py): `.ci/run` tries that
part, and the whole suite is for before a release. Takes about a minute for a root, ten for the suite, and
700 MB.

Exit status 1: something failed. 3: nothing did, and a root could not be had here (no rights, no debootstrap,
no mounts, or no such release at the mirror); the reason is said.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path

from tests.deploy.container import NOT_POSSIBLE
from tests.deploy.dockerfile import ROOT, bring, mount, way_to_packages

_RELEASES = ("trixie", "forky")
_INCLUDED = "python3,python3-venv,ca-certificates"
_SCRIPTS = Path("/usr/share/debootstrap/scripts")
_ETC = ("hosts", "resolv.conf", "pip.conf", "xdg/pip")
_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
_ASKED = "slack-bot conform --suite extended"
_WHEEL = (
    ".play/bin/pip wheel -q --no-deps --no-index --no-build-isolation -w /empty . && python3 -m venv /wheel"
    " && cd /empty && /wheel/bin/pip install -q /empty/*.whl && rm /empty/*.whl"
    " && /wheel/bin/slack-bot --version && /wheel/bin/slack-bot replay {tape}"
)
_TAPE = "/src/docs/tapes/caipe-0.3.0-simple.jsonl"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.deploy.pythons",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("releases", nargs="*", metavar="RELEASE", help=f"default: {' '.join(_RELEASES)}")
    parser.add_argument("--in-own-mounts", type=Path, help=argparse.SUPPRESS)
    given = sys.argv[1:]
    at = given.index("--") if "--" in given else len(given)
    args, words = parser.parse_args(given[:at]), given[at + 1 :]
    if args.in_own_mounts is not None:
        return _run(args.releases[0], args.in_own_mounts, commands_of(words))
    if not _is_possible():
        sys.stderr.write(
            "Not done: this needs root, debootstrap, and `unshare --mount --pid` to be allowed.\n"
        )
        return NOT_POSSIBLE
    releases = args.releases or _RELEASES
    statuses = {release: _in_own_mounts(release, ["--", *words]) for release in releases}
    said = {0: "passed", NOT_POSSIBLE: "not to be had"}
    for release, status in statuses.items():
        sys.stdout.write(f"{release}: {said.get(status, f'failed ({status})')}\n")
    return status_of_all(statuses.values())


def status_of_all(statuses: Collection[int]) -> int:
    """1 if one failed, also by a signal, whatever could not be had beside it."""
    if set(statuses) - {0, NOT_POSSIBLE}:
        return 1
    return max(statuses)


def _is_possible() -> bool:
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        return False
    unshare = ["unshare", "--mount", "--pid", "--fork", "true"]
    return subprocess.run(unshare, check=False, capture_output=True).returncode == 0


def _in_own_mounts(release: str, words: list[str]) -> int:
    with tempfile.TemporaryDirectory(prefix=f"{release}-") as folder:  # its mounts end with the process
        unshare = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
        program = [sys.executable, "-m", "tests.deploy.pythons", release, "--in-own-mounts", folder]
        return subprocess.run([*unshare, *program, *words], check=False).returncode


def _run(release: str, root: Path, commands: list[str]) -> int:
    """Make the root, carry out `commands` in it. Returns 1 where one of them failed."""
    script = _SCRIPTS / release
    # a release that is newer than debootstrap is made as unstable is
    script = script if script.exists() else _SCRIPTS / "sid"
    debootstrap = [
        "debootstrap",
        "--variant=minbase",
        f"--include={_INCLUDED}",
        release,
        root,
        mirror(),
        script,
    ]
    _say(f"{release}: debootstrap")
    made = subprocess.run(debootstrap, check=False, stdout=subprocess.PIPE, text=True)
    if made.returncode != 0:
        sys.stderr.write(f"{made.stdout}\nThe mirror of this machine's apt gave no root of {release}.\n")
        return NOT_POSSIBLE
    root.chmod(0o755)  # tests become another user
    mount("-t", "proc", "proc", root / "proc")
    mount("--rbind", "/dev", root / "dev")
    _bring_project(root)
    env = {"PATH": _PATH, "HOME": "/root", "LANG": "C.UTF-8", **_way_out(root)}
    for command in ("python3 --version", *commands):
        _say(f"{release}: {command}")
        assigned = [f"{name}={value}" for name, value in env.items()]
        inside = ["chroot", root, "/usr/bin/env", "-i", *assigned, "sh", "-c", f"cd /src && {command}"]
        if status := subprocess.run(inside, check=False).returncode:
            _say(f"{release}: exit status {status}")
            return 1  # pytest too has a 3, which says something else
    return 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def mirror() -> str:
    """The address from which apt gets Debian here. Raises SystemExit where it gets it from nowhere."""
    listed = ["apt-get", "indextargets", "--format", "$(SITE) $(LABEL)"]
    rows = subprocess.run(listed, check=True, capture_output=True, text=True).stdout.splitlines()
    for site, _, label in (row.partition(" ") for row in rows):
        if label == "Debian":
            return site
    raise SystemExit("apt knows no mirror of Debian here: run apt-get update, or add one to its sources.")


def commands_of(words: list[str]) -> list[str]:
    """The README's first command, the wheel, and the suite; `words` go to pytest."""
    text = (ROOT / "README.md").read_text("utf-8")
    first = re.search(r"(?m)^python3 -m venv .* && slack-bot play$", text)
    second = re.search(r"(?m)^python3 -m venv .* -m pytest$", text)
    assert first is not None and second is not None
    return [
        first[0].replace(".venv", ".play").removesuffix("slack-bot play") + _ASKED,
        f"mkdir -p /empty && {_WHEEL.format(tape=_TAPE)}",
        f"{second[0]} {shlex.join(['-p', 'no:cacheprovider', *words])}",
    ]


def _bring_project(root: Path) -> None:
    """What git knows of this checkout, as it is now."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(
        listed, cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines():
        if (ROOT / name).is_file():
            target = root / "src" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)


def _way_out(root: Path) -> dict[str, str]:
    """What this machine needs to reach a package index; its certificates count in the root too."""
    for name in _ETC:
        if Path("/etc", name).exists():
            (root / "etc" / name).unlink(missing_ok=True)
            bring(Path("/etc", name), root)
    trusted = Path("/etc/ssl/certs/ca-certificates.crt")
    if trusted.exists():
        shutil.copy2(trusted, root / "etc/ssl/certs/ca-certificates.crt")
    return way_to_packages(root)


if __name__ == "__main__":
    sys.exit(main())
