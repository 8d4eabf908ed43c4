"""PURE. What is under the last message of a turn: sources, a note, buttons, a form, how to go on."""

from ..turn.record import Outcome
from . import blocks, forms
from .blocks import Block
from .model import Ending


def footer_blocks(ending: Ending, turn: str) -> list[Block]:
    """All that is under the last message of a turn."""
    under = [blocks.sources_block(ending.sources)] if ending.sources else []
    under += [blocks.context(ending.note)] if ending.note else []
    if ending.offer_retry:
        under.append(blocks.buttons(turn, can_stop=ending.outcome is Outcome.WATCHED))
    if ending.form is not None:
        under += forms.form_blocks(ending.form, ending.handle) if ending.handle else []
        under += [blocks.context(forms.hint(ending.form, has_controls=bool(ending.handle)))]
    if ending.outcome.has_completed:
        under.append(blocks.feedback(turn))
        under += [blocks.footer(ending.listens_to)] if ending.listens_to is not None else []
    return under


def footer_text(ending: Ending) -> str:
    """What must be read of the footer, as text."""
    note = ending.note or ("" if ending.form is None else forms.words_of(ending.form))
    return "\n\n".join(filter(None, [note, blocks.sources_text(ending.sources)]))
