"""What the parts and the metadata of messages and artifacts hold."""
