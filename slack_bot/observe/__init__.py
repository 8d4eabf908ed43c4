"""Facts about turns and what observes them: logs, metrics, health."""
