"""The steps of a release as docs/development.md has them, and what they guard."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from slack_bot import __version__
from tests.deploy.container import NOT_POSSIBLE
from tests.deploy.dockerfile import ROOT
from tests.deploy.locks import entries_of
from tests.deploy.release import begin, build, cut, tools, verdict, versions
from tests.deploy.sbom import BOMS

CHANGELOG = "# Changelog\n\n## 0.2.0 (unreleased)\n\n- New.\n\n## 0.1.0 (2026-01-31)\n\n- First.\n"


def checkout(target: Path) -> Path:
    """A copy of this checkout, without what git does not know."""
    ignored = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", "captures")
    return Path(shutil.copytree(ROOT, target, ignore=ignored))


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Only what has the version in it, and a changelog."""
    for name in versions(ROOT):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG, "utf-8")
    return tmp_path


def test_there_is_one_version() -> None:
    assert set(versions(ROOT).values()) == {__version__}
    first = re.search(
        r"(?m)^## (\S+) \((unreleased|\d{4}-\d\d-\d\d)\)$", (ROOT / "CHANGELOG.md").read_text("utf-8")
    )
    assert first is not None and first[1] == __version__


def test_a_cut_dates_the_changelog_and_writes_the_version_everywhere(small: Path) -> None:
    cut(small, "0.2.1", datetime.date(2026, 12, 1))
    assert (small / "CHANGELOG.md").read_text("utf-8") == CHANGELOG.replace(
        "0.2.0 (unreleased)", "0.2.1 (2026-12-01)"
    )
    assert set(versions(small).values()) == {"0.2.1"}
    begin(small, "0.3.0")
    assert (
        (small / "CHANGELOG.md")
        .read_text("utf-8")
        .startswith("# Changelog\n\n## 0.3.0 (unreleased)\n\n## 0.2.1 (2026-12-01)\n\n- New.\n")
    )
    assert set(versions(small).values()) == {"0.3.0"}


@pytest.mark.parametrize(
    ("version", "said"),
    [("0.1.0", "does not come after 0.1.0"), ("1.0", "is no version"), ("v0.2.0", "is no version")],
)
def test_a_version_that_cannot_come_next_is_refused(small: Path, version: str, said: str) -> None:
    before = versions(small)
    with pytest.raises(SystemExit, match=said):
        cut(small, version, datetime.date(2026, 12, 1))
    assert (versions(small), (small / "CHANGELOG.md").read_text("utf-8")) == (before, CHANGELOG)


def test_nothing_is_cut_twice_or_begun_twice(small: Path) -> None:
    with pytest.raises(SystemExit, match="is open already"):
        begin(small, "0.4.0")
    cut(small, "0.2.0", datetime.date(2026, 12, 1))
    with pytest.raises(SystemExit, match="nothing is unreleased"):
        cut(small, "0.3.0", datetime.date(2026, 12, 1))
    with pytest.raises(SystemExit, match=r"does not come after 0\.2\.0"):
        begin(small, "0.2.0")


CLEAN = {"name": "a", "version": "1", "vulns": []}
WEAK = {"name": "a", "version": "1", "vulns": [{"id": "CVE-1"}]}
UNKNOWN = {"name": "b", "skip_reason": "not found"}


@pytest.mark.parametrize(
    ("reports", "status", "said"),
    [
        ([CLEAN], 0, "nothing is known against its 1 libraries"),
        ([WEAK, UNKNOWN], 1, "a 1 (CVE-1)"),
        ([CLEAN, UNKNOWN], NOT_POSSIBLE, "1 of 2"),
        ([], NOT_POSSIBLE, "NOT AUDITED"),
    ],
)
def test_what_could_not_be_asked_is_not_called_clean(
    reports: list[dict[str, Any]], status: int, said: str
) -> None:
    found, sentence = verdict(reports)
    assert found == status
    assert said in sentence


def test_locks_pin_all_by_hash_and_name_no_index() -> None:
    for lock in (*(ROOT / "deploy").glob("*.txt"), *(ROOT / "tests" / "peers").glob("*.txt")):
        for line in lock.read_text("utf-8").splitlines():
            pinned = re.fullmatch(
                r"([a-z0-9.-]+(\[[a-z,-]+\])?==\S+( ; .+)? \\|    --hash=sha256:[0-9a-f]{64}( \\)?)", line
            )
            assert pinned, f"{lock.name}: {line}"


