"""The core: one turn, decided without I/O, clock or logging."""
