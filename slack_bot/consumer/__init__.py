"""The agent's side of a turn: its events, to the end, and past it where the end is not known.

A stream that broke is not a task that ended. What the task became is asked for, never by sending the question
again once it may have been taken; a stop is carried out as soon as there is a task to stop (delivery.md 7,
D5, D6).
"""

from .task_consumer import TaskConsumer
from .turn_handle import TurnHandle

__all__ = ["TaskConsumer", "TurnHandle"]
