"""Does in Slack what an agent asks for beside its answer, where a channel allows it."""
