"""The wire: from HTTP and JSON to frames."""
