"""What the parts of a message say: text, thoughts, tool calls, forms, data."""
