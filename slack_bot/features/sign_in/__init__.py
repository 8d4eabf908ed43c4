"""People sign in once at an agent's authorization server. The agent then acts with their rights."""
