"""What Slack's answers hold: the keys that were seen in real ones, and their types.

Read in the answers that Slack recorded, without their values, for two of its SDKs: `json-logs/samples/api` of
java-slack-sdk, and `packages/web-api/src/types/response` of node-slack-sdk, types that are made from them.
Both put together what many calls were answered, so no single answer has all of a row. The table is our own.

By method and place in the answer: the names, with the type if it is not text. A minus: Slack answers it, and
the emulated workspace does not, because nothing of this bot reads it (a test looks). Of pictures, previews
and what administrators see, not all is named. Errors and warnings, which every method may answer, are left
out.
"""

from __future__ import annotations

from collections.abc import Mapping

_PERSON = {
    "user": (
        "id team_id name deleted:bool real_name tz is_restricted:bool is_ultra_restricted:bool is_bot:bool"
        " is_email_confirmed:bool profile:dict enterprise_user:dict"
        " -color -tz_label -tz_offset:int -is_admin:bool -is_owner:bool -is_primary_owner:bool"
        " -is_app_user:bool -updated:int -has_2fa:bool -who_can_share_contact_card"
    ),
    "user.profile": (
        "real_name display_name email -title -phone -skype -real_name_normalized -display_name_normalized"
        " -status_text -status_emoji -status_expiration:int -avatar_hash -image_24 -image_512 -first_name"
        " -last_name -team -status_text_canonical"
    ),
    "user.enterprise_user": "id enterprise_id -enterprise_name -is_admin:bool -is_owner:bool -teams:list",
}
_FILE = (
    "id name title mimetype filetype size:int mode is_external:bool file_access created:int timestamp:int"
    " user user_team url_private url_private_download -pretty_type -editable:bool -username -is_public:bool"
    " -public_url_shared:bool -permalink -permalink_public -has_rich_preview:bool -media_display_type"
)
_POSTED = (
    "type subtype user ts team text blocks:list app_id bot_id thread_ts parent_user_id metadata:dict username"
    " icons:dict bot_profile:dict -room:dict -attachments:list"
)
_MESSAGE = (
    "type user ts team text blocks:list app_id bot_id client_msg_id thread_ts parent_user_id metadata:dict"
    " edited:dict files:list reactions:list attachments:list reply_count:int reply_users:list"
    " latest_reply username icons:dict"
    " bot_profile:dict -reply_users_count:int -is_locked:bool -subscribed:bool -last_read -upload:bool"
    " -display_as_bot:bool"
)
_BOT = "id app_id name team_id deleted:bool -user_id -updated:int -icons:dict"
_IN_MESSAGE = {"message.icons": "emoji -image_64", "message.bot_profile": _BOT}
_PARTS = {
    "messages.bot_profile": _BOT,
    "messages.edited": "user ts",
    "messages.files": _FILE,
    "messages.icons": "emoji -image_64",
    "messages.reactions": "name users:list count:int -url",
    "response_metadata": "next_cursor",
}
_VIEW = (
    "id team_id type blocks:list private_metadata callback_id state:dict hash clear_on_close:bool"
    " notify_on_close:bool external_id root_view_id app_id bot_id app_installed_team_id"
    " -submit_disabled:bool"
)
_LABEL = "type text -emoji:bool"
_MODAL = {
    "": "view:dict",
    "view": f"{_VIEW} title:dict submit:dict close:dict",
    "view.title": _LABEL,
    "view.submit": _LABEL,
}
_OWN = "channel ts"

