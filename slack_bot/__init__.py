"""Mention the bot in Slack, and the answer of any A2A agent is written live into the thread.

The path of one turn, which is also the order of the folders:

    Slack event -> listeners   a payload becomes a Question
                -> dispatch    accepted once, one turn at a time in a thread
                -> runner      keeps the clock; events -> machine -> buffer -> sink
                -> a2a         the agent's bytes become typed events
                -> turn        decides, without I/O: what is answer, what is narration, where to cut
                -> slack       the decisions become Web API calls
"""

__version__ = "0.1.0"
