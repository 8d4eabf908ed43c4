"""Stands for a program of `loaded_program.py`: has it started, passes signals on, ends as it ends."""

import json
import os
import signal
import socket
import struct
import sys

_STATUS = struct.Struct("!h")


def main(address: str, *words: str) -> int:
    link = socket.socket(socket.AF_UNIX)
    link.connect(address)
    folder = os.getcwd()  # noqa: PTH109  pathlib takes as long to import as all else here
    told = json.dumps({"words": words, "environment": dict(os.environ), "folder": folder}).encode()
    socket.send_fds(link, [len(told).to_bytes(4, "big")], [0, 1, 2])
    link.sendall(told)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, lambda number, _: link.send(bytes([number])))
    (status,) = _STATUS.unpack(link.recv(_STATUS.size, socket.MSG_WAITALL))
    if status < 0:
        if -status != signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return int(status)


if __name__ == "__main__":
    os._exit(main(*sys.argv[1:]))
