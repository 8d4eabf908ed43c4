"""A question of the agent: text with its fields named. The asker's next message answers it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Field:
    """One thing the agent wants to know. No `choices`: free text; `hidden_choices` more are not shown."""

    name: str
    label: str = ""
    choices: tuple[str, ...] = ()
    required: bool = False
    hidden_choices: int = 0


@dataclass(frozen=True, slots=True)
class Form:
    """What an agent asks. `prompt` is its own words; `hidden_fields` more are not shown."""

    prompt: str
    fields: tuple[Field, ...] = ()
    title: str = ""
    is_auth: bool = False
    hidden_fields: int = 0

    def as_markdown(self) -> str:
        """The question as a person reads it."""
        head = [f"**{self.title}**"] if self.title else []
        if self.prompt:
            head.append(self.prompt)
        if not head and not self.fields:
            head.append("The agent needs a sign-in." if self.is_auth else "The agent needs your input.")
        lines = [_line(field) for field in self.fields]
        if self.hidden_fields:
            lines.append(f"- … and {self.hidden_fields:,} more, which are not shown here")
        return "\n\n".join([*head, *(["\n".join(lines)] if lines else [])])


def _line(field: Field) -> str:
    text = f"- **{field.name}**"
    if field.label and field.label != field.name:
        text += f": {field.label}"
    if field.choices:
        more = f", … and {field.hidden_choices:,} more" if field.hidden_choices else ""
        text += f" ({', '.join(field.choices)}{more})"
    return text if field.required else f"{text} – optional"
