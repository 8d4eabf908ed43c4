"""The test kit: an emulated Slack workspace, a scripted A2A agent, tapes, a virtual clock, and the whole bot.

It all runs in memory; five minutes take milliseconds:

    from slack_bot.testing.harness import run_bot
    from slack_bot.testing.tape.builders import answer
    from slack_bot.testing.virtual_clock import on_virtual_time

    @on_virtual_time
    async def test_a_slow_answer_is_streamed() -> None:
        async with run_bot(answer("It takes five minutes.", seconds=300)) as bot:
            thread = await bot.ask("How long?")
            await bot.idle()
            assert bot.read(thread) == ["It takes five minutes."]
            assert bot.calls("chat.appendStream")

The parts work alone too. `slack.workspace.Workspace` refuses what Slack refuses, with Slack's limits and
rates; slack_sdk reaches it through `slack.in_process.SlackSession`, or over HTTP and Socket Mode through
`slack.server.SlackServer`. `agent.scripted.ScriptedAgent` plays any `tape.tape.Tape` with its timing and its
cuts, behind httpx or on a port (`serve_scripted`). `harness.bot_on_network` joins all of it.
"""
