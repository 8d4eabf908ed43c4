"""In which ring a test is: the further out, the more of the world it needs, and the longer it takes.

- `pure`: what decides. No loop, no bot, no process: tables of states, commands, results and orders.
- `bot`: one room of the bot, with a loop on virtual time, or a whole bot in this process.
- `e2e`: what a person sees: the bot with real agents, browsers, replicas.
- `lab`: what is for developers, and the project itself: playground, tools, benches, documents.

The ring is read from the folder and from what the module imports, so that no test has to be marked. Across
them lies what another Python could break: what decides, and what leans on Python's own SQLite, loop, servers,
threads, files and processes.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

RINGS = ("pure", "bot", "e2e", "lab")
TESTS = Path(__file__).parent
BOT_ROOMS = {
    *("agents", "features", "inbound", "observe", "settings", "slack"),
    *("store", "text", "threads", "turn", "web"),
}
_LEANS_ON_PYTHON = (
    *(
        "agents/task",
        "agents/wire",
        "inbound",
        "observe",
        "settings",
        "slack/rate_limiter",
        "store",
        "threads",
    ),
    *("web", "test_clock.py", "test_http_client.py", "test_loaded_program.py", "test_paths.py"),
)
_IMPORT = re.compile(r"^(?:from|import) [^\n(]*(?:\([^)]*\))?", re.MULTILINE)
_NEEDS_A_LOOP = re.compile(
    r"\b(asyncio|subprocess|socket|signal|virtual_clock|run_bot|harness|scene|processes|redis_server"
    r"|live_agent|authorization_server|openid_server|thread_world)\b"
)


@cache
def ring_of(module: Path) -> str:
    """The ring of a test module."""
    room = module.relative_to(TESTS).parts[0]
    if room == "e2e":
        return "e2e"
    if room not in BOT_ROOMS:
        return "lab"
    imports = "\n".join(_IMPORT.findall(module.read_text(encoding="utf-8")))
    return "bot" if _NEEDS_A_LOOP.search(imports) else "pure"


def is_of_python(module: Path) -> bool:
    """Whether another Python could break what a test module tries."""
    name = module.relative_to(TESTS).as_posix()
    return ring_of(module) == "pure" or name.startswith(_LEANS_ON_PYTHON)
