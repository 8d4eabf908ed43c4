"""Dialects: how frameworks mark answer, narration, tools and plans."""
