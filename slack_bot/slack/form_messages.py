"""PURE. What is written about a form after it was shown: its record, and the private link of a sign-in."""

from collections.abc import Sequence

from ..turn.form import Form
from ..turn.progress import MessageRecord
from .blocks import Args, Block
from .cards import CardClosing
from .faults import CallFailed, CallOk
from .forms import sign_in, sign_in_blocks
from .model import SlackMessage
from .orders import CallSlack, Step
from .surfaces import PostSurface
from .turn_calls import TurnCalls


def write_record(calls: TurnCalls, shown: MessageRecord, under: Sequence[Block]) -> Step[bool]:
    """Put `under` in the place of the form below its message. False: Slack did not take it."""
    message = SlackMessage.restored(shown, 1)
    failed = yield from PostSurface(calls).rewrite(message, shown.text, under, CardClosing.DONE)
    return failed is None


def send_sign_in(calls: TurnCalls, form: Form, user: str) -> Step[bool]:
    """Give a person the link of a sign-in, for nobody else to see. False: Slack took it in no way."""
    hosts = calls.settings.auth_hosts
    text, blocks = sign_in_blocks(sign_in(form.url, hosts), is_known=bool(hosts))
    said: Args = {"text": text, "blocks": blocks}
    place = {"channel": calls.channel, "thread_ts": calls.thread_ts, "user": user}
    sent = yield from CallSlack("chat.postEphemeral", {**place, **said})
    if isinstance(sent, CallOk):
        return True
    opened = yield from CallSlack("conversations.open", {"users": user})
    if isinstance(opened, CallFailed):
        return False
    direct = (opened.data.get("channel") or {}).get("id")
    sent = yield from CallSlack("chat.postMessage", {"channel": direct, **said})
    return isinstance(sent, CallOk)
