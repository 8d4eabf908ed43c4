"""The scripted agent: serves any tape or captured stream, with its timing and its cuts."""
