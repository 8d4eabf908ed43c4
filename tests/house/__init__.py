"""Guards of the house: its figures may only fall, and what people, operators and tools see stays as it is."""
