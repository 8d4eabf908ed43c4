"""PURE. What is told of schedules that fail: a part of the catalogue in `text/words.py`."""

SCHEDULE_FAILED = "The schedule *{}* did not work. {}"
SCHEDULE_THREAD = "{} ([thread]({}))"
SCHEDULE_WORKS = "The schedule *{}* works again."