def test_the_locks_that_are_asked_about_hold_all_others() -> None:
    whole = {*entries_of("build"), *entries_of("test")}
    pinned = {re.sub(r"\[.*?\]", "", entry).split()[0] for entry in whole}
    for lock in ("run", "play", "otel"):
        of_it = {re.sub(r"\[.*?\]", "", entry).split()[0] for entry in entries_of(lock)}
        assert of_it <= pinned, lock


@pytest.mark.slow
def test_the_documented_steps_make_a_release_and_the_same_bytes_a_second_time(tmp_path: Path) -> None:
    """From two folders, at two times, as two users would have them."""
    first = checkout(tmp_path / "first")
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    for name in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{name}_NAME": "A person", f"GIT_{name}_EMAIL": "person@example.com"}

    def run(*words: str | Path, status: int = 0) -> str:
        ran = subprocess.run(
            [str(word) for word in words], cwd=first, env=env, capture_output=True, text=True, check=False
        )
        assert ran.returncode == status, f"{words}: {ran.stdout}{ran.stderr}"
        return ran.stdout + ran.stderr

    run("git", "init", "-q"), run("git", "add", "-Af"), run("git", "commit", "-qm", "All")
    page = (ROOT / "docs" / "development.md").read_text("utf-8")
    (steps,) = re.findall(r"(?ms)^\*\*A release\.\*\*.*?^```sh\n(.*?)^```", page)
    commands = [shlex.split(line) for line in steps.splitlines()]
    assert [each[3] for each in commands if each[0] == "python"] == ["cut", "build", "audit", "begin"]
    assert "cut the version first" in run(sys.executable, *commands[2][1:], status=1)
    kept = ("--tools", tmp_path / "tools")
    for command in commands[:2]:
        run(*(sys.executable if word == "python" else word for word in command))
    run(sys.executable, *commands[2][1:], *kept)
    dist = first / "dist"
    sums = dict(reversed(line.split("  ")) for line in (dist / "SHA256SUMS").read_text("utf-8").splitlines())
    assert sums == {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in dist.iterdir()
        if file.name != "SHA256SUMS"
    }
    assert len(sums) == 2 + len(BOMS)
    _look_at_the_lists(dist)

    second, committed = checkout(tmp_path / "else" / "where"), int(run("git", "log", "-1", "--format=%ct"))
    cut(second, __version__, datetime.datetime.now(datetime.UTC).date())
    for path in second.rglob("*"):  # of another user, whose umask is another, at another time
        path.chmod(path.stat().st_mode & 0o700)
        os.utime(path, (committed - 90_000, committed - 90_000))
    again = build(second, committed, tools(second, tmp_path / "tools"), tmp_path)
    audited = subprocess.run(
        [sys.executable, *commands[3][1:], *kept], cwd=first, capture_output=True, text=True, check=False
    )
    assert audited.returncode in (0, 1, NOT_POSSIBLE), audited.stderr
    assert re.findall(r"(?m)^deploy/(\w+)\.txt: .", audited.stdout) == ["build", "run", "play", "otel"]
    print(audited.stdout)
    assert {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in again
    }.items() <= sums.items()

    for command in commands[4:]:
        run(*(sys.executable if word == "python" else word for word in command))
    assert run("git", "tag").split() == [f"v{__version__}"]
    assert set(versions(first).values()) != {__version__}


def _look_at_the_lists(dist: Path) -> None:
    (wheel,) = dist.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        (metadata,) = (name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))
        assert f"\nVersion: {__version__}\n" in packed.read(metadata).decode()
    for name, locks in BOMS.items():
        bom = json.loads((dist / f"slack-bot-a2a-{__version__}.{name}.cdx.json").read_text("utf-8"))
        listed = {
            f"{each['name']}=={each['version']}" for each in bom["components"] if each["type"] == "library"
        }
        pinned = {re.sub(r"\[.*?\]", "", entry).split()[0] for lock in locks for entry in entries_of(lock)}
        assert listed == pinned
        assert all(each.get("licenses") for each in bom["components"] if each["type"] == "library")
        images = [each["purl"] for each in bom["components"] if each["type"] == "container"]
        assert images == (["pkg:docker/python@3.11-slim"] if name == "image" else [])
