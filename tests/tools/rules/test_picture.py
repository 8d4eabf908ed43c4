"""A thread in lines that can be compared."""

from __future__ import annotations

from slack_bot.tools.rules.picture import difference, picture

RICH = {
    "type": "rich_text",
    "elements": [
        {
            "type": "rich_text_section",
            "elements": [
                {"type": "text", "text": "bold", "style": {"bold": True}},
                {"type": "text", "text": " and "},
                {"type": "link", "url": "https://a.b", "text": "here"},
                {"type": "user", "user_id": "U123"},
                {"type": "emoji", "name": "family", "unicode": "1f468-200d-1f469"},
                {"type": "emoji", "name": "own"},
            ],
        },
        {
            "type": "rich_text_list",
            "style": "bullet",
            "indent": 1,
            "elements": [{"type": "rich_text_section", "elements": [{"type": "text", "text": "below"}]}],
        },
        {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": "a\nb"}]},
    ],
}


def test_blocks_are_lines_without_ids() -> None:
    cells = [[{"type": "raw_text", "text": "a"}, {"type": "raw_number", "value": 2}]]
    button = {"type": "button", "text": {"type": "plain_text", "text": "Go"}, "action_id": "x"}
    card = {"type": "task_card", "title": "Step", "status": "complete", "details": "said"}
    blocks = [
        {"type": "plan", "title": "Two", "tasks": [card]},
        RICH,
        {"type": "table", "rows": cells},
        {"type": "divider"},
        {"type": "actions", "block_id": "b1", "elements": [button]},
        {"type": "context", "elements": [{"type": "mrkdwn", "text": "A note. Reference: 0a1b2c."}]},
    ]
    thread = [
        {"ts": "1.2", "streaming_state": "completed", "edited": {"user": "U1"}, "blocks": blocks},
        {"text": "plain", "files": [{"name": "a.csv", "size": 3, "id": "F1"}]},
    ]
    assert picture(thread) == [
        "=== streamed, edited",
        "plan: Two",
        "card [complete] Step / said",
        "**bold** and [here](https://a.b)@user\U0001f468‍\U0001f469:own:",
        "  * below",
        "code: a",
        "code: b",
        "| a | 2 |",
        "---",
        "actions: (button Go)",
        "context: A note. Reference: ....",
        "=== posted",
        "plain",
        "file: a.csv, 3 bytes",
    ]


def test_a_difference_shows_both_sides() -> None:
    assert difference(["a", "b"], ["a", "b"]) == []
    assert difference(["a", "b"], ["a", "c"])[-2:] == ["-b", "+c"]
