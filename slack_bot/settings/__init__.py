"""Settings: every number with unit, default and source, and how they are read."""
