"""PURE. Text that is the answer if nothing better comes: unmarked streams, thoughts, working-status text."""

from .delta_detector import DeltaDetector
from .token_pace import TokenPace


class HeldText:
    """Text of at most `max_chars` that is held, in runs between the agent's tool calls.

    `run_key`: the key under which status text of this run is shown, if it is. `pace`: that of status text.
    `text_before_tool`: the text of the last run that had any. `has_asides`: not all of this run may be the
    answer.
    """

    def __init__(self, max_chars: int) -> None:
        self._detector = DeltaDetector(max_chars=max_chars)
        self.text_before_tool = ""
        self.has_asides = False
        self.pace = TokenPace()
        self._runs = 1
        self.run_key = "status 1"

    @property
    def text(self) -> str:
        """The text of this run."""
        return self._detector.text

    @property
    def steps(self) -> int:
        """How often it grew."""
        return self._detector.steps

    def keep(self, text: str, *, append: bool, aside: bool) -> None:
        """Hold `text`; if the agent said it `aside`, it is the answer only of a task that completed."""
        if append:
            self._detector.take(text)
        else:
            self._detector.replace(text)
        self.has_asides = self.has_asides or (aside and bool(text.strip()))

    def begins_anew(self, text: str) -> bool:
        """`text`, of a status, begins another text than the one that is held."""
        return self._detector.begins_anew(text)

    def take_status(self, text: str) -> tuple[str, bool]:
        """Hold text of a status. Returns what it adds, True; or the whole, False."""
        fresh, append = self._detector.take(text, by_line=True)
        if not append:
            self.pace.restart()
        if fresh:
            self.pace.feed(fresh)
        return fresh, append

    def end_run(self) -> None:
        """A tool is called, or another text begins."""
        self._detector.take_held()
        self.text_before_tool = self._detector.text or self.text_before_tool
        self.has_asides = False
        self._detector.restart()
        self.pace.restart()
        self._runs += 1
        self.run_key = f"status {self._runs}"

    def close(self) -> str:
        """Nothing follows. Returns the end of the text, which waited for more."""
        return self._detector.take_held()

    def add(self, text: str) -> None:
        """Hold the end of a text that a filter had back."""
        self._detector.take(text)
