"""Forms and approvals of agents: people answer them with buttons and modals, once."""
