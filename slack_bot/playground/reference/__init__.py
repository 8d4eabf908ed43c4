"""The reference agent: how to stream an answer so that its reader sees it grow, and nothing of it is lost.

A worked example for those who write agents, in the order a piece of text passes: `model` says what a language
model can say, `local` and `endpoint` are two of them, `gate` decides what each piece is (narration, answer),
`structured` and `words` read the answer out of growing JSON, `run` is the loop around model and tools. What
comes out is told on the A2A wire by `telling`, one folder up.
"""
