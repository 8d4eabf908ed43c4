"""Measurements. `python -m tests.bench` prints how quick and how small the bot is; its parts say how."""
