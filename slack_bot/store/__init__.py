"""What the bot keeps on disk or in Redis, behind small interfaces."""
