"""Agents say by themselves that there is news of a task that is watched (A2A push)."""
