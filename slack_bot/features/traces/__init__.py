"""Traces of turns for OpenTelemetry."""
