"""PURE. The names of Slack's errors that are known here: what its documentation lists for the methods of the
emulated workspace, what the workspace itself answers, and what others met (facts: Slack 1, 7).

What the bot makes of them is in `slack/faults.py`. Slack adds names without notice: a fault script writes one
that is not in this table as `error:NAME`.
"""

from __future__ import annotations

_ANY_METHOD = """
    access_denied accesslimited account_inactive deprecated_endpoint ekm_access_denied
    enterprise_is_restricted fatal_error internal_error invalid_arg_name invalid_arguments
    invalid_array_arg invalid_auth invalid_charset invalid_form_data invalid_json invalid_post_type
    method_deprecated
    method_not_supported_for_channel_type missing_argument missing_post_type missing_scope no_permission
    not_allowed_token_type not_authed org_login_required rate_limited ratelimited request_timeout
    service_unavailable team_access_not_granted team_added_to_org token_expired token_revoked
    two_factor_setup_required unknown_method
"""
_STREAMS = """
    cannot_provide_both_markdown_text_and_chunks channel_type_not_supported feature_disabled invalid_chunks
    markdown_text_or_chunks_required markdown_text_required message_not_in_streaming_state
    message_not_owned_by_app missing_recipient_team_id missing_recipient_user_id
    not_subscribed_to_message_stream_stopped stopped_by_user streaming_mode_mismatch streaming_state_conflict
"""
_MESSAGES = """
    as_user_not_supported attachment_payload_limit_exceeded block_mismatch cannot_reply_to_message
    cant_broadcast_message cant_delete_message cant_update_message channel_not_found draft_already_deleted
    draft_already_sent draft_has_conflict draft_not_found duplicate_channel_not_found
    duplicate_message_not_found edit_window_closed external_channel_migrating invalid_attachments
    invalid_blocks invalid_blocks_format invalid_metadata_format invalid_metadata_schema invalid_thread_ts
    is_archived is_inactive markdown_text_conflict message_limit_exceeded message_not_found
    messages_tab_disabled messaging_processing_failed metadata_must_be_sent_from_app metadata_too_large
    missing_file_data msg_blocks_too_long msg_blocks_too_many msg_too_long no_dual_broadcast_content_update
    no_text not_in_channel restricted_action restricted_action_non_threadable_channel
    restricted_action_read_only_channel restricted_action_thread_locked restricted_action_thread_only_channel
    slack_connect_canvas_sharing_blocked slack_connect_file_link_sharing_blocked
    slack_connect_lists_sharing_blocked team_not_found too_many_attachments too_many_contact_cards
    update_failed user_not_found user_not_in_channel
"""
_THREADS = """
    invalid_cursor invalid_metadata_filter_keys invalid_status invalid_ts_latest invalid_ts_oldest
    invalid_user_combination list_record_comment_fetch_failed missing_thread_ts not_agent_app not_enough_users
    reserved_username thread_not_found thread_ts_required too_many_users user_disabled user_not_visible
    users_list_not_supplied
"""
_FILES = """
    alt_txt_too_large blocked_file_type channels_limit_exceeded file_deleted file_is_deleted file_not_found
    file_share_limit_reached file_type_not_allowed file_update_failed file_upload_size_restricted
    file_uploads_disabled file_uploads_except_images_disabled invalid_channel max_file_sharing_exceeded
    posting_to_channel_denied slack_connect_blocked_file_type slack_connect_clip_sharing_blocked
    slack_connect_file_upload_sharing_blocked snippet_too_large storage_limit_reached unable_to_share_files
    unknown_snippet_type unknown_subtype
"""
_REACTIONS = """
    already_reacted bad_timestamp invalid_name no_access no_item_specified no_reaction not_reactable
    thread_locked too_many_emoji too_many_reactions
"""
_VIEWS = """
    duplicate_external_id exchanged_trigger_id expired_trigger_id hash_conflict invalid_trigger_id not_found
    push_limit_reached view_too_large
"""

ERROR_NAMES = frozenset(
    " ".join((_ANY_METHOD, _STREAMS, _MESSAGES, _THREADS, _FILES, _REACTIONS, _VIEWS)).split()
)
"""Every name, whichever method answers it."""
