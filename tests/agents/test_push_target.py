from __future__ import annotations

import re

from slack_bot.agents.push_target import PUSH_ID, PushTarget, hash_secret


def test_targets_cannot_be_guessed_and_keep_no_secret() -> None:
    targets = [PushTarget.new("https://bot.example/base/") for _ in range(1000)]
    assert len({each.push_id for each in targets}) == len({each.secret for each in targets}) == 1000
    for each in targets:
        assert re.fullmatch(r"https://bot\.example/base/a2a/push/[\w-]{22}", each.url)
        assert each.url.endswith(each.push_id)
        assert PUSH_ID.fullmatch(each.push_id)
        assert len(each.secret) == 43
        assert each.secret_hash == hash_secret(each.secret)
        assert re.fullmatch(r"[0-9a-f]{64}", each.secret_hash)


def test_any_text_has_a_hash() -> None:
    assert hash_secret("\udcff") != hash_secret("")
