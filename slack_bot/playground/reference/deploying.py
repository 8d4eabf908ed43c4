"""The demonstration of an agent that deploys: it asks where to, and before production for an approval."""

import re
from dataclasses import replace

from .scenarios import AskBack, InputField, Pause, ScenarioStep, ShowPlan, Thought, WriteMove
from .search import Library
from .toolbox import Prompt

ENVIRONMENTS = ("staging", "production")
_NEEDS_APPROVAL = "production"
_MAY_I = f"May I deploy to {_NEEDS_APPROVAL}?"
_DEPLOY = re.compile(r"\s*deploy the bot( to (staging|production))?\s*\Z", re.IGNORECASE)
_FORM_WANTED = re.compile(r"\s*fill in a form\s*\Z", re.IGNORECASE)
_FORM = (
    InputField("environment", "Where to deploy", ENVIRONMENTS),
    InputField("version", "Which version"),
    InputField("reason", "Why now", required=False),
)


def think_of_deploying(prompt: Prompt, library: Library) -> Thought | None:
    """The moves for an order to deploy, and for a form; None for any other question."""
    wants_form = _FORM_WANTED.match(prompt.question) is not None
    if not wants_form and _DEPLOY.match(prompt.question) is None:
        return None
    if prompt.asked == _MAY_I:
        return _decided(prompt, library)
    environment = _environment(prompt.question if prompt.reply is None else prompt.reply)
    if environment is None:
        return _ask_where(wants_form, is_again=prompt.reply is not None)
    return _ask_for_approval() if environment == _NEEDS_APPROVAL else _deploy(environment, library)


def _ask_where(wants_form: bool, is_again: bool) -> Thought:
    if is_again:
        known = " and ".join(ENVIRONMENTS)
        yield AskBack(f"I only know {known}. Which environment is it?", _FORM if wants_form else ())
        return
    yield "Before I can say that, I need to know one thing."
    if wants_form:
        yield AskBack("Please fill in the form for your request.", _FORM)
    else:
        yield AskBack(f"Which environment: {' or '.join(ENVIRONMENTS)}?")


def _ask_for_approval() -> Thought:
    yield "This needs an approval."
    yield AskBack(_MAY_I, request="deploy")


def _decided(prompt: Prompt, library: Library) -> Thought:
    if prompt.decision == "approve":
        yield from _deploy(_NEEDS_APPROVAL, library)
    elif prompt.decision == "reject":
        why = (prompt.reply or "").partition(": ")[2]
        yield WriteMove(f"Then nothing is deployed.{f' I noted why: {why}' if why else ''}\n")
    else:
        yield from _ask_for_approval()


def _deploy(environment: str, library: Library) -> Thought:
    build = ScenarioStep("Build the image", "in_progress")
    roll_out, check = ScenarioStep(f"Roll it out to {environment}"), ScenarioStep("Check that it answers")
    done: tuple[ScenarioStep, ...] = ()
    yield f"I deploy to {environment}. "
    for step, *after in ((build, roll_out, check), (roll_out, check), (check,)):
        yield ShowPlan((*done, replace(step, status="in_progress"), *after))
        yield Pause(1.5)
        done = (*done, replace(step, status="completed"))
    yield ShowPlan(done)
    hits = library.search(f"deploying to {environment}")
    guide = "".join(f"\n\nIn earnest: {hit.section.first_sentence}" for hit in hits[:1])
    yield WriteMove(
        f"The bot is deployed to {environment}, one process after the other. This was a demonstration: "
        f"nothing was changed anywhere.{guide}\n"
    )


def _environment(text: str) -> str | None:
    said = text.lower()
    return next((name for name in ENVIRONMENTS if name in said or name[:4] in said.split()), None)