RECORDED: Mapping[str, Mapping[str, str]] = {
    "agents.sessions.rename": {"": "title"},
    "agents.sessions.setStatus": {"": "status title -agent_status"},
    "apps.connections.open": {"": "url"},
    "apps.manifest.export": {
        "": "manifest:dict",
        "manifest": (
            "settings:dict oauth_config:dict -_metadata:dict -display_information:dict -features:dict"
        ),
        "manifest.settings": (
            "event_subscriptions:dict interactivity:dict socket_mode_enabled:bool -org_deploy_enabled:bool"
            " -token_rotation_enabled:bool -allowed_ip_address_ranges:list"
        ),
        "manifest.settings.event_subscriptions": "bot_events:list -user_events:list -request_url",
        "manifest.settings.interactivity": "is_enabled:bool -request_url -message_menu_options_url",
        "manifest.oauth_config": "scopes:dict -redirect_urls:list",
        "manifest.oauth_config.scopes": "bot:list -user:list",
    },
    "assistant.threads.setStatus": {"": ""},
    "assistant.threads.setSuggestedPrompts": {"": ""},
    "assistant.threads.setTitle": {"": ""},
    "auth.test": {
        "": "url team user team_id user_id bot_id is_enterprise_install:bool enterprise_id -app_id -app_name"
    },
    "bots.info": {"": "bot:dict", "bot": "id name app_id user_id -deleted:bool -updated:int -icons:dict"},
    "chat.appendStream": {"": _OWN},
    "chat.delete": {"": _OWN},
    "chat.postEphemeral": {"": "message_ts"},
    "chat.postMessage": {
        "": f"{_OWN} message:dict",
        "message": _POSTED,
        "message.icons": "emoji -image_64",
        "message.bot_profile": _BOT,
    },
    "chat.startStream": {"": _OWN},
    "chat.stopStream": {
        "": f"{_OWN} message:dict",
        "message": (
            "user type ts bot_id app_id text team thread_ts parent_user_id blocks:list streaming_state"
            " bot_profile:dict -room:dict"
        ),
        "message.bot_profile": _BOT,
    },
    "chat.update": {
        "": f"{_OWN} text message:dict",
        "message": (
            "app_id blocks:list bot_id edited:dict metadata:dict team text type user -files:list"
            " bot_profile:dict -room:dict -upload:bool -display_as_bot:bool"
        ),
        "message.edited": "user ts",
        "message.bot_profile": _BOT,
    },
    "conversations.history": {
        "": (
            "messages:list has_more:bool response_metadata:dict -oldest -pin_count:int"
            " -channel_actions_ts:int -channel_actions_count:int"
        ),
        "messages": f"{_MESSAGE} subtype root:dict",
        **_PARTS,
    },
    "conversations.info": {
        "": "channel:dict",
        "channel": (
            "id name is_channel:bool is_group:bool is_im:bool is_mpim:bool is_private:bool is_archived:bool"
            " is_shared:bool is_ext_shared:bool is_org_shared:bool is_pending_ext_shared:bool is_member:bool"
            " user pending_shared:list pending_connected_team_ids:list"
            " -created:int -creator -is_general:bool -unlinked:int -name_normalized -topic:dict"
            " -purpose:dict"
            " -shared_team_ids:list -previous_names:list -context_team_id -updated:int"
        ),
    },
    "conversations.open": {"": "channel:dict -no_op:bool -already_open:bool", "channel": "id"},
    "conversations.replies": {
        "": "messages:list has_more:bool response_metadata:dict",
        # streaming_state was recorded in the answer to chat.stopStream alone; see the rule read.state
        "messages": f"{_MESSAGE} subtype streaming_state",
        **_PARTS,
    },
    "files.completeUploadExternal": {"": "files:list", "files": "id title name size:int"},
    "files.delete": {"": ""},
    "files.getUploadURLExternal": {"": "upload_url file_id"},
    "files.info": {
        "": "file:dict comments:list -paging:dict -content -is_truncated:bool",
        "file": _FILE,
    },
    "reactions.add": {"": ""},
    "reactions.remove": {"": ""},
    "usergroups.users.list": {"": "users:list"},
    "users.info": {"": "user:dict", **_PERSON, "user": f"{_PERSON['user']} locale is_stranger:bool"},
    "users.lookupByEmail": {"": "user:dict", **_PERSON},
    "views.open": _MODAL,
    "views.publish": {"": "view:dict", "view": f"{_VIEW} -title:dict"},
    "views.push": {**_MODAL, "view": f"{_MODAL['view']} previous_view_id"},
    "views.update": _MODAL,
}
"""By method; `ok` is in each answer."""
