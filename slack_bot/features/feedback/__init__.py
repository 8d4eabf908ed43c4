"""Feedback on answers: the bot asks for it, keeps it, and sends it on."""
