"""The audit: one line for each turn, with asker, agent, outcome and approvals."""
