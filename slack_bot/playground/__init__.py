"""The playground: agents, an emulated Slack workspace, the real bot and a page, in one process.

Nothing in the bot imports it.
"""
