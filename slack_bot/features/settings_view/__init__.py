"""Shows operators which settings count in a channel."""
