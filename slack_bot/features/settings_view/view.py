"""The settings of channels on an operator's Home tab: the select, and the modal that it opens."""

from collections.abc import Iterable, Mapping, Sequence

from ...settings.channels import ALL, DIRECT, EffectiveSetting
from ...slack.blocks import Args, Block, plain, shorten
from ...text.home_words import (
    SETTINGS_CHANNEL,
    SETTINGS_DEFAULT,
    SETTINGS_DIRECT,
    SETTINGS_EMPTY,
    SETTINGS_FROM,
    SETTINGS_NO,
    SETTINGS_OTHER_CHANNELS,
    SETTINGS_PLACE,
    SETTINGS_TITLE,
    SETTINGS_WHICH,
    SETTINGS_YES,
)
from ...turn.buttons import TurnButton

_MOST_OPTIONS, _LABEL = 100, 75  # Slack: options of a select, characters of one
_TITLE = 24  # Slack: characters of a modal's title
_MOST_CHARS = 300  # of one value
_EVERYWHERE = "all"  # the value of the option for all other channels, as Slack takes no empty one


def settings_section(channels: Sequence[str], channel_names: Mapping[str, str]) -> list[Block]:
    """The part of the Home tab. `channels`: ids of those with settings of their own. `channel_names`: the
    names of those that Slack named, by id.
    """
    places = [(_EVERYWHERE, SETTINGS_OTHER_CHANNELS), (DIRECT, SETTINGS_DIRECT)]
    for channel in channels:
        name = channel_names.get(channel)
        places.append((channel, SETTINGS_CHANNEL.format(name, channel) if name else channel))
    select = {
        "type": "static_select",
        "action_id": TurnButton.SETTINGS_OF,
        "placeholder": plain(SETTINGS_PLACE),
        "options": [
            {"text": plain(shorten(label, _LABEL)), "value": value} for value, label in places[:_MOST_OPTIONS]
        ],
    }
    head: Block = {"type": "header", "text": plain(SETTINGS_TITLE)}
    return [head, {"type": "section", "text": plain(SETTINGS_WHICH), "accessory": select}]


def channel_of(value: str) -> str:
    """The channel of an option, as `ChannelPolicies.effective` takes it."""
    return ALL if value == _EVERYWHERE else value


def settings_view(value: str, effective: Iterable[EffectiveSetting]) -> Args:
    """The view for `views.open`. `value`: of the chosen option."""
    label = {_EVERYWHERE: SETTINGS_OTHER_CHANNELS, DIRECT: SETTINGS_DIRECT}.get(value, value)
    return {
        "type": "modal",
        "title": plain(shorten(label, _TITLE)),
        "blocks": [
            {
                "type": "rich_text",
                "elements": [
                    {
                        "type": "rich_text_list",
                        "style": "bullet",
                        "elements": [_line(each) for each in effective],
                    }
                ],
            }
        ],
    }


def _line(setting: EffectiveSetting) -> Block:
    source = SETTINGS_FROM.format(setting.source or SETTINGS_DEFAULT)
    texts: list[Block] = [
        {"type": "text", "text": setting.name, "style": {"bold": True}},
        {"type": "text", "text": f" = {shorten(value_text(setting.value), _MOST_CHARS)}"},
        {"type": "text", "text": source, "style": {"italic": True}},
    ]
    return {"type": "rich_text_section", "elements": texts}


def value_text(value: object) -> str:
    """A value of a setting for people."""
    if isinstance(value, bool):
        return SETTINGS_YES if value else SETTINGS_NO
    if isinstance(value, tuple | list):
        texts = (": ".join(map(str, each)) if isinstance(each, tuple) else str(each) for each in value)
        return ", ".join(texts) or SETTINGS_EMPTY
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {each}" for name, each in value.items()) or SETTINGS_EMPTY
    return SETTINGS_EMPTY if value in (None, "") else str(value)
