"""PURE. The rules of the emulated workspace, a file for each family of methods; `workspace` joins them.

Strict on purpose: where Slack's behaviour is disputed, the stricter reading is emulated, so that a bot that
works here works there. Measured, undocumented numbers are fields of `WorkspaceRules`.
"""
