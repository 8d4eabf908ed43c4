"""The twelve answers: each shows what it is named after."""

from __future__ import annotations

from slack_bot.tools.rules.answer_tapes import ANSWERS
from slack_bot.tools.rules.answers import emulate_answers

SHOWS = {
    "short": "A short answer.",
    "markdown": "> quoted words",
    "tables": "| Oslo | 9 | yes |",
    "unicode": "日本語",
    "long": "Paragraph 160 is",
    "cards": "card [complete]",
    "rotation": "Paragraph 30 is",
    "stop": "context: Stopped.",
    "form": "actions: (button Fill in)",
    "question": "Which of the two do you mean?",
    "failure": "(button Try again)",
    "file": "file: measured.csv, 8 bytes",
}


def test_each_answer_shows_what_it_is_for() -> None:
    emulated = emulate_answers(ANSWERS)
    assert list(emulated.pictures) == list(SHOWS)
    for name, words in SHOWS.items():
        assert words in "\n".join(emulated.pictures[name]), name
    stopped = "\n".join(emulated.pictures["stop"])
    assert "Paragraph" not in stopped, "how far it came is not compared"
    assert 30 < emulated.seconds < 120, "as long as it takes in a real workspace"
    numbers = [line.split()[1] for line in emulated.pictures["long"] if line.startswith("Paragraph")]
    assert numbers == [str(number) for number in range(1, 161)]
