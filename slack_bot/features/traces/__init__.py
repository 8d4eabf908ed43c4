"""A trace of each turn, for OpenTelemetry."""
