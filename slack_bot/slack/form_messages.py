"""What is written about a form after it was shown: its record, and the private link of a sign-in."""

from collections.abc import Sequence

from ..turn.form import Form
from ..turn.progress import MessageRecord
from .blocks import Args, Block
from .cards import CardClosing
from .faults import CallFailed, CallOk
from .forms import sign_in, sign_in_blocks
from .model import SlackMessage
from .surfaces import PostSurface
from .turn_client import TurnClient


async def write_record(client: TurnClient, shown: MessageRecord, under: Sequence[Block]) -> bool:
    """Put `under` in the place of the form below its message. False: Slack did not take it."""
    message = SlackMessage.restored(shown, 1)
    failed = await PostSurface(client).rewrite(message, shown.text, under, CardClosing.DONE)
    return failed is None


async def send_sign_in(client: TurnClient, form: Form, user: str) -> bool:
    """Give a person the link of a sign-in, for nobody else to see. False: Slack took it in no way."""
    hosts = client.settings.auth_hosts
    text, blocks = sign_in_blocks(sign_in(form.url, hosts), is_known=bool(hosts))
    said: Args = {"text": text, "blocks": blocks}
    place = {"channel": client.channel, "thread_ts": client.thread_ts, "user": user}
    sent = await client.api.call("chat.postEphemeral", {**place, **said})
    if isinstance(sent, CallOk):
        return True
    opened = await client.api.call("conversations.open", {"users": user})
    if isinstance(opened, CallFailed):
        return False
    direct = (opened.data.get("channel") or {}).get("id")
    return isinstance(await client.api.call("chat.postMessage", {"channel": direct, **said}), CallOk)
