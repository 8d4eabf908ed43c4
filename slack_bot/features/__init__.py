"""What the bot does beside answering questions, a folder each."""
