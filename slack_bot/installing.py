"""How an extra of the package is installed: from a lock of the checkout, or by its name."""

from pathlib import Path

_LOCKS = Path(__file__).parents[1] / "deploy"


def how_to_install(extra: str, lock: str, locks: Path = _LOCKS) -> str:
    """The command for `extra`, which the file `lock` of the folder `locks` has.

    A wheel brings no such folder.
    """
    if (locks / lock).is_file():
        return f"pip install --require-hashes -r deploy/{lock}"
    return f"pip install 'slack-bot-a2a[{extra}]'"
