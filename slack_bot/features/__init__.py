"""What the bot does besides answering questions, one folder for each feature."""
