"""A script for bash that completes verbs, options and their choices. zsh reads it by its bashcompinit."""

import argparse
from collections.abc import Iterator

_SCRIPT = """\
_slack_bot() {{
  local at= word words= now="${{COMP_WORDS[COMP_CWORD]}}" last="${{COMP_WORDS[COMP_CWORD-1]}}"
  for word in "${{COMP_WORDS[@]:1:$((COMP_CWORD-1))}}"; do
    case "$at $word" in {verbs}) at="$at $word" ;; esac
  done
  case "$at|$last|$now" in
{cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$now"))
}}
complete -o default -F _slack_bot {program}
"""
_ZSH = "autoload -U +X compinit bashcompinit && compinit && bashcompinit\n"


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """For `bash` or `zsh`. Where it offers nothing, the shell offers files."""
    levels = dict(_levels(parser, ""))
    verbs = "|".join(f'"{at}"' for at in levels if at)
    cases = "\n".join(f"    {case} ;;" for at, each in levels.items() for case in _cases(at, each))
    text = _SCRIPT.format(verbs=verbs, cases=cases, program=parser.prog)
    return _ZSH + text if shell == "zsh" else text


def _levels(parser: argparse.ArgumentParser, at: str) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Each verb by its words (` store show`), the program itself by none."""
    yield at, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                yield from _levels(below, f"{at} {name}")


def _cases(at: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    """First what follows an option that takes a value, then options, then words without a dash."""
    options: list[str] = []
    words: list[str] = []
    for action in parser._actions:
        options += action.option_strings
        choices = " ".join(map(str, action.choices or ()))
        if not action.option_strings:
            words.append(choices)
        elif action.nargs != 0:
            after = "|".join(f'"{at}|{option}|"*' for option in action.option_strings)
            yield f'{after}) words="{choices}"'
    yield f'"{at}|"*"|-"*) words="{" ".join(options)}"'
    yield f'"{at}|"*) words="{" ".join(words).strip()}"'
