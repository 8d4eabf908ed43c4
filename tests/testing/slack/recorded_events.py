"""What Slack's events and presses hold: the keys that were seen in real ones, and their types.

Read in what Slack sent, as it stands, without its values, in the tests of two of its SDKs: java-slack-sdk
(`slack-api-model/src/test/java/test_locally/api/model/event`, `slack-app-backend/src/test/java/test_locally`)
and bolt-python (`tests/scenario_tests`); of an edited mention in slack-go#1256, of an app under another name
in a test of its reader. The table is our own. `json-logs` of java-slack-sdk counts for nothing here: what it
has of events is made from types.

By kind and place: the names, with the type if it is not text. A minus: Slack sends it, and the emulated
workspace does not, because nothing of this bot reads it (a test looks). A plus: the emulated workspace sends
it, and no recording has it: Slack's pages say so, or somebody who measured. Older names that Slack sends no
more (`authed_users`) and what is for functions and workflows are left out.
"""

from __future__ import annotations

from collections.abc import Mapping

_BOT = "id app_id name team_id deleted:bool -updated:int -icons:dict"
_PLACE = "channel event_ts channel_type"
_PERSONS = "client_msg_id type text user ts team blocks:list thread_ts parent_user_id"
_APPS = "type text user ts team bot_id app_id bot_profile:dict blocks:list thread_ts +parent_user_id"
_FROM_ELSEWHERE = "user_team source_team user_profile:dict"
_PROFILE = (
    "+name +real_name +display_name +team +is_restricted:bool +is_ultra_restricted:bool"
    " -avatar_hash -image_72 -first_name"
)
_STREAMED = "+streaming_state"
_REPLIES = "reply_count:int reply_users:list latest_reply -reply_users_count:int -is_locked:bool"
_READ = "-subscribed:bool -last_read"
_SHARED = "files:list -upload:bool -display_as_bot:bool"
_CHANGE = "type subtype hidden:bool ts event_ts channel channel_type"
_EDITED = {"message.edited": "user ts"}

EVENTS: Mapping[str, Mapping[str, str]] = {
    "app_mention": {
        "": f"{_PERSONS.replace(' parent_user_id', '')} channel event_ts edited:dict +subtype +files:list"
        f" +user_team +source_team +user_profile:dict +bot_id +app_id +bot_profile:dict",
        "edited": "user ts",
        "user_profile": _PROFILE,
        "bot_profile": _BOT,
    },
    "message of a person": {
        "": f"{_PERSONS} {_PLACE} {_FROM_ELSEWHERE} +app_context:dict -assistant_thread:dict",
        "user_profile": _PROFILE,
        "app_context": "+entities:list",
        "app_context.entities": "+type +value +team_id",
    },
    "message of a person with a file": {
        "": f"{_PERSONS.replace(' team', '')} subtype {_SHARED} {_PLACE}"
        " +user_team +source_team +user_profile:dict",
        "user_profile": _PROFILE,
    },
    "message of an app": {
        "": f"{_APPS} {_PLACE} {_STREAMED} +attachments:list",
        "bot_profile": _BOT,
    },
    "message of an app under another name": {
        "": f"type subtype text ts username icons:dict bot_id app_id blocks:list thread_ts {_PLACE}"
        " +parent_user_id -attachments:list",
        "icons": "emoji -image_48 -image_64",
    },
    "reply that the channel sees too": {
        "": f"type subtype text user ts thread_ts root:dict {_PLACE} -client_msg_id"
        " +team +blocks:list +bot_id +app_id +bot_profile:dict +parent_user_id",
        "bot_profile": _BOT,
    },
    "edit by a person": {
        "": f"{_CHANGE} message:dict previous_message:dict",
        "message": f"{_PERSONS} edited:dict user_team source_team {_SHARED}",
        "previous_message": f"{_PERSONS} {_SHARED}",
        **_EDITED,
    },
    "edit by an app": {
        "": f"{_CHANGE} message:dict previous_message:dict",
        "message": f"{_APPS} attachments:list edited:dict +metadata:dict {_STREAMED}",
        "previous_message": f"{_APPS} attachments:list {_STREAMED}",
        "message.bot_profile": _BOT,
        "previous_message.bot_profile": _BOT,
        **_EDITED,
    },
    "another status of a thread": {
        "": f"{_CHANGE} message:dict previous_message:dict",
        "message": f"{_PERSONS.replace(' parent_user_id', '')} {_REPLIES} {_READ} +agent_session:dict",
        "previous_message": f"{_PERSONS.replace(' parent_user_id', '')} {_REPLIES} {_READ}"
        " +agent_session:dict",
        "message.agent_session": "+status",
        "previous_message.agent_session": "+status",
    },
    "deletion of a root with replies": {
        "": f"{_CHANGE} message:dict previous_message:dict",
        "message": f"type subtype text user hidden:bool ts thread_ts {_REPLIES}",
        "previous_message": f"{_PERSONS.replace(' parent_user_id', '')} {_REPLIES} {_READ}",
    },
    "deletion of the last reply to it": {
        "": f"{_CHANGE} message:dict previous_message:list",
        "message": "type subtype text user hidden:bool ts",
    },
    "deletion": {
        "": f"{_CHANGE} deleted_ts previous_message:dict",
        "previous_message": f"{_PERSONS} edited:dict bot_id app_id bot_profile:dict +attachments:list"
        " +reactions:list",
        "previous_message.edited": "user ts",
        "previous_message.reactions": "+name +users:list +count:int",
        "previous_message.bot_profile": _BOT,
    },
    "reaction_added": {"": "type user reaction item:dict item_user event_ts", "item": "type channel ts"},
    "reaction_removed": {"": "type user reaction item:dict item_user event_ts", "item": "type channel ts"},
    "app_home_opened": {
        "": "type user channel tab event_ts view:dict",
        "view": (
            "id team_id type blocks:list private_metadata callback_id state:dict hash clear_on_close:bool"
            " notify_on_close:bool root_view_id app_id external_id app_installed_team_id bot_id"
        ),
    },
    "agent_session_stopped": {"": "type channel user streaming_message_ts:list thread_ts event_ts"},
    "app_context_changed": {
        "": "+type +user +channel +channel_type +context:dict +event_ts",
        "context": "+entities:list",
        "context.entities": "+type +value +team_id",
    },
}
"""By kind, what stands in `event`."""

