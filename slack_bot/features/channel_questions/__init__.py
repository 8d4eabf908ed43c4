"""New messages of chosen channels are questions, without a mention of the bot (`respond = "channel"`)."""
