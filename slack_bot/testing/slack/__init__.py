"""PURE. The rules of the emulated workspace, a file for each family of methods; `workspace` joins them.

Where Slack's behaviour is disputed, the stricter reading is emulated.
"""
