"""The raw events of agents, kept in the store."""
