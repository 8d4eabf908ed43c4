"""The reference agent: an example of an agent whose answer can be streamed without loss.

`run` is the loop around model and tools, `voice_splitter` and `structured` find the answer in what a model
says, `event_writer` writes the A2A events. `local` and `endpoint` are two models.
"""
