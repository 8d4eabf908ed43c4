"""PURE. What an agent asks: a form of its own, or what its status says while the task waits."""

from dataclasses import replace

from ..turn.events import Event, InputRequired
from ..turn.form import Form
from .answer.answer_sources import nothing
from .answer.assembler import AnswerAssembler
from .content import forms
from .wire.frames import AgentMessage, Artifact, TaskState


class AgentQuestion:
    """The question that is open, as a form."""

    def __init__(self) -> None:
        self.form: Form | None = None

    def take_form(self, artifact: Artifact) -> Event:
        """An artifact that is a form."""
        form = forms.question_in(artifact.parts, artifact.text)
        if form is None:
            return nothing("a form without fields")
        return self.ask(form, "a form")

    def ask(self, form: Form, reason: str) -> Event:
        """The agent asks this."""
        self.form = form
        return InputRequired(form, reason=reason)

    def close_stale(self, *, has_asked: bool) -> None:
        """The task goes on or ends: the person has signed in. `has_asked`: its question was an old one."""
        if self.form is not None and (self.form.is_auth or has_asked):
            self.form = None

    def take_status(self, state: TaskState, message: AgentMessage | None, answer: AnswerAssembler) -> Event:
        """The task waits: its message, and a form that came before, are what is asked."""
        prompt = message.text if message else ""
        form = None
        if message is not None:
            form = forms.question_in(message.parts, prompt, answer.sources.shown_end, message.metadata)
        if form is not None and not form.fields and answer.sources.have_artifact(prompt):
            form = replace(form, prompt=form.prompt.removeprefix(prompt.strip()).lstrip())
        earlier = self.form or answer.filters.question
        if earlier is not None and (form is None or form == Form(form.prompt)):
            prompt = form.prompt if form is not None else prompt
            url = "" if "://" in prompt else earlier.url  # a new link is in the words
            form = replace(earlier, prompt=prompt or earlier.prompt, url=url)
        form = form or Form(prompt)
        if state is TaskState.AUTH_REQUIRED or form.is_auth:
            message = message or AgentMessage()
            form = forms.sign_in(form, message.parts, message.metadata)
        return self.ask(form, f"task is {state}")
