"""Reads and writes A2A: from HTTP and JSON to frames, and back."""
