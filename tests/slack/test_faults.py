"""The table of delivery contract section 5, name by name."""

import itertools

import pytest

from slack_bot.slack.faults import (
    AFTER_WRITE,
    ENDS,
    Fault,
    Remedy,
    StreamingRefusalCache,
    SurfaceKind,
    after_write,
    classify,
    fault_of,
)

TABLE = {
    Fault.LATER: "ratelimited rate_limited service_unavailable connect_failed",
    Fault.WRONG_CALL: (
        "invalid_arguments invalid_blocks invalid_blocks_format invalid_chunks msg_blocks_too_many"
        " msg_blocks_too_long no_text streaming_mode_mismatch block_mismatch invalid_metadata_format"
    ),
    Fault.UNKNOWN: (
        "timeout internal_error fatal_error request_timeout messaging_processing_failed connection_lost"
        " unreadable"
    ),
    Fault.SEALED: "message_not_in_streaming_state",
    Fault.FULL: "msg_too_long",
    Fault.STILL_OPEN: "streaming_state_conflict cant_delete_message",
    Fault.STOPPED: "stopped_by_user",
    Fault.NOT_HERE: (
        "channel_type_not_supported method_not_supported_for_channel_type unknown_method feature_disabled"
        " missing_scope messages_tab_disabled method_deprecated"
    ),
    Fault.NOT_THIS_ONE: "user_not_found team_not_found missing_recipient_user_id missing_recipient_team_id",
    Fault.NO_WRITING: (
        "is_archived restricted_action restricted_action_thread_locked not_in_channel no_permission"
        " access_denied"
    ),
    Fault.GONE: "invalid_thread_ts thread_not_found message_not_found channel_not_found",
    Fault.DEAD: "invalid_auth token_expired token_revoked account_inactive",
}


@pytest.mark.parametrize(
    ("name", "fault"), [(name, fault) for fault, names in TABLE.items() for name in names.split()]
)
def test_each_name_has_its_class(name: str, fault: Fault) -> None:
    assert classify(name) is fault


def test_a_name_nobody_knows_means_our_call_is_wrong() -> None:
    assert classify("brand_new_error") is Fault.WRONG_CALL


@pytest.mark.parametrize(
    ("status", "error", "fault"),
    [
        (429, "ratelimited", Fault.LATER),
        (429, "", Fault.LATER),
        (200, "rate_limited", Fault.LATER),
        (500, "internal_error", Fault.UNKNOWN),
        (
            503,
            "service_unavailable",
            Fault.UNKNOWN,
        ),  # something behind the place where it was applied may say so
        (502, "", Fault.UNKNOWN),
        (400, "", Fault.WRONG_CALL),
        (401, "", Fault.WRONG_CALL),
        (403, "", Fault.WRONG_CALL),
        (404, "", Fault.NOT_HERE),
        (405, "", Fault.NOT_HERE),
        (408, "", Fault.UNKNOWN),
        (413, "", Fault.WRONG_CALL),
        (425, "", Fault.LATER),
        (404, "invalid_auth", Fault.DEAD),
        (302, "", Fault.UNKNOWN),
        (200, "", Fault.UNKNOWN),
        (200, "msg_too_long", Fault.FULL),
    ],
)
def test_the_http_status_counts_too(status: int, error: str, fault: Fault) -> None:
    assert fault_of(status, error) is fault


# -- what to do ----------------------------------------------------------------------------------------------


def test_every_class_of_fault_has_a_step() -> None:
    assert set(AFTER_WRITE) == set(Fault)


@pytest.mark.parametrize(
    ("fault", "step"),
    [
        (Fault.LATER, Remedy.DOWN),
        (Fault.WRONG_CALL, Remedy.PLAIN),
        (Fault.UNKNOWN, Remedy.SETTLE),
        (Fault.SEALED, Remedy.NEXT),
        (Fault.FULL, Remedy.NEXT),
        (Fault.STILL_OPEN, Remedy.SETTLE),
        (Fault.STOPPED, Remedy.STOPPED),
        (Fault.NOT_HERE, Remedy.REMEMBER),
        (Fault.NOT_THIS_ONE, Remedy.DOWN),
        (Fault.NO_WRITING, Remedy.TELL),
        (Fault.GONE, Remedy.LEAVE),
        (Fault.DEAD, Remedy.DEAD),
    ],
)
def test_the_contract(fault: Fault, step: Remedy) -> None:
    assert after_write(fault, opens=False, is_plain=False) is step


def test_no_form_is_tried_for_ever_and_no_message_is_opened_in_vain() -> None:
    for fault, opens in itertools.product(Fault, (False, True)):
        assert after_write(fault, opens=opens, is_plain=True) is not Remedy.PLAIN
        assert after_write(fault, opens=True, is_plain=opens) is not Remedy.NEXT
    assert after_write(Fault.SEALED, opens=True, is_plain=False) is Remedy.DOWN


def test_only_where_nothing_may_be_written_any_more_does_a_turn_end() -> None:
    ends = {fault for fault in Fault if after_write(fault, opens=True, is_plain=True) in ENDS}
    assert ends == {Fault.STOPPED, Fault.NO_WRITING, Fault.GONE, Fault.DEAD}


@pytest.mark.parametrize("fault", list(Fault))
def test_what_may_have_been_applied_before_is_looked_at_unless_the_turn_ends(fault: Fault) -> None:
    step = after_write(fault, opens=False, is_plain=True, in_doubt=True)
    assert step is Remedy.SETTLE or (step in ENDS and step is AFTER_WRITE[fault])


def test_a_refusal_is_remembered_for_team_and_kind_of_channel_for_five_minutes() -> None:
    memory = StreamingRefusalCache()
    memory.remember("T1", "D", SurfaceKind.STREAM, now=100.0)
    assert memory.best("T1", "D2", now=399.0) is SurfaceKind.EDIT
    assert memory.best("T1", "D2", now=400.0) is SurfaceKind.STREAM
    assert memory.best("T1", "C1", now=101.0) is SurfaceKind.STREAM
    assert memory.best("T2", "D1", now=101.0) is SurfaceKind.STREAM


def test_edits_that_are_refused_leave_streams_and_posts() -> None:
    memory = StreamingRefusalCache()
    memory.remember("T1", "C", SurfaceKind.EDIT, now=100.0)
    assert memory.best("T1", "C1", now=101.0) is SurfaceKind.STREAM
    assert memory.best("T1", "C1", now=101.0, can_stream=False) is SurfaceKind.POST
    memory.remember("T1", "C", SurfaceKind.STREAM, now=100.0)
    assert memory.best("T1", "C1", now=101.0) is SurfaceKind.POST
