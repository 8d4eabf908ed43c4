"""The ledger: every character once, whatever becomes of a call."""

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from slack_bot.turn.decoration import joined
from slack_bot.turn.layout import Limits, weigh
from slack_bot.turn.markdown import open_at_end
from slack_bot.turn.segments import Finish, Ledger, Overflow, Show, lay_out

# -- a workspace that loses answers --------------------------------------------------------------------------

OUTCOMES = ["ok", "refused", "sealed", "lost", "landed", "found", "half"]


@dataclass
class Workspace:
    """Messages as a person sees them. What becomes of a call is drawn from `outcomes`, and then "ok"."""

    ledger: Ledger
    outcomes: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    torn: set[int] = field(default_factory=set)  # those that ended otherwise than the ledger wanted
    calls: int = 0

    def carry_out(self, now: float, *, final: bool = False, cards: int = 0) -> None:
        """Do all that the ledger wants now."""
        while (step := self.ledger.next(now, final=final, cards=cards)) is not None:
            self.calls += 1
            match step:
                case Show():
                    self._write(step)
                    cards = 0 if step.cards else cards
                case Finish():
                    self.ledger.closed()
                case Overflow():
                    self.ledger.use(LONG)

    def _write(self, show: Show) -> None:
        ledger = self.ledger
        assert ledger.next(0.0) is None, "nothing goes out while a call is out"
        assert show.begins == (ledger.present is None)
        match self.outcomes.pop(0) if self.outcomes else "ok":
            case "ok":
                self._apply(show, len(show.text))
                ledger.confirmed()
            case "refused":
                ledger.refused()
            case "sealed":
                self.torn.add(len(self.messages) - 1)
                ledger.sealed()
            case outcome:
                at = show.text.rfind(ledger.waiting[: show.chars]) if show.chars else 0
                half = at + show.chars // 2  # a part of the answer's text, not of what was added to it
                shown = {"lost": 0, "half": half}.get(outcome, len(show.text))
                ledger.unknown()
                assert ledger.in_doubt
                assert ledger.next(1e9) is None
                self._apply(show, shown)
                if outcome == "found":
                    ledger.confirmed()
                else:
                    self.torn.add(len(self.messages) - 1)
                    ledger.settled(shown)

    def _apply(self, show: Show, shown: int) -> None:
        if show.begins and shown:
            self.messages.append("")
        if shown:
            self.messages[-1] += show.text[:shown]


LONG = Limits(rotate_bytes=240, max_segments=100_000)

PIECES = st.sampled_from(
    [
        *["```", "```py\n", "~~~\n", "````\n", "\n```\n", "   ```sh\n", "      ```\n", "> ```\n", "`", "``"],
        *["| a | b |\n|---|---|\n", "| 1 | 2 |\n", "| 3 ", "|", "|-", "| a |\n"],
        *["**", "*", "_", "~~", "[", "](http://a_b)", "\\", "<", "&lt;", "\u2060", "\u2060\n"],
        *["- one\n", "  - two\n", "    - three\n", "1. first\n", "   2. second\n", "> said\n", "> ", "-\n"],
        *["word", "Ende. ", "more words ", "中文字。", "e\u0301", "👩\u200d👧", "🇩🇪", "שלום ", "a" * 60],
        *["# ", "## Title\n", "\u2028"],
        *["\n", "\n\n", " ", "  ", "    "],
    ]
)  # fmt: skip
TEXT = st.lists(PIECES, max_size=60).map("".join)
STEPS = st.lists(st.tuples(TEXT, st.sampled_from([0.1, 1, 30, 250])), max_size=8)
LIMITS = st.sampled_from(
    [
        Limits(rotate_bytes=size, max_segments=5, max_call_chars=call)
        for size in (160, 400, 1_000)
        for call in (100, 12_000)
    ]
)


@settings(deadline=None)
@given(STEPS, LIMITS, st.lists(st.sampled_from(OUTCOMES), max_size=30), st.booleans())
def test_every_character_stands_once_whatever_becomes_of_a_call(
    steps: list[tuple[str, float]], limits: Limits, outcomes: list[str], all_at_once: bool
) -> None:
    ledger = Ledger(limits)
    slack = Workspace(ledger, outcomes)
    pushed, now = "", 0.0
    for text, pause in steps:
        ledger.push(text)
        pushed += text
        if not all_at_once:
            slack.carry_out(now)
            assert ledger.waiting.strip() == ""
        now += pause
    slack.carry_out(now, final=True)
    assert [segment.text for segment in ledger.segments] == slack.messages
    assert ledger.confirmed_chars + len(ledger.waiting) == len(pushed)
    assert pushed.endswith(ledger.waiting)
    assert not ledger.waiting.strip()
    # what closes a message that nothing follows after all is no border between two
    last = [segment.body for segment in ledger.segments[-1:]]
    assert joined([*slack.messages[:-1], *last]) == pushed[: ledger.confirmed_chars]
    ends = [segment.end for segment in ledger.segments]
    assert [segment.start for segment in ledger.segments] == [0, *ends][: len(ends)]
    for segment in ledger.segments:
        assert weigh(segment.text) <= segment.weight <= max(limits.rotate_bytes, LONG.rotate_bytes)


def test_a_long_text_is_laid_into_messages() -> None:
    code, rows = "x = 1\n" * 50, "| 1 | 2 |\n" * 40
    text = "\n\n".join(f"```py\n{code}```\n\n| a | b |\n|---|---|\n{rows}" for _ in range(9))
    texts = lay_out(text, Limits(rotate_bytes=900))
    assert joined(texts) == text
    assert all(len(each.encode()) <= 900 for each in texts)
    assert [open_at_end(each).fence for each in texts] == [""] * len(texts)
