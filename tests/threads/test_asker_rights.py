"""Where an agent may be asked that acts with the rights of the asker."""

from __future__ import annotations

from typing import Any

from slack_bot.testing.harness import CHANNEL, run_bot
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.virtual_clock import on_virtual_time

EXCHANGES: dict[str, Any] = {
    "agent.identity": "exchange",
    "agent.exchange.token_url": "http://127.0.0.1:1/token",
    "identity.issuer": "https://bot.example",
    "identity.keys": ("/nowhere.pem",),
}
ELSEWHERE = (
    "default answers with what you may read, so I do not ask it here, where others read along. Ask it in a"
    " direct message with me, or ask whoever runs me to set `personal = true` for this channel."
)


@on_virtual_time
async def test_in_a_channel_nothing_is_asked_and_the_asker_alone_reads_why() -> None:
    async with run_bot(answer("R."), **EXCHANGES) as bot:
        root = await bot.ask("what is in my mail?")
        await bot.idle()
        (told,) = bot.calls("chat.postEphemeral")
        assert (told["channel"], told["user"], told["text"]) == (CHANNEL, "U1", ELSEWHERE)
        assert bot.read(root) == [] and bot.agent.questions == []
