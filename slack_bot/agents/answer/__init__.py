"""Which text is the answer."""
