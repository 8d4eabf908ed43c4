"""Capture files of every kind become one format: the tape."""
