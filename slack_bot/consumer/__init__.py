"""The reading side of a turn: the agent's events, to the end and past it where the end is not known.

A stream that broke is not a task that ended. What the task became is asked for, never by sending the question
again once it may have been taken; a stop is carried out as soon as there is a task to stop (delivery.md 7,
D5, D6). `plan` is the turn's course; `ear` listens to one stream; `continuation` follows a task whose stream
is lost; `standing` is what is known of the task meanwhile; `control` is the handle of those outside.
"""

from .task_consumer import TaskConsumer
from .task_view import EventCallback
from .turn_handle import TurnHandle

__all__ = ["EventCallback", "TaskConsumer", "TurnHandle"]
