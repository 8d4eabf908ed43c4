"""How hard Hypothesis looks: `pytest --hypothesis-profile=long` gives it fifty times as many examples, new
ones each time. By default the examples are the same each time: a change is judged by what it changed.

Tests that run a whole bot scale their own number of examples by `examples`.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

_CALM = (HealthCheck.too_slow, HealthCheck.data_too_large)

settings.register_profile("default", deadline=None, derandomize=True, suppress_health_check=_CALM)
settings.register_profile("long", deadline=None, suppress_health_check=_CALM, max_examples=5_000)
settings.load_profile("default")