CALLBACK: Mapping[str, str] = {
    "": (
        "token team_id enterprise_id context_team_id context_enterprise_id api_app_id type event:dict"
        " event_id event_time:int authorizations:list is_ext_shared_channel:bool event_context"
    ),
    "authorizations": "team_id enterprise_id user_id is_bot:bool is_enterprise_install:bool",
}
"""What stands around an event. `event_context` is not there if it is app_home_opened."""

_PERSON_AND_PLACE = "type api_app_id token trigger_id user:dict team:dict enterprise:dict"
_WHO = {
    "user": "id username name team_id",
    "team": "id domain enterprise_id enterprise_name",
    "enterprise": "id name",
}
_PRESSED = "type action_id block_id text:dict value action_ts -style -confirm:dict"
_LABEL = "type text -emoji:bool"
_VIEW = (
    "id team_id type blocks:list private_metadata callback_id state:dict hash clear_on_close:bool"
    " notify_on_close:bool root_view_id app_id external_id app_installed_team_id bot_id"
)
_TITLES = {"view.title": _LABEL, "view.submit": _LABEL}

PRESSES: Mapping[str, Mapping[str, str]] = {
    "press in a message": {
        "": f"{_PERSON_AND_PLACE} is_enterprise_install:bool container:dict channel:dict message:dict"
        " state:dict response_url actions:list",
        **_WHO,
        "container": "type message_ts channel_id is_ephemeral:bool thread_ts",
        "channel": "id name",
        "message": "type text user ts team bot_id app_id blocks:list +thread_ts +parent_user_id"
        " +bot_profile:dict +metadata:dict",
        "message.bot_profile": "+id +app_id +name +team_id +deleted:bool",
        "actions": _PRESSED,
        "actions.text": _LABEL,
    },
    "press in a message that one person sees": {
        "": f"{_PERSON_AND_PLACE} is_enterprise_install:bool container:dict channel:dict state:dict"
        " response_url actions:list",
        **_WHO,
        "container": "type message_ts channel_id is_ephemeral:bool thread_ts",
        "channel": "id name",
        "actions": _PRESSED,
        "actions.text": _LABEL,
    },
    "press in a view": {
        "": f"{_PERSON_AND_PLACE} is_enterprise_install:bool container:dict view:dict actions:list",
        **_WHO,
        "container": "type view_id",
        "view": f"{_VIEW} title:dict submit:dict close:dict",
        **_TITLES,
        "actions": _PRESSED,
        "actions.text": _LABEL,
    },
    "view_submission": {
        "": f"{_PERSON_AND_PLACE} is_enterprise_install:bool view:dict response_urls:list",
        **_WHO,
        "view": f"{_VIEW} title:dict submit:dict close:dict",
        **_TITLES,
    },
}
"""By kind, the whole payload."""
