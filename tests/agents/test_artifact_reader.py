"""What a dialect says of an artifact."""

from __future__ import annotations

from slack_bot.agents.artifact_reader import ArtifactReader
from slack_bot.agents.dialects.dialect import ArtifactKind
from slack_bot.agents.wire.frames import Artifact
from tests.agents.parser_turns import artifact, text

FLAGS = {"is_final_answer": True}


def test_a_dialect_is_recognised_once_and_a_named_one_is_not_looked_for() -> None:
    reader = ArtifactReader("auto")
    frame = artifact(text("x"), name="streaming_result")
    plain = Artifact(name="streaming_result")
    assert reader.is_open and reader.traits(plain).kind is ArtifactKind.ANSWER
    found = reader.recognise(frame, ())
    assert found is reader.dialect and not reader.is_open
    assert reader.traits(plain).kind is ArtifactKind.STREAM, "what was read before is read again"
    assert not ArtifactReader("generic").is_open


def test_a_mark_of_a_sub_agent_is_not_that_of_the_agent() -> None:
    reader = ArtifactReader("caipe")
    own = reader.traits(Artifact(name="streaming_result", metadata=FLAGS))
    assert (own.is_marked, own.is_answer, own.may_attach) == (True, True, True)
    other = reader.traits(Artifact(name="streaming_result", metadata={**FLAGS, "agentType": "sub-agent"}))
    assert (other.is_marked, other.is_answer, other.may_attach) == (True, False, False)


def test_after_a_leak_every_text_is_suspect() -> None:
    reader = ArtifactReader("caipe")
    assert not reader.leaks("The fox")
    reader.note_leak()
    assert reader.leaks("The fox")
