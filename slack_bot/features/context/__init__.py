"""What goes to the agent beside a question: what was said in the thread before it, and who asks."""
