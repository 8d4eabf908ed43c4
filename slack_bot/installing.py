"""Whether a library is here, and how an extra of the package is installed: from a lock, or by its name."""

from importlib.util import find_spec
from pathlib import Path

_LOCKS = Path(__file__).parents[1] / "deploy"


def how_to_install(extra: str, lock: str, locks: Path = _LOCKS) -> str:
    """The command for `extra`, which the file `lock` of the folder `locks` has.

    A wheel brings no such folder.
    """
    if (locks / lock).is_file():
        return f"pip install --require-hashes -r deploy/{lock}"
    return f"pip install 'slack-bot-a2a[{extra}]'"


def is_installed(module: str) -> bool:
    """Whether `module` could be imported. It is not imported for that."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # nor is what it is a part of
        return False
