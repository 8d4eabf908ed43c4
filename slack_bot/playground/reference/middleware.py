"""The middleware between the model and its tools. Each part has a switch, and `master` is one for all.

The names are those of CAIPE's supervisor (facts: CAIPE 6). Each part changes an event or a time, so that a
trace shows what it costs.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from .scenarios import InputField

SKILLS = {
    "deep-research": (
        re.compile(r"\b(everything|thorough(ly)?|in depth)\b", re.IGNORECASE),
        "Search from several sides before you answer, and read every page that fits.",
    )
}
_FILE = re.compile(r"@([\w-]+?)(?:\.md)?\Z")


@dataclass(frozen=True, slots=True)
class Middleware:
    """Which parts are on. `master` off wins over all of them.

    deterministic   plans come from a fixed workflow, at once; off: the model takes its time to plan
    self_service    what the human is asked comes as a form with fields; off: in words only
    policy          each call is checked first, which takes `POLICY_SECONDS`; unknown tools are refused
    skills          a skill that fits the question is announced and goes into the prompt
    file_arg        an argument that names a page as `@page.md` becomes that page
    """

    master: bool = True
    deterministic: bool = True
    self_service: bool = True
    policy: bool = True
    skills: bool = True
    file_arg: bool = True

    @property
    def plans_itself(self) -> bool:
        """The model makes the plan."""
        return not (self.master and self.deterministic)

    @property
    def checks(self) -> bool:
        """Each call waits for the policy."""
        return self.master and self.policy

    def fields(self, fields: tuple[InputField, ...]) -> tuple[InputField, ...]:
        """The fields that are asked for."""
        return fields if self.master and self.self_service else ()

    def skills_for(self, question: str) -> tuple[str, ...]:
        """The names of the skills that fit."""
        on = self.master and self.skills
        return tuple(name for name, (fits, _) in SKILLS.items() if on and fits.search(question))

    def refusal(self, tool: str, given: Collection[str]) -> str | None:
        """Why a call is not made; None if it is."""
        return f"policy: {tool} is not among the tools of this agent" if tool not in given else None

    def argument(self, text: str) -> str:
        """An argument as the tool gets it."""
        found = _FILE.fullmatch(text.strip()) if self.master and self.file_arg else None
        return found[1] if found else text


POLICY_SECONDS = 0.15
