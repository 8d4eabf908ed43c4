"""PURE. The rules of the emulated workspace, one file a family; `playground.workspace` puts them together.

Strict on purpose: where Slack's behaviour is disputed, the harsher reading stands here, so that a bot that
passes here passes there. Numbers that somebody measured and nobody documented are fields of `Rules`.
"""
