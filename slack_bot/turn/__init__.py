"""The core: one turn, decided without any I/O, clock or logging. Standard library only."""
