"""PURE. Why a question got no answer, for programs and operators: a part of the catalogue in
`text/words.py`.
"""

AGENT_FAILED = "The agent failed."
ANSWER_LOST = "The answer could not be finished."
NOT_ASKED = "The agent was not asked."
BECAUSE = "{} ({})"
