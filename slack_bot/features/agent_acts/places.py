"""PURE. Whether what an agent wrote may go from one conversation into another one."""

from collections.abc import Collection, Mapping
from typing import Any

from ...text.feature_words import PLACE_PUBLIC, PLACE_SHARED

Channel = Mapping[str, Any]
"""The `channel` of Slack's `conversations.info`."""


def why_not_there(source: Channel | None, target: Channel, channel: str, *, may_reveal: bool) -> str:
    """Why nothing of `source` may be posted into `target`, for people; "": it may be.

    What Slack leaves out counts as the worst. `source`: None if it is a direct message. `channel`: the id of
    `target`. `may_reveal`: what is private may be posted where everybody can read it.
    """
    if not _is_ours_alone(target):
        return PLACE_SHARED.format(f"<#{channel}>")
    if _is_surely(target, private=True) or may_reveal:
        return ""
    is_public = source is not None and _is_surely(source, private=False)
    return "" if is_public else PLACE_PUBLIC.format(f"<#{channel}>")


def _is_surely(channel: Channel, *, private: bool) -> bool:
    if channel.get("is_private") is not private:
        return False
    return private or not (channel.get("is_im") or channel.get("is_mpim") or channel.get("is_group"))


def _is_ours_alone(channel: Channel) -> bool:
    """Nobody of another organisation is in it, or is invited. All workspaces of one organisation are ours."""
    if channel.get("is_ext_shared") is not False:
        return False
    others: Collection[object] = [channel.get("is_pending_ext_shared"), channel.get("pending_shared")]
    others = [*others, channel.get("pending_connected_team_ids")]
    is_among_us = not channel.get("is_shared") or channel.get("is_org_shared") is True
    return is_among_us and not any(others)
