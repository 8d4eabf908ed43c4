"""Agents on other people's servers, run by hand in an environment of their own; no test imports them.

`pip install 'fasta2a[pydantic-ai]' 'google-adk[a2a]' uvicorn`, and then in the repository's folder:

python -m tests.peers.fasta2a_agent PORT             pydantic-ai behind fasta2a
python -m tests.peers.pydantic_ai_approvals PORT     pydantic-ai with a tool to be approved, on a2a-sdk
python -m tests.peers.adk_agent PORT                 ADK as it comes: whole model turns
python -m tests.peers.adk_agent PORT sse             ADK that streams, in its default executor
python -m tests.peers.adk_agent PORT extension       ADK that streams, in its newer executor

slack-bot conform --url http://127.0.0.1:PORT -v     with --suite caipe and --suite extended

Their models are scripted: a question with "agntcy" in it is looked up with a tool first, and one with
"fail" in it fails.
"""

FOX = "The quick brown fox jumps over the lazy dog. "
NARRATION = "Let me look that up. "
FOUND = "Five facts about foxes."
WORDS_A_SECOND = 20
CHAT, RESEARCHED = FOX.strip(), (FOX * 8).strip()


def words_of(text: str) -> list[str]:
    """The text in pieces that end after a space."""
    return [word + " " for word in text.split(" ")[:-1]] + text.split(" ")[-1:]
