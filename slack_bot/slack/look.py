"""PURE. The name and the picture of the answers of one of several agents in Slack.

Slack shows them only with the scope `chat:write.customize`, which who installs the app may refuse (facts:
Slack 1.1, 14).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..turn.extras import Source
from ..web.addresses import may_fetch
from .features import WorkspaceFacts, WorkspaceFeature
from .odd_hosts import odd_host
from .refused_parts import CallPart, RefusedParts

CUSTOMIZE = "chat:write.customize"
LOOKED = frozenset(
    {"chat.postMessage", "chat.startStream", "assistant.threads.setStatus", "agents.sessions.setStatus"}
)
"""The methods that show a name and a picture."""
MOST_NAME = 80  # Slack: characters of a name
_URL = 3_000  # Slack: characters of an image's address


@dataclass(frozen=True, slots=True)
class Look:
    """`icon_emoji`: as `:mag:`; without one, `icon_url` counts."""

    name: str
    icon_emoji: str = ""
    icon_url: str = ""

    @property
    def args(self) -> dict[str, str]:
        """The arguments of a call that shows it."""
        icon = {"icon_emoji": self.icon_emoji} if self.icon_emoji else {"icon_url": self.icon_url}
        return {"username": self.name, **{name: value for name, value in icon.items() if value}}


def look_args(method: str, look: Look | None) -> Mapping[str, str]:
    """What goes along with a call of `method`, so that its message is shown under `look`."""
    return {} if look is None or method not in LOOKED else look.args


@dataclass(frozen=True, slots=True)
class TurnFace:
    """How readers see the messages of one turn. `look` None: under the bot's own name, as there is one agent
    only.

    `refused_parts` are all turns'. `approvers`: those of the channel. `can_stream`: the channel lets its
    asker see an answer grow before all others. `can_share`: it lets its asker send an answer to all of the
    channel. `suggestions`: how many next questions it shows below an answer.
    """

    look: Look | None = None
    refused_parts: RefusedParts = field(default_factory=RefusedParts)
    approvers: Sequence[str] = ()
    can_stream: bool = True
    can_share: bool = False
    suggestions: int = 0

    def name_below(self, workspace: WorkspaceFacts) -> str:
        """The name of the agent where Slack does not show it above the answer; "" where it does."""
        is_unseen = CallPart.NAME in self.refused_parts or workspace.lacks(WorkspaceFeature.NAMES) is not None
        return self.look.name if self.look is not None and is_unseen else ""


def may_show(picture: str) -> bool:
    """Slack may fetch this picture: by https, from a host that has a name and is what it seems."""
    is_web = len(picture) <= _URL and may_fetch(picture, {picture.partition("://")[2].partition("/")[0]})
    return is_web and not odd_host(Source(picture))
