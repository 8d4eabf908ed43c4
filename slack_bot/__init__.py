"""Mention the bot in Slack, and the answer of any A2A agent is written live into the thread.

The path of one turn, by folders:

    Slack event -> inbound     a payload becomes a Question
                -> threads     accepted once, one turn at a time in a thread; keeps the clock of what runs
                -> agents      the agent's bytes become typed events
                -> turn        decides, without I/O: what is answer, what is narration
                -> text        where to cut what is shown
                -> slack       the decisions become Web API calls
"""

__version__ = "0.1.0"
