"""Reads the content of messages and artifacts: text, data, files, forms, tables."""
