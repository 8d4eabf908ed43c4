"""Agent in: bytes become typed events. Speaks the A2A wire itself, because real servers mix its versions."""
