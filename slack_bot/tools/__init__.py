"""Tools for developers, built on the bot. Nothing in the bot imports them; `cli` does, inside its verbs."""
