"""The package as it is installed: built from the repository, with nothing that it does not name."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from slack_bot import __version__
from tests.deploy.dockerfile import ROOT, send_context

TAPE = ROOT / "docs" / "tapes" / "caipe-0.3.0-simple.jsonl"


def run(*words: str | Path, cwd: Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    command = [str(word) for word in words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=check, timeout=300)


@pytest.mark.slow
def test_a_wheel_runs_from_another_directory_with_only_what_it_asks_for(tmp_path: Path) -> None:
    """In an environment that is otherwise empty, without an extra."""
    source, elsewhere = tmp_path / "source", tmp_path / "elsewhere"
    elsewhere.mkdir()
    send_context(source)
    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
    run(*pip, "wheel", "--no-deps", "--wheel-dir", tmp_path, source, cwd=elsewhere)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        names = {name for name in packed.namelist() if ".dist-info/" not in name and ".data/" not in name}
    assert names == {
        str(path.relative_to(ROOT))
        for path in (ROOT / "slack_bot").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

    venv.create(tmp_path / "empty")
    python, program = (tmp_path / "empty" / "bin" / name for name in ("python", "slack-bot"))
    run(*pip, "--python", python, "install", "--no-compile", wheel, cwd=elsewhere)
    assert run(program, "--version", cwd=elsewhere).stdout == f"slack-bot {__version__}\n"
    replayed = run(program, "replay", TAPE, cwd=elsewhere).stdout
    assert replayed == run(sys.executable, "-m", "slack_bot", "replay", TAPE, cwd=ROOT).stdout
    assert "What I can do" in replayed
    played = run(program, "play", cwd=elsewhere, check=False)
    assert (played.returncode, "deploy/" in played.stderr) == (1, False), "a wheel has no such folder"
    assert "pip install 'slack-bot-a2a[play]'" in played.stderr


@pytest.mark.slow
def test_the_source_distribution_has_the_guides_the_manifests_and_the_changelog(tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache"))
    venv.create(tmp_path / "builder", with_pip=True)
    python = tmp_path / "builder" / "bin" / "python"
    lock = ROOT / "deploy" / "build.txt"
    run(python, "-m", "pip", "install", "-q", "--require-hashes", "-r", lock, cwd=tmp_path)
    build = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"
    run(python, "-c", build, tmp_path, cwd=source)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    tracked = {"CHANGELOG.md", ".env.example", "LICENSE", "README.md"}
    tracked |= {
        str(path.relative_to(ROOT))
        for folder in ("docs", "deploy", "slack_bot")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert tracked <= names, tracked - names


@pytest.mark.slow
def test_the_first_command_of_the_readme_puts_the_program_on_the_path(tmp_path: Path) -> None:
    """With the Python that it is given, in a checkout that stays as it was."""
    first = re.search(r"```sh\n(.+)\n```", (ROOT / "README.md").read_text("utf-8"))
    assert first is not None
    command = first[1].removesuffix("slack-bot play")
    assert command.endswith("&& ")
    send_context(tmp_path)
    before = set(tmp_path.rglob("*"))
    ran = run("bash", "-c", f"{command}command -v slack-bot && slack-bot --version", cwd=tmp_path)
    program = tmp_path / ".venv" / "bin" / "slack-bot"
    assert ran.stdout.splitlines() == [str(program), f"slack-bot {__version__}"]
    beside = {path for path in set(tmp_path.rglob("*")) - before if "__pycache__" not in path.parts}
    assert {path.relative_to(tmp_path).parts[0] for path in beside} == {".venv"}
    module = run(tmp_path / ".venv" / "bin" / "python", "-m", "slack_bot", "-h", cwd=tmp_path).stdout
    assert module == run(program, "-h", cwd=tmp_path).stdout
    assert module.startswith("usage: slack-bot ")
