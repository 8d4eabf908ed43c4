"""Times as people say them."""


def in_words(seconds: float) -> str:
    """Roughly: `5 minutes`, `2 hours`."""
    minutes = max(1, round(seconds / 60))
    count, unit = (minutes, "minute") if minutes < 100 else (round(minutes / 60), "hour")
    return f"{count} {unit}" if count == 1 else f"{count} {unit}s"
