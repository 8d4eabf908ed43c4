"""Times as people say them."""

from ..text.words import HOURS, MINUTES, ONE_MINUTE


def in_words(seconds: float) -> str:
    """Roughly: `5 minutes`, `2 hours`."""
    minutes = max(1, round(seconds / 60))
    if minutes == 1:
        return ONE_MINUTE
    return MINUTES.format(minutes) if minutes < 100 else HOURS.format(round(minutes / 60))
