"""What is stored, as JSON: one reader and writer for each kind of record. Each takes a while to build."""

from pydantic import TypeAdapter

from ..turn.feedback import FeedbackRecord
from ..turn.open_form import OpenForm
from ..turn.outbound import OutboundRecord
from ..turn.progress import MessageRecord, TurnRecord
from ..turn.quotes import ThreadMessage
from ..turn.thread_state import ThreadState

TURN, MESSAGE = TypeAdapter(TurnRecord), TypeAdapter(MessageRecord)
OUTBOUND, THREAD = TypeAdapter(OutboundRecord), TypeAdapter(ThreadState)
OVERHEARD = TypeAdapter(ThreadMessage)
FORM, FEEDBACK = TypeAdapter(OpenForm), TypeAdapter(FeedbackRecord)
