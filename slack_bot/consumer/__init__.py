"""The agent's side of a turn, to its end, and past it where the end is not known.

A stream that broke is not a task that ended (delivery.md 7, D5, D6).
"""

from .task_consumer import TaskConsumer
from .turn_handle import TurnHandle

__all__ = ["TaskConsumer", "TurnHandle"]
