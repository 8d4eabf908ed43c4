"""What the parts of messages and artifacts hold."""
