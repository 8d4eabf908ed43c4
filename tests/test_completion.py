"""The script that completes verbs and options, in bash itself."""

import shutil
import subprocess

import pytest

from slack_bot.cli import command_line
from slack_bot.completion import script

_OFFERED = """
offered() {
  COMP_WORDS=(slack-bot "$@") COMP_CWORD=$# COMPREPLY=()
  _slack_bot
  echo "${COMPREPLY[*]}"
}
offered "$@"
"""


def offered(*words: str) -> list[str]:
    """For the last word, which is not whole yet."""
    source = script(command_line(), "bash") + _OFFERED
    ran = subprocess.run(["bash", "-c", source, "bash", *words], capture_output=True, text=True, check=True)
    assert ran.stderr == ""
    return ran.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_verbs_options_and_choices_are_offered_where_they_stand() -> None:
    assert offered("ru") == ["run", "rules"]
    assert {"run", "doctor", "replay"} <= set(offered(""))
    assert {"show", "export"} <= set(offered("store", ""))
    assert offered("store", "export-") == ["export-tape"]
    assert offered("run", "--h") == ["--help", "--http"]
    assert offered("completion", "") == ["bash", "zsh"]
    assert "marker" in offered("agent", "--mode", "")


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_where_a_file_or_any_word_is_meant_nothing_is_offered() -> None:
    assert offered("replay", "") == []
    assert offered("agent", "--port", "") == []
    assert offered("store", "export", "--user", "sho") == []


def test_zsh_gets_the_same_behind_its_own_beginning() -> None:
    bash, zsh = (script(command_line(), shell) for shell in ("bash", "zsh"))
    assert zsh.endswith(bash)
    assert "bashcompinit" in zsh.removesuffix(bash)
