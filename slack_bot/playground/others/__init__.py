"""The playground's other agents, beside the reference agent, and where people sign in for one of them."""
