"""The reference agent: an example of an agent whose answer can be streamed without loss.

In the order of a text's path: `model` defines what a language model sends, `local` and `endpoint` are two
models, `voice_splitter` splits narration and answer, `structured` reads the answer out of growing JSON, `run`
is the loop around model and tools, `event_writer` writes the A2A events.
"""
